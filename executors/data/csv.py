"""CSV files as a source: every byte sequence has a meaning, so no row can stop a run.

The first record names the columns, in UTF-8; each following record is a row. The separator is the
first of comma, semicolon, tab and bar that stands outside quotes in the first record. All columns
are text. `executors.data.csv_rows` has the grammar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from executors.data.admission import admit
from executors.data.csv_rows import first_record, records, unquoted
from executors.data.duckdb import Relation
from executors.data.failure import DataFailure, guarded
from executors.data.place import FilePlace
from executors.data.scan import TableReader
from executors.data.settings import Settings
from executors.data.source import Description
from planner.charge_token import Token

__all__ = ["CsvSource"]

_HEAD = 1 << 20
_SEPARATORS = ",;\t|"


@dataclass(frozen=True, slots=True)
class CsvSource:
    """One CSV file."""

    place: FilePlace
    settings: Settings

    @property
    def location(self) -> str:
        """The canonical file URI."""
        return self.place.uri

    def describe(self) -> Description:
        """Names from the first record, every column as text; the number of rows is unknown."""
        _, names = self._head()
        columns = tuple((name, "string") for name in names)
        return Description(columns, None, is_ordered=True, from_line=True)

    def open(self, token: Token, unit: str | None = None, max_rows: int = 1) -> TableReader:
        """A reader of the file, which must not have changed since it was bound."""
        admit(token)
        self.place.confirm()
        separator, names = self._head()

        def stream(places: Sequence[int], rows: int) -> Iterator[pa.RecordBatch]:
            labels = [f"c{place}" for place in places]
            for fields in records(self.place.path, ord(separator), len(names), places, rows):
                yield pa.RecordBatch.from_arrays(fields, names=labels)

        relation = Relation((pa.large_string(),) * len(names), stream=stream)
        return TableReader(names, relation, None, self.settings, unit, max_rows, self.place)

    def _head(self) -> tuple[str, tuple[str, ...]]:
        return guarded(
            self._names,
            DataFailure(
                "DPQL-E105",
                f"the first line of `{self.place.name}` does not name the columns",
                "give the file a first line with the column names, in UTF-8, with line ends LF or "
                "CRLF; export a spreadsheet as CSV",
            ),
        )

    def _names(self) -> tuple[str, tuple[str, ...]]:
        with self.place.path.open("rb") as file:
            start = file.read(_HEAD)
        head = first_record(start)
        if head is None and len(start) < _HEAD:
            head = start
        if not head or not head.strip():
            raise ValueError("no names")
        text = head.decode("utf-8-sig")
        if "\x00" in text or "\r" in text:
            raise ValueError("no text, or no line ends")
        outside = "".join(text.split('"')[::2])
        separator = next((mark for mark in _SEPARATORS if mark in outside), ",")
        return separator, tuple(_split(text, separator))


def _split(text: str, separator: str) -> list[str]:
    """The names of a first record, without the blanks around them."""
    fields = [""]
    for index, part in enumerate(text.split('"')):
        first, *rest = [part] if index % 2 else part.split(separator)
        fields[-1] += ('"' if index else "") + first
        fields += rest
    return [unquoted(field.strip().encode()).decode() for field in fields]
