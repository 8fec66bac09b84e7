"""One file a framework; each is registered under the entry point ``trainmark.frameworks``."""
