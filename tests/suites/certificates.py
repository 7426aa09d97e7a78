"""Honest certificates, small plans with all that a certificate may hold."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

from planner.calculus.compose import eps_at, total
from planner.calculus.cost import Cost
from planner.calculus.exact import number, text
from planner.calculus.group import grouped
from planner.calculus.inverse import solve
from planner.calculus.leaves import Leaf
from planner.calculus.need import Need
from planner.certificate import certify

F = Fraction
Body = dict[str, Any]


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def dataset(name: str, *, rows: int = 1, population: str | None = None, sites: Any = None) -> Body:
    return {
        "name": name,
        "population": population,
        "relation": "replace",
        "rows": 1000,
        "unit": {"column": "person", "max": rows},
        "sites": sites,
        "columns": [{"name": "x", "lo": "-0.5", "hi": "1"}],
        "norm": None,
        "budget": None,
    }


def statement(name: str, *leaves: Leaf) -> Body:
    homes = list(dict.fromkeys(leaf.dataset for leaf in leaves))
    return {
        "name": name,
        "verb": "TEST",
        "method": "any",
        "version": 1,
        "on": [{"dataset": home, "site": None} for home in homes],
        "params": {"level": "0.05"},
        "cost": [{"dataset": home, "site": None, "declared": {"eps": "1"}} for home in homes],
        "leaves": [leaf.json() for leaf in leaves],
    }


def plan(datasets: list[Body], *statements: Body) -> Body:
    head = {"schema": "dpql/1", "language": "1", "evalues": [], "study": {"title": "Größe"}}
    return {**head, "datasets": datasets, "statements": list(statements)}


def reserve(
    unit: str, amount: Fraction | str, name: str = "d", site: str | None = None, **more: Any
) -> Body:
    key = more.pop("key", name) + ("" if site is None else f"/{site}")
    written = amount if isinstance(amount, str) else text(amount)
    return {"key": key, "dataset": name, "site": site, "unit": unit, "amount": written, **more}


def certified(body: Body, *reservations: Body) -> tuple[Body, bytes, list[Body]]:
    data = canonical(body)
    return certify(body, sha(data), reservations), data, list(reservations)


def rounds() -> tuple[Body, bytes, list[Body]]:
    """Twenty rounds of selection with measurement, beside a bounded test."""
    needs = (
        Need("br", lambda: F(2), 20, role="select", share=F(1, 2), dataset="d"),
        Need("gauss", lambda: F(2), 20, role="measure", share=F(1, 2), dataset="d"),
    )
    peel = solve(needs, Cost("rho", F(1, 10))).leaves
    test = solve((Need("lap", lambda: F(7, 3), dataset="d"),), Cost("eps", F(1, 3))).leaves
    body = plan([dataset("d")], statement("peel", *peel), statement("cox", *test))
    leaves = [*peel, *test]
    return certified(
        body,
        reserve("rho", total(leaves, "rho") or 0),
        reserve("mu2", total(leaves, "mu_squared") or 0),
    )


def sites() -> tuple[Body, bytes, list[Body]]:
    """Three sites, a person at two of them at most, beside a release over all."""
    members = [{"name": name, "rows": 300} for name in "abc"]
    at = [Leaf.gauss(1, 4 + i, dataset="d", site=s) for i, s in enumerate("aabc")]
    whole = Leaf.dgauss(3, 4096, dataset="d")
    body = plan(
        [dataset("d", population="people", sites={"max": 2, "members": members})],
        statement("lmm", *at),
        statement("all", whole),
    )
    return certified(
        body,
        reserve("mu2", total([*at, whole], "mu_squared", 2) or 0, key="people"),
        reserve("rho", total([*at, whole], "rho", 2) or 0, key="people"),
        reserve("mu2", total(at[:2], "mu_squared") or 0, site="a", key="people"),
        reserve("mu2", total(at[2:3], "mu_squared") or 0, site="b", key="people"),
        reserve("mu2", total(at[3:], "mu_squared") or 0, site="c", key="people"),
    )


def one_site() -> tuple[Body, bytes, list[Body]]:
    """Two sites that share nobody, and a count that must round up."""
    members = [{"name": name, "rows": 500} for name in "ab"]
    at = [Leaf.lap(1, 7, dataset="d", site="a", count=3), Leaf.br(2, 9, dataset="d", site="b")]
    body = plan([dataset("d", sites={"max": 1, "members": members})], statement("one", *at))
    return certified(
        body,
        reserve("eps", total(at, "eps") or 0),
        reserve("rho", total(at, "rho") or 0),
        reserve("mu2", total(at, "mu_squared") or 0),
    )


def everything() -> tuple[Body, bytes, list[Body]]:
    """Every kind of leaf, three rows a person, two datasets; totals in eps with delta."""
    one = Leaf.declared("pure", F(1, 20), dataset="d", count=2)
    two = [
        Leaf.pure(1, 9, 2, dataset="d"),
        Leaf.br(1, 9, dataset="d", count=4),
        Leaf.declared("gdp", F(1, 9), dataset="d", count=2),
        Leaf.declared("zcdp", F(1, 90), dataset="d"),
        Leaf.cap("gdp", F(1, 5), ("br", "dgauss"), dataset="d"),
    ]
    other = [Leaf.declared("pure", F(1, 4), dataset="e"), Leaf.lap(2, 9, dataset="e", count=3)]
    body = plan(
        [dataset("d", rows=3), dataset("e")],
        statement("given", one),
        statement("mixed", *two, *other),
    )
    small = text(F(1, 10**5))
    return certified(
        body,
        reserve("adp", F(9), delta=small),
        reserve("eps", total(other, "eps") or 0, "e"),
        reserve("rho", total(other, "rho") or 0, "e"),
        reserve("mu2", total(other, "mu_squared") or 0, "e"),
    )


def smooth() -> tuple[Body, bytes, list[Body]]:
    """Gaussian noise, in eps with delta by way of mu, beside a dataset that reserves nothing."""
    some = [Leaf.gauss(1, 3, dataset="d"), Leaf.gauss(1, 4, dataset="d")]
    other = statement("o", Leaf.lap(1, 3, dataset="e"))
    body = plan([dataset("d"), dataset("e")], statement("s", *some), other)
    least = eps_at(some, F(1, 10**5))
    return certified(body, reserve("adp", least.eps if least else 0, delta="0.00001"))


def by_hand(body: Body, steps: list[Body], *reservations: Body) -> tuple[Body, bytes, list[Body]]:
    """A certificate of one node a leaf, named as `certify` does, then of other nodes as they are.

    A leaf with a delta claims its own cost, others nothing. The last nodes are the totals.
    """
    rows = {entry["name"]: entry["unit"]["max"] for entry in body["datasets"]}
    nodes: list[Body] = []
    for i, one in enumerate(body["statements"]):
        for place, leaf in enumerate(one["leaves"]):
            person = grouped(Leaf.from_json(leaf), rows[leaf["dataset"]])
            pair = {"delta": person.count * person.delta, "eps": person.count * person.param}
            given = {"statement": one["name"], "leaf": place, "rows": rows[leaf["dataset"]], **leaf}
            rule = "cap" if leaf["role"] == "cap" else leaf["kind"]
            out = {name: text(cost) for name, cost in pair.items()} if person.delta else {}
            nodes.append({"id": f"l{i}.{place}", "rule": rule, "in": given, "out": out})
    nodes += steps
    totals = [
        {"dataset": one["dataset"], "site": one["site"], "node": step["id"], "out": step["out"]}
        for one, step in zip(reservations, steps[-len(reservations) :], strict=True)
    ]
    facts = ("name", "population", "relation", "unit", "sites")
    certificate = {
        "version": 1,
        "plan_hash": sha(canonical(body)),
        "relation": "replace",
        "datasets": [{fact: entry[fact] for fact in facts} for entry in body["datasets"]],
        "nodes": nodes,
        "totals": totals,
    }
    return certificate, canonical(body), list(reservations)


def step(id: str, rule: str, of: list[str], out: Body, **more: Any) -> Body:
    return {"id": id, "rule": rule, "in": {"of": of, **more}, "out": out}


def losses() -> tuple[Body, bytes, list[Body]]:
    """Losses of all kinds on a coarse grid, two rows a person: an (eps, delta), and a mu.

    The claims are within 1e-5 of the least that this grid proves.
    """
    some = [
        Leaf.lap(1, 4, dataset="d", count=2),
        Leaf.pure(1, 6, dataset="d"),
        Leaf.br(1, 8, dataset="d", count=3),
        Leaf.gauss(1, 3, dataset="d"),
        Leaf.cap("gdp", F(1, 5), ("br", "gauss"), dataset="d"),
        Leaf.declared("adp", F(1, 10), F(1, 10**6), dataset="d", count=2),
    ]
    other = [Leaf.lap(1, 10, dataset="e", count=10), Leaf.gauss(1, 4, dataset="e")]
    body = plan([dataset("d", rows=2), dataset("e")], statement("s", *some), statement("t", *other))
    pair = {"delta": "0.00001", "eps": "3.26714"}
    mu2 = {"mu2": "0.163563"}
    return by_hand(
        body,
        [
            step("p", "pld_adp", [f"l0.{i}" for i in range(6)], pair, h="1/3"),
            step("m", "pld_mu2", ["l1.0", "l1.1"], mu2, h="1/10", bits=128),
        ],
        reserve("adp", pair["eps"], delta=pair["delta"]),
        reserve("mu2", mu2["mu2"], "e"),
    )


def either() -> tuple[Body, bytes, list[Body]]:
    """Two sites that share nobody: what holds for both at one eps; pairs from elsewhere beside."""
    members = [{"name": name, "rows": 500} for name in "ab"]
    at = [
        Leaf.gauss(1, 3, dataset="d", site="a"),
        Leaf.lap(1, 9, dataset="d", site="a"),
        Leaf.gauss(1, 2, dataset="d", site="b"),
        Leaf.declared("adp", F(1, 10), F(1, 10**6), dataset="d", count=3),
    ]
    body = plan([dataset("d", sites={"max": 1, "members": members})], statement("s", *at))
    pairs = {name: {"delta": "0.00001", "eps": eps} for name, eps in SITES.items()}
    both = {"delta": "0.00001", "eps": pairs["b"]["eps"]}
    whole = {"delta": "0.000013", "eps": text(number(both["eps"]) + F(3, 10))}
    first, data, reservations = by_hand(
        body,
        [
            step("q", "pld_adp", ["l0.0", "l0.1"], pairs["a"], h="1/4"),
            step("r", "pld_adp", ["l0.2"], pairs["b"], h="1/4"),
            step("b", "site_top", ["q", "r"], both),
            step("t", "sum_adp", ["b", "l0.3"], whole),
        ],
        reserve("adp", whole["eps"], delta=whole["delta"]),
    )
    return first, data, reservations


SITES = {"a": "1.47308", "b": "1.99789"}

HONEST = {
    "losses": losses,
    "either": either,
    "rounds": rounds,
    "sites": sites,
    "one_site": one_site,
    "smooth": smooth,
    "everything": everything,
}
