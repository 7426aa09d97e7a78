"""What a place with rows can do; nothing opens one without a token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from planner.charge_token import Token

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Clamp", "Description", "Flag", "Level", "Plain", "Reader", "Selection", "Source"]


@dataclass(frozen=True, slots=True)
class Description:
    """Names and stored types of a source's columns; `rows` where a footer tells it, else None.

    `from_line`: the names are a line of text, which in a file without names is somebody's row. No
    message may quote them.
    """

    columns: tuple[tuple[str, str], ...]
    rows: int | None
    is_ordered: bool
    from_line: bool = False


@dataclass(frozen=True, slots=True)
class Clamp:
    """A column as float64 inside [lo, hi].

    NULL, NaN, infinite and unparsable values become `fill`; with `fill=None` they come as NULL, so
    that the summary can neutralise the whole record. Rows of a person beyond `MAX k` count as such
    values too. In a text column a plain decimal number means itself, and the words true and false
    mean 1 and 0.
    """

    name: str
    lo: float
    hi: float
    fill: float | None


@dataclass(frozen=True, slots=True)
class Flag:
    """A column as float64 0.0 or 1.0: numbers equal to 0 or 1, booleans, the words true and false.

    Everything else becomes `fill` (NULL with `fill=None`).
    """

    name: str
    fill: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Level:
    """A column as the float64 index of its value among `levels`, compared as exact text.

    Everything that is no level becomes `fill`: the reference, index 0, or NULL with `fill=None`.
    """

    name: str
    levels: tuple[str, ...]
    fill: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Plain:
    """A column without a clamp: `double` (unparsable: NULL) or `text`. Late rows come as NULL."""

    name: str
    type: str = "double"


Selection = Clamp | Flag | Level | Plain


class Reader(Protocol):
    """An open source: a stream of clamped columns."""

    def batches(
        self, columns: Sequence[Selection], order_by: str | None = None, rows: int = 65_536
    ) -> Iterator[pa.RecordBatch]:
        """Batches of at most `rows` rows with the named columns in order; every row, once.

        `order_by` names one of `columns`; rows then come by its clamped value, ascending, NULL
        last.
        """

    def close(self) -> None:
        """Give the engine back."""


@runtime_checkable
class Source(Protocol):
    """A place with rows."""

    @property
    def location(self) -> str:
        """The location or fingerprint that a ledger key guards."""

    def describe(self) -> Description:
        """Names and stored types; reads no row."""

    def open(self, token: Token, unit: str | None = None, max_rows: int = 1) -> Reader:
        """A reader; rows of one `unit` beyond `max_rows` are neutralised, never dropped."""
