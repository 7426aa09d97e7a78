"""Exact rational numbers: their text, their rounding and their sums."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from math import ceil, isqrt, log10

__all__ = [
    "DIGITS",
    "claimable",
    "double_above",
    "exact",
    "number",
    "positive",
    "root_above",
    "root_down",
    "root_up",
    "round_down",
    "round_up",
    "step_down",
    "step_up",
    "sum_up",
    "text",
]

DIGITS = 18
"""Significant decimal digits of a rounded privacy number."""
_DOUBLE_BITS = 53

_LARGEST = Fraction(10**40)
_LEAST = Fraction(1, 10**60)
_GRID = 10**60
_NUMBER = re.compile(r"(-?)([0-9]{1,100})(?:\.([0-9]{1,60}))?(?:/([0-9]{1,100}))?")


def text(value: Fraction) -> str:
    """The shortest plain decimal where it ends within 60 places, else reduced `p/q`.

    `number` reads both back exactly.
    """
    rest = value.denominator
    twos = (rest & -rest).bit_length() - 1
    rest >>= twos
    fives = 0
    while rest % 5 == 0 and fives <= 60:
        rest //= 5
        fives += 1
    places = max(twos, fives)
    if rest != 1 or places > 60:
        return f"{value.numerator}/{value.denominator}"
    if places == 0:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    digits = str(abs(value.numerator) * 10**places // value.denominator).zfill(places + 1)
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def number(written: str) -> Fraction:
    """The exact value of `digits[.digits][/digits]`, with an optional minus sign.

    At most 100 digits before the point, 60 behind it and 100 in the denominator.
    Raises ValueError for any other text (an exponent, a blank, NaN), TypeError for no text.
    """
    if not isinstance(written, str):
        raise TypeError(f"an exact number is a text, not {type(written).__name__}")
    match = _NUMBER.fullmatch(written)
    if match is None:
        raise ValueError("not a plain number such as `0.5` or `1/3`")
    sign, whole, places, below = match.groups()
    denominator = int(below) if below else 1
    if denominator == 0:
        raise ValueError("the denominator is 0")
    behind = places or ""
    value = Fraction(int(whole + behind), 10 ** len(behind) * denominator)
    return -value if sign else value


def exact(value: Fraction | int) -> Fraction:
    """The value as a Fraction; a float, a bool or a text is a TypeError."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    raise TypeError(f"privacy numbers are exact (int or Fraction), not {type(value).__name__}")


def positive(value: Fraction | int, name: str) -> Fraction:
    """The value as a Fraction in [1e-60, 1e40]; ValueError names it where it is not."""
    result = exact(value)
    if not _LEAST <= result <= _LARGEST:
        raise ValueError(f"{name} must lie in [1e-60, 1e40]")
    return result


def round_up(value: Fraction, digits: int = DIGITS) -> Fraction:
    """The least number of `digits` significant decimal digits that is not below `value` >= 0."""
    return _rounded(value, digits, up=True)


def round_down(value: Fraction, digits: int = DIGITS) -> Fraction:
    """The greatest number of `digits` significant decimal digits that is not above `value` >= 0."""
    return _rounded(value, digits, up=False)


def step_up(value: Fraction, digits: int = DIGITS) -> Fraction:
    """The next larger number of `digits` significant decimal digits, above `value` > 0."""
    return round_up(value + Fraction(10) ** (_exponent(value) - digits) / 2, digits)


def step_down(value: Fraction, digits: int = DIGITS) -> Fraction:
    """The next smaller number of `digits` significant decimal digits, below `value` > 0."""
    return round_down(value - Fraction(10) ** (_exponent(value) - digits) / 2, digits)


def double_above(whole: int) -> int:
    """The least integer of at most 53 significant bits that is not below `whole` > 0.

    Samplers take their scales as doubles.
    """
    shift = max(0, whole.bit_length() - _DOUBLE_BITS)
    return -(-whole >> shift) << shift


def root_above(square: Fraction | int) -> int:
    """The least integer whose square reaches `square` >= 0."""
    whole = ceil(square)
    root = isqrt(whole)
    return root if root * root == whole else root + 1


def root_up(value: Fraction, digits: int = DIGITS) -> Fraction:
    """The square root of `value` >= 0, exact where it has `digits` digits, else rounded up."""
    return _root(value, digits, up=True)


def root_down(value: Fraction, digits: int = DIGITS) -> Fraction:
    """The square root of `value` >= 0, exact where it has `digits` digits, else rounded down."""
    return _root(value, digits, up=False)


def sum_up(values: Iterable[Fraction]) -> Fraction:
    """The sum, rounded up to a multiple of 1e-60 whenever its denominator passes 1e60.

    The values are taken in increasing order, so the result does not depend on theirs. Without
    the rounding, sums of unrelated fractions grow without bound in digits.
    """
    total = Fraction(0)
    for value in sorted(values):
        total = claimable(total + value)
    return total


def claimable(value: Fraction) -> Fraction:
    """The value, rounded up to a multiple of 1e-60 where its denominator passes 1e60."""
    return value if value.denominator <= _GRID else Fraction(ceil(value * _GRID), _GRID)


def _exponent(value: Fraction) -> int:
    """The e with 10^e <= value < 10^(e+1)."""
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    guess = ceil(bits * log10(2)) + 1  # from above, by bits: Python writes out 4,300 digits at most
    while value < Fraction(10) ** guess:
        guess -= 1
    return guess


def _rounded(value: Fraction, digits: int, *, up: bool) -> Fraction:
    if value <= 0:
        if value == 0:
            return value
        raise ValueError("only numbers that are not negative are rounded")
    shift = digits - 1 - _exponent(value)
    above, below = value.numerator, value.denominator
    if shift >= 0:
        above *= 10**shift
    else:
        below *= 10**-shift
    mantissa = -(-above // below) if up else above // below
    return Fraction(mantissa) / Fraction(10) ** shift


def _root(value: Fraction, digits: int, *, up: bool) -> Fraction:
    if value <= 0:
        if value == 0:
            return value
        raise ValueError("a square root needs a number that is not negative")
    # Two digits more than asked for, then one rounding in the same direction.
    shift = max(0, digits + 2 - _exponent(value) // 2)
    scaled = value * 100**shift
    whole = isqrt(scaled.numerator // scaled.denominator)
    if up and Fraction(whole * whole) < scaled:
        whole += 1
    return _rounded(Fraction(whole, 10**shift), digits, up=up)
