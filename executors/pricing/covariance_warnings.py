"""What a planned second moment warns of."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["warnings_of"]

_TYPICAL_VARIANCE = 1.0 / 9.0
_LARGE_RHO = 50


def warnings_of(
    deviation: float, sensitivity: Fraction, scale: Fraction, share: Fraction = Fraction(1)
) -> list[dict[str, str]]:
    """Warnings of a plan whose noise is very large or very small: code, message, help.

    `deviation` is the noise of one variance in the unit box, where a range of three standard
    deviations to each side gives the variance 1/9. `sensitivity` and `scale` are those of a leaf
    that takes `share` of the price.
    """
    found = []
    if deviation > _TYPICAL_VARIANCE:
        found.append(
            {
                "code": "DPQL-W240",
                "message": "the budget is too small for these rows and columns: one variance has "
                f"noise {deviation:.2g} in units of the half range squared, more than the typical "
                "variance 1/9",
                "help": "give this statement more of the budget, fewer columns, or `diagonal`, "
                "which measures variances alone",
            }
        )
    if sensitivity**2 > 2 * _LARGE_RHO * share * scale**2:
        found.append(
            {
                "code": "DPQL-W241",
                "message": f"the price is above rho={_LARGE_RHO}, where differential privacy "
                "promises next to nothing",
                "help": "write a smaller cost; good values of rho lie below 1",
            }
        )
    return found
