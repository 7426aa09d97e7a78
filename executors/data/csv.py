"""CSV files as a source: every byte sequence has a meaning, so no row can stop a run.

The first record names the columns; each following record is a row. Fields too few are missing,
fields too many are dropped. All columns are text. The separator is the first of comma, semicolon,
tab and bar that stands outside quotes in the first record. Quotes are doubled inside quotes. Lines
without a byte are no rows, but for a file of one column, where they are missing values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from executors.data.admission import admit
from executors.data.duckdb import Relation
from executors.data.failure import DataFailure, guarded
from executors.data.kinds import StoredKind
from executors.data.place import FilePlace
from executors.data.scan import TableReader
from executors.data.settings import Settings
from executors.data.source import Description, Level, Plain, Selection
from planner.spending import Token

__all__ = ["CsvSource"]

_HEAD = 1 << 20
_TEXT: StoredKind = "text"
_SEPARATORS = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class CsvSource:
    """One CSV file in UTF-8."""

    place: FilePlace
    settings: Settings

    @property
    def location(self) -> str:
        """The canonical file URI."""
        return self.place.uri

    def describe(self) -> Description:
        """Names from the first record, every column as text; the number of rows is unknown."""
        _, names = self._head()
        return Description(tuple((name, "string") for name in names), None, is_ordered=True)

    def open(self, token: Token, unit: str | None = None, max_rows: int = 1) -> TableReader:
        """A reader of the file, which must not have changed since it was bound."""
        admit(token)
        self.place.confirm()
        separator, names = self._head()
        columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(names)))
        # Latin-1 gives every byte a meaning; `_restore` turns text back into UTF-8.
        sql = (
            "read_csv(getvariable('link'), auto_detect=false, header=true,"
            f" columns={{{columns}}}, delim='{separator}', quote='\"', escape='\"',"
            " strict_mode=false, null_padding=true, encoding='latin-1', parallel=false,"
            " compression='none', hive_partitioning=false, max_line_size=16777216)"
        )
        relation = Relation(sql, tuple(_TEXT for _ in names), file=self.place.path)
        return _CsvReader(
            names, relation, None, self.settings, unit, max_rows, self.place, _restore
        )

    def _head(self) -> tuple[str, tuple[str, ...]]:
        head = guarded(
            self._first_record,
            DataFailure(
                "DPQL-E105",
                f"the first line of `{self.place.name}` does not name the columns",
                "give the file a first line with the column names, in UTF-8",
            ),
        )
        return head

    def _first_record(self) -> tuple[str, tuple[str, ...]]:
        with self.place.path.open("rb") as file:
            start = file.read(_HEAD)
        text = _until_line_end(start).decode("utf-8-sig")
        unquoted = "".join(text.split('"')[::2])
        separator = next((mark for mark in _SEPARATORS if mark in unquoted), ",")
        names = tuple(_fields(text, separator))
        if not text.strip():
            raise ValueError("no names")
        return separator, names


class _CsvReader(TableReader):
    """Compares levels as the bytes that the file holds."""

    def batches(
        self, columns: Sequence[Selection], order_by: str | None = None, rows: int = 65_536
    ) -> Iterator[pa.RecordBatch]:
        """Batches of at most `rows` rows with the named columns in order; every row, once."""
        return super().batches([_as_bytes(column) for column in columns], order_by, rows)


def _as_bytes(column: Selection) -> Selection:
    if not isinstance(column, Level):
        return column
    levels = tuple(level.encode("utf-8").decode("latin-1") for level in column.levels)
    return Level(column.name, levels, column.fill)


def _restore(columns: Sequence[Selection], batch: pa.RecordBatch) -> pa.RecordBatch:
    arrays = [
        _utf8(array) if isinstance(column, Plain) and column.type == "text" else array
        for column, array in zip(columns, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _utf8(array: pa.Array) -> pa.Array:
    if pc.all(pc.string_is_ascii(array)).as_py() is not False:
        return pc.cast(array, pa.string())
    texts = (
        None if text is None else text.encode("latin-1").decode("utf-8", "replace")
        for text in array.to_pylist()
    )
    return pa.array(texts, pa.string())


def _until_line_end(start: bytes) -> bytes:
    inside = False
    for place, byte in enumerate(start):
        if byte == 0x22:
            inside = not inside
        elif byte in b"\r\n" and not inside:
            return start[:place]
    if len(start) == _HEAD:
        raise ValueError("the first record is too long")
    return start


def _fields(text: str, separator: str) -> list[str]:
    fields, field, inside = [], "", False
    for character in text:
        if character == '"':
            inside = not inside
            field += character
        elif character == separator and not inside:
            fields.append(field)
            field = ""
        else:
            field += character
    return [_unquoted(part) for part in (*fields, field)]


def _unquoted(field: str) -> str:
    bare = field.strip()
    if len(bare) >= 2 and bare[0] == bare[-1] == '"':
        return bare[1:-1].replace('""', '"')
    return bare
