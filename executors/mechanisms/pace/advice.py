"""What a plan says where another method, or another cost, would do better."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

from executors.mechanisms.pace.params import PaceParams
from executors.mechanisms.pace.rules import needed_rho
from executors.pricing.covariance_warnings import warnings_of
from planner.facts import Facts

if TYPE_CHECKING:
    from planner.calculus.leaves import Loss

__all__ = ["advice"]

_TYPICAL_VARIANCE = 1.0 / 9.0
_ACCURATE = 12.0
"""From this clipping on rows are hardly shortened, and the box is as good without it."""

_FEW = 8
"""Up to so many columns a constant beside the rows, which carries the mean, costs `ssp` as much."""


def advice(
    params: PaceParams, facts: Facts, loss: Loss, figures: Mapping[str, Any]
) -> list[dict[str, str]]:
    """Warnings of a plan: code, message, help. All follow from public figures."""
    leaf = loss.leaves[0]
    share = Fraction(1) if len(loss.leaves) == 1 else params.diag
    found = warnings_of(
        figures["noise_sd_variance"],
        Fraction(leaf.sensitivity or 0),
        Fraction(leaf.scale or 0),
        share,
    )
    d = len(facts.columns)
    if d > 1 and len(loss.leaves) == 1:
        found.append(_variances_only(params, facts))
    if len(loss.leaves) > 1:
        found += _ssp_instead(params, d, figures.get("clipping", 0.0))
    one = figures.get("noise_sd_one_pair", 0.0)
    if params.strategy == "entries" and one > _TYPICAL_VARIANCE:
        found.append(
            _warning(
                "DPQL-W244",
                f"a search would find nothing: one covariance alone has noise {one:.2g} in units "
                "of the half ranges, more than the typical variance 1/9",
                "write `COVARIANCE diagonal`, or leave `strategy` out, or spend more",
            )
        )
    return found


def _ssp_instead(params: PaceParams, columns: int, clipping: float) -> list[dict[str, str]]:
    """Where `ssp` errs less by simulation on ranges of three standard deviations to each side.

    About a private mean of a few columns it depends on where the means lie.
    """
    help = "write `COVARIANCE ssp` with the same cost"
    is_public = params.center != "private"
    if columns == 2 and is_public:
        return [
            _warning(
                "DPQL-W243",
                "for two columns `ssp` is usually the better method: there is one covariance, and "
                "nothing to choose",
                help,
            )
        ]
    if clipping >= _ACCURATE and (is_public or columns > _FEW):
        return [
            _warning(
                "DPQL-W243",
                "at this cost rows are hardly shortened: where ranges are tight (three standard "
                "deviations to each side) `ssp` errs up to a fifth less, and draws nothing towards "
                "zero",
                help,
            )
        ]
    return []


def _variances_only(params: PaceParams, facts: Facts) -> dict[str, str]:
    rho = float(needed_rho(params, facts))
    return _warning(
        "DPQL-W242",
        "with these rows and columns this cost shows variances only: no covariance is measured",
        f"covariances come above rho={rho:.3g} or mu={sqrt(2.0 * rho):.3g}, or with fewer columns; "
        "for variances alone write `COVARIANCE diagonal`",
    )


def _warning(code: str, message: str, help: str) -> dict[str, str]:
    return {"code": code, "message": message, "help": help}
