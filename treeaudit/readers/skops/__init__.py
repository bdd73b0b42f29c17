"""skops files: the same inert data as from a pickle, out of a zip archive."""
