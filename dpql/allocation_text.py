"""A proposed split as a person reads it on a terminal."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpql.text import declared_text
from grammar.render import render_text
from planner.encode import cost_json

if TYPE_CHECKING:
    from dpql.allocation import Allocated, Row, Split

__all__ = ["allocation_text"]

_RULES = {
    "equal": "the rest is shared equally: no error in one measure is forecast for all who share it",
    "errors": "the rest is shared so that the squared errors, in half ranges, sum to the least",
    "weights": "the rest is shared by the weights given",
}
_HEADS = ("measurement", "now", "proposed", "part", "forecast", "why")


def allocation_text(one: Allocated) -> str:
    """Findings, one table a dataset, and the change of the text; or the findings alone."""
    findings = render_text([(one.source, one.diagnostics)])
    if one.text is None:
        return findings
    lines = [f"a proposal for {one.source.name}; nothing was changed, no row was read", ""]
    for split in one.splits:
        lines += _split(split)
    change = _change(one.source.name, one.source.text, one.text)
    lines += change or ["the costs stand there already"]
    text = "\n".join(lines) + "\n"
    return f"{findings}\n{text}" if one.diagnostics else text


def _split(split: Split) -> list[str]:
    budget = "no BUDGET" if split.budget is None else declared_text(cost_json(split.budget))
    lines = [f"dataset {split.dataset}, {'BUDGET ' if split.budget else ''}{budget}"]
    lines += _table([_HEADS, *(_cells(row) for row in split.rows)])
    if split.rule is not None and sum(row.proposal.why == "rest" for row in split.rows) > 1:
        lines.append(f"  {_RULES[split.rule]}")
    if split.left is not None:
        lines.append(f"  left of the budget: {_percent(split.left)}")
    return [*lines, ""]


def _cells(row: Row) -> tuple[str, ...]:
    source = row.proposal.paid.source
    place = "" if source.site is None else f" at {source.site}"
    number = declared_text(cost_json(row.proposal.cost))
    return (
        row.proposal.measurement.name + place,
        "auto" if row.now is None else declared_text(cost_json(row.now)),
        f"{row.written} ({number})" if row.written.endswith("%") else row.written,
        "" if row.part is None else _percent(row.part),
        _forecast(row),
        row.reason,
    )


def _forecast(row: Row) -> str:
    if row.metric is None or row.after is None:
        return "none"
    before = "" if row.before is None else f"{row.before:.3g} -> "
    return f"{row.metric} {before}{row.after:.3g}"


def _percent(part: Fraction) -> str:
    return f"{float(part * 100):.3g} %"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  "
        + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _change(name: str, before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), name, f"{name} (proposed)", lineterm="", n=1
    )
    return list(lines)
