"""Tables in memory as a source: Arrow, pandas, polars, or whatever speaks the Arrow interface."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from executors.data.admission import admit
from executors.data.duckdb import Relation
from executors.data.failure import DataFailure, guarded
from executors.data.kinds import stored_kind
from executors.data.scan import TableReader
from executors.data.settings import Settings
from executors.data.source import Description
from planner.charge_token import Token

__all__ = ["ArrowSource", "table_of"]


@dataclass(frozen=True, slots=True)
class ArrowSource:
    """A table in memory; its location is a fingerprint of names, types and contents."""

    table: pa.Table
    settings: Settings
    _location: list[str] = field(default_factory=list, repr=False, compare=False)

    @property
    def location(self) -> str:
        """`sha256:` and 64 hexadecimal digits; the same for every chunking of the same table."""
        if not self._location:
            self._location.append("sha256:" + _fingerprint(self.table))
        return self._location[0]

    def describe(self) -> Description:
        """Names, Arrow types and the number of rows."""
        columns = tuple((part.name, str(part.type)) for part in self.table.schema)
        return Description(columns, self.table.num_rows, is_ordered=True)

    def open(self, token: Token, unit: str | None = None, max_rows: int = 1) -> TableReader:
        """A reader of the table."""
        admit(token)
        return reader_of(self.table, self.settings, unit, max_rows)


def reader_of(table: pa.Table, settings: Settings, unit: str | None, max_rows: int) -> TableReader:
    """A reader of a table in memory, known to the engine by places only."""
    plain = table.rename_columns([f"c{place}" for place in range(table.num_columns)])

    def stream(places: Sequence[int], rows: int) -> Iterator[pa.RecordBatch]:
        yield from plain.select(list(places)).to_batches(max_chunksize=rows)

    relation = Relation(tuple(table.schema.types), stream=stream)
    return TableReader(tuple(table.schema.names), relation, stream, settings, unit, max_rows)


def table_of(data: object) -> pa.Table:
    """The Arrow table of anything with `__arrow_c_stream__`; a stream is drained."""
    failure = DataFailure(
        "DPQL-E107",
        f"a `{type(data).__name__}` cannot be read as a table",
        "bind an Arrow table, or a pandas or polars frame whose columns hold one type each",
    )
    return guarded(lambda: _uniform(data), failure)


def _uniform(data: object) -> pa.Table:
    table = data if isinstance(data, pa.Table) else pa.table(data)
    return pa.Table.from_arrays(
        [_plain(column) for column in table.columns], names=table.schema.names
    )


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column without views, dictionaries or half floats, which engines treat differently."""
    if pa.types.is_dictionary(column.type):
        column = _undone(column)
    if stored_kind(column.type) == "text":
        return pc.cast(column, pa.large_string())
    return pc.cast(column, pa.float32()) if column.type == pa.float16() else column


def _undone(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values that a dictionary stands for; polars keeps its categories as views of text."""
    kind = column.type.value_type
    if stored_kind(kind) == "text":
        kind = pa.large_string()
    pieces = [
        pa.DictionaryArray.from_arrays(chunk.indices, pc.cast(chunk.dictionary, kind))
        for chunk in column.chunks
    ]
    return pc.cast(pa.chunked_array(pieces, pa.dictionary(column.type.index_type, kind)), kind)


def _fingerprint(table: pa.Table) -> str:
    digest = hashlib.sha256(b"dpql/1 table\n")
    digest.update(f"{table.num_rows} {table.num_columns}\n".encode())
    for part, column in zip(table.schema, table.columns, strict=True):
        digest.update(f"{part.name!r} {part.type}\n".encode())
        for piece in _pieces(column):
            digest.update(piece)
    return digest.hexdigest()


def _pieces(column: pa.ChunkedArray) -> Iterator[bytes]:
    """Validity and contents of a column as bytes, whatever its chunks and offsets are."""
    for chunk in column.chunks:
        yield np.asarray(chunk.is_valid().to_numpy(zero_copy_only=False), dtype=np.uint8).tobytes()
    kind = stored_kind(column.type)
    for chunk in column.chunks:
        if kind in ("integer", "real", "boolean"):
            filled = chunk.fill_null(False if kind == "boolean" else 0)
            yield filled.to_numpy(zero_copy_only=False).tobytes()
        else:
            for value in chunk:
                text = repr(value.as_py()).encode("utf-8", "surrogatepass")
                yield b"%d:" % len(text) + text
