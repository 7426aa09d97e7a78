"""The tree of a file: what was written, with its places.

Statement
├── Dataset ── From Rows Unit Population Neighbors Sites ColumnDeclarations Center Norm Costs
├── Let  Study  Evalues
├── Policy ── Cap Allow Forbid Require
├── Measurement ── On Option Flag Columns Formula By Costs
└── Derive  Expect
Expression
├── Number Text Name Member Auto Truth
└── Items Group Sign Operation Call

Two trees are equal when they say the same; places do not take part in equality.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from grammar.source import Source, Span

Verb: TypeAlias = Literal["TEST", "PEEL", "COVARIANCE", "FIT", "RELEASE"]
NOWHERE = Span(0, 0)


def _span() -> Span:
    return field(default=NOWHERE, compare=False, repr=False)


# --- expressions -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """An unsigned number: its text as written, its exact value."""

    text: str
    value: Fraction
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Text:
    """A string in single quotes, without them."""

    value: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Name:
    """A word or a quoted name; `quoted` tells the printer to keep the quotes."""

    text: str
    quoted: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Member:
    """`left.right`: a dataset's site, or a release's metric."""

    left: Name
    right: Name
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Auto:
    """The word `auto`: left to the planner."""

    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false`."""

    value: bool
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Items:
    """`[a, b]`: a list of values."""

    items: tuple[Expression, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Group:
    """`(a, b)`: a tuple of names; `(a)` with one expression is a parenthesis."""

    items: tuple[Expression, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Sign:
    """`-x` or `+x`."""

    sign: Literal["+", "-"]
    operand: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Operation:
    """`left operator right`; `:` and `|` only in formulas."""

    operator: Literal["+", "-", "*", "/", "^", ":", "|"]
    left: Expression
    right: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Call:
    """`function(arguments)`."""

    function: Name
    arguments: tuple[Expression, ...]
    span: Span = _span()


Expression: TypeAlias = (
    Number | Text | Name | Member | Auto | Truth | Items | Group | Sign | Operation | Call
)
Reference: TypeAlias = Name | Member


# --- costs -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CostTerm:
    """`eps=1`, one number of a cost; the word is written in lower case here."""

    unit: Literal["eps", "delta", "rho", "mu"]
    value: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Amount:
    """One cost as written: terms, or a share `n%`, or `auto`; `at` names the source that pays."""

    terms: tuple[CostTerm, ...] = ()
    share: Number | None = None
    auto: bool = False
    at: Reference | None = None
    span: Span = _span()


# --- clauses of DATASET ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class From:
    """`FROM 'uri'`."""

    uri: Text
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Rows:
    """`ROWS n`."""

    number: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Unit:
    """`UNIT column [MAX k]`."""

    column: Name
    maximum: Expression | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Population:
    """`POPULATION name`."""

    name: Name
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Neighbors:
    """`NEIGHBORS replace`."""

    relation: Name
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Site:
    """`a ROWS n1` inside SITES; the number may be missing, and then is complained of."""

    name: Name
    rows: Expression | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Sites:
    """`SITES (a ROWS n1, b ROWS n2) [MAX r]`."""

    sites: tuple[Site, ...]
    maximum: Expression | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ColumnDeclaration:
    """One entry of `COLUMNS (...)` of a dataset: a name or a pattern, a type word, its details."""

    name: Name | Text
    type: Name
    range: tuple[Expression, Expression] | None = None
    levels: tuple[Text, ...] | None = None
    hypotheses: Expression | None = None
    sensitivity: Expression | None = None
    asserted_by: Text | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ColumnDeclarations:
    """`COLUMNS (...)` of a dataset."""

    columns: tuple[ColumnDeclaration, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Center:
    """`CENTER [c1, ...]`."""

    values: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Norm:
    """`NORM (x, y) <= C`."""

    columns: tuple[Name, ...]
    bound: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Costs:
    """`[BUDGET] cost [AT a AND cost AT b]`; `word` tells that BUDGET was written."""

    amounts: tuple[Amount, ...]
    word: bool = False
    span: Span = _span()


DatasetClause: TypeAlias = (
    From | Rows | Unit | Population | Neighbors | Sites | ColumnDeclarations | Center | Norm | Costs
)


# --- clauses of POLICY -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cap:
    """`CAP cost [PER n DAYS] [FOR ANALYST 'x' | FOR COLUMNS (...)]`."""

    amount: Amount
    days: Expression | None = None
    analyst: Text | None = None
    columns: tuple[Name, ...] | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Allow:
    """`ALLOW (TEST, COVARIANCE pace)`: pairs of a verb and a method, or None for the whole verb."""

    entries: tuple[tuple[Name, Name | None], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Forbid:
    """`FORBID COLUMNS (...)`."""

    columns: tuple[Name, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Require:
    """`REQUIRE n APPROVALS [WHEN cost]`."""

    number: Expression
    when: Amount | None = None
    span: Span = _span()


PolicyClause: TypeAlias = Cap | Allow | Forbid | Require


# --- items of a measurement --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class On:
    """`ON source [VS source]` or `ON (source, ...)`."""

    sources: tuple[Reference, ...]
    versus: Reference | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Option:
    """`name=value` or `name=value VS value`."""

    name: Name
    value: Expression
    versus: Expression | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Flag:
    """A bare word such as ADAPTIVE."""

    name: Name
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Columns:
    """`COLUMNS (a, b)`."""

    columns: tuple[Name, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Formula:
    """`response ~ terms`."""

    response: Expression
    terms: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class By:
    """`BY column`."""

    column: Name
    span: Span = _span()


Item: TypeAlias = On | Option | Flag | Columns | Formula | By | Costs
_ORDER: dict[type[Item], int] = {
    On: 0,
    Formula: 1,
    By: 2,
    Option: 3,
    Flag: 4,
    Columns: 5,
    Costs: 6,
}


def in_order(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Items as `fmt` writes them: ON, formula, BY, options, flags, COLUMNS, cost."""
    return tuple(sorted(items, key=lambda item: _ORDER[type(item)]))


# --- statements --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dataset:
    """`DATASET name clause...`, clauses as written, repetition included."""

    name: Name
    clauses: tuple[DatasetClause, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Let:
    """`LET name = expression`."""

    name: Name
    value: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Study:
    """`STUDY key = 'text', ...`."""

    entries: tuple[tuple[Name, Text], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True, eq=False)
class Evalues:
    """`EVALUES name ON dataset option=... [COLUMNS (...)]`; equal up to the order of its items."""

    name: Name
    items: tuple[Item, ...]
    span: Span = _span()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evalues) and self._said() == other._said()

    def __hash__(self) -> int:
        return hash(self._said())

    def _said(self) -> tuple[object, ...]:
        return self.name, in_order(self.items)


@dataclass(frozen=True, slots=True)
class Policy:
    """`POLICY dataset clause...`."""

    dataset: Name
    clauses: tuple[PolicyClause, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """`VERB method item... [AS name]`, items as written, repetition included.

    Measurements are equal when their items are, up to the order of the items' kinds.
    """

    verb: Verb
    method: Name
    items: tuple[Item, ...]
    name: Name | None = None
    span: Span = _span()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measurement) and self._said() == other._said()

    def __hash__(self) -> int:
        return hash(self._said())

    def _said(self) -> tuple[object, ...]:
        return self.verb, self.method, in_order(self.items), self.name


@dataclass(frozen=True, slots=True)
class Derive:
    """`DERIVE name = function(release, option=value, ...)`."""

    name: Name
    function: Name
    arguments: tuple[Expression, ...]
    options: tuple[Option, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Expect:
    """`EXPECT release.metric >= value`."""

    release: Name
    metric: Name
    comparison: str
    value: Expression
    span: Span = _span()


Statement: TypeAlias = Dataset | Let | Study | Evalues | Policy | Measurement | Derive | Expect


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its marks; `own_line` tells that no code stands before it on its line."""

    text: str
    own_line: bool
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Broken:
    """A statement that could not be read: what it seems to define, so that nobody misses it aloud.

    `word` is its statement word in upper case, "" where it has none; `names` are the names that it
    may have defined (a dataset, its sites, a release); `method` that of a measurement.
    """

    word: str
    names: tuple[str, ...] = ()
    method: str = ""
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Script:
    """What could be read of a file; `broken` stands for the rest, told in the diagnostics."""

    source: Source = field(compare=False, repr=False)
    statements: tuple[Statement, ...] = ()
    comments: tuple[Comment, ...] = field(default=(), compare=False)
    broken: tuple[Broken, ...] = field(default=(), compare=False)
