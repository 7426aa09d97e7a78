"""Risk: what an attacker who knows all other people can learn of one, as upper bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter
from typing import Any, Literal, TypeAlias

from flint import arb

from planner.calculus.balls import ball, cdf, ceiling, quantile_of_tail, sharp
from planner.calculus.compose import eps_at, total
from planner.calculus.exact import exact, positive, root_up, sum_up
from planner.calculus.leaves import Kind, Leaf, Priced

__all__ = ["Family", "Worst", "worst_cases", "posterior", "pure_posterior", "view"]

Family: TypeAlias = Literal["gdp", "pure", "br", "lap", "adp"]

FALSE_ALARMS = (Fraction(1, 1000), Fraction(1, 100))
PRIOR = Fraction(1, 2)
GUESS = Fraction(1, 10**4)
_DELTAS = tuple(Fraction(1, 10**places) for places in range(2, 10))


@dataclass(frozen=True, slots=True)
class Worst:
    """A worst pair of laws by family with its parameter: mu, eps0, eta, or eps beside delta."""

    family: Family
    param: Fraction
    delta: Fraction = Fraction(0)

    def advantage(self) -> Fraction:
        """The largest 1 - (false alarms) - (misses) of any test, delta at eps = 0; rounded up.

        gdp: 2 Phi(mu/2) - 1; pure: tanh(eps/2); br: tanh(eta/4); lap: 1 - e^(-eps/2);
        adp: delta + (1 - delta) tanh(eps/2).
        """
        value = positive(self.param, "a privacy parameter")
        if self.family == "gdp":
            return _capped(lambda: (ball(value) / arb(8).sqrt()).erf())
        if self.family == "br":
            return _capped(lambda: (ball(value) / 4).tanh())
        if self.family == "lap":
            return _capped(lambda: -(-ball(value) / 2).expm1())
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
        return min(
            _capped(lambda: ball(self.delta) + ball(value).exp() * ball(rate)),
            _capped(
                lambda: 1 - (-ball(value)).exp() * ball(max(Fraction(0), 1 - self.delta - rate))
            ),
        )


def posterior(power: Fraction, false_alarms: Fraction, prior: Fraction = PRIOR) -> Fraction:
    """The largest belief that a flagged record is a member: p TPR / (p TPR + (1 - p) FPR)."""
    for rate in (power, false_alarms, prior):
        if not 0 < exact(rate) <= 1:
            raise ValueError("a rate lies in (0, 1]")
    return prior * power / (prior * power + (1 - prior) * false_alarms)


def pure_posterior(eps: Fraction, prior: Fraction = PRIOR) -> Fraction:
    """The largest belief after any release of eps-DP: p e^eps / (1 - p + p e^eps); rounded up."""
    if not 0 < exact(prior) < 1:
        raise ValueError("a prior lies in (0, 1)")
    positive(eps, "eps")
    return _capped(lambda: 1 / (1 + ball((1 - prior) / prior) * (-ball(eps)).exp()))


def worst_cases(leaves: Iterable[Priced], max_sites: int = 1) -> Iterator[Worst]:
    """Sound descriptions of all leaves together, each of which bounds the same release."""
    kept = tuple(leaves)
    if len(kept) == 1 and kept[0].count == 1 and kept[0].kind in _ONE:
        yield Worst(_ONE[kept[0].kind], kept[0].param)
    mu_squared = total(kept, "mu_squared", max_sites)
    if mu_squared:
        yield Worst("gdp", root_up(mu_squared))
    eps = total(kept, "eps", max_sites)
    if eps:
        yield Worst("pure", eps)
    if mu_squared is None:
        given = sum_up(leaf.count * leaf.delta for leaf in kept if isinstance(leaf, Leaf))
        for delta in (given, *_DELTAS):
            bound = eps_at(kept, delta, max_sites) if 0 < delta < 1 else None
            if bound is not None and bound.eps > 0:
                yield Worst("adp", bound.eps, delta)


def view(leaves: Iterable[Priced], max_sites: int = 1) -> dict[str, Any] | None:
    """The figures that a board reads, as floats rounded up; None where none may be claimed.

    `tpr` by rate of false alarms, `posterior` for prior 1/2 at 1 % false alarms, `reconstruction`
    where a guess succeeds once in 10,000.
    """
    cases = tuple(worst_cases(leaves, max_sites))
    if not cases:
        return None
    power = {rate: min(case.power(rate) for case in cases) for rate in (*FALSE_ALARMS, GUESS)}
    last = FALSE_ALARMS[-1]
    return {
        "advantage": _up(min(case.advantage() for case in cases)),
        "tpr": {str(float(rate)): _up(power[rate]) for rate in FALSE_ALARMS},
        "posterior": _up(posterior(power[last], last)),
        "reconstruction": _up(power[GUESS]),
    }


_ONE: dict[Kind, Family] = {"br": "br", "lap": "lap"}


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


def _up(value: Fraction) -> float:
    """The least float that is not below the value."""
    near = float(value)
    return near if Fraction(near) >= value else nextafter(near, inf)
