"""A custodian's words for a new key, made into facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Literal

from pydantic import ValidationError

from dpql.errors import KeyRefused
from dpql.ledger.facts import Cap, KeyFacts, Reviewer, SensitivityFact, SiteFact, TableFacts
from planner.calculus.cost import Cost
from planner.calculus.exact import text

__all__ = ["compile_cap", "key_facts"]


def compile_cap(cost: Cost, to: Literal["mu", "rho"] = "mu") -> Cap:
    """The cap in the unit that its key will count.

    An (eps, delta) cap becomes, once and for all, the largest mu (or rho) whose guarantee lies
    within it, rounded down (mu: C10, rho: C9 of planner/calculus); a cap in mu is kept squared.
    """
    amount = cost.amount
    if cost.unit == "eps_delta":
        from planner.calculus.profiles import gdp_mu, zcdp_rho

        largest = (gdp_mu if to == "mu" else zcdp_rho)(amount, cost.delta)
        if largest <= 0:
            raise KeyRefused("no noise lies within this cap of eps and delta")
        value = largest**2 if to == "mu" else largest
        return Cap(
            unit="mu2" if to == "mu" else "rho",
            amount=text(value),
            declared=(("eps", text(amount)), ("delta", text(cost.delta)), (to, text(largest))),
        )
    if cost.unit == "mu":
        return Cap(unit="mu2", amount=text(amount**2), declared=(("mu", text(amount)),))
    return Cap(unit=cost.unit, amount=text(amount), declared=((cost.unit, text(amount)),))


def key_facts(
    name: str,
    rows: int,
    cap: Cost,
    *,
    population: bool = False,
    site: str | None = None,
    data: Iterable[str] = (),
    unit: str | None = None,
    max_rows: int = 1,
    sites: Mapping[str, int] | None = None,
    max_sites: int = 1,
    sensitivities: Mapping[str, Fraction] | None = None,
    hypotheses: Mapping[str, int] | None = None,
    public_design: bool = False,
    reviewers: Mapping[str, str] | None = None,
    required: int = 0,
    to: Literal["mu", "rho"] = "mu",
) -> KeyFacts:
    """The facts of a key called `name` over one table; `KeyRefused` where they cannot hold.

    With `population` the name is the population's, and the table goes without one. `rows` is n of
    the part that the key guards: of the site where `site` is given. `reviewers` maps a name to a
    public key.
    """
    try:
        table = TableFacts(
            dataset=None if population else name,
            rows=rows,
            unit_column=unit,
            max_rows=max_rows,
            sites=tuple(SiteFact(name=who, rows=count) for who, count in (sites or {}).items()),
            max_sites=max_sites,
            sensitivities=tuple(
                SensitivityFact(column=column, sensitivity=text(value))
                for column, value in (sensitivities or {}).items()
            ),
            hypotheses=tuple((hypotheses or {}).items()),
            public_design=public_design,
            data=tuple(data),
        )
        return KeyFacts(
            population=name if population else None,
            site=site,
            tables=(table,),
            cap=compile_cap(cap, to),
            reviewers=tuple(
                Reviewer(name=who, public_key=key) for who, key in (reviewers or {}).items()
            ),
            required=required,
        )
    except ValidationError as error:
        first = error.errors()[0]
        place = next((str(part) for part in reversed(first["loc"]) if isinstance(part, str)), "")
        said = str(first["msg"]).removeprefix("Value error, ").removeprefix("Input ")
        name = f"`{place}` " if said.startswith("should") else ""
        raise KeyRefused(
            f"this key cannot be opened: {name}{said[:1].lower()}{said[1:]}",
            help="`dpql ledger open --help` lists what a key records",
        ) from error
