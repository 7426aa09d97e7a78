"""Conversions between units: an upper bound of a leaf's cost in another one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

from flint import arb

from planner.calculus.ball_arithmetic import ball, ceiling
from planner.calculus.cost import Unit
from planner.calculus.exact import positive
from planner.calculus.leaves import Kind, Leaf, Priced

__all__ = [
    "NATIVE",
    "Charge",
    "Native",
    "Unconvertible",
    "charge",
    "gdp_to_rho",
    "laplace_to_mu_squared",
    "laplace_to_rho",
    "pure_to_mu_squared",
    "pure_to_rho",
    "range_to_mu_squared",
    "range_to_rho",
]

Native: TypeAlias = Literal["eps", "rho", "mu_squared"]
NATIVE: dict[Unit, Native] = {"eps": "eps", "rho": "rho", "mu": "mu_squared"}
"""What adds up over statements where a budget counts in a unit; pairs of eps and delta do not."""

_WORDS: dict[Native, Unit] = {native: unit for unit, native in NATIVE.items()}


class Unconvertible(ValueError):
    """A leaf's cost has no finite value in a unit; says why, with a way out.

    `rule` is C12 (delta > 0), C13 (zCDP under mu) or C14 (unbounded loss under eps).
    """

    def __init__(self, rule: str, kind: Kind, unit: Native, reason: str, suggestion: str) -> None:
        super().__init__(f"a {kind} cost cannot be charged to a budget in {_WORDS[unit]}: {reason}")
        self.rule = rule
        self.kind = kind
        self.unit = unit
        self.reason = reason
        self.suggestion = suggestion


@dataclass(frozen=True, slots=True)
class Charge:
    """An upper bound of one draw's cost, with the rule that gives it."""

    value: Fraction
    rule: str


@lru_cache(maxsize=65536, typed=True)
def pure_to_mu_squared(eps: Fraction) -> Fraction:
    """C2: eps-DP is mu-GDP with mu = 2 Phi^-1(1/(1+e^-eps)), tight; mu squared, rounded up.

    The corner of randomised response, (1/(1+e^eps)) twice, must lie on or above G_mu.
    """
    return _response_to_mu_squared(positive(eps, "eps"))


@lru_cache(maxsize=65536, typed=True)
def pure_to_rho(eps: Fraction) -> Fraction:
    """C3: eps-DP is rho-zCDP with rho = eps tanh(eps/2), the KL of randomised response; tight."""
    positive(eps, "eps")
    return ceiling(lambda: ball(eps) * (ball(eps) / 2).tanh())


@lru_cache(maxsize=65536, typed=True)
def range_to_mu_squared(eta: Fraction) -> Fraction:
    """C5: bounded range eta is mu-GDP with mu = 2 Phi^-1(1/(1+e^(-eta/2))), tight; mu squared.

    The worst case of a range is the logistic shift; the corner is its middle. So C5 = C2(eta/2).
    """
    return _response_to_mu_squared(positive(eta, "eta") / 2)


def range_to_rho(eta: Fraction) -> Fraction:
    """C6: bounded range eta is rho-zCDP with rho = eta^2/8, exactly as computed."""
    return positive(eta, "eta") ** 2 / 8


@lru_cache(maxsize=65536, typed=True)
def laplace_to_mu_squared(eps: Fraction) -> Fraction:
    """C7: Laplace noise with D1/b = eps is mu-GDP at Q(mu/2) = e^(-eps/2)/2, tight; mu squared."""
    positive(eps, "eps")
    if eps > 1:
        return ceiling(lambda: 8 * _squared((-ball(eps) / 2).exp().erfcinv()))
    return ceiling(lambda: 8 * _squared((-(-ball(eps) / 2).expm1()).erfinv()))


@lru_cache(maxsize=65536, typed=True)
def laplace_to_rho(eps: Fraction) -> Fraction:
    """C8': Laplace noise with D1/b = eps is rho-zCDP with rho = eps - 1 + e^-eps, its KL; tight."""
    positive(eps, "eps")
    return ceiling(lambda: ball(eps) + (-ball(eps)).expm1())


def gdp_to_rho(mu_squared: Fraction) -> Fraction:
    """C1: mu-GDP is rho-zCDP with rho = mu^2/2, exactly."""
    return positive(mu_squared, "mu squared") / 2


def charge(leaf: Priced, unit: Native) -> Charge:
    """One draw of a leaf in `unit` (mu squared for mu): an upper bound with its rule.

    Exact where the formula is rational, else rounded up to 18 significant digits. Raises
    Unconvertible where no finite value exists.
    """
    if leaf.kind in ("pure", "lap", "br"):
        return _bounded(leaf.kind, leaf.param, unit)
    if leaf.kind == "adp":
        raise Unconvertible("C12", "adp", unit, *_NO_DELTA)
    if unit == "eps":
        raise Unconvertible("C14", leaf.kind, unit, *_NO_BOUND)
    if leaf.kind == "zcdp":
        if unit == "mu_squared":
            raise Unconvertible("C13", "zcdp", unit, *_NO_TRADE_OFF)
        return Charge(leaf.param, "exact")
    if unit == "mu_squared":
        return Charge(_mu_squared(leaf), "exact")
    if leaf.kind == "dgauss" and isinstance(leaf, Leaf) and leaf.sensitivity and leaf.scale:
        return Charge((leaf.sensitivity / leaf.scale) ** 2 / 2, "C1")
    return Charge(gdp_to_rho(_mu_squared(leaf)), "C1")


_NO_DELTA = (
    "with delta > 0 some event may have probability delta for one person's data and 0 for "
    "another's, which no finite value covers",
    "replace the (eps, delta) method by one with a Gaussian or pure form, or declare the budget "
    "as eps= delta=",
)
_NO_BOUND = (
    "its privacy loss is not bounded",
    "this method draws Gaussian noise: give its cost as rho=, mu= or eps=, delta=",
)
_NO_TRADE_OFF = (
    "zCDP does not imply GDP at the same noise",
    "give this cost as mu=, or the dataset's BUDGET as rho=",
)


def _bounded(kind: Kind, param: Fraction, unit: Native) -> Charge:
    if unit == "eps":
        rule = {"pure": "exact", "lap": "C8", "br": "C4"}[kind]
        return Charge(positive(param, "eps"), rule)
    if kind == "pure":
        if unit == "rho":
            return Charge(pure_to_rho(param), "C3")
        return Charge(pure_to_mu_squared(param), "C2")
    if kind == "lap":
        if unit == "rho":
            return Charge(laplace_to_rho(param), "C8'")
        return Charge(laplace_to_mu_squared(param), "C7")
    if unit == "rho":
        return Charge(range_to_rho(param), "C6")
    return Charge(range_to_mu_squared(param), "C5")


def _mu_squared(leaf: Priced) -> Fraction:
    if not isinstance(leaf, Leaf) and leaf.mu_squared is not None:
        return leaf.mu_squared
    return leaf.param**2


def _response_to_mu_squared(eps: Fraction) -> Fraction:
    """4 Phi^-1(1/(1+e^-eps))^2, from the smaller tail so that large eps keep their digits."""
    if eps > 1:
        return ceiling(lambda: 8 * _squared((2 / (1 + ball(eps).exp())).erfcinv()))
    return ceiling(lambda: 8 * _squared((ball(eps) / 2).tanh().erfinv()))


def _squared(value: arb) -> arb:
    return value * value
