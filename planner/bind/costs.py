"""Costs as written, to exact amounts in one unit."""

from __future__ import annotations

from fractions import Fraction

from grammar import tree
from grammar.source import Span
from planner.bind.scope import Scope
from planner.bound import SourceCost
from planner.calculus.cost import Cost, Unit
from planner.facts import SourceFacts
from planner.findings import Mistake
from planner.mechanism import Mechanism
from planner.values import rational

__all__ = ["amount", "open_cost"]

_LEAST = Fraction(1, 10**12)
_MOST = Fraction(10**6)
_LEAST_DELTA = Fraction(1, 10**30)
_PREFERRED: tuple[Unit, ...] = ("rho", "mu", "eps")
"""rho first: Gaussian noise and selections add up in it without loss."""


def amount(node: tree.Amount, scope: Scope) -> Cost:
    """The exact cost of `eps=e`, `eps=e, delta=d`, `rho=r` or `mu=m`. Raises `Mistake`."""
    values: dict[str, Fraction] = {}
    for term in node.terms:
        if term.unit in values:
            raise Mistake("DPQL-E060", f"`{term.unit}` is given twice", term.span)
        values[term.unit] = _checked(term, scope)
    units = set(values)
    if units == {"delta"}:
        raise Mistake(
            "DPQL-E060", "a delta alone is no cost", node.span, help="write `eps=..., delta=...`"
        )
    if "delta" in units and units != {"eps", "delta"}:
        raise Mistake(
            "DPQL-E060",
            "a delta goes with eps only",
            node.span,
            note="rho and mu already bound every pair of eps and delta",
            help="leave the delta out, or write `eps=..., delta=...`",
        )
    if units == {"eps", "delta"}:
        return Cost("eps_delta", values["eps"], values["delta"])
    if len(units) != 1:
        raise Mistake(
            "DPQL-E060",
            "a cost has one unit",
            node.span,
            note="eps, rho and mu are three currencies for the same thing",
            help="keep one of " + ", ".join(f"`{unit}=`" for unit in sorted(units)),
        )
    (unit, value), *_ = values.items()
    kind: Unit = "eps" if unit == "eps" else "rho" if unit == "rho" else "mu"
    return Cost(kind, value)


def open_cost(
    source: SourceFacts, mechanism: Mechanism, title: str, place: Span, scope: Scope
) -> SourceCost:
    """A cost of `auto` at a source, with the unit in which it is looked for. Raises `Mistake`.

    That of the dataset's BUDGET if the method honours it, else rho, mu or eps. A pair of eps and
    delta is looked for as a share of a budget only, since no delta is better than another.
    """
    budget = scope.datasets[source.dataset].budget
    if budget is not None and budget.unit in mechanism.units:
        return SourceCost(source, None, None, place, budget.unit)
    for unit in _PREFERRED:
        if unit in mechanism.units:
            return SourceCost(source, None, None, place, unit)
    raise Mistake(
        "DPQL-E077",
        f"`{title}` has no cost that `auto` could look for",
        place,
        note="a pair of eps and delta is looked for as a share of a BUDGET in eps and delta",
        help=f"give `{source.dataset}` a BUDGET such as `eps=2, delta=1e-6`, or write a cost",
    )


def _checked(term: tree.CostTerm, scope: Scope) -> Fraction:
    value = rational(term.value, scope.values)
    if term.unit == "delta":
        if not _LEAST_DELTA <= value < 1:
            raise Mistake(
                "DPQL-E061",
                "delta must lie between 1e-30 and 1",
                term.span,
                note="delta is the chance that the guarantee fails; good values lie far below one "
                "over the number of people",
            )
        return value
    if value <= 0:
        raise Mistake("DPQL-E061", f"{term.unit} must be positive", term.span)
    if not _LEAST <= value <= _MOST:
        raise Mistake("DPQL-E061", f"{term.unit} must lie between 1e-12 and 1e6", term.span)
    if value.denominator > 10**25:
        raise Mistake(
            "DPQL-E061",
            f"{term.unit} has more than 25 digits below the line of its fraction",
            term.span,
        )
    return value
