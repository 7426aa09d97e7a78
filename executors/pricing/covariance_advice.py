"""Which other method would serve these rows, columns and this cost better.

Judged in the unit box on a public reference: ranges of three standard deviations to each side, so
that every variance is 1/9 and the matrix has a Frobenius norm from sqrt(d)/9 (no correlation) to
d/9 (nothing but). Correlations are not known, so advice is given where one of these ends decides.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Literal

from executors.pricing.covariance_frame import NormName
from planner.facts import Facts

__all__ = ["Method", "advice", "correlation_noise", "pair_noise"]

Method = Literal["ssp", "adaptive"]

_VARIANCE = 1.0 / 9.0
_FEW = 9
"""Up to this order the constant that carries the mean is a third of the longest row or more."""


def advice(
    method: Method, facts: Facts, mu: Fraction, norm: NormName = "linf"
) -> list[dict[str, str]]:
    """At most one warning: code, message, help; none where rows lie in a declared ball.

    That about `adaptive` is for a private mean; about a public centre nothing is known.

    `mu` is what the statement costs, sqrt(2 rho). A matrix with noise of one covariance p errs by
    about d p, or by 1/sqrt(2) of it once projected.
    """
    columns = len(facts.columns)
    if columns < 2 or norm != "linf":
        return []
    pair = pair_noise(facts, mu)
    if method == "ssp" and pair * columns / sqrt(2.0) > columns * _VARIANCE:
        return [
            _warning(
                "DPQL-W250",
                f"the noise of one covariance, {pair:.2g}, hides every correlation: zeros in its "
                "place would err less, whatever the data",
                "write `COVARIANCE diagonal`, which measures variances with less noise, or "
                "`COVARIANCE pace`, which finds out how much can be seen",
            )
        ]
    if method == "ssp" and columns > 2 and pair * sqrt(columns) > _VARIANCE:
        return [
            _warning(
                "DPQL-W251",
                "the noise on the whole matrix is larger than all typical variances together; "
                "`pace` measures less and errs less at this cost",
                "write `COVARIANCE pace`, raise the cost, or name fewer columns",
            )
        ]
    if method == "adaptive" and columns + 1 <= _FEW and pair <= _VARIANCE:
        return [
            _warning(
                "DPQL-W253",
                f"with {columns} columns and a private mean there is little to shorten, and `ssp` "
                "has less noise at this cost",
                "write `COVARIANCE ssp`, or `COVARIANCE pace`",
            )
        ]
    return []


def correlation_noise(facts: Facts, mu: Fraction) -> float:
    """The noise of one correlation, were all pairs released at this cost."""
    return pair_noise(facts, mu) / _VARIANCE


def pair_noise(facts: Facts, mu: Fraction) -> float:
    """The noise of one covariance in a release of all of them: (d + 1) / (n mu), unit box.

    n counts over the rows of a person.
    """
    return (len(facts.columns) + 1) * facts.source.max_rows / (facts.rows * float(mu))


def _warning(code: str, message: str, help: str) -> dict[str, str]:
    return {"code": code, "message": message, "help": help}
