"""A file whose every name is resolved: what `bind` makes of a script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from grammar.source import Source, Span
from grammar.tree import NOWHERE
from planner.calculus.cost import Cost, Unit
from planner.facts import Facts, SourceFacts
from planner.mechanism import Derivation, Mechanism, Params

__all__ = [
    "BoundDataset",
    "BoundDerive",
    "BoundExpect",
    "BoundMeasurement",
    "BoundPlan",
    "SourceCost",
]


@dataclass(frozen=True, slots=True)
class BoundDataset:
    """A declared dataset: its public facts, its sites, its budget; `uri` is a default location."""

    facts: SourceFacts
    sites: tuple[SourceFacts, ...] = ()
    budget: Cost | None = None
    uri: str | None = None
    span: Span = field(default=NOWHERE, compare=False)
    budget_span: Span = field(default=NOWHERE, compare=False)

    @property
    def name(self) -> str:
        """The dataset's name in the file."""
        return self.facts.dataset

    @property
    def key(self) -> str:
        """The name of the ledger key that pays for the whole dataset."""
        return self.key_of(None)

    def key_of(self, site: str | None) -> str:
        """The name of the ledger key that pays for one of its sites; for the whole with None."""
        name = self.facts.population or self.facts.dataset
        return name if site is None else f"{name}/{site}"


@dataclass(frozen=True, slots=True)
class SourceCost:
    """What a measurement may spend at one source; `cost` is None while it says `auto`.

    `sought` is the unit in which the planner then looks for it, `delta` one that stays beside an
    eps that is looked for.
    """

    source: SourceFacts
    cost: Cost | None
    share: Fraction | None = None
    span: Span = field(default=NOWHERE, compare=False)
    sought: Unit | None = None
    delta: Fraction = Fraction(0)

    @property
    def unit(self) -> Unit | None:
        """The unit of the cost, also where the amount is still open."""
        return self.sought if self.cost is None else self.cost.unit


@dataclass(frozen=True, slots=True)
class BoundMeasurement:
    """A measurement with its mechanism, its typed parameters, its public facts and its costs."""

    name: str
    mechanism: Mechanism
    params: Params
    facts: Facts
    costs: tuple[SourceCost, ...]
    span: Span = field(default=NOWHERE, compare=False)
    places: Mapping[str, Span] = field(default_factory=dict, compare=False)

    @property
    def autos(self) -> frozenset[str]:
        """The options that are left to the planner."""
        return frozenset(
            name for name in type(self.params).model_fields if getattr(self.params, name) == "auto"
        )

    @property
    def units(self) -> dict[str, Unit]:
        """The unit of the cost at each source, by the source's name."""
        return {paid.source.name: paid.unit for paid in self.costs if paid.unit is not None}

    @property
    def is_open(self) -> bool:
        """Whether a cost of it says `auto`."""
        return any(paid.cost is None for paid in self.costs)

    def place(self, option: str) -> Span:
        """Where an item stands; the whole statement if it is not written."""
        return self.places.get(option, self.span)


@dataclass(frozen=True, slots=True)
class BoundDerive:
    """Post-processing of one release."""

    name: str
    function: Derivation
    release: str
    params: Params
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class BoundExpect:
    """`release.metric >= value`."""

    release: str
    metric: str
    at_least: Fraction
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class BoundPlan:
    """All of a file that means something, in file order."""

    source: Source
    datasets: tuple[BoundDataset, ...]
    measurements: tuple[BoundMeasurement, ...]
    derived: tuple[BoundDerive, ...] = ()
    expects: tuple[BoundExpect, ...] = ()
    study: tuple[tuple[str, str], ...] = ()

    def dataset(self, name: str) -> BoundDataset:
        """The dataset of that name; it exists, since every name was resolved."""
        return next(dataset for dataset in self.datasets if dataset.name == name)
