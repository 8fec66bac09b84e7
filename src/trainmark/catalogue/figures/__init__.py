"""Hardware, prices, space and power: figures with their sources."""
