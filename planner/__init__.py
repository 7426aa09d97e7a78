"""Script to bound plan to checked plan, from declared public facts only. Part of DPQL."""
