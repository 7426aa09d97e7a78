"""The exact value of a number's text."""

from __future__ import annotations

from fractions import Fraction

from grammar.limits import DENOMINATOR_DIGITS, EXPONENT, NUMERATOR_DIGITS

__all__ = ["TooLong", "fits", "value"]


class TooLong(ValueError):
    """A number beyond the limits of digits or exponents; its text says which, for a user."""


def value(text: str) -> Fraction:
    """The exact rational that an unsigned number's text means: `0.1` is one tenth.

    `text` is `5`, `.5`, `1.` or one of these with an exponent. Raises `TooLong` where the exponent
    leaves [-400, 400] or the fraction in lowest terms has more than 100 digits above or 60 below
    the line. The work is bounded by the length of the text, not by the size of the value.
    """
    if len(text) <= NUMERATOR_DIGITS and text.isdecimal():
        return Fraction(int(text))
    mantissa, _, exponent_text = text.replace("E", "e").partition("e")
    whole, _, decimals = mantissa.partition(".")
    exponent = _exponent(exponent_text)
    decimals = decimals.rstrip("0")
    digits = (whole + decimals).lstrip("0")
    power = exponent - len(decimals)
    if not digits:
        return Fraction(0)
    stripped = digits.rstrip("0")
    power += len(digits) - len(stripped)
    # Lowest terms can only take factors 2 and 5 out of a power of ten: q below the line has at
    # least a third of the digits of 10^-power, so what passes here is small enough to compute.
    if len(stripped) > 4 * NUMERATOR_DIGITS or abs(power) > EXPONENT + 4 * NUMERATOR_DIGITS:
        raise TooLong(_DIGITS)
    number = int(stripped)
    result = Fraction(number * 10**power) if power >= 0 else Fraction(number, 10**-power)
    if not fits(result):
        raise TooLong(_DIGITS)
    return result


_ABOVE: int = 10**NUMERATOR_DIGITS
_BELOW: int = 10**DENOMINATOR_DIGITS
_DIGITS = (
    f"a number has at most {NUMERATOR_DIGITS} digits above "
    f"and {DENOMINATOR_DIGITS} below the fraction line"
)


def fits(number: Fraction) -> bool:
    """Whether a fraction in lowest terms stays within the limits of digits."""
    return abs(number.numerator) < _ABOVE and number.denominator < _BELOW


def _exponent(text: str) -> int:
    if not text:
        return 0
    digits = text.lstrip("+-").lstrip("0")
    if len(digits) > len(str(EXPONENT)) or int(digits or "0") > EXPONENT:
        raise TooLong(f"an exponent lies between -{EXPONENT} and {EXPONENT}")
    return -int(digits or "0") if text.startswith("-") else int(digits or "0")
