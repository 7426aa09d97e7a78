"""Checked plan to releases; the only floor that sees rows. Part of DPQL."""
