def reference(x, c):
    out = c[7]
    for k in range(6, -1, -1):
        out = out * x + c[k]
    return out
