"""Checks a certificate: derives every cost again from the plan's leaves, sharing no code.

Run alone: `python checker.py plan.json certificate.json`. Each number must bound what is recomputed
here, in rationals (fmpq) or certified balls (arb); all that is unknown or unused is rejected.
"""

import hashlib
import json
import re
import sys
from typing import Any

from flint import arb, ctx, fmpq

SIZE, BITS, LARGEST = 1 << 27, 384, 10**40
NUMBER = re.compile(r"([0-9]{1,100})(?:\.([0-9]{1,60}))?(?:/([0-9]{1,100}))?")
PARAM = {"pure": "eps0", "lap": "eps0", "br": "eta", "gauss": "mu", "dgauss": "mu", "gdp": "mu"}
CAPS = {"pure": {"pure", "lap", "br"}, "gdp": {*PARAM}, "zcdp": {*PARAM, "zcdp"}}
PARAM["zcdp"] = "rho"
LEAF = "count dataset factor kind of params role scale sensitivity site width"
FACTS = ("name", "population", "relation", "unit", "sites")
UNITS = {("eps",): "eps", ("rho",): "rho", ("mu2",): "mu2", ("delta", "eps"): "adp"}
TO_ADP = {"rho_to_adp": "rho", "mu_to_adp": "mu2"}


class Rejected(Exception):
    """The certificate does not prove the reservation; the text says why."""


def check(certificate: Any, body: bytes, reservations: Any) -> None:
    """Raise Rejected unless a certificate (bytes or dict) proves its totals for a canonical body.

    `reservations`, if any, are totals: "key", "dataset", "site", "unit", "amount", for adp "delta".
    """
    try:
        with ctx.workprec(BITS):
            given = certificate if isinstance(certificate, bytes) else canonical(certificate)
            derive(read(body), hashlib.sha256(body).hexdigest(), read(given), reservations)
    except Exception as problem:  # what cannot be followed proves nothing either
        reason = problem if isinstance(problem, Rejected) else type(problem).__name__
        raise Rejected(f"not a proof for this plan: {reason}") from None


def need(fact: object, reason: str) -> None:
    if not fact:
        raise Rejected(reason)


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def read(data: bytes) -> Any:
    need(len(data) <= SIZE, "too large")
    value = json.loads(data.decode(), parse_float=int, parse_constant=int)  # int refuses both
    need(canonical(value) == data, "not in canonical form, or a key is repeated")
    return value


def number(text: Any) -> fmpq:
    match: Any = NUMBER.fullmatch(text)
    need(match, "a number is not a plain decimal or p/q")
    whole, places, below = match.groups("")
    value = fmpq(int(whole + places), 10 ** len(places) * int(below or 1))
    need(0 < value <= LARGEST, "a number is not in (0, 1e40]")
    return value


def count(value: Any) -> int:
    need(type(value) is int and 1 <= value < 2**53, "a count is not a positive integer")
    return int(value)


def fits(claim: fmpq, unit: str, kind: str, n: int, p: fmpq, ratio: fmpq) -> bool:
    """Whether each of a leaf's n draws, its parameter p (or ball x), costs at most c = claim/n."""
    x, c, q = arb(p), claim / n, (arb(claim / n) / 8).sqrt().erfc() / 2  # q: 1 - Phi(sqrt(c)/2)
    table = {
        "pure": {"eps": p <= c, "rho": x * (x / 2).tanh() <= c, "mu2": q * (1 + x.exp()) <= 1},
        "lap": {"eps": p <= c, "rho": x + (-x).expm1() <= c, "mu2": 2 * q * (x / 2).exp() <= 1},
        "br": {"eps": p <= c, "rho": p**2 / 8 <= c, "mu2": q * (1 + (x / 2).exp()) <= 1},
        "zcdp": {"rho": p <= c},
    }
    return bool(table.get(kind, {"rho": ratio**2 / 2 <= c, "mu2": p**2 <= c}).get(unit))


