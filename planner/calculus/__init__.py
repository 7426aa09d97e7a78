"""Privacy accounting: leaves, conversions, composition, inverses and risk."""
