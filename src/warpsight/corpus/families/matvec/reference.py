def reference(A, x):
    return A @ x
