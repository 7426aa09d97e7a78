"""Rules that every plan must satisfy: one rule, one file."""
