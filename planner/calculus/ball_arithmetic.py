"""Certified real functions: python-flint balls that contain the true value."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx, fmpq

from planner.calculus.exact import DIGITS, round_down, round_up

__all__ = [
    "ball",
    "ceiling",
    "cdf",
    "complement",
    "floor",
    "holds",
    "lower",
    "near",
    "quantile_of_tail",
    "root",
    "sharp",
    "tail",
    "upper",
]

_START = 192
_STOP = 6144
_WANTED = 96
_STEPS = 400


def ball(value: Fraction | int) -> arb:
    """A ball around an exact rational, at the working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def upper(value: arb) -> Fraction:
    """An exact rational that is not below any point of the ball; ArithmeticError if not finite.

    What lies below 1e-400 becomes that, and what lies above 1e400 is an ArithmeticError: the exact
    fraction of e^-1000000000 would not fit into memory.
    """
    if abs(value) < _TINY:
        return Fraction(0) if value.is_zero() else _LEAST
    return _fraction(value.mid()) + _radius(value)


def lower(value: arb) -> Fraction:
    """An exact rational that is not above any point of the ball; ArithmeticError if not finite.

    What lies within 1e-400 of 0 becomes -1e-400; beyond 1e400 it is an ArithmeticError.
    """
    if abs(value) < _TINY:
        return -_LEAST
    return _fraction(value.mid()) - _radius(value)


def near(value: arb) -> Fraction:
    """The midpoint of the ball, exactly: an estimate, never a bound."""
    return _fraction(value.mid())


def complement(point: arb) -> arb:
    """erfc, accurate relative to its size however small that is.

    Far out, arb's own erfc loses all digits where the argument is not exact; there it is
    e^(-x^2)/sqrt(pi) U(1/2, 1/2, x^2) with Tricomi's U.
    """
    if point > 1000:
        square = point * point
        half = arb(1) / 2
        return (-square).exp() * square.hypgeom_u(half, half) / arb.pi().sqrt()
    return point.erfc()


def cdf(point: arb) -> arb:
    """Phi, the standard normal distribution function, accurate in both tails."""
    return tail(-point)


def tail(point: arb) -> arb:
    """Q = 1 - Phi, accurate in both tails."""
    return complement(point / arb(2).sqrt()) / 2


def quantile_of_tail(mass: arb) -> arb:
    """The x with Q(x) = `mass`, for a mass in (0, 1); accurate for masses near 0."""
    return arb(2).sqrt() * (2 * mass).erfcinv()


def sharp(function: Callable[[], arb]) -> arb:
    """The value of `function` at a precision that leaves a small relative radius.

    The function is called again with more bits until 96 bits are right, so cancellation costs
    time and not soundness. Raises ArithmeticError where 6144 bits do not suffice.
    """
    bits = _START
    while bits <= _STOP:
        with ctx.workprec(bits):
            value = function()
            sharp_enough = value.rel_accuracy_bits() >= _WANTED or value.is_exact()
            if value.is_finite() and (sharp_enough or abs(value) < _TINY):
                return value
        bits *= 2
    raise ArithmeticError("a privacy number could not be enclosed")


def ceiling(function: Callable[[], arb]) -> Fraction:
    """The value of a function that is not negative, rounded up to 18 significant digits."""
    return round_up(max(Fraction(0), upper(sharp(function))))


def floor(function: Callable[[], arb], digits: int = DIGITS) -> Fraction:
    """The value of a function that is not negative, rounded down to `digits` digits."""
    return round_down(max(Fraction(0), lower(sharp(function))), digits)


def holds(function: Callable[[], arb], bound: Fraction) -> bool:
    """Whether the function's value is certainly at most `bound`, with the bits that this takes."""
    bits = _START
    while bits <= _STOP:
        with ctx.workprec(bits):
            value, limit = function(), ball(bound)
            if value <= limit or value > limit:
                return bool(value <= limit)
        bits *= 2
    return False


def root(function: Callable[[arb], arb], low: Fraction) -> Fraction:
    """An estimate, good to 1e-25 relative, of the zero above `low` of an increasing function.

    `function(low)` must be negative. The bracket is doubled to the right, then narrowed by
    regula falsi with halved weights (Illinois), on the logarithm of the argument. The result
    is an estimate: whoever needs a bound rounds it and checks. Raises ArithmeticError where the
    function does not change its sign below 1e60.
    """
    with ctx.workprec(2 * _START):
        left = ball(low).log().mid()
        value_left = function(left.exp()).mid()
        step = arb(2).log()
        right = left
        value_right = value_left
        while not value_right > 0:
            left, value_left = right, value_right
            right = (right + step).mid()
            step = 2 * step
            if right > 140:
                raise ArithmeticError("no root")
            value_right = function(right.exp()).mid()
        side = 0
        for _ in range(_STEPS):
            if value_left == 0:
                return near(left.exp())
            point = ((left * value_right - right * value_left) / (value_right - value_left)).mid()
            value = function(point.exp()).mid()
            moved = abs(point - (right if value > 0 else left))
            if value > 0:
                right, value_right = point, value
                if side == 1:
                    value_left = (value_left / 2).mid()
                side = 1
            else:
                left, value_left = point, value
                if side == -1:
                    value_right = (value_right / 2).mid()
                side = -1
            if moved < _CLOSE or right - left < _CLOSE:
                return near(point.exp())
        raise ArithmeticError("no root")


_CLOSE = arb("1e-27")
_LEAST = Fraction(1, 10**400)
_TINY, _HUGE = arb("1e-401"), arb("1e400")


def _radius(value: arb) -> Fraction:
    """The radius of a ball, or 1e-400 where it is smaller: 1 - e^-1000000000 has one that is."""
    radius = value.rad()
    if abs(radius) < _TINY:
        return Fraction(0) if radius.is_zero() else _LEAST
    return _fraction(radius)


def _fraction(value: arb) -> Fraction:
    # Exact at any working precision, unlike `arb.upper`, which rounds to the current one.
    if not abs(value) < _HUGE:
        raise ArithmeticError("a privacy number is not finite")
    exactly = value.fmpq()
    return Fraction(int(exactly.p), int(exactly.q))