def drawn(leaf: dict[str, Any], rows: int) -> tuple[str, str, int, fmpq, fmpq]:
    """Rule, kind, count and parameter of a leaf for one person; sensitivity divided by scale."""
    kind, cap, of, params = leaf["kind"], leaf["role"] == "cap", leaf["of"], leaf["params"]
    n, factor, _ = (count(leaf[field]) for field in ("count", "factor", "width"))
    need(" ".join(sorted(leaf)) == LEAF and [*params] == [PARAM[kind]], "a leaf is malformed")
    need(of and n == 1 and {*of} <= CAPS[kind] if cap else of == [], "a filter draws wrong kinds")
    p = ratio = number(params[PARAM[kind]])
    if leaf["scale"] is None:
        fine = leaf["sensitivity"] is None and kind in CAPS and factor == 1
        p = ratio = p if cap else p * rows ** (2 if kind == "zcdp" else 1)
    else:
        scale = number(leaf["scale"])
        ratio = number(leaf["sensitivity"]) / scale
        due = {"lap": 1, "gauss": 1, "br": 2, "pure": factor, "dgauss": 1 + 1 / (20 * scale**2)}
        fine = not cap and p == due[kind] * ratio and (factor == 1 or kind == "pure")
        fine = fine and (kind != "dgauss" or (scale.q == 1 and scale >= 1024))
    need(fine, "a leaf's parameter does not follow from its sensitivity and scale")
    return "cap" if cap else kind, kind, n, p, ratio


