"""Random plans, and what other accounting libraries say of them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from dp_accounting.pld import pld_pmf
from dp_accounting.pld import privacy_loss_distribution as pld
from prv_accountant import GaussianMechanism, LaplaceMechanism, PRVAccountant

from planner.calculus.leaves import Leaf

__all__ = ["Bracket", "by_dp_accounting", "by_prv", "composed", "plan"]

F = Fraction
FINENESS = 10_000
"""Grid points to an eps."""


@dataclass(frozen=True)
class Bracket:
    """An eps below the truth and one above it, but for floating point."""

    low: float
    high: float


KINDS = ("gauss", "lap", "pure", "br")


def plan(seed: int, kinds: Sequence[str] = KINDS) -> tuple[Leaf, ...]:
    """One to five leaves of random kinds, sizes and counts."""
    rng = random.Random(seed)
    leaves = []
    for _ in range(rng.randint(1, 5)):
        count = rng.choice((1, 1, 1, 2, 3, 5, 8, 13, 20))
        size = F(round(10**6 * 10 ** rng.uniform(-2, 0.2) / count**0.5) + 1, 10**6)
        kind = rng.choice(kinds)
        leaves.append(getattr(Leaf, kind)(size, 2 if kind == "br" else 1, count=count))
    return tuple(leaves)


def composed(leaves: Sequence[Leaf], high: bool, step: float, tilt: float = 0.5) -> Any:
    """The plan as a distribution of dp_accounting: of its worst pairs (`high`), or a lower one.

    A bounded range has the logistic pair above it and any pair of coins with log-ratios t and
    t - eta below it; `tilt` is t / eta. Gaussian draws are one draw, exactly.
    """
    square = math.fsum(
        leaf.count * float(leaf.param) ** 2 for leaf in leaves if leaf.kind == "gauss"
    )
    parts = [] if square == 0 else [_gaussian(math.sqrt(square), high, step)]
    for leaf in leaves:
        if leaf.kind != "gauss":
            one = _KINDS[leaf.kind](float(leaf.param), high, step, tilt)
            parts.append(one.self_compose(leaf.count) if leaf.count > 1 else one)
    return reduce(lambda whole, part: whole.compose(part), parts)


def by_dp_accounting(leaves: Sequence[Leaf], delta: float, about: float) -> Bracket:
    """Connect-the-dots above; below, losses rounded down, for the better of two tilts.

    The grid has 10,000 points to `about`, an eps of the right size.
    """
    step = about / FINENESS
    has_ranges = any(leaf.kind == "br" for leaf in leaves)
    lows = [
        composed(leaves, False, step, tilt).get_epsilon_for_delta(delta)
        for tilt in ((0.5, 0.3) if has_ranges else (0.5,))
    ]
    return Bracket(max(lows), composed(leaves, True, step).get_epsilon_for_delta(delta))


def by_prv(leaves: Sequence[Leaf], delta: float) -> Bracket:
    """The bracket of prv_accountant for a plan of Gaussian and Laplace noise."""
    square = math.fsum(
        leaf.count * float(leaf.param) ** 2 for leaf in leaves if leaf.kind == "gauss"
    )
    parts: list[Any] = [] if square == 0 else [GaussianMechanism(1 / math.sqrt(square))]
    counts = [1] * len(parts)
    for leaf in leaves:
        if leaf.kind == "lap":
            parts.append(LaplaceMechanism(float(leaf.param)))
            counts.append(leaf.count)
    accountant = PRVAccountant(
        parts, eps_error=0.01, delta_error=delta * 1e-3, max_self_compositions=counts
    )
    low, _, high = accountant.compute_epsilon(delta, counts)
    return Bracket(low, high)


def _gaussian(mu: float, high: bool, step: float) -> Any:
    return pld.from_gaussian_mechanism(
        1 / mu,
        pessimistic_estimate=high,
        value_discretization_interval=step,
        use_connect_dots=high,
    )


def _laplace(eps: float, high: bool, step: float, tilt: float) -> Any:
    return pld.from_laplace_mechanism(
        1 / eps,
        pessimistic_estimate=high,
        value_discretization_interval=step,
        use_connect_dots=high,
    )


def _pure(eps: float, high: bool, step: float, tilt: float) -> Any:
    if high:
        return _dotted(eps, step, lambda at: (np.exp(eps) - np.exp(at)) / (1 + np.exp(eps)))
    return pld.from_randomized_response(
        2 / (1 + math.exp(eps)), 2, pessimistic_estimate=False, value_discretization_interval=step
    )


def _range(eta: float, high: bool, step: float, tilt: float) -> Any:
    if high:
        return _dotted(
            eta, step, lambda eps: (np.exp(eta / 2) - np.exp(eps / 2)) ** 2 / np.expm1(eta)
        )
    upper, lower = tilt * eta, (tilt - 1) * eta
    q = math.expm1(-lower) / math.expm1(upper - lower)
    first = {0: math.log(q), 1: math.log1p(-q)}
    second = {0: first[0] + upper, 1: first[1] + lower}
    return pld.from_two_probability_mass_functions(
        first,
        second,
        pessimistic_estimate=False,
        value_discretization_interval=step,
    )


def _dotted(most: float, step: float, profile: Callable[[Any], Any]) -> Any:
    """A loss within +-most by its profile, at multiples of the step, joined by lines in e^eps."""
    losses = np.arange(-math.ceil(most / step), math.ceil(most / step) + 1)
    at = losses * step
    deltas = np.where(at <= -most, -np.expm1(at), profile(np.clip(at, -most, most)))
    return pld.PrivacyLossDistribution(
        pld_pmf.create_pmf_pessimistic_connect_dots(step, losses, deltas)
    )


_KINDS: dict[str, Callable[[float, bool, float, float], Any]] = {
    "lap": _laplace,
    "pure": _pure,
    "br": _range,
}
