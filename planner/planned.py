"""A checked plan with every number in it: what `plan` makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.bound import BoundMeasurement
from planner.calculus.leaves import Loss
from planner.checked import CheckedPlan, Price
from planner.mechanism import Params

__all__ = ["Plan", "PlannedMeasurement"]


@dataclass(frozen=True, slots=True)
class PlannedMeasurement:
    """One measurement with every `auto` replaced, its noise solved, its quality forecast.

    `warnings` are what the forecast warns of: `{"code","message","help"}`.
    """

    bound: BoundMeasurement
    params: Params
    prices: tuple[Price, ...]
    loss: Loss
    forecast: Mapping[str, Any]
    warnings: tuple[Mapping[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The release's name."""
        return self.bound.name


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan that may be approved: body, hash and certificate, with what a reader wants beside."""

    checked: CheckedPlan
    measurements: tuple[PlannedMeasurement, ...]
    body: Mapping[str, Any] = field(repr=False)
    hash: str = ""
    certificate: Mapping[str, Any] = field(default_factory=dict, repr=False)
