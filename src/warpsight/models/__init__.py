"""Language-model clients: three wire formats over HTTP, local weights, and a scripted model. They know no kernels."""
