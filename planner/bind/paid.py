"""What a measurement pays at each of its sources, as written."""

from __future__ import annotations

from grammar import tree
from grammar.source import Span
from planner.bind import costs as amounts
from planner.bind.scope import Scope
from planner.bind.sources import AlreadySaid, reference_text, resolve
from planner.bound import SourceCost
from planner.calculus.cost import WRITTEN, Unit
from planner.calculus.inverse import divided
from planner.calculus.shares import part_of
from planner.facts import SourceFacts
from planner.findings import Mistake
from planner.mechanism import Mechanism

__all__ = ["paid_of"]


def paid_of(
    statement: tree.Measurement,
    mechanism: Mechanism,
    sources: tuple[SourceFacts, ...] | None,
    title: str,
    scope: Scope,
) -> tuple[SourceCost, ...] | None:
    """One cost a source, in the order of the sources; None with the mistakes written down.

    Raises `Mistake` where there is no cost, or one too many.
    """
    clauses = [item for item in statement.items if isinstance(item, tree.Costs)]
    if not clauses:
        raise Mistake(
            "DPQL-E062",
            f"`{title}` does not say what it may spend",
            statement.method.span,
            help="add " + " or ".join(f"`{WRITTEN[unit]}...`" for unit in mechanism.units),
        )
    if len(clauses) > 1:
        raise Mistake("DPQL-E041", "two costs in one statement", clauses[1].span, help="keep one")
    paid: list[SourceCost] = []
    failed = False
    for amount in clauses[0].amounts:
        try:
            paid += _amount(amount, mechanism, sources, title, clauses[0].span, scope)
        except AlreadySaid:
            failed = True
        except Mistake as mistake:
            scope.findings.add(mistake, amount.span)
            failed = True
    if failed or sources is None:
        return None
    return _one_each(paid, sources, clauses[0].span)


def _amount(
    node: tree.Amount,
    mechanism: Mechanism,
    sources: tuple[SourceFacts, ...] | None,
    title: str,
    place: Span,
    scope: Scope,
) -> list[SourceCost]:
    if sources is None:
        targets: tuple[SourceFacts, ...] = ()
    elif node.at is None:
        targets = sources
    else:
        target = resolve(node.at, scope)
        if target not in sources:
            raise Mistake(
                "DPQL-E063",
                f"`{reference_text(node.at)}` is no source of this statement",
                node.at.span,
                help="its sources: " + ", ".join(f"`{source.name}`" for source in sources),
            )
        targets = (target,)
    if node.auto:
        return [amounts.open_cost(one, mechanism, title, node.span, scope) for one in targets]
    if node.share is not None:
        return [
            _share(node.share, one, _reach(one, targets), mechanism, title, place, scope)
            for one in targets
        ]
    cost = amounts.amount(node, scope)
    _honoured(cost.unit, mechanism, title, node.span)
    return [SourceCost(one, divided(cost, _reach(one, targets)), None, place) for one in targets]


def _reach(source: SourceFacts, sources: tuple[SourceFacts, ...]) -> int:
    """At how many sites among `sources` a person of a site may be: they share one cost."""
    if source.site is None:
        return 1
    return min(source.max_sites, sum(other.dataset == source.dataset for other in sources))


def _share(
    percent: tree.Number,
    target: SourceFacts,
    parts: int,
    mechanism: Mechanism,
    title: str,
    place: Span,
    scope: Scope,
) -> SourceCost:
    budget = scope.datasets[target.dataset].budget
    if budget is None:
        raise Mistake(
            "DPQL-E064",
            f"a share needs a BUDGET of `{target.dataset}`",
            percent.span,
            help="add a BUDGET to the dataset, or write a cost",
        )
    if not 0 < percent.value <= 100:
        raise Mistake("DPQL-E064", "a share lies between 0% and 100%", percent.span)
    _honoured(budget.unit, mechanism, title, percent.span, target.dataset)
    cost = divided(part_of(budget, percent.value / 100), parts)
    return SourceCost(target, cost, percent.value, place)


def _honoured(
    unit: Unit, mechanism: Mechanism, title: str, place: Span, budget_of: str = ""
) -> None:
    """Raise `Mistake` unless the method honours the unit, of its cost or of a BUDGET shared."""
    if unit in mechanism.units:
        return
    works = " or ".join(f"`{WRITTEN[unit]}`" for unit in mechanism.units)
    way = (
        f"declare the BUDGET of `{budget_of}` as {works}"
        if budget_of
        else (
            f"give its cost as {works}"
            + (
                "; there is no default delta"
                if unit == "eps" and "eps_delta" in mechanism.units
                else ""
            )
        )
    )
    raise Mistake(
        "DPQL-E065",
        f"`{title}` cannot honour a cost in {WRITTEN[unit].replace('=', '')}",
        place,
        note=mechanism.unit_advice.get(unit, ""),
        help=way,
    )


def _one_each(
    paid: list[SourceCost], sources: tuple[SourceFacts, ...], place: Span
) -> tuple[SourceCost, ...]:
    ordered = []
    for source in sources:
        mine = [cost for cost in paid if cost.source == source]
        if len(mine) != 1:
            raise Mistake(
                "DPQL-E063",
                f"`{source.name}` has {'no cost' if not mine else 'two costs'}",
                place,
                help="every source pays once: one cost, or one `AT` each",
            )
        ordered.append(mine[0])
    return tuple(ordered)
