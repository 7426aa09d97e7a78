"""A release's values as facts with tables, for any form that shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from dpql.output import table_of
from dpql.report import words

__all__ = ["Rows", "facts", "tables", "title"]

Rows: TypeAlias = tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]]

_MOST_ROWS = 50


def title(release: Mapping[str, Any]) -> str:
    """The name of a release with what made it."""
    made = (
        f"{release['verb']} {release['method']}"
        if release.get("verb")
        else f"{release.get('function', 'derived')} of {release.get('of', '')}"
    )
    return f"{release['name']}: {made}"


def facts(release: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Single figures and short lists: the value, then how far to trust it."""
    pairs = _pairs(release.get("value", {}))
    pairs += [
        (f"uncertainty: {name}", text) for name, text in _pairs(release.get("uncertainty", {}))
    ]
    for note in release.get("noise", ()):
        role = f" ({note['role']})" if note.get("role") else ""
        pairs.append((f"noise{role}", f"{_spaced(note['law'])} of scale {note['scale']:.4g}"))
    return tuple(pairs)


def tables(release: Mapping[str, Any]) -> tuple[Rows, ...]:
    """Matrices with the names of their columns, a curve or a selection, tables of columns."""
    value, uncertainty = release.get("value", {}), release.get("uncertainty", {})
    found: list[Rows] = []
    names = [str(name) for name in value.get("columns", ())]
    for before, part in (("", value), ("uncertainty: ", uncertainty)):
        for name, content in part.items():
            if _is_matrix(content):
                found.append(_matrix(before + _spaced(str(name)), names, content))
    written = None if "matrix" in value or release.get("tables") else table_of(release)
    if written is not None:
        head, *rows = written
        columns = {name: [row[index] for row in rows] for index, name in enumerate(head)}
        found.append(_columns("as in its file", columns))
    for name, columns in release.get("tables", {}).items():
        found.append(_columns(_spaced(str(name)), columns))
    return tuple(found)


def _pairs(content: Any) -> list[tuple[str, str]]:
    if not isinstance(content, Mapping):
        return []
    return [
        (_spaced(str(name)), words.figure(value))
        for name, value in content.items()
        if _is_plain(value) or (_is_list(value) and len(value) <= 12)
    ]


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(_is_plain(part) for part in value)


def _is_matrix(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(_is_list(row) for row in value)


def _matrix(caption: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Rows:
    width = max(len(row) for row in rows)
    if len(names) != width or len(rows) != width:
        names = [str(index + 1) for index in range(max(width, len(rows)))]
    shown = rows[:_MOST_ROWS]
    body = tuple(
        (names[index], *(_cell(cell) for cell in row[:_MOST_ROWS]))
        for index, row in enumerate(shown)
    )
    return _cut(caption, len(rows)), ("", *names[: min(width, _MOST_ROWS)]), body


def _columns(caption: str, columns: Mapping[str, Sequence[Any]]) -> Rows:
    lists = list(columns.values())
    length = len(lists[0]) if lists else 0
    body = tuple(
        tuple(_cell(column[index]) for column in lists) for index in range(min(length, _MOST_ROWS))
    )
    return _cut(caption, length), tuple(_spaced(str(name)) for name in columns), body


def _cell(value: Any) -> str:
    return "-" if value is None else words.figure(value)


def _cut(caption: str, length: int) -> str:
    return caption if length <= _MOST_ROWS else f"{caption} (the first {_MOST_ROWS} of {length})"


def _spaced(name: str) -> str:
    return name.replace("_", " ")
