"""What `PEEL evalues` draws, and how much noise its cost buys, before any row is read."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from executors.mechanisms.peel.complaints import check
from executors.mechanisms.peel.design import Design, asserted, evalue_column, grid_of
from executors.mechanisms.peel.params import EvaluesParams, largest_size
from executors.pricing.allowance import Allowance
from executors.pricing.evalues import (
    LARGEST_SCALE,
    LEAST_SCALE,
    sensitivity_steps,
    value_scale,
)
from planner.calculus.compose import total
from planner.calculus.cost import Cost
from planner.calculus.exact import text
from planner.calculus.inverse import Unsolvable, declared
from planner.calculus.inverse import solve as ideal
from planner.calculus.leaves import Kind, Leaf, Loss
from planner.calculus.need import Need
from planner.facts import Facts
from planner.mechanism import Query, Units

__all__ = ["EvaluesParams", "assumptions", "check", "need", "query", "solve"]


def need(params: EvaluesParams, facts: Facts, units: Units) -> tuple[Need, ...]:
    """ADAPTIVE: the cap of a filter. A fixed size s: s selections and s noisy values.

    Neighbours are tables after one person of the study was replaced: every log e-value may move,
    each by at most the asserted sensitivity. Sensitivities: nats for `br`, grid steps for `dgauss`.
    Proof: proof.md, claims 1 to 4. Checked: test_peel_cost.py.
    """
    source = facts.source
    if params.adaptive:
        kind: Kind = "zcdp" if units[source.name] == "rho" else "gdp"
        return (Need(kind, None, role="cap", of=("br", "dgauss"), dataset=source.dataset),)
    size = largest_size(params, source.rows)
    share = params.share if size < source.rows else Fraction(0)
    values = Need(
        "dgauss",
        lambda: Fraction(sensitivity_steps(asserted(facts), grid_of(params))),
        count=size,
        role="measure",
        share=1 - share,
        dataset=source.dataset,
        minimum_scale=Fraction(LEAST_SCALE),
    )
    if share == 0:
        return (values,)
    selections = Need(
        "br",
        lambda: asserted(facts),
        count=size,
        role="select",
        share=share,
        dataset=source.dataset,
    )
    return selections, values


def solve(params: EvaluesParams, facts: Facts, needs: tuple[Need, ...], cost: Cost) -> Loss:
    """The leaves that the cost buys, with scales rounded up.

    A value's scale is ceil((D + 1) / mu) for D grid steps, which is proved to be mu-GDP for the
    discrete law; under rho mu is sqrt(2 rho), so that a charge in mu is a bound as well. Under
    (eps, delta) everything is solved at the largest mu inside them. Raises `Unsolvable` where the
    noise would be finer than the grid resolves or too coarse for exact integers.
    """
    loss = ideal(needs, cost)
    if params.adaptive:
        _foresee(Design.of(params, facts, Allowance.behind(loss.leaves[0])))
        return loss
    return Loss(
        tuple(
            _proved(leaf, draft.mu_squared) if leaf.kind == "dgauss" else leaf
            for leaf, draft in zip(loss.leaves, declared(needs, cost), strict=True)
        )
    )


def query(params: EvaluesParams, facts: Facts) -> Query:
    """The log e-values, with their identifiers where the dataset declares them."""
    columns = (evalue_column(facts), *facts.source.role("id")[:1])
    return Query("log_evalues", columns, (("q", grid_of(params)),))


def assumptions(params: EvaluesParams, facts: Facts) -> tuple[str, ...]:
    """What is asserted about the table, what happens to its rows, what the result rests on."""
    column = evalue_column(facts)
    who = f"asserted by {column.asserted_by}, not verified"
    names = facts.source.role("id")
    return (
        f"one person replaced moves no row by more than {text(asserted(facts))} nats, after "
        f"the neutralisation below ({who})",
        "the list of hypotheses and their identifiers is fixed and public; a list filtered or "
        f"sorted by the data is not ({who})",
        f"under its null hypothesis each e-value has an expectation of at most 1 ({who})",
        "the budget is that of the people behind the table; if they are also in another dataset, "
        f"both must draw on one ledger key ({who})",
        "neutralisation, on every row and silently: a log e-value above 1000 or +inf becomes 1000; "
        "NaN, missing, unparsable and -inf become the e-value 0; then every e-value E becomes "
        "(1 - 2^-20) E + 2^-20, so that 0 becomes a log e-value of -13.8629",
        f"rows are put in the order of `{names[0].name}`; rows that share an identifier are one "
        "hypothesis, which takes the smallest of their values"
        if names
        else "hypotheses are named by their row in the file, so the order of rows must be fixed "
        "and public",
        "a hypothesis that is not selected counts as e-value 0, and all hypotheses are counted in "
        "the decisions",
    )


def _foresee(design: Design) -> None:
    """Raise unless every size that may come out can be drawn within the cap.

    Which size comes out depends on data, so no run may find out only then that a draw is refused.
    """
    held = design.rest.amount + (design.choice.amount if design.choice is not None else 0)
    for size in sorted({design.reached(weighed) for weighed in design.sizes}):
        _admit(design.scale(size))
        spent = total(design.draws(size), design.rest.unit)
        if spent is None or spent > held:
            raise Unsolvable(f"a peeling of {size} hypotheses would not keep within its cost")


def _proved(leaf: Leaf, mu_squared: Fraction | None) -> Leaf:
    if leaf.sensitivity is None or mu_squared is None:
        raise ValueError("a noisy value has a sensitivity with a cost in mu")
    steps = ceil(leaf.sensitivity)
    return Leaf.dgauss(
        steps,
        _admit(value_scale(steps, mu_squared)),
        count=leaf.count,
        width=leaf.width,
        role=leaf.role,
        dataset=leaf.dataset,
        site=leaf.site,
    )


def _admit(scale: int) -> int:
    if scale < LEAST_SCALE:
        raise Unsolvable(
            f"the noise would be only {scale} steps of the grid wide, at least {LEAST_SCALE} are "
            "needed",
            "lower the cost of this statement",
        )
    if scale >= LARGEST_SCALE:
        raise Unsolvable(
            "the noise would be too large for exact integers",
            "raise the cost of this statement, or select fewer hypotheses",
        )
    return scale
