"""The comparison of a plan's declarations with what the custodian recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpql.errors import FactsDiffer
from dpql.ledger.amounts import amount
from dpql.ledger.facts import KeyFacts, TableFacts
from dpql.ledger.plan_body import Payer, PlanBody

__all__ = ["compare"]


def compare(
    facts: KeyFacts, body: PlanBody, payers: Sequence[Payer], data: Mapping[str, str] | None = None
) -> None:
    """Raise `FactsDiffer` unless every table that the plan charges to this key is as recorded.

    `data` maps a dataset (or `dataset/site`) to the location that the run binds to it.
    """
    found = [
        difference for payer in payers for difference in _differences(facts, body, payer, data)
    ]
    if found:
        raise FactsDiffer(
            "; ".join(found),
            note="these facts carry the privacy guarantee, so they are the custodian's to state",
            help="declare them as `dpql ledger show` lists them, or ask the custodian",
        )


def _differences(
    facts: KeyFacts, body: PlanBody, payer: Payer, data: Mapping[str, str] | None
) -> Iterator[str]:
    dataset = body.dataset(payer.dataset)
    table = facts.table(payer.dataset)
    if table is None:
        known = ", ".join(f"`{table.dataset}`" for table in facts.tables)
        yield f"key `{facts.key}` guards no table `{payer.dataset}`, only {known}"
        return

    def differ(fact: str, ours: Any, theirs: Any) -> Iterator[str]:
        if ours != theirs or type(ours) is not type(theirs):
            yield (
                f"{fact} of `{payer.dataset}` is {_said(ours)} at key `{facts.key}` "
                f"and {_said(theirs)} in the plan"
            )

    unit = dataset.get("unit") or {"column": None, "max": 1}
    yield from differ("NEIGHBORS", "replace", dataset.get("relation"))
    yield from differ("POPULATION", facts.population, dataset.get("population"))
    yield from differ("the site", facts.site, payer.site)
    yield from differ("UNIT", table.unit_column, unit.get("column"))
    yield from differ("MAX", table.max_rows, unit.get("max"))
    yield from _sizes(facts, table, dataset, differ)
    yield from _columns(table, dataset, differ)
    if not table.public_design and _claims_public_design(body.value, payer.dataset):
        yield (
            f"the plan writes `design=public` for `{payer.dataset}`, "
            f"which key `{facts.key}` does not permit"
        )
    if data is not None:
        name = payer.dataset if payer.site is None else f"{payer.dataset}/{payer.site}"
        location = data.get(name)
        if location is None:
            yield f"no data is bound to `{name}`"
        elif not table.guards(location):
            guarded = ", ".join(f"`{place}`" for place in table.data) or "no place"
            yield (
                f"the data of `{name}` is bound to `{location}`, but key `{facts.key}` "
                f"guards {guarded}"
            )


def _sizes(facts: KeyFacts, table: TableFacts, dataset: Mapping[str, Any], differ: Any) -> Any:
    sites = dataset.get("sites") or {"max": 1, "members": []}
    members = {member["name"]: member["rows"] for member in sites["members"]}
    ours = {site.name: site.rows for site in table.sites}
    if facts.site is not None:
        # A site's custodian knows its own rows; of the other sites only what was recorded.
        yield from differ("ROWS at the site", table.rows, members.get(facts.site))
        if ours:
            yield from differ("SITES", _listed(ours), _listed(members))
    else:
        yield from differ("ROWS", table.rows, dataset.get("rows"))
        yield from differ("SITES", _listed(ours), _listed(members))
    yield from differ("MAX of SITES", table.max_sites, sites["max"])


def _columns(table: TableFacts, dataset: Mapping[str, Any], differ: Any) -> Any:
    recorded = {fact.column: amount(fact.sensitivity) for fact in table.sensitivities}
    counts = dict(table.hypotheses)
    for column in dataset.get("columns", ()):
        name = column["name"]
        if column.get("type") == "log_evalue":
            theirs = column.get("sensitivity")
            yield from differ(
                f"SENSITIVITY of column `{name}`",
                recorded.get(name),
                None if theirs is None else amount(theirs),
            )
        if column.get("pattern") and name in counts:
            yield from differ(f"HYPOTHESES of `{name}`", counts[name], column.get("hypotheses"))


def _listed(sites: Mapping[str, int]) -> str | None:
    return ", ".join(f"{name} ROWS {rows}" for name, rows in sorted(sites.items())) or None


def _said(value: Any) -> str:
    return "not declared" if value is None else str(value)


def _claims_public_design(body: Mapping[str, Any], dataset: str) -> bool:
    """Whether anything over the dataset carries `design` with the word `public`."""
    parts = (*body.get("evalues", ()), *body.get("statements", ()))
    return any(_mentions_design(part) and _is_over(part, dataset, body) for part in parts)


def _mentions_design(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(
            ("public" in str(inner) if name == "design" else _mentions_design(inner))
            for name, inner in value.items()
        )
    return isinstance(value, list | tuple) and any(_mentions_design(inner) for inner in value)


def _is_over(part: Mapping[str, Any], dataset: str, body: Mapping[str, Any]) -> bool:
    """Whether a statement or e-value source may read the dataset; where unclear, yes."""
    sources = part.get("on", part.get("dataset"))
    if sources is None:
        return True
    if isinstance(sources, str):
        sources = [sources]
    names = {s.get("dataset") if isinstance(s, Mapping) else s for s in sources}
    declared = {known.get("name") for known in body.get("datasets", ())}
    return dataset in names or not names <= declared
