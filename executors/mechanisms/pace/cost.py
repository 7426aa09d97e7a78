"""What `COVARIANCE pace` may draw for its cost, before any row is read."""

from __future__ import annotations

from fractions import Fraction

from executors.mechanisms.pace.complaints import check
from executors.mechanisms.pace.params import PaceParams
from executors.pricing.covariance import ball_limit
from executors.pricing.covariance_columns import box_of, center_rules, silent_rules
from executors.pricing.covariance_squares import squares_need
from planner.calculus.cost import Cost
from planner.calculus.leaves import Kind
from planner.calculus.need import Need
from planner.facts import Facts
from planner.mechanism import Query, Units

__all__ = ["PaceParams", "assumptions", "check", "depends_on_amount", "need", "query", "settle"]

_LEAST_SCALE = Fraction(2**20)


def need(params: PaceParams, facts: Facts, units: Units) -> tuple[Need, ...]:
    """Leaves in the order in which they are drawn; a cap is that of the filter of the rounds.

    pilot: variances, all pairs, cap. entries: variances, cap. dense: variances, all pairs.
    diagonal, or one column: variances. `auto`, while it is open, has those of pilot.
    Neighbours differ in one row. Proof: proof.md, claims 1 to 6.
    """
    if has_variances_only(params, facts):
        return (squares_need(params.center, facts, params.variant == "paper"),)
    rest = 1 - params.diag
    first = squares_need(params.center, facts, params.variant == "paper", params.diag)
    if params.strategy == "dense":
        return first, _all_pairs(facts, rest)
    kind: Kind = "zcdp" if units[facts.source.name] == "rho" else "gdp"
    share = rest if params.strategy == "entries" else rest * (1 - params.pilot)
    cap = Need(
        kind,
        None,
        role="cap",
        share=share,
        of=("br", "dgauss"),
        dataset=facts.source.dataset,
        site=facts.source.site,
    )
    if params.strategy == "entries":
        return first, cap
    return first, _all_pairs(facts, rest * params.pilot), cap


def has_variances_only(params: PaceParams, facts: Facts) -> bool:
    """Whether the statement measures no pair."""
    return len(facts.columns) < 2 or params.strategy == "diagonal"


def depends_on_amount(params: PaceParams, facts: Facts) -> bool:
    """Whether the kinds of leaves follow from how much the statement may spend."""
    return params.strategy == "auto" and len(facts.columns) > 1


def settle(params: PaceParams, facts: Facts, cost: Cost) -> PaceParams | None:
    """The options as they are, where they say what is drawn; None where the forecast decides it."""
    return None if depends_on_amount(params, facts) else params


def query(params: PaceParams, facts: Facts) -> Query:
    """The sums and the Gram matrix of rows on the grid of the box."""
    box = box_of(params.center, facts)
    return Query("moments", facts.columns, (("center", box.center), ("half", box.half)))


def assumptions(params: PaceParams, facts: Facts) -> tuple[str, ...]:
    """What the reader of the plan has to know."""
    lines = [*silent_rules(facts), *center_rules(params.center)]
    if params.prior is not None:
        lines.append(
            f"The forecast rests on the public table `{params.prior}`; that it is public, and was "
            "not computed from these people, is the author's word."
        )
    if has_variances_only(params, facts):
        lines.append("No covariance is measured; the matrix has zeros there.")
        return tuple(lines)
    if params.strategy in ("auto", "pilot", "dense"):
        lines.append(
            "For the release of all pairs, rows are divided by released standard deviations and "
            "shortened to a ball; how many are shortened is not told. The matrix is drawn towards "
            "its diagonal by a public rule, which lowers the total error and biases each entry."
        )
    if params.strategy in ("auto", "pilot", "entries"):
        lines.append(
            "In a search, only chosen pairs are measured; the others are what the measured ones "
            "imply with the largest entropy, and are no measurements."
        )
    return tuple(lines)


def _all_pairs(facts: Facts, share: Fraction) -> Need:
    """Every pair at once, of rows in a ball of the grid: L2 move at most its squared radius."""
    count = len(facts.columns)
    return Need(
        kind="dgauss",
        sensitivity=lambda: Fraction(ball_limit(count)),
        width=count * (count - 1) // 2,
        role="measure",
        share=share,
        dataset=facts.source.dataset,
        site=facts.source.site,
        minimum_scale=_LEAST_SCALE,
    )
