"""Where samples come from: one module for each format of data, and what batches are made of.

What can be is plain numpy, so that every framework gets the same samples in the same order from
the same seed.
"""
