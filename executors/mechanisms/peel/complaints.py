"""What can be wrong with a `PEEL evalues` statement before any data is opened."""

from __future__ import annotations

from collections.abc import Iterator

from executors.mechanisms.peel.params import EvaluesParams
from planner.facts import Facts, SourceFacts
from planner.mechanism import AUTO, Complaint, Units

__all__ = ["check"]

MOST_HYPOTHESES = 50_000_000
MOST_VALUES = 1_000_000
_ONLY_ADAPTIVE = ("size_share", "max_size", "kappa")


def check(params: EvaluesParams, facts: Facts, units: Units) -> tuple[Complaint, ...]:
    """Every complaint at once; the price is not needed for any of them."""
    source = facts.source
    return (
        *_about_source(source),
        *_about_size(params, source.rows),
        *_about_limits(params, source.rows),
        *_about_accounting(params),
        *_about_forecast(params, source.rows),
        *_without_effect(params, source.rows),
    )


def _about_source(source: SourceFacts) -> Iterator[Complaint]:
    column = next(iter(source.role("log_evalue")), None)
    if column is None:
        yield Complaint(
            "DPQL-E050",
            f"`{source.name}` has no LOG_EVALUE column",
            "on",
            note="e-values that are computed from the rows of people (EVALUES) cannot be peeled "
            "yet; a table that holds them can",
            help="declare a dataset with one row a hypothesis and a column `LOG_EVALUE SENSITIVITY "
            "d ASSERTED_BY 'who'`",
        )
    elif column.sensitivity is None or column.sensitivity <= 0 or not column.asserted_by:
        yield Complaint(
            "DPQL-E050",
            f"nobody asserts how far one person moves `{column.name}`",
            "on",
            help="write `LOG_EVALUE SENSITIVITY d ASSERTED_BY 'who'` with d > 0",
        )
    if source.max_rows > 1 or source.unit is not None or source.sites or source.site is not None:
        yield Complaint(
            "DPQL-E050",
            f"the rows of `{source.dataset}` are hypotheses, so they belong to no person or site",
            "on",
            note="SENSITIVITY already says how far one person moves every value",
            help="leave UNIT and SITES out of its declaration",
        )


def _about_size(params: EvaluesParams, hypotheses: int) -> Iterator[Complaint]:
    if params.adaptive and params.size is not None:
        yield Complaint(
            "DPQL-E051",
            "the size is given and left to ADAPTIVE at once",
            "size",
            help="keep `size=...` or ADAPTIVE",
        )
    elif not params.adaptive and params.size is None:
        yield Complaint(
            "DPQL-E051",
            "nothing says how many hypotheses to select",
            help="write ADAPTIVE, or `size=...` with a whole number",
        )
    elif params.size is not None and params.size > hypotheses:
        yield Complaint(
            "DPQL-E051",
            f"`size={params.size}` is more than the {hypotheses} hypotheses",
            "size",
            help=f"write a size from 1 to {hypotheses}",
        )
    if params.adaptive and params.max_size != AUTO and params.max_size > hypotheses:
        yield Complaint(
            "DPQL-W224",
            f"`max_size={params.max_size}` is lowered to the {hypotheses} hypotheses",
            "max_size",
            is_warning=True,
        )


def _about_limits(params: EvaluesParams, hypotheses: int) -> Iterator[Complaint]:
    if hypotheses > MOST_HYPOTHESES:
        yield Complaint(
            "DPQL-E052",
            f"{hypotheses} hypotheses are more than one machine can hold",
            "on",
            note=f"the limit is {MOST_HYPOTHESES}",
        )
    asked = params.size if not params.adaptive else params.max_size
    if isinstance(asked, int) and min(asked, hypotheses) > MOST_VALUES:
        yield Complaint(
            "DPQL-E052",
            f"{asked} values would be drawn and released",
            "max_size" if params.adaptive else "size",
            note=f"exact noise is drawn for at most {MOST_VALUES} values",
            help=f"write a size up to {MOST_VALUES}, or ADAPTIVE",
        )


def _about_accounting(params: EvaluesParams) -> Iterator[Complaint]:
    if params.accounting == "numeric":
        yield Complaint(
            "DPQL-E053",
            "`accounting=numeric` is not available",
            "accounting",
            note="it would allow about a fifth less selection noise for a fixed size under mu; it "
            "needs a rule that the checker of certificates does not have",
            help="leave `accounting` out",
        )


def _about_forecast(params: EvaluesParams, hypotheses: int) -> Iterator[Complaint]:
    if params.signals is not None and params.signals > hypotheses:
        yield Complaint(
            "DPQL-E054",
            f"`signals={params.signals}` is more than the {hypotheses} hypotheses",
            "signals",
            help="write how many of them are expected to be false",
        )
    if (params.signals is None) != (params.strength is None):
        given, missing = (
            ("signals", "strength") if params.strength is None else ("strength", "signals")
        )
        yield Complaint(
            "DPQL-E054",
            f"`{given}` alone gives no forecast",
            given,
            help=f"add `{missing}=...`, or leave `{given}` out",
        )


def _without_effect(params: EvaluesParams, hypotheses: int) -> Iterator[Complaint]:
    written = params.model_fields_set
    if not params.adaptive:
        for name in _ONLY_ADAPTIVE:
            if name in written:
                yield Complaint(
                    "DPQL-W225",
                    f"`{name}` has no effect without ADAPTIVE",
                    name,
                    help=f"leave `{name}` out",
                    is_warning=True,
                )
        if params.size == hypotheses and "share" in written:
            yield Complaint(
                "DPQL-W225",
                "`share` has no effect where all hypotheses are released",
                "share",
                note="nothing is selected, so the whole cost hides the values",
                help="leave `share` out",
                is_warning=True,
            )
