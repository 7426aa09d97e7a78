"""One folder a mechanism."""
