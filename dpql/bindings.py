"""Which data is bound to which dataset or site of a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from dpql.errors import DataRefused, UsageError
from dpql.ledger.places import place
from executors.data.source import Source
from planner.decode import RunnablePlan

__all__ = ["bound", "confirm_apart"]


def bound(plan: RunnablePlan, bindings: Mapping[str, object]) -> dict[str, object]:
    """What is bound to each source that the plan reads, by the source's full name.

    A site is named `dataset.site`, or by its own name where no other dataset has such a site.
    Raises `UsageError` for a source without data, and for a name that the plan does not have.
    """
    read = {facts.name for facts in plan.sources}
    names = _names(plan)
    found: dict[str, object] = {}
    for name, binding in bindings.items():
        if name not in names:
            raise UsageError(
                f"the plan has no dataset `{name}`, and no site of that name",
                help="it reads " + ", ".join(f"`{one}`" for one in sorted(read)),
            )
        if names[name] in found:
            raise UsageError(f"two locations are bound to `{names[name]}`", help="give one")
        found[names[name]] = binding
    for name in sorted(read - set(found)):
        raise UsageError(f"no data is bound to `{name}`", help=f"add `--data {name}=LOCATION`")
    return found


def _names(plan: RunnablePlan) -> dict[str, str]:
    """Every name that a source may be called by, to its full name."""
    sites = [facts.at(site) for facts in plan.datasets for site, _ in facts.sites]
    alone = Counter(facts.site for facts in sites)
    names = {str(facts.site): facts.name for facts in sites if alone[facts.site] == 1}
    names.update((facts.name, facts.name) for facts in (*sites, *plan.datasets))
    return names


def confirm_apart(plan: RunnablePlan, sources: Mapping[str, Source]) -> None:
    """Raise where two sites of a dataset are bound to the same rows."""
    seen: dict[tuple[str, str], str] = {}
    for facts in plan.sources:
        at = (facts.dataset, place(sources[facts.name].location))
        if facts.site is not None and at in seen:
            raise DataRefused(
                f"`{seen[at]}` and `{facts.name}` are bound to the same data",
                code="DPQL-E150",
                note="sites share no rows: a person who is at both would pay more than is charged; "
                "nothing was charged",
                help="bind each site to its own file",
            )
        seen[at] = facts.name
