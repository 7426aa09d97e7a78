"""The shape of a plan's body: what the plan's hash covers."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field
from typing_extensions import TypeAliasType

from dpql.schemas.shape import Count, Exact, Schema, Shape, Signed
from planner.calculus.leaves import Kind
from planner.facts import ColumnType

__all__ = ["Body", "Declared", "LeafShape", "On", "ParamValue", "Unit"]


class InEps(Shape):
    """A cost in eps."""

    eps: Exact


class InPairs(Shape):
    """A cost in eps with a delta."""

    eps: Exact
    delta: Exact


class InRho(Shape):
    """A cost in rho."""

    rho: Exact


class InMu(Shape):
    """A cost in mu; a share of a budget says its exact square too."""

    mu: Exact
    mu_squared: Exact | None = None


Declared: TypeAlias = InEps | InPairs | InRho | InMu


class Unit(Shape):
    """Who is protected: the column that names a person, with the most rows that one may own."""

    column: str | None
    max: Count


class Site(Shape):
    """A site with its public number of rows."""

    name: str
    rows: Count


class Sites(Shape):
    """The sites of a dataset; `max` is how many of them one person may be at."""

    max: Count
    members: list[Site]


class ColumnShape(Shape):
    """A declared column; bounds are null where it has none."""

    name: str
    type: ColumnType
    lo: Signed | None
    hi: Signed | None
    levels: list[str]
    sensitivity: Exact | None
    asserted_by: str | None
    pattern: bool
    hypotheses: Count | None


class NormShape(Shape):
    """The ball in which rows lie."""

    columns: list[str]
    bound: Exact
    center: list[Signed]


class Dataset(Shape):
    """A declared dataset."""

    name: str
    population: str | None
    relation: Literal["replace"]
    rows: Count
    unit: Unit
    sites: Sites | None
    columns: list[ColumnShape]
    norm: NormShape | None
    budget: Declared | None


class On(Shape):
    """A source of a statement."""

    dataset: str
    site: str | None


class FoundCost(Shape):
    """A cost that said `auto`, with the least one that meets the EXPECT clauses."""

    auto: Declared


class Paid(Shape):
    """What a statement may spend at one source."""

    dataset: str
    site: str | None
    declared: Declared | FoundCost


class LeafShape(Shape):
    """One draw of noise, or several alike; `params` names its privacy parameter."""

    kind: Kind
    count: Count
    params: dict[str, Exact]
    sensitivity: Exact | None
    scale: Exact | None
    width: Count
    role: str
    factor: Count
    of: list[str]
    dataset: str
    site: str | None


class Chosen(Shape):
    """An option that said `auto`, with what the planner chose."""

    auto: ParamValue


class TwoSides(Shape):
    """An option with `VS`."""

    left: ParamValue
    right: ParamValue


ParamValue = TypeAliasType(
    "ParamValue",
    "bool | str | list[ParamValue] | Chosen | TwoSides | None",
)
"""An option's value; numbers are exact, so they are text."""

Chosen.model_rebuild()
TwoSides.model_rebuild()


class StatementShape(Shape):
    """One measurement, every default written out."""

    name: str
    verb: str
    method: str
    version: Count
    on: list[On]
    columns: list[str]
    formula: str | None
    by: str | None
    params: dict[str, ParamValue]
    cost: list[Paid]
    leaves: list[LeafShape]


class Derived(Shape):
    """A result that is computed from a release only."""

    name: str
    function: str
    of: str
    params: dict[str, ParamValue]


class Expect(Shape):
    """What a forecast must reach."""

    release: str
    metric: str
    at_least: Signed


class Body(Shape):
    """The body of a plan: sha256 of its RFC 8785 bytes is the plan's hash."""

    schema_: Schema = Field(alias="schema")
    language: Literal["1"]
    datasets: list[Dataset]
    evalues: list[str]
    statements: list[StatementShape]
    derived: list[Derived]
    expect: list[Expect]
    study: dict[str, str]
