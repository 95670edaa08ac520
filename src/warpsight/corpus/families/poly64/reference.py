def reference(x, c, degree):
    out = c[degree]
    for k in range(degree - 1, -1, -1):
        out = out * x + c[k]
    return out
