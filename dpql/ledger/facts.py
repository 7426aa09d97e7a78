"""What a custodian records when a ledger key is opened: the facts that carry the guarantee."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from dpql.ledger.amounts import amount
from dpql.ledger.places import place
from planner.calculus.cost import LedgerUnit

__all__ = ["Cap", "KeyFacts", "Reviewer", "SensitivityFact", "SiteFact", "TableFacts"]


def _exact(text: str) -> str:
    amount(text)
    return text


def _public(text: str) -> str:
    if not re.fullmatch(r"ed25519:[0-9a-f]{64}", text):
        raise ValueError("a public key reads `ed25519:` and 64 hexadecimal digits")
    return text


Exact = Annotated[str, AfterValidator(_exact)]
Location = Annotated[str, AfterValidator(place)]
PublicKey = Annotated[str, AfterValidator(_public)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Count = Annotated[int, Field(ge=1, le=2**53 - 1)]


class Fact(BaseModel):
    """A frozen record; an unknown field is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SiteFact(Fact):
    """A site of a table, with its public number of rows."""

    name: Name
    rows: Count


class SensitivityFact(Fact):
    """How far one person can move every value of a LOG_EVALUE column, as an exact number."""

    column: Name
    sensitivity: Exact


class TableFacts(Fact):
    """One table that a key guards: who owns its rows, how many there are, where they lie.

    `rows` is n of the part that the key guards: of the site where the key is a site's. `data` holds
    locations (resolved `file://` URIs, other URIs) or `sha256:` fingerprints. A table of a
    population may go without a name: plans then call it as they like. `hypotheses` maps a
    column pattern to the registered number of its columns.
    """

    dataset: Name | None
    rows: Count
    unit_column: Name | None = None
    max_rows: Count = 1
    sites: tuple[SiteFact, ...] = ()
    max_sites: Count = 1
    sensitivities: tuple[SensitivityFact, ...] = ()
    hypotheses: tuple[tuple[Name, Count], ...] = ()
    public_design: bool = False
    data: tuple[Location, ...] = ()

    def guards(self, location: str) -> bool:
        """Whether this is the place, or the fingerprint, of the table's rows."""
        return place(location) in self.data

    @model_validator(mode="after")
    def _consistent(self) -> TableFacts:
        for what, names in (
            ("site", [site.name for site in self.sites]),
            ("column", [fact.column for fact in self.sensitivities]),
        ):
            if len(set(names)) != len(names):
                raise ValueError(f"a {what} is listed twice in table `{self.dataset}`")
        return self


class Reviewer(Fact):
    """A person whose signature counts."""

    name: Name
    public_key: PublicKey


class Cap(Fact):
    """What a key may spend in its life, in the unit that adds up, beside what was declared.

    `amount` is eps, rho, or mu squared, exactly. `declared` is the custodian's own form, such as
    `{"eps": "3", "delta": "0.000001"}` for a cap that was compiled to mu once.
    """

    unit: LedgerUnit
    amount: Exact
    declared: tuple[tuple[Literal["eps", "delta", "rho", "mu"], Exact], ...]

    @property
    def value(self) -> Fraction:
        """The cap as an exact rational."""
        return amount(self.amount)

    @model_validator(mode="after")
    def _positive(self) -> Cap:
        if self.value <= 0:
            raise ValueError("a cap is a positive amount")
        return self


class KeyFacts(Fact):
    """Everything that `open` records about one key.

    The key is named after the population if there is one, else after its only dataset; a site's key
    adds `/site`. `required` is how many distinct reviewers must sign a run.
    """

    population: Name | None = None
    site: Name | None = None
    tables: tuple[TableFacts, ...] = Field(min_length=1)
    cap: Cap
    reviewers: tuple[Reviewer, ...] = ()
    required: Annotated[int, Field(ge=0, le=1000)] = 0

    @property
    def key(self) -> str:
        """The name under which the key's balance is kept."""
        name = self.population or str(self.tables[0].dataset)
        return name if self.site is None else f"{name}/{self.site}"

    def table(self, dataset: str) -> TableFacts | None:
        """The facts of the table of that name, else of the table without a name."""
        named = {table.dataset: table for table in self.tables}
        return named.get(dataset) or named.get(None)

    def body(self) -> dict[str, Any]:
        """The facts as JSON values."""
        return self.model_dump(mode="json")

    @model_validator(mode="after")
    def _consistent(self) -> KeyFacts:
        datasets = [table.dataset for table in self.tables]
        if len(set(datasets)) != len(datasets):
            raise ValueError("a table is listed twice")
        if self.population is None and (len(self.tables) > 1 or None in datasets):
            raise ValueError("a key without a population guards one table, by its name")
        keys = [reviewer.public_key for reviewer in self.reviewers]
        names = [reviewer.name for reviewer in self.reviewers]
        if len(set(keys)) != len(keys) or len(set(names)) != len(names):
            raise ValueError("a reviewer or a public key is listed twice")
        if self.required > len(self.reviewers):
            raise ValueError(
                f"{self.required} must sign, of {len(self.reviewers)} registered reviewers"
            )
        for table in self.tables:
            rows = {site.name: site.rows for site in table.sites}
            part = sum(rows.values()) if self.site is None else rows.get(self.site, 0)
            if rows and part != table.rows:
                raise ValueError(
                    f"the sites listed for table `{table.dataset}` do not add up to its rows"
                    if self.site is None
                    else f"site `{self.site}` of table `{table.dataset}` is listed with other rows"
                )
        return self
