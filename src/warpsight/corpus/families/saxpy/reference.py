def reference(a, x, y):
    return a * x + y
