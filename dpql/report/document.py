"""The parts of a review sheet: sections of paragraphs, lists, facts, tables, meters, curves."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from grammar.exchange import SCHEMA

__all__ = ["Block", "Curve", "Facts", "Items", "Meter", "Paragraph", "Section", "Sheet", "Table"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph of plain text."""

    text: str
    kind: str = "paragraph"


@dataclass(frozen=True, slots=True)
class Items:
    """A list of sentences, under a title where there is one."""

    items: tuple[str, ...]
    title: str = ""
    kind: str = "items"


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values."""

    pairs: tuple[tuple[str, str], ...]
    title: str = ""
    kind: str = "facts"


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its caption, the head of each column, its rows; the first cell heads a row."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    kind: str = "table"


@dataclass(frozen=True, slots=True)
class Meter:
    """A bar between two named ends; `share` from 0 to 1 only draws what `text` says."""

    label: str
    share: float
    text: str
    ends: tuple[str, str]
    kind: str = "meter"


@dataclass(frozen=True, slots=True)
class Curve:
    """A trade-off: pairs of false alarms with the catches at them, at most; some are marked.

    `text` says how to read the picture.
    """

    title: str
    points: tuple[tuple[float, float], ...]
    marks: tuple[tuple[float, float], ...]
    text: str
    kind: str = "curve"


Block: TypeAlias = Paragraph | Items | Facts | Table | Meter | Curve


@dataclass(frozen=True, slots=True)
class Section:
    """One question of a board with its answer; `key` is stable, `title` is for reading."""

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A review sheet: a verdict in one sentence, what to watch, then section by section."""

    title: str
    verdict: str
    cautions: tuple[str, ...]
    sections: tuple[Section, ...]
    plan_hash: str
    schema: str = SCHEMA

    def json(self) -> dict[str, Any]:
        """The sheet as JSON values."""
        written = asdict(self)
        return {
            "schema": written.pop("schema"),
            "kind": "report",
            **{name: _plain(value) for name, value in written.items()},
        }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value
