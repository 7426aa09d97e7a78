"""Costs as written, to exact amounts in one unit."""

from __future__ import annotations

from fractions import Fraction

from grammar import tree
from planner.bind.scope import Scope
from planner.calculus.cost import Cost, Unit
from planner.calculus.exact import root_down
from planner.findings import Mistake
from planner.values import rational

__all__ = ["amount", "share_of"]

_LEAST = Fraction(1, 10**12)
_MOST = Fraction(10**6)
_LEAST_DELTA = Fraction(1, 10**30)


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


def share_of(percent: Fraction, budget: Cost) -> Cost:
    """`n%` of what adds up in a budget: eps, rho, mu squared, or eps and delta together."""
    part = percent / 100
    if budget.unit == "mu":
        square = budget.additive * part
        root = root_down(square, 24)
        return Cost("mu", root, square=None if root**2 == square else square)
    return Cost(budget.unit, budget.amount * part, budget.delta * part)


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
