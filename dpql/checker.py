"""Checks a certificate: derives every cost again from the plan's leaves, sharing no code.

Run alone: `python checker.py plan.json certificate.json`. Each number must bound what is recomputed
here, rational formulas exactly, others in certified balls; anything unknown, unused, repeated or
foreign to the plan is rejected.
"""

from __future__ import annotations

import hashlib
import json
import re
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

__all__ = ["Rejected", "check"]

SIZE, BITS, LARGEST, GRID = 1 << 27, 384, 10**40, 10**60
NUMBER = re.compile(r"([0-9]{1,100})(?:\.([0-9]{1,60}))?(?:/([0-9]{1,100}))?")
BOUNDED = {"pure": "eps0", "lap": "eps0", "br": "eta"}
SMOOTH = {"gauss": "mu", "dgauss": "mu", "gdp": "mu"}
PARAM = BOUNDED | SMOOTH | {"zcdp": "rho", "adp": "eps0"}
CAPS = {"pure": {*BOUNDED}, "gdp": {*BOUNDED, *SMOOTH}, "zcdp": {*BOUNDED, *SMOOTH, "zcdp"}}
LEAF = "count dataset factor kind of params role scale sensitivity site width"
SIMPLE = {"leaf_eps": "eps", "leaf_rho": "rho", "leaf_mu": "mu2", "leaf_adp": "adp"}
SUMS = {"sum_eps": "eps", "sum_rho": "rho", "sum_mu2": "mu2", "sum_adp": "adp"}
TO_ADP = {"rho_to_adp": "rho", "mu_to_adp": "mu2"}


class Rejected(Exception):
    """The certificate does not prove the reservation; the text says why."""


def check(certificate: Any, body: bytes, reservations: Any) -> None:
    """Return if the certificate (bytes or dict) proves every reserved amount, else raise Rejected.

    `body` is the plan's canonical body; `reservations` a list of {"key", "dataset", "site", "unit"
    (eps, rho, mu2, adp), "amount"}, with "delta" for adp, or None to check the totals alone.
    """
    try:
        with ctx.workprec(BITS):
            given = certificate if isinstance(certificate, bytes) else canonical(certificate)
            derive(read(body), hashlib.sha256(body).hexdigest(), read(given), reservations)
    except Rejected:
        raise
    except Exception as problem:  # what cannot be followed proves nothing
        raise Rejected(f"not a certificate of this plan ({type(problem).__name__})") from None


def need(fact: object, reason: str) -> None:
    if not fact:
        raise Rejected(reason)


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def read(data: bytes) -> Any:
    def refused(text: str) -> None:
        need(False, "a number is neither text nor a count")

    need(len(data) <= SIZE, "too large")
    value = json.loads(data.decode(), parse_float=refused, parse_constant=refused)
    need(canonical(value) == data, "not in canonical form, or a key is repeated")
    return value


def number(text: Any) -> Fraction:
    match = NUMBER.fullmatch(text) if isinstance(text, str) else None
    whole, places, below = match.groups("") if match else ("0", "", "")
    need(match and int(below or 1), "a number is not a plain positive decimal or p/q")
    value = Fraction(int(whole + places), 10 ** len(places) * int(below or 1))
    need(0 < value <= LARGEST, "a number is not in (0, 1e40]")
    return value


def count(value: Any) -> int:
    need(type(value) is int and 1 <= value < 2**53, "a count is not a positive integer")
    return int(value)


def ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def tail(x: arb) -> arb:
    return (x / arb(2).sqrt()).erfc() / 2


