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

from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Literal, TypeAlias, TypeVar, dataclass_transform

from grammar.source import Source, Span

Verb: TypeAlias = Literal["TEST", "PEEL", "COVARIANCE", "FIT", "RELEASE"]
NOWHERE = Span(0, 0)
_Class = TypeVar("_Class")


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def _node(cls: type[_Class]) -> type[_Class]:
    """A frozen, slotted dataclass; `Node` compares and shows it, which halves the time to load."""
    return dataclass(frozen=True, slots=True, eq=False, repr=False)(cls)


class Node:
    """What every part of a tree can do; places take no part in it."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node) or type(self) is not type(other):
            return NotImplemented
        return self._said() == other._said()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._said()))

    def __repr__(self) -> str:
        shown = ((part.name, getattr(self, part.name)) for part in fields(self) if part.repr)  # type: ignore[arg-type]  # only dataclasses derive from it
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown)})"

    def _said(self) -> tuple[object, ...]:
        return tuple(getattr(self, part.name) for part in fields(self) if part.compare)  # type: ignore[arg-type]  # only dataclasses derive from it


def _span() -> Span:
    return field(default=NOWHERE, compare=False, repr=False)


# --- expressions -------------------------------------------------------------------------------


@_node
class Number(Node):
    """An unsigned number: its text as written, its exact value."""

    text: str
    value: Fraction
    span: Span = _span()


@_node
class Text(Node):
    """A string in single quotes, without them."""

    value: str
    span: Span = _span()


@_node
class Name(Node):
    """A word or a quoted name; `quoted` tells the printer to keep the quotes."""

    text: str
    quoted: bool = False
    span: Span = _span()


@_node
class Member(Node):
    """`left.right`: a dataset's site, or a release's metric."""

    left: Name
    right: Name
    span: Span = _span()


@_node
class Auto(Node):
    """The word `auto`: left to the planner."""

    span: Span = _span()


@_node
class Truth(Node):
    """`true` or `false`."""

    value: bool
    span: Span = _span()


@_node
class Items(Node):
    """`[a, b]`: a list of values."""

    items: tuple[Expression, ...]
    span: Span = _span()


@_node
class Group(Node):
    """`(a, b)`: a tuple of names; `(a)` with one expression is a parenthesis."""

    items: tuple[Expression, ...]
    span: Span = _span()


@_node
class Sign(Node):
    """`-x` or `+x`."""

    sign: Literal["+", "-"]
    operand: Expression
    span: Span = _span()


@_node
class Operation(Node):
    """`left operator right`; `:` and `|` only in formulas."""

    operator: Literal["+", "-", "*", "/", "^", ":", "|"]
    left: Expression
    right: Expression
    span: Span = _span()


@_node
class Call(Node):
    """`function(arguments)`."""

    function: Name
    arguments: tuple[Expression, ...]
    span: Span = _span()


Expression: TypeAlias = (
    Number | Text | Name | Member | Auto | Truth | Items | Group | Sign | Operation | Call
)
Reference: TypeAlias = Name | Member


# --- costs -------------------------------------------------------------------------------------


@_node
class CostTerm(Node):
    """`eps=1`, one number of a cost; the word is written in lower case here."""

    unit: Literal["eps", "delta", "rho", "mu"]
    value: Expression
    span: Span = _span()


@_node
class Amount(Node):
    """One cost as written: terms, or a share `n%`, or `auto`; `at` names the source that pays."""

    terms: tuple[CostTerm, ...] = ()
    share: Number | None = None
    auto: bool = False
    at: Reference | None = None
    span: Span = _span()


# --- clauses of DATASET ------------------------------------------------------------------------


@_node
class From(Node):
    """`FROM 'uri'`."""

    uri: Text
    span: Span = _span()


@_node
class Rows(Node):
    """`ROWS n`."""

    number: Expression
    span: Span = _span()


@_node
class Unit(Node):
    """`UNIT column [MAX k]`."""

    column: Name
    maximum: Expression | None = None
    span: Span = _span()


@_node
class Population(Node):
    """`POPULATION name`."""

    name: Name
    span: Span = _span()


@_node
class Neighbors(Node):
    """`NEIGHBORS replace`."""

    relation: Name
    span: Span = _span()


@_node
class Site(Node):
    """`a ROWS n1` inside SITES; the number may be missing, and then is complained of."""

    name: Name
    rows: Expression | None
    span: Span = _span()


@_node
class Sites(Node):
    """`SITES (a ROWS n1, b ROWS n2) [MAX r]`."""

    sites: tuple[Site, ...]
    maximum: Expression | None = None
    span: Span = _span()


@_node
class ColumnDeclaration(Node):
    """One entry of `COLUMNS (...)` of a dataset: a name or a pattern, a type word, its details."""

    name: Name | Text
    type: Name
    range: tuple[Expression, Expression] | None = None
    levels: tuple[Text, ...] | None = None
    hypotheses: Expression | None = None
    sensitivity: Expression | None = None
    asserted_by: Text | None = None
    span: Span = _span()


@_node
class ColumnDeclarations(Node):
    """`COLUMNS (...)` of a dataset."""

    columns: tuple[ColumnDeclaration, ...]
    span: Span = _span()


@_node
class Center(Node):
    """`CENTER [c1, ...]`."""

    values: Expression
    span: Span = _span()


@_node
class Norm(Node):
    """`NORM (x, y) <= C`."""

    columns: tuple[Name, ...]
    bound: Expression
    span: Span = _span()


@_node
class Costs(Node):
    """`[BUDGET] cost [AT a AND cost AT b]`; `word` tells that BUDGET was written."""

    amounts: tuple[Amount, ...]
    word: bool = False
    span: Span = _span()


DatasetClause: TypeAlias = (
    From | Rows | Unit | Population | Neighbors | Sites | ColumnDeclarations | Center | Norm | Costs
)


# --- clauses of POLICY -------------------------------------------------------------------------


@_node
class Cap(Node):
    """`CAP cost [PER n DAYS] [FOR ANALYST 'x' | FOR COLUMNS (...)]`."""

    amount: Amount
    days: Expression | None = None
    analyst: Text | None = None
    columns: tuple[Name, ...] | None = None
    span: Span = _span()


@_node
class Allow(Node):
    """`ALLOW (TEST, COVARIANCE pace)`: pairs of a verb and a method, or None for the whole verb."""

    entries: tuple[tuple[Name, Name | None], ...]
    span: Span = _span()


@_node
class Forbid(Node):
    """`FORBID COLUMNS (...)`."""

    columns: tuple[Name, ...]
    span: Span = _span()


@_node
class Require(Node):
    """`REQUIRE n APPROVALS [WHEN cost]`."""

    number: Expression
    when: Amount | None = None
    span: Span = _span()


PolicyClause: TypeAlias = Cap | Allow | Forbid | Require


# --- items of a measurement --------------------------------------------------------------------


@_node
class On(Node):
    """`ON source [VS source]` or `ON (source, ...)`."""

    sources: tuple[Reference, ...]
    versus: Reference | None = None
    span: Span = _span()


@_node
class Option(Node):
    """`name=value` or `name=value VS value`."""

    name: Name
    value: Expression
    versus: Expression | None = None
    span: Span = _span()


@_node
class Flag(Node):
    """A bare word such as ADAPTIVE."""

    name: Name
    span: Span = _span()


@_node
class Columns(Node):
    """`COLUMNS (a, b)`."""

    columns: tuple[Name, ...]
    span: Span = _span()


@_node
class Formula(Node):
    """`response ~ terms`."""

    response: Expression
    terms: Expression
    span: Span = _span()


@_node
class By(Node):
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


@_node
class Dataset(Node):
    """`DATASET name clause...`, clauses as written, repetition included."""

    name: Name
    clauses: tuple[DatasetClause, ...]
    span: Span = _span()


@_node
class Let(Node):
    """`LET name = expression`."""

    name: Name
    value: Expression
    span: Span = _span()


@_node
class Study(Node):
    """`STUDY key = 'text', ...`."""

    entries: tuple[tuple[Name, Text], ...]
    span: Span = _span()


@_node
class Evalues(Node):
    """`EVALUES name ON dataset option=... [COLUMNS (...)]`; equal up to the order of its items."""

    name: Name
    items: tuple[Item, ...]
    span: Span = _span()

    def _said(self) -> tuple[object, ...]:
        return self.name, in_order(self.items)


@_node
class Policy(Node):
    """`POLICY dataset clause...`."""

    dataset: Name
    clauses: tuple[PolicyClause, ...]
    span: Span = _span()


@_node
class Measurement(Node):
    """`VERB method item... [AS name]`, items as written, repetition included.

    Measurements are equal when their items are, up to the order of the items' kinds.
    """

    verb: Verb
    method: Name
    items: tuple[Item, ...]
    name: Name | None = None
    span: Span = _span()

    def _said(self) -> tuple[object, ...]:
        return self.verb, self.method, in_order(self.items), self.name


@_node
class Derive(Node):
    """`DERIVE name = function(release, option=value, ...)`."""

    name: Name
    function: Name
    arguments: tuple[Expression, ...]
    options: tuple[Option, ...]
    span: Span = _span()


@_node
class Expect(Node):
    """`EXPECT release.metric >= value`."""

    release: Name
    metric: Name
    comparison: str
    value: Expression
    span: Span = _span()


Statement: TypeAlias = Dataset | Let | Study | Evalues | Policy | Measurement | Derive | Expect


@_node
class Comment(Node):
    """A comment with its marks; `own_line` tells that no code stands before it on its line."""

    text: str
    own_line: bool
    span: Span = _span()


@_node
class Broken(Node):
    """A statement that could not be read: what it seems to define, so that nobody misses it aloud.

    `word` is its statement word in upper case, "" where it has none; `names` are the names that it
    may have defined (a dataset, its sites, a release); `method` that of a measurement.
    """

    word: str
    names: tuple[str, ...] = ()
    method: str = ""
    span: Span = _span()


@_node
class Script(Node):
    """What could be read of a file; `broken` stands for the rest, told in the diagnostics."""

    source: Source = field(compare=False, repr=False)
    statements: tuple[Statement, ...] = ()
    comments: tuple[Comment, ...] = field(default=(), compare=False)
    broken: tuple[Broken, ...] = field(default=(), compare=False)
