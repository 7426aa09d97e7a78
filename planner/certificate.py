"""The certificate: a derivation of every reserved amount that a stranger can follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from planner.calculus.compose import total
from planner.calculus.convert import Native, Unconvertible, charge
from planner.calculus.exact import number, round_up, sum_up, text
from planner.calculus.group import grouped
from planner.calculus.leaves import Leaf
from planner.calculus.profiles import gdp_eps, zcdp_eps, zcdp_order

__all__ = ["CertificateError", "certify"]

_UNITS: dict[str, Native] = {"eps": "eps", "rho": "rho", "mu2": "mu_squared"}
_LONGEST = 10**60
_FACTS = ("name", "population", "relation", "unit", "sites")
_BOUNDED = ("pure", "lap", "br")


class CertificateError(ValueError):
    """A reserved amount does not cover what the plan's leaves cost, or has no derivation."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A leaf of the plan, for one person, with the id of its node and what the node claims."""

    id: str
    leaf: Leaf
    costs: dict[str, str] = field(compare=False)


@dataclass(slots=True)
class _Writer:
    """Nodes as they are added."""

    nodes: list[dict[str, Any]] = field(default_factory=list)

    def add(self, id: str, rule: str, given: Mapping[str, Any], out: Mapping[str, Fraction]) -> str:
        written = {unit: text(value) for unit, value in out.items()}
        self.nodes.append({"id": id, "rule": rule, "in": dict(given), "out": written})
        return id

    def fresh(self, stem: str) -> str:
        return f"{stem}{len(self.nodes)}"