def added(values: Any) -> Fraction:
    total = Fraction(0)
    for value in values:
        total += value
        if total.denominator > GRID:  # rounded up, so that sums of many fractions stay short
            total = Fraction(-(-total.numerator * GRID // total.denominator), GRID)
    return total


def parameters(leaf: dict[str, Any], rows: int) -> dict[str, Any]:
    """What a leaf may claim at least, for one person, from its sensitivity and scale."""
    kind, cap, scale = leaf["kind"], leaf["role"] == "cap", leaf["scale"]
    n, factor, of, main = count(leaf["count"]), count(leaf["factor"]), leaf["of"], PARAM[kind]
    need(" ".join(sorted(leaf)) == LEAF and count(leaf["width"]), "a leaf has unknown fields")
    need(of and n == 1 and {*of} <= CAPS[kind] if cap else of == [], "a filter draws wrong kinds")
    p = {name: number(text) for name, text in leaf["params"].items()}
    need([*p] == (["delta"] if kind == "adp" else []) + [main], "a leaf has unknown parameters")
    made = {"rule": "cap" if cap else kind, "kind": kind, "n": n, "unit": "leaf", "p": p}
    made |= {"rho": None, "grown": None}
    if scale is None:
        fine = leaf["sensitivity"] is None and kind in ("pure", "gdp", "zcdp", "adp")
        fine, k, x = fine and factor == 1, 1 if cap else rows, ball(p[main])
        p[main] *= k * k if kind == "zcdp" else k
        if kind == "adp" and k > 1:  # what k rows make of delta
            made["grown"] = (k * x).expm1() / x.expm1()
    else:
        value, s = {"br": 2}.get(kind, factor) * number(leaf["sensitivity"]), number(scale)
        fine = not cap and kind not in ("gdp", "zcdp", "adp") and (factor == 1 or kind == "pure")
        if kind == "dgauss":
            fine = fine and s.denominator == 1 and s >= 1024
            made["rho"], value = (value / s) ** 2 / 2, value * (1 + 1 / (20 * s * s))
        fine = fine and p[main] == value / s
    need(fine, "a leaf's parameter does not follow from its sensitivity and scale")
    return made


def fits(leaf: dict[str, Any], unit: str, out: dict[str, Fraction]) -> Any:
    """Whether `out` certainly bounds all draws of a leaf together in `unit`."""
    kind, n, p, claim = leaf["kind"], leaf["n"], leaf["p"][PARAM[leaf["kind"]]], [*out.values()][-1]
    x = ball(p)
    if unit == "adp":
        return kind == "adp" and n * p <= claim and n * leaf["p"]["delta"] <= out["delta"]
    exact = {"eps": dict.fromkeys(BOUNDED, p), "mu2": dict.fromkeys(SMOOTH, p * p)}
    exact["rho"] = dict.fromkeys(SMOOTH, leaf["rho"] or p * p / 2) | {"br": p * p / 8, "zcdp": p}
    if kind in exact[unit]:
        return n * exact[unit][kind] <= claim
    if unit == "rho":
        one = {"pure": x * (x / 2).tanh(), "lap": x + (-x).expm1()}
        return kind in one and n * one[kind] <= ball(claim)
    odds = {"pure": 1 + x.exp(), "br": 1 + (x / 2).exp(), "lap": 2 * (x / 2).exp()}
    return unit == "mu2" and kind in odds and tail(ball(claim / n).sqrt() / 2) <= 1 / odds[kind]


def proven(rule: str, given: Any, out: Any, above: list[Any], sets: Any) -> dict[str, Any]:
    """What a derived node says; Rejected unless its claim is at least what is recomputed."""
    mask, units, homes = 0, {node["unit"] for node in above}, [node["home"] for node in above]
    for node in above:
        need(not mask & node["bit"], "a leaf is used twice")
        mask |= node["bit"]
    first, inputs, fine = above[0], [*given], False
    unit = "adp" if rule in TO_ADP else (SIMPLE | SUMS).get(rule, first["unit"])
    main = "eps" if unit == "adp" else unit
    need([*out] == (["delta", "eps"] if unit == "adp" else [unit]), "a result is in a wrong unit")
    costs, claim = [node["p"].get(main) for node in above], ball(out[main])
    if rule in SIMPLE:
        fine = len(above) == 1 and units == {"leaf"} and fits(first, unit, out)
    elif rule in SUMS:
        mixed = added(node["p"].get("delta", 0) for node in above) if unit == "adp" else 0
        fine = units <= ({"eps", "adp"} if unit == "adp" else {unit})
        fine = fine and added(costs) <= out[main] and mixed <= out.get("delta", 0)
    elif rule == "site_top" and units == {unit} <= {"eps", "rho", "mu2"}:
        (dataset,), sites = {home[0] for home in homes}, {home[1] for home in homes}
        largest = sorted(costs)[-sets[dataset]["most"] :]
        fine = 1 < len(sites) == len(homes) and None not in sites and added(largest) <= out[unit]
    elif rule in TO_ADP and len(above) == 1 and units == {TO_ADP[rule]}:
        x, delta = ball(first["p"][TO_ADP[rule]]), ball(out["delta"])
        if rule == "mu_to_adp":
            z, half = claim / x.sqrt(), x.sqrt() / 2
            fine = tail(z - half) - claim.exp() * tail(z + half) <= delta
        else:
            a = ball(number(given["alpha"]))
            power = (a - 1) * (a * x - claim) - (a - 1).log() + a * (1 - 1 / a).log()
            fine = power <= delta.log()
    fine = fine and inputs == (["alpha", "of"] if rule == "rho_to_adp" else ["of"])
    need(fine, f"{rule}: the claim is too low, or the rule does not apply here")
    home = homes[0] if len({*homes}) == 1 and rule != "site_top" else None
    return {"unit": unit, "p": out, "bit": mask, "home": home}


def planned(body: dict[str, Any]) -> tuple[dict[str, Any], dict[Any, Any]]:
    """The datasets by name, and the leaves by (statement, place)."""
    sets: dict[str, Any] = {}
    leaves: dict[Any, Any] = {}
    for entry in body["datasets"]:
        sites = entry["sites"] or {"max": 1, "members": []}
        names = [site["name"] for site in sites["members"]]
        need(entry["relation"] == "replace", "a relation is not replace")
        need(entry["name"] not in sets and len({*names}) == len(names), "a name is repeated")
        about = {"sites": names, "most": count(sites["max"]), "rows": count(entry["unit"]["max"])}
        sets[entry["name"]] = about | {"key": entry["population"] or entry["name"]}
    for statement in body["statements"]:
        on, cost, held = ({h["dataset"] for h in statement[p]} for p in ("on", "cost", "leaves"))
        need(on == cost == held and held, "a statement lacks leaves")
        for place, leaf in enumerate(statement["leaves"]):
            at, about = (statement["name"], place), sets[leaf["dataset"]]
            need(at not in leaves, "two statements have one name")
            need(leaf["site"] is None or leaf["site"] in about["sites"], "a site is not declared")
            told = {"statement": at[0], "leaf": place, "rows": about["rows"], **leaf}
            leaves[at] = parameters(leaf, about["rows"]) | {"in": canonical(told)}
            homes = [(leaf["dataset"], leaf["site"]), (leaf["dataset"], None)]
            leaves[at] |= {"home": homes[0], "homes": homes, "bit": 1 << len(leaves) - 1}
    return sets, leaves


def derive(plan: Any, plan_hash: str, proof: Any, reservations: Any) -> None:
    sets, leaves = planned(plan)
    facts = ("name", "population", "relation", "unit", "sites")
    head: dict[str, Any] = {"version": 1, "plan_hash": plan_hash, "relation": "replace"}
    head["datasets"] = [{fact: entry[fact] for fact in facts} for entry in plan["datasets"]]
    steps, claims = proof.pop("nodes"), proof.pop("totals")
    nodes, totals, left, used = {}, {}, dict(leaves), set()
    need(canonical(proof) == canonical(head), "another plan, relation or dataset")
    need(len(steps) <= 16 * len(leaves) + 64, "more nodes than the plan can need")
    for step in steps:
        name, rule, given, claim = step["id"], step["rule"], step["in"], step["out"]
        need(type(name) is str and name not in nodes and len(step) == 4, "a node is malformed")
        out = {unit: number(text) for unit, text in claim.items()}
        if rule in PARAM or rule == "cap":
            leaf = left.pop((given["statement"], given["leaf"]), {"rule": None})
            need(rule == leaf["rule"] and canonical(given) == leaf["in"], "not a leaf of the plan")
            fine = [*out] == [*leaf["p"]] and all(v <= out[q] for q, v in leaf["p"].items())
            if leaf["grown"]:
                fine = fine and ball(leaf["p"]["delta"]) * leaf["grown"] <= ball(out["delta"])
            need(fine, f"{rule}: the claim is too low")
            nodes[name] = leaf | {"p": out}
        else:
            used |= {*given["of"]}
            nodes[name] = proven(rule, given, out, [nodes[other] for other in given["of"]], sets)
    need(not left, "a leaf of the plan is missing")
    for claim in claims:
        node, home = nodes[claim["node"]], (claim["dataset"], claim["site"])
        whole = sum(leaf["bit"] for leaf in leaves.values() if home in leaf["homes"])
        need(node["bit"] == whole, "a total lacks a leaf")
        need(node["unit"] != "leaf" and (*home, node["unit"]) not in totals, "a repeated total")
        out = {unit: number(text) for unit, text in claim["out"].items()}
        need(out == node["p"] and len(claim) == 4, "a total is not its node's")
        used |= {claim["node"]}
        totals[(*home, node["unit"])] = out
    idle = {name for name, node in nodes.items() if node["unit"] != "leaf"} - used
    need(not idle, "a node is unused")
    if reservations is not None:
        reserved(reservations, totals, {leaf["home"] for leaf in leaves.values()}, sets)


def reserved(reservations: Any, totals: Any, homes: Any, sets: Any) -> None:
    """Every reservation is one total, and none of what its key pays for is left out."""
    keys, seen = set(), set()
    for entry in reservations:
        home, unit = (entry["dataset"], entry["site"]), entry["unit"]
        amounts = {"eps" if unit == "adp" else unit: number(entry["amount"])}
        amounts |= {"delta": number(entry["delta"])} if unit == "adp" else {}
        need(entry["key"] == key(home, sets), "a reservation names the wrong ledger key")
        need(totals.get((*home, unit)) == amounts, "a reserved amount is not proved")
        need((*home, unit) not in seen, "one amount is reserved twice")
        keys.add((entry["key"], unit))
        seen.add((*home, unit))
    missing = {(*home, unit) for home in homes for at, unit in keys if at == key(home, sets)} - seen
    need(seen and not missing, "a part of what is reserved is missing")


def key(home: tuple[str, str | None], sets: Any) -> str:
    name = str(sets[home[0]]["key"])
    return name if home[1] is None else f"{name}/{home[1]}"


if __name__ == "__main__":
    import sys

    with open(sys.argv[1], "rb") as plan_file, open(sys.argv[2], "rb") as certificate_file:
        content, written = json.load(plan_file), certificate_file.read().strip()
    try:
        check(written, canonical(content.get("body", content)), None)
    except Rejected as problem:
        sys.exit(f"rejected: {problem}")
    print("accepted: every total bounds what its leaves cost")
