"""Reference convergence: whether runs converged as fast as the published references allow."""
