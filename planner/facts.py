"""The declared public facts that a mechanism may see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

__all__ = ["Column", "ColumnType", "Facts", "Norm", "PublicTable", "SourceFacts"]

ColumnType: TypeAlias = Literal[
    "real",
    "integer",
    "boolean",
    "category",
    "genotype",
    "id",
    "duration",
    "event",
    "site",
    "log_evalue",
]


@dataclass(frozen=True, slots=True)
class Column:
    """A declared column. Bounds are exact; a boolean has none here and is read as 0 or 1."""

    name: str
    type: ColumnType
    lo: Fraction | None = None
    hi: Fraction | None = None
    levels: tuple[str, ...] = ()
    sensitivity: Fraction | None = None
    asserted_by: str = ""
    pattern: bool = False
    hypotheses: int | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds a number that `IN [lo, hi]` bounds."""
        return self.type in ("real", "integer", "duration")

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """lo and hi; 0 and 1 for a boolean, 0 and 2 for a genotype; None where undeclared."""
        if self.type in ("boolean", "event"):
            return Fraction(0), Fraction(1)
        if self.type == "genotype":
            return Fraction(0), Fraction(2)
        if self.lo is None or self.hi is None:
            return None
        return self.lo, self.hi


@dataclass(frozen=True, slots=True)
class Norm:
    """`NORM (columns) <= bound` about `center` (one number a column, in the order of `columns`)."""

    columns: tuple[str, ...]
    bound: Fraction
    center: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """One source of a statement: a dataset as a whole, or one of its sites.

    `rows` is n, public and fixed (of the site where `site` is set). `max_rows` is `MAX k`.
    `columns` are all declared columns of the dataset in declared order, roles included.
    """

    dataset: str
    rows: int
    columns: tuple[Column, ...]
    site: str | None = None
    population: str | None = None
    unit: str | None = None
    max_rows: int = 1
    sites: tuple[tuple[str, int], ...] = ()
    max_sites: int = 1
    norm: Norm | None = None

    @property
    def name(self) -> str:
        """`dataset` or `dataset.site`."""
        return self.dataset if self.site is None else f"{self.dataset}.{self.site}"

    def at(self, site: str | None) -> SourceFacts:
        """The facts of one of its sites; of the whole for None. KeyError where it has no such."""
        return self if site is None else replace(self, site=site, rows=dict(self.sites)[site])

    def column(self, name: str) -> Column | None:
        """The declared column of that name."""
        return next((column for column in self.columns if column.name == name), None)

    def role(self, type: ColumnType) -> tuple[Column, ...]:
        """All declared columns of one type, in declared order."""
        return tuple(column for column in self.columns if column.type == type)


@dataclass(frozen=True, slots=True)
class PublicTable:
    """A public square table, bound by name when a plan is made: entry (j, k) of `rows` belongs to
    columns j and k. `sha256` is that of the file.
    """

    name: str
    sha256: str
    columns: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is public about one statement: its sources in ON order, its columns as resolved.

    `tables` are the public tables that it names, as far as they are bound: only forecasts use them.
    """

    sources: tuple[SourceFacts, ...]
    columns: tuple[Column, ...]
    tables: tuple[PublicTable, ...] = ()

    @property
    def source(self) -> SourceFacts:
        """The first source; the only one of most statements."""
        return self.sources[0]

    @property
    def rows(self) -> int:
        """n of the first source."""
        return self.sources[0].rows
