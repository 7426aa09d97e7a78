"""Releases as a person reads them on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

__all__ = ["figure", "releases_text"]

_FIRST = (
    "statistic",
    "p_value",
    "reject",
    "level",
    "columns",
    "kind",
    "matrix",
    "mean",
    "time",
    "estimate",
    "lower",
    "upper",
    "at_risk",
    "reliable_to",
    "response",
    "predictors",
    "coefficients",
    "intercept",
    "selected",
    "log_evalue",
    "rejected",
)
_FILE_ONLY = frozenset(["raw", "measurements", "measured", "units", "precision"])
"""Long, or without a meaning on their own."""
_SQUARE = frozenset(["matrix", "standard_error"])
"""Their rows are columns of the data, as their columns are."""
_ROWS, _COLUMNS, _ITEMS, _CELL = 12, 8, 8, 9
_WIDTH = 94


def releases_text(releases: Sequence[Mapping[str, Any]]) -> str:
    """The releases of a run: the most wanted figures of each, then how far to trust them."""
    lines: list[str] = []
    for release in releases:
        kind = release.get("verb")
        title = f"{kind} {release['method']}" if kind else f"{release.get('function')}"
        lines.append(f"{release['name']}: {title}")
        value = release["value"]
        names = _names(value.get("columns"))
        for name in _ordered(value):
            lines += _value(name, value[name], names)
        lines += _uncertainty(release.get("uncertainty", {}), names)
        for note in release.get("notes", ()):
            lines += _wrapped(f"note: {note}")
        lines.append("")
    return "\n".join(lines)


def figure(value: Any, digits: int = 4) -> str:
    """A number in a few digits, yes or no, a text as it is, NA for what is missing."""
    if value is None:
        return "NA"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _ordered(value: Mapping[str, Any]) -> list[str]:
    """The names of a value, the most wanted first; what only a file shows is left out."""
    names = [name for name in _FIRST if name in value]
    return names + sorted(set(value) - set(names) - _FILE_ONLY)


def _uncertainty(content: Any, names: Sequence[str]) -> list[str]:
    if not isinstance(content, Mapping):
        return []
    lines = [
        line for name in content if name != "of" for line in _value(name, content[name], names)
    ]
    said = content.get("of")
    if not said:
        return lines
    return [*_wrapped(f"uncertainty: {said}"), *(f"  {line}" for line in lines)]


def _value(name: str, value: Any, names: Sequence[str] = ()) -> list[str]:
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        return _matrix(name, value, names)
    if isinstance(value, list):
        shown = ", ".join(
            figure(item) for item in value[:_ITEMS] if not isinstance(item, dict | list)
        )
        more = f", ... ({len(value)} in the file)" if len(value) > _ITEMS else ""
        return _wrapped(f"{name}  {shown}{more}") if shown else []
    if isinstance(value, Mapping) or value is None:
        return []
    return [f"  {name}  {figure(value)}"]


def _matrix(name: str, rows: list[list[Any]], names: Sequence[str]) -> list[str]:
    """A corner of a matrix that fits a terminal, with the names of its columns where they are."""
    width = max(len(row) for row in rows)
    above = [_cut(one) for one in names[:_COLUMNS]] if len(names) == width else []
    if above and name in _SQUARE and len(rows) == width:
        beside = [_cut(one) for one in names[:_ROWS]]
    else:
        beside = [str(index + 1) for index in range(min(len(rows), _ROWS))]
    wide = max(len(head) for head in beside)
    cells = [[figure(cell) for cell in row[:_COLUMNS]] for row in rows[:_ROWS]]
    lines = (
        [("", above), *zip(beside, cells, strict=True)]
        if above
        else zip(beside, cells, strict=True)
    )
    shown = [f"  {name}"]
    shown += [
        f"    {head:<{wide}}" + "".join(f" {cell:>{_CELL}}" for cell in row) for head, row in lines
    ]
    if len(rows) > _ROWS or width > _COLUMNS:
        shown.append(f"    ... {len(rows)} rows of {width} in the file")
    return shown


def _names(columns: Any) -> list[str]:
    return [str(name) for name in columns] if isinstance(columns, list) else []


def _cut(name: str) -> str:
    return name if len(name) <= _CELL else name[: _CELL - 1] + "~"


def _wrapped(text: str) -> list[str]:
    return fill(text, _WIDTH, initial_indent="  ", subsequent_indent="    ").split("\n")
