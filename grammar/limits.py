"""How large a file may be."""

from __future__ import annotations

__all__ = [
    "BYTES",
    "CHAIN",
    "DENOMINATOR_DIGITS",
    "EXPONENT",
    "NESTING",
    "NUMERATOR_DIGITS",
    "STATEMENTS",
]

BYTES = 1 << 20
STATEMENTS = 10_000
# Brackets, signs and powers inside each other.
NESTING = 64
# Operators along one path through an expression, added to its nesting: bounds the tree's height.
CHAIN = 200
# A number is a fraction in lowest terms.
NUMERATOR_DIGITS = 100
DENOMINATOR_DIGITS = 60
EXPONENT = 400
