"""Sensitivity formulas that several mechanisms share; pure Python, no row."""
