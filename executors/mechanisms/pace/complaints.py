"""What can be wrong with a `COVARIANCE pace` statement before any data is opened."""

from __future__ import annotations

from collections.abc import Iterator

from executors.mechanisms.pace.params import PaceParams
from executors.pricing.covariance_columns import center_complaints, complaints
from executors.pricing.covariance_squares import measured_squares
from planner.facts import Facts
from planner.mechanism import Complaint, Units

__all__ = ["check"]

_OF_THE_SEARCH = ("select", "rounds", "anneal", "gamma", "maxrounds", "pairs")


def check(params: PaceParams, facts: Facts, units: Units) -> tuple[Complaint, ...]:
    """Everything that is wrong with the statement; the price is not needed for any of it."""
    found = (*complaints(facts), *center_complaints(params.center, facts))
    if not found and not measured_squares(params.center, facts, params.variant == "paper"):
        found = (
            Complaint(
                "DPQL-E055",
                "about its middle a BOOLEAN is always -1 or 1: there is no variance to measure",
                "columns",
                note="every second moment of a single one of these columns is known without the "
                "data",
                help="write `center=private`, which releases means and variances",
            ),
        )
    return (
        *found,
        *_about_strategy(params),
        *_about_pairs(params, facts),
        *_about_prior(params, facts),
        *_without_effect(params, facts),
    )


def _about_strategy(params: PaceParams) -> Iterator[Complaint]:
    if params.variant == "paper" and params.strategy != "entries":
        yield Complaint(
            "DPQL-E157",
            f"`strategy={params.strategy}` is no part of the published algorithm",
            "strategy",
            help="leave `variant=paper` or `strategy` out",
        )


def _about_pairs(params: PaceParams, facts: Facts) -> Iterator[Complaint]:
    if params.pairs is None:
        return
    known = {column.name for column in facts.columns}
    seen: set[frozenset[str]] = set()
    if not params.pairs:
        yield Complaint(
            "DPQL-E156",
            "`pairs` is empty: there is nothing to search",
            "pairs",
            help="list pairs such as `[(a, b), (a, c)]`, or leave `pairs` out",
        )
    for pair in params.pairs:
        written = "(" + ", ".join(pair) + ")"
        unknown = [name for name in pair if name not in known]
        problem = ""
        if len(pair) != 2 or len(set(pair)) != 2:
            problem = f"`{written}` is no pair of two columns"
        elif unknown:
            problem = f"`{unknown[0]}` in `pairs` is no column of this covariance"
        elif frozenset(pair) in seen:
            problem = f"the pair `{written}` is listed twice"
        seen.add(frozenset(pair))
        if problem:
            yield Complaint(
                "DPQL-E156",
                problem,
                "pairs",
                help="list each pair once, such as `[(a, b), (a, c)]`, of columns in COLUMNS",
            )


def _about_prior(params: PaceParams, facts: Facts) -> Iterator[Complaint]:
    if params.prior is None and params.prior_sha256 is not None:
        yield Complaint(
            "DPQL-E159",
            "`prior_sha256` says nothing without `prior`",
            "prior_sha256",
            help="add `prior=NAME`, or leave `prior_sha256` out",
        )
    for table in facts.tables:
        if sorted(table.columns) != sorted(column.name for column in facts.columns):
            yield Complaint(
                "DPQL-E159",
                f"the public table `{table.name}` has other columns than this covariance",
                "prior",
                note="its columns: " + ", ".join(f"`{name}`" for name in table.columns[:20]),
                help="give a matrix of just the columns of the statement, in any order",
            )
        if params.prior_sha256 not in (None, table.sha256):
            yield Complaint(
                "DPQL-E159",
                f"the public table `{table.name}` is another file than `prior_sha256` says",
                "prior_sha256",
                note=f"its SHA-256 is {table.sha256}",
                help="bind the file that was meant, or leave `prior_sha256` out",
            )


def _without_effect(params: PaceParams, facts: Facts) -> Iterator[Complaint]:
    idle: dict[str, str] = {}
    if len(facts.columns) == 1:
        idle = dict.fromkeys((*_OF_THE_SEARCH, "diag", "pilot", "strategy"), "for one column")
    elif params.strategy in ("dense", "diagonal"):
        idle = dict.fromkeys((*_OF_THE_SEARCH, "pilot"), f"with `strategy={params.strategy}`")
    elif params.strategy == "entries":
        idle = {"pilot": "with `strategy=entries`"}
    if len(facts.columns) == 2 and not idle.get("select"):
        idle |= dict.fromkeys(("select", "pairs"), "for two columns, which have one pair")
    plain = {name: field.default for name, field in type(params).model_fields.items()}
    for name, when in idle.items():
        value = getattr(params, name)
        if value != plain[name] and (name, value) not in _settled(facts):
            yield Complaint(
                "DPQL-W246",
                f"`{name}` has no effect {when}",
                name,
                help=f"leave `{name}` out",
                is_warning=True,
            )


def _settled(facts: Facts) -> tuple[tuple[str, object], ...]:
    """What a plan writes where the author wrote nothing."""
    return ("rounds", 2 * len(facts.columns)), ("strategy", "diagonal")
