"""Trade-offs in closed form: how often a test catches a target, at most, by family of laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from flint import arb

from planner.calculus.ball_arithmetic import ball, cdf, ceiling, quantile_of_tail, sharp
from planner.calculus.exact import exact, positive
from planner.calculus.zcdp_power import zcdp_advantage, zcdp_power

__all__ = ["Family", "Worst"]

Family: TypeAlias = Literal["gdp", "pure", "br", "lap", "adp", "zcdp"]


@dataclass(frozen=True, slots=True)
class Worst:
    """A bound on all tests by family with its parameter: mu, eps0, eta, rho, or eps with delta."""

    family: Family
    param: Fraction
    delta: Fraction = Fraction(0)

    def advantage(self) -> Fraction:
        """The largest 1 - (false alarms) - (misses) of any test, delta at eps = 0; rounded up.

        gdp: 2 Phi(mu/2) - 1; pure: tanh(eps/2); br: tanh(eta/4); lap: 1 - e^(-eps/2);
        adp: delta + (1 - delta) tanh(eps/2); zcdp: that of randomised response with this rho.
        """
        value = positive(self.param, "a privacy parameter")
        if self.family == "gdp":
            return _capped(lambda: (ball(value) / arb(8).sqrt()).erf())
        if self.family == "br":
            return _capped(lambda: (ball(value) / 4).tanh())
        if self.family == "lap":
            return _capped(lambda: -(-ball(value) / 2).expm1())
        if self.family == "zcdp":
            return zcdp_advantage(value)
        delta = self.delta
        return _capped(lambda: ball(delta) + ball(1 - delta) * (ball(value) / 2).tanh())

    def power(self, false_alarms: Fraction) -> Fraction:
        """The largest chance to flag a member at this chance to flag others; rounded up.

        1 - f(a) of the family's trade-off f. With a the chance that a guess without the release
        succeeds, it bounds the chance that any reconstruction does.
        """
        if not 0 < exact(false_alarms) < 1:
            raise ValueError("a rate of false alarms lies in (0, 1)")
        value = positive(self.param, "a privacy parameter")
        rate = false_alarms
        if self.family == "gdp":
            return _capped(lambda: cdf(ball(value) - quantile_of_tail(ball(rate))))
        if self.family == "br":
            return _capped(lambda: 1 / (1 + ball((1 - rate) / rate) * (-ball(value)).exp()))
        if self.family == "lap":
            return _laplace(value, rate)
        if self.family == "zcdp":
            return zcdp_power(value, rate)
        return min(
            _capped(lambda: ball(self.delta) + ball(value).exp() * ball(rate)),
            _capped(
                lambda: 1 - (-ball(value)).exp() * ball(max(Fraction(0), 1 - self.delta - rate))
            ),
        )


def _laplace(eps: Fraction, rate: Fraction) -> Fraction:
    """1 - f at a rate: f is a line, a hyperbola from e^-eps/2 to 1/2, then a line.

    The first line lies below f everywhere, so it is safe where the place is not certain.
    """
    if rate > Fraction(1, 2):
        return _capped(lambda: 1 - (-ball(eps)).exp() * ball(1 - rate))
    if ball(2 * rate).log() >= -ball(eps):
        return _capped(lambda: 1 - (-ball(eps)).exp() / ball(4 * rate))
    return _capped(lambda: ball(eps).exp() * ball(rate))


def _capped(function: Callable[[], arb]) -> Fraction:
    """The value, rounded up, of a function that counts only below 1."""
    if sharp(function) > 1:
        return Fraction(1)
    return min(Fraction(1), ceiling(function))
