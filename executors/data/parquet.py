"""Parquet files as a source: streamed straight from the file, sorted by the engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from executors.data.admission import admit
from executors.data.duckdb import Relation
from executors.data.failure import DataFailure, guarded
from executors.data.place import FilePlace
from executors.data.scan import TableReader
from executors.data.settings import Settings
from executors.data.source import Description
from planner.charge_token import Token

__all__ = ["ParquetSource"]

_BUFFER = 1 << 18
"""Bytes read ahead per column: memory stays flat however large a row group is."""


@dataclass(frozen=True, slots=True)
class ParquetSource:
    """One Parquet file; its footer tells names, stored types and the number of rows."""

    place: FilePlace
    settings: Settings

    @property
    def location(self) -> str:
        """The canonical file URI."""
        return self.place.uri

    def describe(self) -> Description:
        """Names, Arrow types and row count of the footer; no row is read."""
        schema, rows = self._footer()
        columns = tuple((field.name, str(field.type)) for field in schema)
        return Description(columns, rows, is_ordered=True)

    def open(self, token: Token, unit: str | None = None, max_rows: int = 1) -> TableReader:
        """A reader of the file, which must not have changed since it was bound."""
        admit(token)
        self.place.confirm()
        schema, _ = self._footer()
        relation = Relation(tuple(field.type for field in schema), file=self.place.path)
        return TableReader(
            tuple(schema.names), relation, self._stream, self.settings, unit, max_rows, self.place
        )

    def _footer(self) -> tuple[pa.Schema, int]:
        failure = unreadable(self.place)
        file = guarded(lambda: pq.ParquetFile(self.place.path), failure)
        with file:
            return guarded(lambda: (file.schema_arrow, file.metadata.num_rows), failure)

    def _stream(self, places: Sequence[int], rows: int) -> Iterator[pa.RecordBatch]:
        with pq.ParquetFile(self.place.path, pre_buffer=False, buffer_size=_BUFFER) as file:
            names = [file.schema_arrow.field(place).name for place in places]
            for batch in file.iter_batches(batch_size=rows, columns=names):
                yield batch.select(names)


def unreadable(place: FilePlace) -> DataFailure:
    """The failure for a file that is damaged, cut off or gone."""
    return DataFailure(
        "DPQL-E105",
        f"the file `{place.name}` cannot be read to its end",
        "check that the file is whole and that this user may read it",
    )
