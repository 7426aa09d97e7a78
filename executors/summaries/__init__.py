"""Sums over rows that mechanisms ask for."""
