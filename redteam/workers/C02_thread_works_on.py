# attack: C2 says done at once; a thread works on until the arrays are fetched
# task: spin
# expect: clock_disagrees
import threading
import time

import hostile


class Later(hostile.Worker):
    def go(self) -> hostile.Answer:
        self.thread = threading.Thread(target=self.slowly)
        self.thread.start()
        return {"device_us": 400.0}, []

    def slowly(self) -> None:
        time.sleep(hostile.SLOW_S)
        self.work()

    def fetch(self) -> hostile.Answer:
        self.thread.join()
        return super().fetch()


hostile.serve(Later())
