"""The shapes of a plan's view: costs, forecasts, the graph, the risk."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dpql.schemas.body import Declared, LeafShape, On, ParamValue, Unit
from dpql.schemas.findings import Place
from dpql.schemas.shape import Count, Exact, Open, Shape

__all__ = [
    "Cost",
    "Beliefs",
    "DatasetView",
    "DerivedView",
    "ExpectView",
    "Graph",
    "GraphEdge",
    "GraphNode",
    "KeyView",
    "PaidView",
    "Pair",
    "Rates",
    "Risk",
    "SiteTotal",
    "StatementView",
]


class Pair(Shape):
    """A sound eps at a delta; `by` names the rule that gave it."""

    eps: Exact
    delta: Exact
    by: str


class Cost(Shape):
    """A cost in every unit; null where nothing may be claimed. mu is rounded up, its square not.

    `mu_by` names the rule that gave mu: `sum` where it is that of the parts, `mu_of_parts`; `PLD`
    where the losses of the whole were composed, and it is less.
    """

    eps: Exact | None
    rho: Exact | None
    mu: Exact | None
    mu_squared: Exact | None
    mu_by: str | None
    mu_of_parts: Exact | None
    eps_delta: list[Pair]


class SiteTotal(Shape):
    """What the people of one site pay."""

    name: str
    rows: Count
    total: Cost
    remaining: str | None


class DatasetView(Shape):
    """A dataset with its total; `remaining` is null where no ledger was asked.

    `location` is where its author says that it lies; a run may be told another place.
    """

    name: str
    population: str | None
    key: str
    relation: Literal["replace"]
    location: str | None
    rows: Count
    unit: Unit
    budget: Declared | None
    total: Cost
    remaining: str | None
    spent_by: list[str]
    sites: list[SiteTotal]


class Rates(Shape):
    """The largest chance to catch a target at 0.1 %, 1 % and 10 % of false alarms."""

    low: float = Field(alias="0.001")
    middle: float = Field(alias="0.01")
    high: float = Field(alias="0.1")


class Beliefs(Shape):
    """The largest belief in what is true of a target, from a belief of 1 %, 10 % and 50 %."""

    rare: float = Field(alias="0.01")
    some: float = Field(alias="0.1")
    even: float = Field(alias="0.5")


class Risk(Shape):
    """Upper limits of what an attacker who knows all other people can do.

    `posterior` follows a flag with 1 % of false alarms, `pointwise` any release whatever (null
    where the loss has no bound); `curve` pairs a share of false alarms with the catches at it.
    """

    advantage: float
    tpr: Rates
    posterior: Beliefs
    pointwise: Beliefs | None
    reconstruction: float
    curve: list[tuple[float, float]]


class KeyView(Shape):
    """A ledger key with what all its datasets are charged; `risk` where they are several."""

    key: str
    datasets: list[str]
    unit: str | None
    total: Cost | None
    risk: Risk | None
    remaining: str | None


class PaidView(Shape):
    """What a statement costs at one source; `auto` where the planner found the amount."""

    dataset: str
    site: str | None
    declared: Declared
    auto: bool
    total: Cost


class StatementView(Shape):
    """A statement with its costs, its noise and its forecast. Keys of `forecast` are metrics."""

    name: str
    verb: str
    method: str
    version: Count
    on: list[On]
    columns: list[str]
    params: dict[str, ParamValue]
    span: Place
    cost: list[PaidView]
    leaves: list[LeafShape]
    forecast: Open
    releases: list[str]
    assumptions: list[str]


class DerivedView(Shape):
    """A result that is computed from a release only."""

    name: str
    function: str
    of: str
    params: dict[str, ParamValue]


class ExpectView(Shape):
    """What a forecast must reach."""

    release: str
    metric: str
    at_least: Annotated[str, Field(pattern=r"^-?[0-9./]+$")]
    forecast: float | None


class GraphNode(Shape):
    """A step of the plan; scans and summaries are secret."""

    id: str
    sort: Literal["scan", "summary", "measurement", "release", "derived"]
    label: str


class GraphEdge(Shape):
    """What reads what."""

    from_: str = Field(alias="from")
    to: str


class Graph(Shape):
    """How results flow."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
