"""trainmark: the time a machine takes to train a real model to its quality target."""

__all__ = ["__version__"]

__version__ = "0.1.0"
