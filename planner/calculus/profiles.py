"""Privacy profiles: delta at an eps, eps at a delta, and the largest cost within both."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import expm1, log, log1p, sqrt

from flint import arb, ctx

from planner.calculus.ball_arithmetic import ball, cdf, ceiling, floor, holds, near, root, tail
from planner.calculus.exact import (
    exact,
    positive,
    round_down,
    round_up,
    step_down,
    step_up,
)

__all__ = [
    "gdp_delta",
    "gdp_eps",
    "gdp_mu",
    "laplace_delta",
    "laplace_eps",
    "pure_delta",
    "pure_eps",
    "range_delta",
    "range_eps",
    "zcdp_delta",
    "zcdp_eps",
    "zcdp_order",
    "zcdp_rho",
]

_CACHE = 4096
_TRIES = 64


@lru_cache(maxsize=_CACHE, typed=True)
def pure_delta(eps0: Fraction, eps: Fraction) -> Fraction:
    """C11: delta of eps0-DP at `eps` >= 0: (e^eps0 - e^eps)+ / (1 + e^eps0), rounded up."""
    if _at_least(eps) >= positive(eps0, "eps0"):
        return Fraction(0)
    return ceiling(lambda: -ball(eps - eps0).expm1() / (1 + (-ball(eps0)).exp()))


@lru_cache(maxsize=_CACHE, typed=True)
def pure_eps(eps0: Fraction, delta: Fraction) -> Fraction:
    """C11: eps of eps0-DP at `delta`: e^eps = e^eps0 - delta (1 + e^eps0), or 0."""
    positive(eps0, "eps0")
    _share(delta)

    def value() -> arb:
        top = ball(eps0).exp()
        return _log_above_one(top - ball(delta) * (1 + top))

    return ceiling(value)


@lru_cache(maxsize=_CACHE, typed=True)
def range_delta(eta: Fraction, eps: Fraction) -> Fraction:
    """C11: delta of range eta at `eps` >= 0: (e^(eta/2) - e^(eps/2))^2 / (e^eta - 1), or 0."""
    if _at_least(eps) >= positive(eta, "eta"):
        return Fraction(0)

    def value() -> arb:
        gap = (ball(eps - eta) / 2).expm1()
        return gap * gap / -(-ball(eta)).expm1()

    return ceiling(value)


@lru_cache(maxsize=_CACHE, typed=True)
def range_eps(eta: Fraction, delta: Fraction) -> Fraction:
    """C11: eps of range eta at `delta`: e^(eps/2) = e^(eta/2) - sqrt(delta (e^eta - 1))."""
    positive(eta, "eta")
    _share(delta)

    def value() -> arb:
        return 2 * _log_above_one((ball(eta) / 2).exp() - (ball(delta) * ball(eta).expm1()).sqrt())

    return ceiling(value)


@lru_cache(maxsize=_CACHE, typed=True)
def laplace_delta(eps0: Fraction, eps: Fraction) -> Fraction:
    """C11: delta of Laplace noise with D1/b = eps0 at `eps` >= 0: (1 - e^((eps-eps0)/2))+."""
    if _at_least(eps) >= positive(eps0, "eps0"):
        return Fraction(0)
    return ceiling(lambda: -(ball(eps - eps0) / 2).expm1())


@lru_cache(maxsize=_CACHE, typed=True)
def laplace_eps(eps0: Fraction, delta: Fraction) -> Fraction:
    """C11: eps of Laplace noise with D1/b = eps0 at `delta`: e^eps = e^eps0 (1 - delta)^2, or 0."""
    positive(eps0, "eps0")
    rest = (1 - _share(delta)) ** 2
    return ceiling(lambda: _log_above_one(ball(eps0).exp() * ball(rest)))


@lru_cache(maxsize=_CACHE, typed=True)
def gdp_delta(mu_squared: Fraction, eps: Fraction) -> Fraction:
    """C10: delta of mu-GDP at `eps` >= 0, exact but for the rounding up.

    Q(eps/mu - mu/2) - e^eps Q(eps/mu + mu/2), with mu the root of `mu_squared`.
    """
    _at_least(eps)
    positive(mu_squared, "mu squared")
    return min(Fraction(1), ceiling(lambda: _gaussian(ball(mu_squared).sqrt(), ball(eps))))


@lru_cache(maxsize=_CACHE, typed=True)
def gdp_eps(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """C10 solved: the least eps >= 0 at which mu-GDP has at most `delta`, rounded up.

    Newton's steps on log delta, which is concave and falls, from the right; the result is checked.
    """
    if _within(positive(mu_squared, "mu squared"), Fraction(0), _share(delta)):
        return Fraction(0)
    with ctx.workprec(384):
        mu = ball(mu_squared).sqrt().mid()
        goal = ball(delta).log().mid()
        point = (mu * mu / 2 + mu * (-2 * goal).sqrt()).mid()
        for _ in range(_TRIES):
            value = _gaussian(mu, point).mid()
            slope = (point.exp() * tail(point / mu + mu / 2)).mid()
            move = ((value.log() - goal) * value / slope).mid()
            point = (point + move).mid()
            if abs(move) < abs(point) * _CLOSE:
                break
        estimate = near(point)
    return _least(estimate, lambda eps: _within(mu_squared, eps, delta))


@lru_cache(maxsize=_CACHE, typed=True)
def gdp_mu(eps: Fraction, delta: Fraction) -> Fraction:
    """The largest mu with delta of mu-GDP at `eps` > 0 within `delta`, rounded down."""
    positive(eps, "eps")
    with ctx.workprec(384):
        goal, rest = ball(_share(delta)).log().mid(), ball(1 - delta).log().mid()
        point = ball(eps)
        wide = (-2 * goal).sqrt()
        low = near(2 * point / (wide + (wide * wide + 2 * point).sqrt())) / 2
        if 2 * delta < 1:
            estimate = root(lambda mu: _gaussian(mu, point).log() - goal, low)
        else:
            estimate = root(lambda mu: rest - _gaussian_rest(mu, point).log(), low)
    return _greatest(estimate, lambda mu: _within(mu**2, eps, delta))


def zcdp_order(rho: Fraction, delta: Fraction) -> Fraction:
    """An order alpha > 1 near the best for eps at `delta`; any is sound, this one is short.

    With t = alpha - 1 it solves rho t^2 = log(1/delta) - log(1 + t).
    """
    mass = max(1e-18, _log(1 / _share(delta)))
    size = float(positive(rho, "rho"))
    low = min(sqrt(mass / (2 * size)), expm1(mass / 2))
    high = min(sqrt(mass / size), expm1(mass))
    gap = _bisect(lambda t: size * t * t + log1p(t) - mass, low, high)
    return 1 + round_up(Fraction(gap), 17)


@lru_cache(maxsize=_CACHE, typed=True)
def zcdp_eps(rho: Fraction, delta: Fraction) -> Fraction:
    """C9 solved: eps >= 0 at which rho-zCDP has at most `delta`, rounded up.

    alpha rho + log(1 - 1/alpha) - log(alpha delta)/(alpha - 1) at a nearly best order alpha.
    """
    order = zcdp_order(rho, delta)

    def value() -> arb:
        alpha, part = ball(order), ball(delta)
        rest = (alpha * part).log() / ball(order - 1)
        return alpha * ball(rho) - (1 / ball(order - 1)).log1p() - rest

    return ceiling(value)


@lru_cache(maxsize=_CACHE, typed=True)
def zcdp_delta(rho: Fraction, eps: Fraction) -> Fraction:
    """C9: delta of rho-zCDP at `eps` >= 0, at a nearly best order alpha, rounded up.

    exp((alpha-1)(alpha rho - eps))/(alpha-1) (1 - 1/alpha)^alpha, which holds for every alpha > 1.
    """
    size, loss = float(positive(rho, "rho")), float(_at_least(eps))
    gap = _bisect(lambda t: (2 * t + 1) * size - loss - log1p(1 / t), 1e-250, 1e120)
    order = 1 + round_up(Fraction(gap), 17)

    def value() -> arb:
        alpha, beyond = ball(order), ball(order - 1)
        power = beyond * (alpha * ball(rho) - ball(eps)) - beyond.log()
        return (power - alpha * (1 / beyond).log1p()).exp()

    return min(Fraction(1), ceiling(value))


@lru_cache(maxsize=_CACHE, typed=True)
def zcdp_rho(eps: Fraction, delta: Fraction) -> Fraction:
    """The largest rho for which C9 gives at most `delta` at `eps` > 0, rounded down.

    At each order alpha C9 holds up to
    (eps + log(alpha/(alpha-1)) + log(alpha delta)/(alpha-1)) / alpha; the best order is bisected.
    """
    loss = float(positive(eps, "eps"))
    mass = max(1e-18, _log(1 / _share(delta)))

    def slope(t: float) -> float:
        rest = (mass - log1p(t)) / t
        return (loss + log1p(1 / t) - rest) / (1 + t) - rest / t

    order = 1 + round_up(Fraction(_bisect(slope, 1e-60, expm1(mass))), 17)

    def value() -> arb:
        alpha, beyond = ball(order), ball(order - 1)
        rest = (alpha * ball(delta)).log() / beyond
        return (ball(eps) + (1 / beyond).log1p() + rest) / alpha

    return floor(value)


def _gaussian(mu: arb, eps: arb) -> arb:
    return tail(eps / mu - mu / 2) - eps.exp() * tail(eps / mu + mu / 2)


def _gaussian_rest(mu: arb, eps: arb) -> arb:
    """1 - delta of mu-GDP, without cancellation."""
    return cdf(eps / mu - mu / 2) + eps.exp() * tail(eps / mu + mu / 2)


def _log_above_one(value: arb) -> arb:
    """The logarithm of a number above 1, 0 for one below; undecided asks for more bits."""
    if value <= 1:
        return arb(0)
    return value.log() if value > 1 else arb("nan")


def _within(mu_squared: Fraction, eps: Fraction, delta: Fraction) -> bool:
    return holds(lambda: _gaussian(ball(mu_squared).sqrt(), ball(eps)), delta)


def _least(estimate: Fraction, test: Callable[[Fraction], bool]) -> Fraction:
    """The first rounded number, from the estimate up, that passes the test."""
    value = round_up(estimate)
    for _ in range(_TRIES):
        if test(value):
            return value
        value = step_up(value)
    raise ArithmeticError("a privacy number could not be certified")


def _greatest(estimate: Fraction, test: Callable[[Fraction], bool]) -> Fraction:
    """The first rounded number, from the estimate down, that passes the test."""
    value = round_down(estimate)
    for _ in range(_TRIES):
        if test(value):
            return value
        value = step_down(value)
    raise ArithmeticError("a privacy number could not be certified")


def _bisect(rising: Callable[[float], float], low: float, high: float) -> float:
    """A float near the change of sign of a rising function, by halving the logarithm."""
    for _ in range(200):
        middle = sqrt(low) * sqrt(high)
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return high


def _at_least(eps: Fraction) -> Fraction:
    if exact(eps) < 0:
        raise ValueError("eps must not be negative")
    return eps


def _share(delta: Fraction) -> Fraction:
    if not Fraction(1, 10**60) <= exact(delta) < 1:
        raise ValueError("delta must lie in [1e-60, 1)")
    return delta


def _log(value: Fraction) -> float:
    return log(value.numerator) - log(value.denominator)


_CLOSE = arb("1e-27")
