"""What a planned second moment warns of."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["warnings_of"]

_TYPICAL_VARIANCE = 1.0 / 9.0
_LARGE_RHO = 50


def warnings_of(deviation: float, sensitivity: Fraction, scale: Fraction) -> tuple[str, ...]:
    """Sentences for a plan whose noise is very large or very small.

    `deviation` is the noise of one variance in the unit box, where a range of three standard
    deviations to each side gives the variance 1/9.
    """
    found = []
    if deviation > _TYPICAL_VARIANCE:
        found.append(
            "the budget is too small for these rows and columns: the noise on a variance is larger "
            "than the variance of a column whose range is three standard deviations to each side"
        )
    if sensitivity**2 > 2 * _LARGE_RHO * scale**2:
        found.append(
            f"the price is above rho={_LARGE_RHO}, where differential privacy promises next to "
            "nothing"
        )
    return tuple(found)
