"""The certificate: a derivation of every reserved amount that a stranger can follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from planner.calculus.compose import total
from planner.calculus.exact import claimable, number, round_up, text
from planner.certificate_pairs import least_pair
from planner.certificate_steps import UNITS, CertificateError, Member, Steps

__all__ = ["CertificateError", "certify"]

_FACTS = ("name", "population", "relation", "unit", "sites")


def certify(
    body: Mapping[str, Any], plan_hash: str, reservations: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """The certificate of a plan's body: one total for each reserved (dataset, site, unit).

    A reservation is `{"key","dataset","site","unit","amount"}`, unit eps, rho, mu2 (mu squared)
    or adp, whose amount is eps beside "delta". Without a site it covers all leaves of the dataset:
    those of its sites compose by the largest `MAX r` costs. Claims are rounded up; each total
    claims exactly the amount. A dataset whose BUDGET is in eps with delta has a total more, the
    least eps that these steps prove at this delta. Raises CertificateError where the leaves cost
    more than is reserved, or where their kind has no value in the unit; TooMuchToCheck where the
    draws are more than a checker composes.
    """
    steps = Steps()
    members = steps.leaves(body)
    totals: dict[tuple[Any, ...], dict[str, Any]] = {}
    most = {
        one["name"]: 1 if one["sites"] is None else one["sites"]["max"] for one in body["datasets"]
    }
    for wanted in reservations:
        home = (wanted["dataset"], wanted["site"], wanted["unit"])
        if home in totals:
            raise CertificateError("one amount is reserved twice")
        mine = _at(members, home[0], home[1])
        if not mine:
            raise CertificateError(f"the plan charges nothing to `{wanted['key']}`")
        totals[home] = _total(steps, mine, wanted, most[home[0]])
    for dataset in body["datasets"]:
        home = (dataset["name"], None, "adp")
        budget, mine = dataset["budget"] or {}, _at(members, dataset["name"], None)
        if "delta" in budget and mine and home not in totals:
            known = _known(steps, mine, number(budget["delta"]), most[dataset["name"]])
            if known is not None:
                totals[home] = {"dataset": dataset["name"], "site": None, **known}
    steps.confirm_checkable()
    return {
        "version": 1,
        "plan_hash": plan_hash,
        "relation": "replace",
        "datasets": [{fact: dataset[fact] for fact in _FACTS} for dataset in body["datasets"]],
        "nodes": steps.nodes,
        "totals": list(totals.values()),
    }


def _at(members: Iterable[Member], dataset: str, site: str | None) -> list[Member]:
    return [
        member
        for member in members
        if member.leaf.dataset == dataset and site in (None, member.leaf.site)
    ]


def _total(
    steps: Steps, members: list[Member], wanted: Mapping[str, Any], most: int
) -> dict[str, Any]:
    unit, amount = wanted["unit"], number(wanted["amount"])
    if unit == "adp":
        out = {"eps": amount, "delta": number(wanted["delta"])}
        write = least_pair(steps, members, out["delta"], most)
        if write is None:
            raise CertificateError("no bound in eps and delta is known for these leaves")
        given, cost = write()
    elif unit in UNITS:
        out = {unit: amount}
        apart = total((member.leaf for member in members), UNITS[unit], most)
        joined = unit == "mu2" and apart is not None and apart > amount
        given, cost = steps.sum_of(members, unit, most, joined)
    else:
        raise CertificateError(f"no total has the unit `{unit}`")
    if cost > amount:
        raise CertificateError(
            f"the leaves cost {text(round_up(cost))} {unit}, more than the reserved {text(amount)}"
        )
    return {
        "dataset": wanted["dataset"],
        "site": wanted["site"],
        **_proved(steps, f"sum_{unit}", given, out),
    }


def _known(
    steps: Steps, members: list[Member], delta: Fraction, most: int
) -> dict[str, Any] | None:
    """A total of the least eps at a delta, where there is one."""
    write = least_pair(steps, members, delta, most)
    if write is None:
        return None
    given, eps = write()
    return _proved(steps, "sum_adp", given, {"eps": claimable(eps), "delta": delta})


def _proved(steps: Steps, rule: str, of: list[str], out: dict[str, Fraction]) -> dict[str, Any]:
    id = steps.add("t", rule, {"of": of}, out)
    return {"node": id, "out": {name: text(value) for name, value in out.items()}}
