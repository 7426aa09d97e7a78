"""A query text in which costs are replaced, everything else left as it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from grammar import tree
from grammar.parser import parse
from grammar.source import Source
from grammar.wording import name, reference
from planner.allocate import Allocation, Proposal
from planner.calculus.cost import Cost
from planner.calculus.exact import text
from planner.facts import SourceFacts

__all__ = ["rewritten", "words_of"]


def rewritten(source: Source, allocation: Allocation, budgets: Mapping[str, Cost | None]) -> str:
    """The text with every proposed cost at its place; layout and comments stay.

    Costs that are kept are not touched. Where one cost stood for several sources, each gets its
    own with AT, unless all are alike: a person at several sites would share a single one.
    """
    script, _ = parse(source)
    statements = {one.span: one for one in script.statements if isinstance(one, tree.Measurement)}
    patches: list[tuple[int, int, str]] = []
    for measurement in dict.fromkeys(one.measurement.name for one in allocation.proposals):
        mine = [one for one in allocation.proposals if one.measurement.name == measurement]
        clauses = [
            item
            for item in statements[mine[0].measurement.span].items
            if isinstance(item, tree.Costs)
        ]
        for amount in clauses[0].amounts:
            covered = [one for one in mine if _covers(amount, one.paid.source)]
            if covered and any(one.why != "kept" for one in covered):
                words = _words(amount, covered, budgets)
                patches.append((amount.span.start, amount.span.end, words))
    result = source.text
    for start, end, words in sorted(patches, reverse=True):
        result = result[:start] + words + result[end:]
    return result


def words_of(one: Proposal, budget: Cost | None) -> str:
    """A proposed cost as it is written in a file: `16%` or `mu=0.4`.

    A share of mu squared without a root that ends stays a share.
    """
    cost = one.cost
    if budget is not None and (one.as_share or cost.square is not None):
        whole = budget.amount if cost.unit == "eps_delta" else budget.additive
        part = cost.amount if cost.unit == "eps_delta" else cost.additive
        return f"{text(Fraction(100) * part / whole)}%"
    if cost.unit == "eps_delta":
        return f"eps={text(cost.amount)}, delta={text(cost.delta)}"
    return f"{cost.unit}={text(cost.amount)}"


def _covers(amount: tree.Amount, source: SourceFacts) -> bool:
    """Whether a written cost is that of a source; without AT it is that of all."""
    at = amount.at
    if at is None:
        return True
    if isinstance(at, tree.Member):
        return (at.left.text, at.right.text) == (source.dataset, source.site)
    return at.text == (source.dataset if source.site is None else source.site)


def _words(
    amount: tree.Amount, covered: Sequence[Proposal], budgets: Mapping[str, Cost | None]
) -> str:
    said = [words_of(one, budgets[one.paid.source.dataset]) for one in covered]
    if amount.at is not None:
        return f"{said[0]} AT {reference(amount.at)}"
    alike = len(set(said)) == 1 and all(one.paid.source.max_sites == 1 for one in covered)
    if alike or len(covered) == 1:
        return said[0]
    return " AND ".join(
        f"{words} AT {_named(one.paid.source)}" for words, one in zip(said, covered, strict=True)
    )


def _named(source: SourceFacts) -> str:
    dataset = name(tree.Name(source.dataset))
    return dataset if source.site is None else f"{dataset}.{name(tree.Name(source.site))}"
