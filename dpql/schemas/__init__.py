"""JSON Schemas of everything that others may read or keep."""
