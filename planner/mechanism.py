"""What the planner asks of a mechanism; it knows none by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, NewType, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict

from planner.calculus.cost import Unit
from planner.calculus.need import Need
from planner.facts import Column, ColumnType, Facts

if TYPE_CHECKING:
    from planner.calculus.cost import Cost
    from planner.calculus.leaves import Loss

__all__ = [
    "AUTO",
    "Auto",
    "Catalogue",
    "ColumnName",
    "Complaint",
    "Derivation",
    "ForecastModule",
    "Mechanism",
    "Params",
    "Query",
    "SourceKind",
    "TableName",
    "Units",
    "Versus",
]

ColumnName = NewType("ColumnName", str)
"""The type of an option that names a column; the binder checks that it is declared."""

TableName = NewType("TableName", str)
"""The type of an option that names a public table, bound when the plan is made."""

Units: TypeAlias = Mapping[str, Unit]
"""The unit of the statement's cost at each source, by `SourceFacts.name`."""

SourceKind: TypeAlias = Literal["dataset", "evalues"]
Auto: TypeAlias = Literal["auto"]
AUTO: Auto = "auto"
Left = TypeVar("Left")


class Params(BaseModel):
    """The options of a method: one frozen model, unknown names refused.

    Values come as the language has them: Fraction, str (a word or a string), bool, tuple (a list),
    `Versus`, or the word "auto". Every field has a description, shown by `dpql explain`. A flag is
    a `bool` field with default False, named in lower case. A field that only feeds the forecast
    has `json_schema_extra={"forecast": True}`.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True
    )


class Versus(BaseModel, Generic[Left]):
    """`option=left VS right`."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)
    left: Left
    right: Left


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a mechanism finds wrong, before any data; the binder adds the place.

    `option` names the item to mark (an option's name, "columns", "cost", "on"), or "" for the
    whole statement. `code` is from the one table, E020-E079, or a warning W2xx.
    """

    code: str
    message: str
    option: str = ""
    note: str = ""
    help: str = ""
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """Which summary of which columns a run reads, clamped to which public bounds.

    `summary` is a name of the table of summaries; `parameters` are public, hashable values that
    the summary understands, in a fixed order. `ordered`: it goes by row numbers, so a source
    without stable ones is refused.
    """

    summary: str
    columns: tuple[Column, ...]
    parameters: tuple[tuple[str, Any], ...] = ()
    ordered: bool = False


class ForecastModule(Protocol):
    """`forecast.py` of a mechanism: public assumptions only, never a row."""

    def resolve(self, params: Any, facts: Facts, cost: Cost) -> Any:
        """The params with every `auto` replaced; called once, in `dpql plan`."""

    def forecast(self, params: Any, facts: Facts, loss: Loss) -> Mapping[str, Any]:
        """Metrics and public design figures (sensitivity, threshold, warnings) as JSON values."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One method of one verb.

    `forecast` and `run` are import paths, loaded only when used. `roles` are the column roles that
    a source must have to fit; `takes_columns` tells that `COLUMNS` means something to it.
    `per_site` tells that a source may be one site of a dataset; `compares` that it reads two
    sources, `ON a VS b`: each is priced, charged and released apart, and what compares the two
    releases is free. `releases` names in plain words what leaves. `unit_advice` adds a way out to
    the refusal of a unit. `settle` replaces an option left to the planner that decides which noise
    is drawn, from public facts and the cost, without a sensitivity; it gives None where only
    `resolve` can, and `check` then leaves budgets in other units to `plan`. `plot` is the import
    path of a module with `plot(release) -> str`: the release's JSON to one SVG text, by matplotlib.
    """

    verb: str
    method: str
    version: int
    params: type[Params]
    units: tuple[Unit, ...]
    need: Callable[[Any, Facts, Units], tuple[Need, ...]]
    query: Callable[[Any, Facts], Query]
    check: Callable[[Any, Facts, Units], tuple[Complaint, ...]]
    assumptions: Callable[[Any, Facts], tuple[str, ...]]
    releases: tuple[str, ...]
    forecast: str
    run: str
    metrics: tuple[str, ...] = ()
    source: SourceKind = "dataset"
    roles: tuple[ColumnType, ...] = ()
    takes_columns: bool = True
    per_site: bool = False
    compares: bool = False
    takes_formula: bool = False
    settle: Callable[[Any, Facts, Cost], Params | None] | None = None
    solve: Callable[[Any, Facts, tuple[Need, ...], Cost], Loss] | None = None
    unit_advice: Mapping[Unit, str] = field(default_factory=dict)
    summary: str = ""
    plot: str | None = None


@dataclass(frozen=True, slots=True)
class Derivation:
    """Post-processing of one release. `accepts` lists titles such as `COVARIANCE ssp`.

    `check` sees the options and the public facts of the release's statement, before any data.
    `plot` is as in `Mechanism`, for what the function makes.
    """

    name: str
    params: type[Params]
    accepts: tuple[str, ...]
    run: str
    summary: str = ""
    plot: str | None = None
    check: Callable[[Any, Facts], tuple[Complaint, ...]] | None = None


class Catalogue(Protocol):
    """Finds mechanisms by name; loads only those that are asked for."""

    def find(self, verb: str, method: str) -> Mechanism | None:
        """The mechanism, or None where there is none of this name."""

    def methods(self, verb: str) -> tuple[str, ...]:
        """The names of a verb's methods, in documented order."""

    def derivation(self, name: str) -> Derivation | None:
        """The function of DERIVE, or None where there is none of this name."""

    def derivations(self) -> tuple[str, ...]:
        """The names of the functions of DERIVE."""
