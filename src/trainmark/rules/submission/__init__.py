"""What surrounds result logs in a submission: its tree, system descriptions and power logs."""
