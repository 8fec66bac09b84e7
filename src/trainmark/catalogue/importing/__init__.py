"""Results repositories read into the catalogue: sources, facts of folders, state of an import."""
