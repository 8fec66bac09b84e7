"""The training loop, its clock, its observers, and repeats in fresh processes.

Nothing here is imported for its side effects; a framework is loaded only by the worker process
that trains (``trainmark.training.worker``).
"""