def certify(
    body: Mapping[str, Any], plan_hash: str, reservations: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """The certificate of a plan's body: one total for each reserved (dataset, site, unit).

    A reservation is `{"key","dataset","site","unit","amount"}`, unit eps, rho, mu2 (mu squared)
    or adp, whose amount is eps beside "delta". Without a site it covers all leaves of the dataset:
    those of its sites compose by the largest `MAX r` costs. Claims are rounded up; each total
    claims exactly the amount. A leaf's node claims its cost in each unit that a total needs. Raises
    CertificateError where the leaves cost more, or where their kind has no value in the unit.
    """
    writer = _Writer()
    members = _leaves(writer, body)
    datasets = {dataset["name"]: dataset for dataset in body["datasets"]}
    totals: dict[tuple[Any, ...], dict[str, Any]] = {}
    for wanted in reservations:
        home = (wanted["dataset"], wanted["site"], wanted["unit"])
        if home in totals:
            raise CertificateError("one amount is reserved twice")
        mine = [
            member
            for member in members
            if member.leaf.dataset == home[0] and home[1] in (None, member.leaf.site)
        ]
        if not mine:
            raise CertificateError(f"the plan charges nothing to `{wanted['key']}`")
        totals[home] = _total(writer, mine, wanted, _most(datasets[home[0]]))
    return {
        "version": 1,
        "plan_hash": plan_hash,
        "relation": "replace",
        "datasets": [{fact: dataset[fact] for fact in _FACTS} for dataset in body["datasets"]],
        "nodes": writer.nodes,
        "totals": list(totals.values()),
    }


def _most(dataset: Mapping[str, Any]) -> int:
    sites = dataset["sites"]
    return 1 if sites is None else int(sites["max"])


def _leaves(writer: _Writer, body: Mapping[str, Any]) -> list[_Member]:
    """One node for each leaf of the plan, as one person's rows make it, without a cost as yet."""
    rows = {dataset["name"]: dataset["unit"]["max"] for dataset in body["datasets"]}
    members = []
    for i, statement in enumerate(body["statements"]):
        for place, written in enumerate(statement["leaves"]):
            leaf, k = Leaf.from_json(written), rows[written["dataset"]]
            if leaf.kind == "adp":
                raise CertificateError("no certificate proves an (eps, delta) from elsewhere")
            person = grouped(leaf, k) if leaf.scale is None else leaf
            given = {"statement": statement["name"], "leaf": place, "rows": k, **written}
            rule = "cap" if leaf.role == "cap" else leaf.kind
            id = writer.add(f"l{i}.{place}", rule, given, {})
            members.append(_Member(id, person, writer.nodes[-1]["out"]))
    return members


def _total(
    writer: _Writer, members: list[_Member], wanted: Mapping[str, Any], most: int
) -> dict[str, Any]:
    unit, amount = wanted["unit"], number(wanted["amount"])
    if unit == "adp":
        out = {"eps": amount, "delta": number(wanted["delta"])}
        rule, (given, cost) = "sum_adp", _pairs(writer, members, out["delta"], most)
    elif unit in _UNITS:
        out = {unit: amount}
        rule, (given, cost) = f"sum_{unit}", _parts(writer, members, unit, most)
    else:
        raise CertificateError(f"no total has the unit `{unit}`")
    if cost > amount:
        raise CertificateError(
            f"the leaves cost {text(round_up(cost))} {unit}, more than the reserved {text(amount)}"
        )
    id = writer.add(writer.fresh("t"), rule, {"of": given}, out)
    shown = {name: text(value) for name, value in out.items()}
    return {"dataset": wanted["dataset"], "site": wanted["site"], "node": id, "out": shown}


def _parts(
    writer: _Writer, members: Sequence[_Member], unit: str, most: int
) -> tuple[list[str], Fraction]:
    """The nodes whose sum is the members' cost in a unit, with that sum; sites by the largest."""
    whole: list[tuple[Fraction, str]] = []
    sites: dict[str, list[tuple[Fraction, str]]] = {}
    for member in members:
        id, cost = member.id, _cost(member, unit)
        site = member.leaf.site
        (whole if site is None else sites.setdefault(site, [])).append((cost, id))
    if len(sites) > 1:
        whole.append(_sites(writer, sites, unit, most))
    else:
        whole.extend(part for parts in sites.values() for part in parts)
    # In the order in which both sides add them, so that both round alike.
    whole.sort()
    return [id for _, id in whole], sum_up(cost for cost, _ in whole)


def _sites(
    writer: _Writer, sites: dict[str, list[tuple[Fraction, str]]], unit: str, most: int
) -> tuple[Fraction, str]:
    costs = []
    for parts in sites.values():
        parts.sort()
        cost, id = _claim(sum_up(cost for cost, _ in parts)), parts[0][1]
        if len(parts) > 1:
            id = writer.add(
                writer.fresh("s"), f"sum_{unit}", {"of": [part for _, part in parts]}, {unit: cost}
            )
        costs.append((cost, id))
    costs.sort()
    largest = _claim(sum_up(cost for cost, _ in costs[-most:]))
    given = {"of": [id for _, id in costs]}
    return largest, writer.add(writer.fresh("m"), "site_top", given, {unit: largest})


def _cost(member: _Member, unit: str) -> Fraction:
    """What all draws of one leaf cost in a unit, as its node claims from here on."""
    try:
        one = charge(member.leaf, _UNITS[unit])
    except Unconvertible as reason:
        raise CertificateError(str(reason)) from reason
    cost = _claim(member.leaf.count * one.value)
    member.costs[unit] = text(cost)
    return cost


def _pairs(
    writer: _Writer, members: list[_Member], delta: Fraction, most: int
) -> tuple[list[str], Fraction]:
    """The nodes whose sum is an (eps, delta) within the given delta, with the sum of their eps.

    All goes through mu, rho or eps, or the bounded draws by eps with the rest by mu or rho,
    whichever is least.
    """
    way = min(_ways(members, delta, most), key=lambda way: way.eps, default=None)
    if way is None:
        raise CertificateError("no bound in eps and delta is known for these leaves")
    nodes, eps = _parts(writer, way.bounded, "eps", most)
    if way.smooth:
        node, cost = _at_delta(writer, way, delta, most)
        nodes, eps = [*nodes, node], eps + cost
    return nodes, eps


@dataclass(frozen=True, slots=True)
class _Way:
    """Bounded leaves by their eps, the others by a total in `unit` turned into eps at a delta."""

    eps: Fraction
    bounded: tuple[_Member, ...]
    smooth: tuple[_Member, ...]
    unit: str


def _ways(members: Sequence[_Member], delta: Fraction, most: int) -> Iterable[_Way]:
    bounded = tuple(member for member in members if member.leaf.kind in _BOUNDED)
    loose = tuple(member for member in members if member.leaf.kind not in _BOUNDED)
    for apart, smooth in dict.fromkeys((((), tuple(members)), (bounded, loose))):
        base = total((member.leaf for member in apart), "eps", most)
        if not smooth and base is not None:
            yield _Way(base, apart, (), "")
        if base is None or not smooth or delta == 0:
            continue
        for unit in ("mu2", "rho"):
            cost = total((member.leaf for member in smooth), _UNITS[unit], most)
            if cost is not None:
                yield _Way(base + _EPS_AT[unit](cost, delta), apart, smooth, unit)


def _at_delta(writer: _Writer, way: _Way, delta: Fraction, most: int) -> tuple[str, Fraction]:
    unit = way.unit
    parts, cost = _parts(writer, way.smooth, unit, most)
    claim = _claim(cost)
    node = writer.add(writer.fresh("s"), f"sum_{unit}", {"of": parts}, {unit: claim})
    eps = max(_EPS_AT[unit](claim, delta), _LEAST_EPS)
    given: dict[str, Any] = {"of": [node]}
    if unit == "rho":
        given["alpha"] = text(zcdp_order(claim, delta))
    rule = "rho_to_adp" if unit == "rho" else "mu_to_adp"
    return writer.add(writer.fresh("d"), rule, given, {"eps": eps, "delta": delta}), eps


_LEAST_EPS = Fraction(1, 10**18)
_EPS_AT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {"mu2": gdp_eps, "rho": zcdp_eps}


def _claim(value: Fraction) -> Fraction:
    """The value where its text is short, else rounded up to 60 places."""
    if value.denominator <= _LONGEST:
        return value
    return Fraction(-(-value.numerator * _LONGEST // value.denominator), _LONGEST)
