"""The least cost that meets the EXPECT clauses on a statement: what a cost of `auto` becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from planner.bound import BoundExpect, BoundMeasurement
from planner.calculus.exact import text
from planner.calculus.inverse import Unsolvable
from planner.candidate_costs import DECADE, candidate, place_below
from planner.checked import CheckedPlan, Price
from planner.costing import try_out
from planner.findings import Findings
from planner.headroom import Headroom
from planner.number_format import shown
from planner.planned import PlannedMeasurement
from planner.rules import meets_expectations

__all__ = ["cost_words", "least"]

_DECADES = 6
"""How far below the most that is left a cost is looked for."""

_START = Fraction(1)
"""Where no budget says what is left, the search begins here."""


def least(
    measurement: BoundMeasurement,
    checked: CheckedPlan,
    findings: Findings,
    in_shares: bool = False,
) -> PlannedMeasurement | None:
    """The measurement at the least cost that meets every EXPECT on it; None with an error written.

    Costs of three significant digits are tried, from the most that the costs written in the file
    leave of the budgets downwards, then by halving the interval. Whatever shape the forecast has,
    the cost that is returned was itself tried and meets every clause, and the next lower one of
    three digits was tried and does not. Other costs of `auto` are not looked at. With `in_shares`
    what has three digits is the share of the BUDGET.
    """
    expects = tuple(one for one in checked.bound.expects if one.release == measurement.name)
    headroom = Headroom(measurement, checked, in_shares)
    if not headroom.has_common_measure:
        _no_measure(measurement, findings)
        return None
    said = Findings()
    found = _Search(measurement, expects, headroom, said).run()
    if found is None and headroom.may_grow and any(one.code == "DPQL-E078" for one in said.items):
        said = Findings()
        wider = Headroom(measurement, checked, in_shares, grid=True)
        found = _Search(measurement, expects, wider, said).run()
    findings.items += said.items
    return found


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What came of one cost: a measurement, or why there is none."""

    planned: PlannedMeasurement | None
    reason: Unsolvable | None
    met: bool


class _Search:
    def __init__(
        self,
        measurement: BoundMeasurement,
        expects: Sequence[BoundExpect],
        headroom: Headroom,
        findings: Findings,
    ) -> None:
        self.measurement = measurement
        self.expects = expects
        self.headroom = headroom
        self.findings = findings
        self.tried: dict[int, _Attempt] = {}
        self.most: Fraction | None = None
        self.last = 0

    def run(self) -> PlannedMeasurement | None:
        """The least that meets the clauses, or None with an error written."""
        top = self._top()
        if top is None:
            return None
        bottom = top - _DECADES * DECADE
        good = self._downwards(top, bottom)
        if good is None:
            return None
        bad, step = good, Fraction(2)
        while self._try(bad).met:
            if bad == bottom:
                self._met_by_all()
                return None
            good, bad = bad, max(bottom, min(bad - 1, place_below(self._amount(bad) / step)))
            step *= step
        while good - bad > 1:
            middle = (good + bad) // 2
            if self._try(middle).met:
                good = middle
            else:
                bad = middle
        return self._try(good).planned

    def _top(self) -> int | None:
        """The place of the most that may be tried."""
        headroom = self.headroom
        most = headroom.most()
        if most is None:
            headroom.explain(self.findings)
            return None
        self.last = place_below(most)
        if headroom.is_bounded:
            self.most = most
            return self.last + (most > candidate(self.last))
        place = place_below(_START)
        while place < self.last and self._wants_more(place):
            place = min(self.last, place_below(2 * candidate(place)))
        return place

    def _wants_more(self, place: int) -> bool:
        tried = self._try(place)
        return tried.planned is not None and not tried.met and self._can_be_judged(tried.planned)

    def _downwards(self, top: int, bottom: int) -> int | None:
        """The highest place at which noise can be drawn, if the clauses are met there."""
        good, bad = top, top
        while self._try(good).planned is None:
            if good == bottom:
                reason = self._try(top).reason
                if reason is not None:
                    self.findings.error(
                        "DPQL-E069",
                        reason.reason,
                        self.measurement.place("cost"),
                        help=reason.suggestion,
                    )
                return None
            good, bad = max(bottom, min(good - 1, place_below(self._amount(good) / 2))), good
        while bad - good > 1:
            middle = (good + bad) // 2
            if self._try(middle).planned is None:
                bad = middle
            else:
                good = middle
        tried = self._try(good)
        if not tried.met:
            if tried.planned is not None and self._can_be_judged(tried.planned):
                self._falls_short(good, tried.planned)
            elif tried.planned is not None:
                meets_expectations.judge(self.expects, (tried.planned,), self.findings)
            return None
        return good

    def _amount(self, place: int) -> Fraction:
        """The amount at a place; above the last candidate lies all that is left."""
        if self.most is not None and place > self.last:
            return self.most
        return candidate(place)

    def _try(self, place: int) -> _Attempt:
        if place not in self.tried:
            self.tried[place] = self._attempt(self._amount(place))
        return self.tried[place]

    def _attempt(self, amount: Fraction) -> _Attempt:
        try:
            planned = try_out(self.measurement, self.headroom.prices(amount))
        except Unsolvable as reason:
            return _Attempt(None, reason, False)
        met = all(meets_expectations.reaches(one, planned.forecast) for one in self.expects)
        return _Attempt(planned, None, met)

    def _can_be_judged(self, planned: PlannedMeasurement) -> bool:
        return all(
            meets_expectations.reaches(one, planned.forecast) is not None for one in self.expects
        )

    def _falls_short(self, place: int, planned: PlannedMeasurement) -> None:
        missed = next(
            one for one in self.expects if not meets_expectations.reaches(one, planned.forecast)
        )
        goal = f"{missed.release}.{missed.metric}"
        value = planned.forecast[missed.metric]
        spent = cost_words(planned.prices)
        bounded = self.headroom.is_bounded
        self.findings.error(
            "DPQL-E078",
            f"no cost that is left reaches `{goal} >= {shown(missed.at_least)}`: at {spent} it is "
            f"forecast at {value:.3g}",
            self.measurement.place("cost"),
            note=f"{spent} is all that the other costs leave of the budget"
            if bounded and place >= self.last
            else "at a higher cost the noise would be too small to be drawn exactly"
            if place < self.last
            else "",
            help="raise the BUDGET, lower the other costs, or expect less"
            if bounded
            else "expect less, or change what is measured",
        )

    def _met_by_all(self) -> None:
        self.findings.error(
            "DPQL-E077",
            f"what is expected of `{self.measurement.name}` is met at any cost, so no least one "
            "can be found",
            self.expects[0].span,
            note="the forecast is as good as this with hardly anything spent",
            help="expect more, or write a cost",
        )


def _no_measure(measurement: BoundMeasurement, findings: Findings) -> None:
    findings.error(
        "DPQL-E077",
        f"the costs of `{measurement.name}` are open in units that have no common measure",
        measurement.place("cost"),
        note="`auto` at several sources takes the same cost at each, or the same share of each "
        "BUDGET",
        help="declare a BUDGET of each dataset in a unit that the method honours, or write costs",
    )


def cost_words(prices: Sequence[Price]) -> str:
    """The costs of a statement in the words of a file."""
    words = []
    for price in prices:
        cost = price.cost
        if cost.unit == "eps_delta":
            said = f"eps={shown(cost.amount)}, delta={text(cost.delta)}"
        else:
            said = f"{cost.unit}={shown(cost.amount)}"
        words.append(said if len(prices) == 1 else f"{said} at {price.paid.source.name}")
    return " and ".join(words)
