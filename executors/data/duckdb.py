"""The DuckDB engine, locked down to what one scan reads."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from executors.data.clamp import sql_form
from executors.data.kinds import StoredKind, stored_kind
from executors.data.settings import Settings
from executors.data.source import Selection
from executors.data.units import is_missing_unit

__all__ = ["Relation", "Stream", "late_rows", "scan"]

Stream = Callable[[Sequence[int], int], Iterator[pa.RecordBatch]]
"""Stored columns at the given places, in row order, in batches of at most so many rows."""


@dataclass(frozen=True, slots=True)
class Relation:
    """One table for the engine, a Parquet file or a stream; columns are known by place only."""

    types: tuple[pa.DataType, ...]
    file: Path | None = None
    stream: Stream | None = None

    def kind(self, place: int) -> StoredKind:
        """What the column at `place` holds."""
        return stored_kind(self.types[place])

    def query(self, places: Sequence[int]) -> str:
        """The columns at `places`, named c0, c1, ... by place, with the row number n from 0."""
        kept = ", ".join(f"c{place}" for place in places)
        if self.file is None:
            return f"select n, {kept} from rows"
        names = ", ".join(f"c{place}" for place in range(len(self.types)))
        return (
            f"select n, {kept} from read_parquet(getvariable('link'), hive_partitioning=false,"
            f" file_row_number=true) as t({names}, n)"
        )

    def numbered(self, places: Sequence[int], rows: int) -> pa.RecordBatchReader | None:
        """The stream as the table `rows` of the query, with its row numbers."""
        if self.stream is None:
            return None
        fields = [pa.field(f"c{place}", self.types[place]) for place in places]
        schema = pa.schema([*fields, pa.field("n", pa.int64())])
        return pa.RecordBatchReader.from_batches(
            schema, _numbered(self.stream(places, rows), schema)
        )


def _numbered(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    start = 0
    for batch in batches:
        numbers = pa.array(np.arange(start, start + batch.num_rows, dtype=np.int64))
        start += batch.num_rows
        yield pa.RecordBatch.from_arrays([*batch.columns, numbers], schema=schema)


def scan(
    relation: Relation,
    selections: Sequence[tuple[int, Selection]],
    settings: Settings,
    unit: int | None = None,
    max_rows: int = 1,
    order_by: int | None = None,
    rows: int = 65_536,
) -> Iterator[pa.RecordBatch]:
    """Batches of the selections (place of the column, what to make of it), named v0, v1, ...

    `unit` is the place of the unit column; its rows beyond `max_rows` in row order count as
    missing, as do rows without a unit. `order_by` is an index into `selections`; without it rows
    come in row order, or the scan raises.
    """
    used = [place for place, _ in selections]
    places = sorted({*used, *([] if unit is None else [unit])})
    query = relation.query(places)
    late = None
    if unit is not None:
        query = f"select *, {_late(relation, unit, max_rows)} as late from ({query})"
        late = "late"
    made = ", ".join(
        f"{sql_form(selection, f'c{place}', relation.kind(place), late)} as v{index}"
        for index, (place, selection) in enumerate(selections)
    )
    query = f"select {made}, n from ({query})"
    if order_by is not None:
        query += f" order by v{order_by} asc nulls last, n asc"
    elif unit is not None:
        query += " order by n asc"
    before = -1
    for batch in _run(relation, places, query, settings, rows):
        numbers = batch.column(len(selections)).to_numpy()
        if order_by is None and len(numbers):
            if numbers[0] != before + 1 or (np.diff(numbers) != 1).any():
                raise RuntimeError("the engine gave the rows in another order")
            before = numbers[-1]
        yield batch.select(range(len(selections)))


def late_rows(
    relation: Relation, unit: int, max_rows: int, settings: Settings
) -> npt.NDArray[np.int64]:
    """The row numbers, ascending, of rows beyond `max_rows` of their unit or without a unit."""
    query = (
        f"select n from (select n, {_late(relation, unit, max_rows)} as late"
        f" from ({relation.query([unit])})) where late order by n"
    )
    parts = [
        batch.column(0).to_numpy().astype(np.int64)
        for batch in _run(relation, [unit], query, settings, 65_536)
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _late(relation: Relation, unit: int, max_rows: int) -> str:
    missing = is_missing_unit(f"c{unit}", relation.kind(unit))
    return f"({missing} or row_number() over (partition by c{unit} order by n) > {max_rows:d})"


def _run(
    relation: Relation, places: Sequence[int], query: str, settings: Settings, rows: int
) -> Iterator[pa.RecordBatch]:
    with tempfile.TemporaryDirectory(prefix="dpql-", dir=settings.temp_directory) as folder:
        connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
        try:
            _limit(connection, settings, folder)
            _lock(connection, relation.file, folder)
            stream = relation.numbered(places, rows)
            if stream is not None:
                connection.register("rows", stream)
            yield from connection.sql(query).to_arrow_reader(rows)
        finally:
            connection.close()


def _limit(connection: duckdb.DuckDBPyConnection, settings: Settings, folder: str) -> None:
    connection.execute(f"set memory_limit={_text(settings.memory_limit)}")
    connection.execute(f"set temp_directory={_text(folder + '/spill')}")
    if settings.threads is not None:
        connection.execute(f"set threads={settings.threads:d}")


def _lock(connection: duckdb.DuckDBPyConnection, file: Path | None, folder: str) -> None:
    """Leave the engine one file and its own folder, for good.

    The file is read through a link named `data` in the engine's folder, so that no character of
    its real name (a quote, a star, a bracket) means anything to the engine.
    """
    paths = []
    if file is not None:
        link = Path(folder, "data")
        link.symlink_to(file)
        connection.execute(f"set variable link={_text(str(link))}")
        paths = [str(link), str(file)]
    connection.execute("set autoload_known_extensions=false")
    connection.execute("set python_enable_replacements=false")
    connection.execute("set preserve_insertion_order=true")
    connection.execute(f"set allowed_directories=[{_text(folder)}]")
    connection.execute(f"set allowed_paths=[{', '.join(map(_text, paths))}]")
    connection.execute("set enable_external_access=false")
    connection.execute("set lock_configuration=true")


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
