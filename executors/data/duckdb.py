"""The DuckDB engine, locked down to the one file that a scan reads."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from executors.data.clamp import sql_form
from executors.data.kinds import StoredKind
from executors.data.settings import Settings
from executors.data.source import Selection
from executors.data.units import is_missing_unit

__all__ = ["Relation", "late_rows", "scan"]


@dataclass(frozen=True, slots=True)
class Relation:
    """One table for the engine: its columns are known by place only, never by name.

    `sql` is a table expression that yields the columns in order; with `numbers_rows` a last
    column holds the row number from 0. `file` is the one file it may touch, `table` the Arrow
    table that the name `rows` stands for.
    """

    sql: str
    kinds: tuple[StoredKind, ...]
    file: Path | None = None
    table: pa.Table | None = None
    numbers_rows: bool = False

    def numbered(self, places: Sequence[int]) -> str:
        """A query of the columns at `places`, named c0, c1, ... by place, with the row number."""
        names = ", ".join(f"c{place}" for place in range(len(self.kinds)))
        kept = "".join(f", c{place}" for place in sorted(set(places)))
        if self.numbers_rows:
            return f"select n{kept} from {self.sql} as t({names}, n)"
        return f"select row_number() over () - 1 as n{kept} from {self.sql} as t({names})"


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
    missing, as do rows without a unit. `order_by` is an index into `selections`.
    """
    places = [place for place, _ in selections]
    late = None
    query = relation.numbered(places if unit is None else [*places, unit])
    if unit is not None:
        query = f"select *, {_late(relation, unit, max_rows)} as late from ({query})"
        late = "late"
    made = ", ".join(
        f"{sql_form(selection, f'c{place}', relation.kinds[place], late)} as v{index}"
        for index, (place, selection) in enumerate(selections)
    )
    query = f"select {made}, n from ({query})"
    if order_by is not None:
        query += f" order by v{order_by} asc nulls last, n asc"
    elif unit is not None:
        query += " order by n asc"
    wanted = ", ".join(f"v{index}" for index in range(len(selections)))
    yield from _run(relation, f"select {wanted} from ({query})", settings, rows)


def late_rows(
    relation: Relation, unit: int, max_rows: int, settings: Settings
) -> npt.NDArray[np.int64]:
    """The row numbers, ascending, of rows beyond `max_rows` of their unit or without a unit."""
    query = (
        f"select n from (select n, {_late(relation, unit, max_rows)} as late"
        f" from ({relation.numbered([unit])})) where late order by n"
    )
    parts = [
        batch.column(0).to_numpy().astype(np.int64)
        for batch in _run(relation, query, settings, 65_536)
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _late(relation: Relation, unit: int, max_rows: int) -> str:
    missing = is_missing_unit(f"c{unit}", relation.kinds[unit])
    return f"({missing} or row_number() over (partition by c{unit} order by n) > {max_rows:d})"


def _run(relation: Relation, query: str, settings: Settings, rows: int) -> Iterator[pa.RecordBatch]:
    with tempfile.TemporaryDirectory(prefix="dpql-", dir=settings.temp_directory) as folder:
        connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
        try:
            _limit(connection, settings, folder)
            _lock(connection, relation.file, folder)
            if relation.table is not None:
                connection.register("rows", relation.table)
            yield from connection.sql(query).to_arrow_reader(rows)
        finally:
            connection.close()


def _limit(connection: duckdb.DuckDBPyConnection, settings: Settings, folder: str) -> None:
    connection.execute(f"set memory_limit={_text(settings.memory_limit)}")
    connection.execute(f"set temp_directory={_text(folder + '/spill')}")
    if settings.threads is not None:
        connection.execute(f"set threads={settings.threads:d}")


def _lock(connection: duckdb.DuckDBPyConnection, file: Path | None, folder: str) -> None:
    """Leave the engine one file and its own folder.

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
    connection.execute(f"set allowed_directories=[{_text(folder)}]")
    connection.execute(f"set allowed_paths=[{', '.join(map(_text, paths))}]")
    connection.execute("set enable_external_access=false")
    connection.execute("set lock_configuration=true")


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
