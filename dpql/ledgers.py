"""Which ledger keeps which key of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dpql.errors import UsageError
from dpql.ledger import Ledger
from planner.decode import RunnablePlan

__all__ = ["keys_of", "opened"]

Given = Ledger | str | Path


def keys_of(plan: RunnablePlan) -> tuple[str, ...]:
    """The ledger keys that a plan charges, sorted."""
    used = {source for statement in plan.statements for source, _ in statement.costs}
    return tuple(
        sorted(
            {
                (source.population or source.dataset)
                + ("" if source.site is None else f"/{source.site}")
                for source in used
            }
        )
    )


@contextmanager
def opened(given: Given | Mapping[str, Given], plan: RunnablePlan) -> Iterator[dict[str, Ledger]]:
    """The ledger of every key that a plan charges; those opened here are closed at the end."""
    keys = keys_of(plan)
    if not keys:
        raise UsageError(
            "the plan measures nothing", help="add a statement such as `TEST` or `COVARIANCE`"
        )
    by_key = dict(given) if isinstance(given, Mapping) else {"": given}
    unknown = sorted(set(by_key) - set(keys) - {""})
    if unknown:
        raise UsageError(
            f"the plan charges no key `{unknown[0]}`",
            help="its keys: " + ", ".join(f"`{key}`" for key in keys),
        )
    chosen: dict[str, Given] = {}
    for key in keys:
        if key not in by_key and "" not in by_key:
            raise UsageError(f"no ledger is given for `{key}`", help=f"add `--ledger {key}=FILE`")
        chosen[key] = by_key.get(key, by_key.get(""))  # type: ignore[assignment]
    made: dict[str, Ledger] = {}
    try:
        found = {}
        for key, one in chosen.items():
            if not isinstance(one, Ledger) and str(one) not in made:
                made[str(one)] = Ledger.connect(str(one))
            found[key] = one if isinstance(one, Ledger) else made[str(one)]
        yield found
    finally:
        for ledger in made.values():
            ledger.close()
