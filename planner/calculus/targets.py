"""The parameter that a leaf may have at a given cost per draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from planner.calculus.ball_arithmetic import ball, ceiling, complement, floor, root
from planner.calculus.convert import Native
from planner.calculus.exact import DIGITS, positive, root_down, root_up, round_up
from planner.calculus.leaves import Kind

__all__ = ["Target", "Unsolvable", "target", "target_with_delta"]

_FINE = 30


class Unsolvable(ValueError):
    """No noise honours this cost; `reason` says why in a user's words, `suggestion` what to do."""

    def __init__(self, reason: str, suggestion: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.suggestion = suggestion


@dataclass(frozen=True, slots=True)
class Target:
    """The largest admissible parameter: `bound` from above, `estimate` to 30 digits.

    For Gaussian kinds `mu_squared` is the exact square of mu; bounds then hold for the root.
    """

    bound: Fraction
    estimate: Fraction
    mu_squared: Fraction | None = None


@lru_cache(maxsize=65536, typed=True)
def target(kind: Kind, unit: Native, amount: Fraction) -> Target:
    """The parameter of one draw that costs `amount` in `unit` (eps, rho, or mu squared).

    The inverses of C1 to C8': closed forms, or the root of a rising function. Raises Unsolvable
    where the kind has no cost in the unit.
    """
    positive(amount, "a share of the cost")
    if kind in ("gauss", "dgauss", "gdp"):
        return _gaussian(unit, amount)
    if kind == "zcdp":
        if unit != "rho":
            raise Unsolvable(
                f"a method with a zCDP guarantee cannot honour a cost in {_WORDS[unit]}",
                "give this cost as rho=",
            )
        return _exact(amount)
    if kind == "adp":
        raise Unsolvable("an (eps, delta) guarantee from elsewhere cannot be solved for")
    if unit == "eps":
        return _exact(amount)
    if unit == "rho":
        return _BY_RHO[kind](amount)
    return _closed(lambda: _BY_MU[kind]((ball(amount) / 8).sqrt()))


@lru_cache(maxsize=4096, typed=True)
def target_with_delta(kind: Kind, eps: Fraction, delta: Fraction) -> Target:
    """The parameter of ONE pure, lap or br draw that is (eps, delta)-DP: its profile inverted.

    pure: e^eps0 = (e^eps + delta)/(1 - delta). lap: eps0 = eps - 2 log(1 - delta). br, with
    y = e^(eta/2): (y - e^(eps/2))^2 = delta (y^2 - 1), the larger root.
    """
    positive(eps, "eps")

    def pure() -> arb:
        return ((ball(eps).exp() + ball(delta)) / (1 - ball(delta))).log()

    def lap() -> arb:
        return ball(eps) - 2 * (-ball(delta)).log1p()

    def bounded() -> arb:
        more = ball(delta) * (ball(eps).expm1() + ball(delta))
        return 2 * (((ball(eps) / 2).exp() + more.sqrt()) / (1 - ball(delta))).log()

    forms = {"pure": pure, "lap": lap, "br": bounded}
    return _closed(forms[kind])


_WORDS: dict[Native, str] = {"eps": "eps", "rho": "rho", "mu_squared": "mu"}


def _exact(value: Fraction) -> Target:
    return Target(value, value)


def _closed(function: Callable[[], arb]) -> Target:
    return Target(ceiling(function), floor(function, _FINE))


def _gaussian(unit: Native, amount: Fraction) -> Target:
    if unit == "eps":
        raise Unsolvable(
            "this method draws Gaussian noise, whose loss is not bounded by any eps",
            "give its cost as rho=, mu= or eps=, delta=",
        )
    square = 2 * amount if unit == "rho" else amount
    return Target(root_up(square), root_down(square, _FINE), square)


def _root(function: Callable[[arb], arb], rho: Fraction) -> Target:
    """Both costs in rho are at most eps^2/2 and at most eps, so the root is at least their inverse.

    The root is good to 1e-25; the bound adds more than that.
    """
    low = max(root_down(2 * rho), rho) * Fraction(1, 2)
    estimate = root(lambda point: function(point) / ball(rho) - 1, low)
    return Target(round_up(estimate * (1 + Fraction(1, 10**24)), DIGITS), estimate)


def _pure_by_rho(rho: Fraction) -> Target:
    return _root(lambda eps: eps * (eps / 2).tanh(), rho)


def _laplace_by_rho(rho: Fraction) -> Target:
    return _root(lambda eps: eps + (-eps).expm1(), rho)


def _range_by_rho(rho: Fraction) -> Target:
    return Target(root_up(8 * rho), root_down(8 * rho, _FINE))


_BY_RHO: dict[Kind, Callable[[Fraction], Target]] = {
    "pure": _pure_by_rho,
    "lap": _laplace_by_rho,
    "br": _range_by_rho,
}


def _odds(point: arb) -> arb:
    """log(Phi/Q) at mu/2, with point = mu / (2 sqrt 2)."""
    return (2 * point.erf() / complement(point)).log1p()


_BY_MU: dict[Kind, Callable[[arb], arb]] = {
    "pure": _odds,
    "lap": lambda point: -2 * complement(point).log(),
    "br": lambda point: 2 * _odds(point),
}