def planned(body: dict[str, Any]) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Who pays for which leaves, by (dataset, site), and the leaves, by (statement, place)."""
    payers, leaves, rows = dict[Any, Any](), dict[Any, Any](), dict[Any, int]()
    for entry in body["datasets"]:
        name, sites = entry["name"], entry["sites"] or {"max": 1, "members": []}
        rows[name], most = count(entry["unit"]["max"]), count(sites["max"])
        need(entry["relation"] == "replace", "a relation is not replace")
        for site in [None, *(member["name"] for member in sites["members"])]:
            need((name, site) not in payers, "a name is repeated")
            key = (entry["population"] or name) + ("" if site is None else f"/{site}")
            payers[name, site] = {"key": key, "most": most, "mask": 0}
    for statement in body["statements"]:
        on, cost, held = ({h["dataset"] for h in statement[p]} for p in ("on", "cost", "leaves"))
        need(on == cost == held and held, "a statement lacks leaves")
        for place, leaf in enumerate(statement["leaves"]):
            at, home = (statement["name"], place), (leaf["dataset"], leaf["site"])
            need(at not in leaves, "two statements have one name")
            told = {"statement": at[0], "leaf": place, "rows": rows[home[0]], **leaf}
            (rule, *law), bit = drawn(leaf, rows[home[0]]), 1 << len(leaves)
            leaves[at] = {"told": canonical([rule, told]), "law": law, "home": home, "mask": bit}
            for payer in {home, (home[0], None)}:  # KeyError where a site is not declared
                payers[payer]["mask"] |= bit
    return payers, leaves


def derived(rule: str, given: Any, out: Any, parts: list[Any], payers: Any) -> dict[str, Any]:
    """What a derived node says; Rejected unless it bounds its parts. A bit in two masks carries."""
    masks, fine, inputs, unit = [node["mask"] for node in parts], False, ["of"], UNITS[tuple(out)]
    need(0 < sum(masks).bit_count() == sum(m.bit_count() for m in masks), "a leaf is used twice")
    main, homes = "eps" if unit == "adp" else unit, {node["home"] for node in parts}
    costs, claim = [node["out"][TO_ADP.get(rule, main)] for node in parts], out[main]
    spent = sum(node["out"].get("delta", 0) for node in parts)
    if rule == f"sum_{unit}":
        fine = sum(costs) <= claim and spent <= out.get("delta", 0)
    elif rule == "site_top" and unit != "adp" and not spent and len(homes) == len(parts) > 1:
        ((name, _),) = {(name, site is None) for name, site in homes}  # sites of one dataset only
        fine = sum(sorted(costs)[-payers[name, None]["most"] :]) <= claim
    elif rule in TO_ADP and unit == "adp" and len(parts) == 1:
        x, eps, delta = arb(costs[0]), arb(claim), arb(out["delta"])
        if rule == "mu_to_adp":
            z, r = eps / (2 * x).sqrt(), (x / 8).sqrt()
            fine = ((z - r).erfc() - eps.exp() * (z + r).erfc()) / 2 <= delta
        else:
            a, inputs = arb(number(given["alpha"])), ["alpha", "of"]
            power = (a - 1) * (a * x - eps) - (a - 1).log() + a * (1 - 1 / a).log()
            fine = power <= delta.log()
    need(fine and [*given] == inputs, f"{rule}: too low a claim, or the rule does not apply here")
    return {"mask": sum(masks), "home": homes.pop() if len(homes) == 1 else (None, None)}


def derive(plan: Any, plan_hash: str, proof: Any, reservations: Any) -> None:
    payers, leaves = planned(plan)
    steps, totals, nodes = proof.pop("nodes"), proof.pop("totals"), dict[str, Any]()
    head: dict[str, Any] = {"version": 1, "plan_hash": plan_hash, "relation": "replace"}
    head["datasets"] = [{fact: entry[fact] for fact in FACTS} for entry in plan["datasets"]]
    need(canonical(proof) == canonical(head), "another plan, relation or dataset")
    need(len(steps) <= 16 * len(leaves) + 64, "more nodes than the plan can need")
    left, used, proved = dict(leaves), {total["node"] for total in totals}, dict[Any, Any]()
    for step in steps:
        name, rule, given = step["id"], step["rule"], step["in"]
        need(type(name) is str and name not in nodes and len(step) == 4, "a node is malformed")
        out = {unit: number(text) for unit, text in step["out"].items()}
        used |= {name} if "statement" in given else {*given["of"]}
        if "statement" in given:
            node = left.pop((given["statement"], given["leaf"]))
            need(canonical([rule, given]) == node["told"], "not a leaf of the plan")
            need(all(fits(out[unit], unit, *node["law"]) for unit in out), f"{rule}: claim too low")
        else:
            node = derived(rule, given, out, [nodes[part] for part in given["of"]], payers)
        nodes[name] = node | {"out": out, "text": step["out"]}
    for total in totals:
        node, home, out = nodes[total["node"]], (total["dataset"], total["site"]), total["out"]
        at = (*home, UNITS[tuple(out)])
        need(node["mask"] == payers[home]["mask"], "a total lacks a leaf")
        need(out == node["text"] and len(total) == 4 and at not in proved, "a total is malformed")
        proved[at] = {"dataset": at[0], "site": at[1], "unit": at[2], "key": payers[home]["key"]}
        proved[at] |= zip(("amount", "delta"), reversed(out.values()))  # eps before delta
    need(not left and used == {*nodes}, "a leaf of the plan is missing, or a node is unused")
    if reservations is not None:
        asked = {(entry["dataset"], entry["site"], entry["unit"]): entry for entry in reservations}
        need(asked.items() <= proved.items(), "a reserved amount is not proved")
        keys = [payer["key"] for payer in payers.values() if payer["mask"]]
        owed = sum(keys.count(key) for key, _ in {(e["key"], e["unit"]) for e in reservations})
        need(0 < owed == len(asked) == len(reservations), "a part is missing or reserved twice")


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as plan_file, open(sys.argv[2], "rb") as certificate_file:
        content, written = json.load(plan_file), certificate_file.read().strip()
    try:
        check(written, canonical(content.get("body", content)), None)
    except Rejected as problem:
        sys.exit(f"rejected: {problem}")
    print("accepted: every total bounds what its leaves cost")
