import math

import numpy as np


def reference(spot, strike, years, rate, vol):
    root = vol * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * vol * vol) * years) / root
    erfc = np.vectorize(math.erfc)
    first, second = 0.5 * erfc(-d1 / math.sqrt(2)), 0.5 * erfc(-(d1 - root) / math.sqrt(2))
    later = strike * np.exp(-rate * years)
    call = spot * first - later * second
    return {"call": call, "put": call - spot + later}
