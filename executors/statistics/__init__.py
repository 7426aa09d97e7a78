"""Statistics that several mechanisms share; they see summaries and releases."""
