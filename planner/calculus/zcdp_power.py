"""The largest power of a test between two laws that are rho-zCDP.

A test with false alarms a and catches b makes two coins of the two laws, and coins are told apart
no better: D_alpha(b || a) <= alpha rho and D_alpha(a || b) <= alpha rho for every order alpha >= 1
(at 1 the Kullback-Leibler divergence). Both sides grow with b >= a, so one order at which a b
certainly breaks one of them excludes every larger b. Proof: proof.md, Risk. Checked: randomised
response and Gaussian noise of the same rho, tests/planner/calculus/test_calculus_tradeoff.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import exp, inf, log, log1p, sqrt

from flint import arb, ctx

from planner.calculus.ball_arithmetic import ball, ceiling
from planner.calculus.exact import exact, positive, round_up
from planner.calculus.targets import target

__all__ = ["zcdp_advantage", "zcdp_power"]

_COARSE = 16
_FINE = 20
_STEPS = 48
_GOLDEN = (sqrt(5) - 1) / 2
_MARGINS = tuple(Fraction(1, 10**places) for places in (11, 10, 9, 8, 7, 6, 4))


@lru_cache(maxsize=4096, typed=True)
def zcdp_advantage(rho: Fraction) -> Fraction:
    """The largest b - a, rounded up: tanh(eps/2) where eps tanh(eps/2) = rho, so it is attained.

    The two Kullback-Leibler divergences add up to (b - a)(logit b - logit a) <= 2 rho, which for a
    given difference is least at b = 1 - a: randomised response.
    """
    eps = target("pure", "rho", positive(rho, "rho")).bound
    return min(Fraction(1), ceiling(lambda: (ball(eps) / 2).tanh()))


@lru_cache(maxsize=65536, typed=True)
def zcdp_power(rho: Fraction, false_alarms: Fraction) -> Fraction:
    """An upper bound of b at a = `false_alarms`, nearly the least that all orders allow.

    Raises ValueError for a rate of false alarms outside (0, 1).
    """
    positive(rho, "rho")
    rate = exact(false_alarms)
    if not 0 < rate < 1:
        raise ValueError("a rate of false alarms lies in (0, 1)")
    plain = min(_by_hoelder(rho, rate), rate + zcdp_advantage(rho), Fraction(1))
    a, size = float(rate), float(rho)
    if not 1e-300 < a < 1 - 1e-12 or not 1e-12 < size < 1e4:
        return plain
    b, order, forward = _search(size, a)
    for margin in _MARGINS:
        candidate = round_up(min(Fraction(1), Fraction(b) * (1 + margin)))
        if candidate >= plain:
            break
        if _excluded(rho, rate, candidate, Fraction(order), forward):
            return candidate
    return plain


def _by_hoelder(rho: Fraction, rate: Fraction) -> Fraction:
    """log b <= -(sqrt(log 1/a) - sqrt rho)^2, the best order of D_alpha(b || a) >= ... b^alpha."""

    def value() -> arb:
        mass = -ball(rate).log()
        if mass <= ball(rho):
            return arb(1)
        gap = mass.sqrt() - ball(rho).sqrt()
        return (-gap * gap).exp()

    return ceiling(value)


def _excluded(rho: Fraction, a: Fraction, b: Fraction, order: Fraction, forward: bool) -> bool:
    """Whether a test with these rates certainly breaks the bound at this order above 1."""
    p, q = (b, a) if forward else (a, b)
    if b <= a or b >= 1:
        return False
    with ctx.workprec(256):
        alpha = ball(order)
        moment = _moment(alpha, ball(p), ball(q)) + _moment(alpha, ball(1 - p), ball(1 - q))
        return bool(moment.log() > alpha * (alpha - 1) * ball(rho))


def _moment(alpha: arb, p: arb, q: arb) -> arb:
    return (alpha * p.log() + (1 - alpha) * q.log()).exp()


def _search(rho: float, a: float) -> tuple[float, float, bool]:
    """An estimate of the least b that some order excludes, with that order and direction."""
    widest = 30 * (1 + sqrt(log(1 / a) / rho))
    best = (inf, 0.0, True)
    for forward in (True, False):

        def least(place: float, forward: bool = forward) -> float:
            return _least_excluded(rho, a, 1 + exp(place), forward)

        low, high = log(1e-4), log(widest)
        step = (high - low) / _COARSE
        middle = min((low + k * step for k in range(_COARSE + 1)), key=least)
        place = _golden(least, middle - step, middle + step)
        best = min(best, (least(place), 1 + exp(place), forward))
    return best


def _golden(function: Callable[[float], float], low: float, high: float) -> float:
    """A place near the least value of a function with one valley."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(_FINE):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return (low + high) / 2


def _least_excluded(rho: float, a: float, order: float, forward: bool) -> float:
    """The b at which one order is just broken, by Newton's steps within a bracket; or 1."""
    bound = order * (order - 1) * rho
    low, high = log(a / (1 - a)), 40.0 + max(0.0, log(a / (1 - a)))
    if _log_moment(a, high, order, forward)[0] <= bound:
        return 1.0
    point = (low + high) / 2
    for _ in range(_STEPS):
        value, slope = _log_moment(a, point, order, forward)
        if value <= bound:
            low = point
        else:
            high = point
        step = (bound - value) / slope if slope > 0 else inf
        near = point + step
        if not low < near < high:
            near = (low + high) / 2
        if abs(near - point) <= 1e-14 * (1 + abs(point)):
            break
        point = near
    return 1 / (1 + exp(-high if high - low < 1e-9 else -point))


def _log_moment(a: float, odds: float, order: float, forward: bool) -> tuple[float, float]:
    """(order - 1) times the divergence of two coins, with its slope in the logit of the catches."""
    log_b, log_miss = -log1p(exp(-odds)), -odds - log1p(exp(-odds))
    log_a, log_quiet = log(a), log1p(-a)
    own, other = (order, 1 - order) if forward else (1 - order, order)
    hit = own * log_b + other * log_a
    rest = own * log_miss + other * log_quiet
    top = max(hit, rest)
    share = 1 / (1 + exp(rest - hit)) if rest - hit < 700 else 0.0
    return top + log1p(exp(min(hit, rest) - top)), own * (share - 1 / (1 + exp(-odds)))
