"""Whether a source can hold what a dataset declares, from names and stored types alone."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase

import pyarrow as pa

from executors.data.kinds import StoredKind, stored_kind
from executors.data.source import Description
from grammar.diagnostics import Diagnostic
from planner.facts import Column, ColumnType, SourceFacts

__all__ = ["check_schema"]

_NUMBERS: tuple[StoredKind, ...] = ("real", "integer", "decimal", "boolean", "text")
_NAMES: tuple[StoredKind, ...] = ("text", "integer", "boolean")
_STORED: dict[ColumnType, tuple[StoredKind, ...]] = {
    "real": _NUMBERS,
    "integer": _NUMBERS,
    "boolean": _NUMBERS,
    "genotype": _NUMBERS,
    "duration": _NUMBERS,
    "event": _NUMBERS,
    "log_evalue": _NUMBERS,
    "category": _NAMES,
    "site": _NAMES,
    "id": _NAMES,
}
_UNITS: tuple[StoredKind, ...] = ("text", "integer", "boolean", "decimal", "real")


def check_schema(
    description: Description,
    facts: SourceFacts,
    columns: Iterable[str] | None = None,
    ordered: bool = False,
) -> tuple[Diagnostic, ...]:
    """Everything that does not fit: E100, E101, E103, E104, E110 and E147, without places.

    `columns` names those that the plan reads, all declared ones by default; the unit column is
    always looked for. `ordered` tells that the plan goes by row numbers. The number of rows is
    compared where the source's footer tells its own.
    """
    read = None if columns is None else set(columns)
    stored = {name: stored_kind_of(type) for name, type in description.columns}
    findings: list[Diagnostic] = []
    if ordered and not description.is_ordered:
        findings.append(
            Diagnostic(
                "DPQL-E147",
                f"the rows of `{facts.name}` have no order of their own",
                note="a statement of the plan splits the table by row number, and a row must keep "
                "its number when another one is replaced",
                help="bind a Parquet, CSV or Arrow table, or leave `variant=paper` out",
            )
        )
    for column in facts.columns:
        if read is not None and column.name not in read:
            continue
        if column.pattern:
            findings += _pattern(column, description, stored)
        else:
            findings += _fits(column.name, _STORED[column.type], column.type, description, stored)
    if facts.unit is not None:
        findings += _fits(facts.unit, _UNITS, "unit", description, stored)
    if description.rows is not None and description.rows != facts.rows:
        findings.append(
            Diagnostic(
                "DPQL-E104",
                f"the data does not have the declared {facts.rows} rows",
                note="the number of rows is public: plans, prices and ledger keys rest on it",
                help="bind the file that the plan was made for, or declare its ROWS and plan anew",
            )
        )
    return tuple(findings)


def stored_kind_of(type: str) -> StoredKind:
    """The kind of a stored type by its Arrow name, as descriptions have it."""
    if type.startswith("dictionary<values="):
        type = type.removeprefix("dictionary<values=").split(",")[0]
    if type.startswith("decimal"):
        return "decimal"
    aliases = {"halffloat": "float16", "float": "float32", "double": "float64"}
    try:
        return stored_kind(pa.type_for_alias(aliases.get(type, type)))
    except ValueError:
        return "other"


def _fits(
    name: str,
    allowed: tuple[StoredKind, ...],
    wanted: str,
    description: Description,
    stored: dict[str, StoredKind],
) -> Iterable[Diagnostic]:
    kind = stored.get(name)
    count = sum(one == name for one, _ in description.columns)
    if kind is None:
        yield Diagnostic(
            "DPQL-E100", f"the data has no column `{name}`", help=_names(name, description, stored)
        )
    elif count > 1:
        yield Diagnostic(
            "DPQL-E103",
            f"the data has {count} columns named `{name}`",
            help="rename the columns so that each name stands for one",
        )
    elif kind not in allowed:
        yield Diagnostic(
            "DPQL-E101",
            f"the column `{name}` is not stored as a type that {wanted.upper()} can be read from",
            note=f"{wanted.upper()} is read from columns stored as {', '.join(allowed)}",
            help=f"convert `{name}` in the file, or leave it out of the statement",
        )


def _pattern(
    column: Column, description: Description, stored: dict[str, StoredKind]
) -> Iterable[Diagnostic]:
    every = [name for name, _ in description.columns if fnmatchcase(name, column.name)]
    names = list(dict.fromkeys(every))
    if not names or (column.hypotheses is not None and len(names) != column.hypotheses):
        wanted = "any" if column.hypotheses is None else str(column.hypotheses)
        yield Diagnostic(
            "DPQL-E110",
            f"the pattern `{column.name}` does not match {wanted} columns of the data",
            note=f"{len(names)} of its {len(stored)} column names match",
            help="correct the pattern or its HYPOTHESES, or bind another file",
        )
    if len(every) > len(names):
        yield Diagnostic(
            "DPQL-E103",
            f"two columns that match `{column.name}` have the same name",
            help="rename the columns so that each name stands for one",
        )
        return
    for name in names:
        yield from _fits(name, _STORED[column.type], column.type, description, stored)


def _names(name: str, description: Description, stored: dict[str, StoredKind]) -> str:
    """Help for a name that is not there; of a line of text it repeats nothing but that name."""
    if description.from_line:
        same = [one for one in stored if one.casefold() == name.casefold()]
        return (
            f"it has `{same[0]}`: names are compared exactly"
            if same
            else "the first line of the file must hold the names of the columns, as declared"
        )
    near = get_close_matches(name, stored, n=1, cutoff=0.6)
    if near:
        return f"did you mean `{near[0]}`?"
    shown = ", ".join(f"`{one}`" for one in list(stored)[:12])
    more = f" and {len(stored) - 12} more" if len(stored) > 12 else ""
    return f"the data has the columns {shown}{more}"
