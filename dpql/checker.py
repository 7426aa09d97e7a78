"""Checks a certificate: derives every cost again from the plan's leaves, sharing no code.

Run alone: `python checker.py plan.json certificate.json`. What is unknown or unused is rejected."""

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from flint import arb, ctx, fmpq, fmpz_poly

SIZE, WORK, PRECISION, FEWER = 1 << 25, 1 << 27, 512, 160
NUMBER: Any = re.compile(r"(?=[0.]*[1-9])([0-9]{1,100})(?:\.([0-9]{1,60}))?(?:/([0-9]{1,100}))?")
PARAM = {"pure": "eps0", "lap": "eps0", "br": "eta", "gauss": "mu", "dgauss": "mu", "gdp": "mu"}
CAPS = {"pure": {"pure", "lap", "br"}, "gdp": {*PARAM}, "zcdp": {*PARAM, "zcdp"}}
PARAM |= {"zcdp": "rho", "adp": "delta eps0"}
LEAF = "count dataset factor kind of params role scale sensitivity site width"
FACTS = ("name", "population", "relation", "unit", "sites")
UNITS = {"eps": "eps", "rho": "rho", "mu2": "mu2", "delta eps": "adp"}
KEPT: Any = {  # 1 - delta at eps = e >= 0 of one draw; x: a parameter >= e, or for gdp mu sqrt 2
    "pure": lambda x, e: (1 + e.exp()) / (1 + x.exp()),
    "lap": lambda x, e: ((e - x) / 2).exp(),
    "br": lambda x, e: (2 * ((x + e) / 2).exp() - e.exp() - 1) / x.expm1(),
    "gdp": lambda x, e: 1 - ((e / x - x / 4).erfc() - e.exp() * (e / x + x / 4).erfc()) / 2,
}
canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


class Rejected(Exception):
    """The certificate does not prove the reservation; the text says why."""


def check(certificate: Any, body: bytes, reservations: Any) -> None:
    """Raise Rejected unless a certificate proves what is reserved, None or a list, for a plan."""
    try:
        given = certificate if isinstance(certificate, bytes) else canonical(certificate).encode()
        need(len(body) + len(given) <= SIZE, "too large")
        plan, proof = (json.loads(it, parse_float=int, parse_constant=int) for it in (body, given))
        need([canonical(it).encode() for it in (plan, proof)] == [body, given], "not canonical")
        with ctx.workprec(PRECISION):
            derive(plan, hashlib.sha256(body).hexdigest(), proof, reservations)
    except Exception as problem:  # what cannot be followed proves nothing either
        reason = problem if isinstance(problem, Rejected) else type(problem).__name__
        raise Rejected(f"not a proof for this plan: {reason}") from None


def need(fact: object, reason: str) -> None:
    if not fact:
        raise Rejected(reason)


def number(text: Any) -> fmpq:
    whole, places, below = NUMBER.fullmatch(text).groups("")
    return fmpq(int(whole + places), 10 ** len(places) * int(below or 1))


def drawn(leaf: dict[str, Any], rows: int) -> dict[str, Any]:
    """A leaf's draws for one person, and what all of them cost by unit, exactly or in a ball."""
    kind, role, of, n, factor = (leaf[part] for part in ("kind", "role", "of", "count", "factor"))
    fine = " ".join(leaf) == LEAF and " ".join(leaf["params"]) == PARAM[kind]
    fine &= all(type(i) is int and i > 0 for i in (n, factor, leaf["width"], rows))
    fine &= n == 1 and of != [] and {*of} <= CAPS[kind] if role == "cap" else of == []
    delta, p = [fmpq(0), *map(number, leaf["params"].values())][-2:]
    if leaf["scale"] is None:
        fine &= leaf["sensitivity"] is None and kind in (*CAPS, "adp") and factor == 1
        p = ratio = p if role == "cap" else p * rows ** (2 if kind == "zcdp" else 1)
        delta = delta if rows == 1 else delta * arb(p).expm1() / arb(p / rows).expm1()
    else:
        scale = number(leaf["scale"])
        ratio = number(leaf["sensitivity"]) / scale
        due = {"lap": 1, "gauss": 1, "br": 2, "pure": factor, "dgauss": 1 + 1 / (20 * scale**2)}
        fine &= p == due[kind] * ratio and (factor == 1 or kind == "pure") and role != "cap"
        fine &= kind != "dgauss" or (scale.q == 1 and scale >= 1024)
    need(fine and delta < 1, "a leaf's parts do not agree")
    x, costs = arb(p), {"rho": n * ratio**2 / 2, "mu2": n * p**2}
    if kind in CAPS["pure"]:
        rho = {"pure": x * (x / 2).tanh(), "lap": x + (-x).expm1(), "br": p**2 / 8}[kind]
        costs = {"eps": n * p, "rho": n * rho, "mu2": 8 * n * KEPT[kind](x, arb(0)).erfcinv() ** 2}
    costs = {"zcdp": {"rho": n * p}, "adp": {"eps": n * p}}.get(kind, costs) | {"delta": n * delta}
    return {"draw": (kind.replace("adp", "pure"), p, n), "costs": costs}


def composed(given: Any, out: Any, draws: Any, costs: list[Any], work: list[int]) -> Any:
    """What draws cost together: delta at eps, or mu2 where no test has more power than mu's."""
    h, bits, parts = number(given.pop("h")), given.pop("bits", 96), list[Any]()
    eps, rho, delta = (sum(arb(c.get(u, 0)) for c in costs) for u in ("eps", "rho", "delta"))
    mu2 = sum((arb(c["mu2"]) for c in costs if "eps" not in c), arb(0)).upper().fmpq()  # one draw
    m, g, q = arb(out.get("mu2", 0) / fmpq(2)).sqrt(), arb(mu2 / 2).sqrt(), arb(-h).exp()
    draws = [d for d, c in zip(draws, costs) if "eps" in c] + [("gdp", mu2, 1)] * (mu2 > 0)
    for law, p, n in draws:  # the chords of a profile in e^eps lie above it; masses are rounded up
        x = 2 * g if law == "gdp" else arb(p)
        top = int((p / 2 / h + int(float(bits**0.5 * x / h) + 1) if law == "gdp" else p / h).ceil())
        work[0] -= n * top * (bits + 288) // (1 if "mu2" in out else 4)
        need(work[0] > 0 and bits >= 96 and h <= 1, "too coarse, or too much to compute")
        power = 1 - KEPT[law](x, arb(top * h)) if law == "gdp" else arb(0)
        d = [*(1 - KEPT[law](x, arb(i * h)) for i in range(top)), power, power]
        right = [a - b - q * (b - c) for a, b, c in zip([1 - q + q * d[1], *d], d, d[1:])]
        both = [q**i * mass for i, mass in enumerate(right)][:0:-1] + right  # dP(-l) = e^-l dP(l)
        parts += [[(mass * 2**bits / (1 - q)).upper().floor().fmpz() + 1 for mass in both]] * n
    queue, made, size, covered = iter(parts), dict[Any, Any](), arb(0), False
    for one, two in zip(queue, queue):  # what is appended too; equal pairs are multiplied once
        if (pair := (id(one), id(two))) not in made:
            made[pair] = [-(-m >> bits) for m in (fmpz_poly(one) * fmpz_poly(two)).coeffs()]
        parts.append(made[pair])
    masses = [arb(mass) / 2**bits for mass in parts[-1][len(parts[-1]) // 2 :]]  # at 0, h, 2h, ..
    if e := out.get("eps"):
        far = sum(m * arb(e - i * h).expm1() for i, m in enumerate(masses) if i * h > e)
        return out | {"delta": delta + power - far}
    for i in range(len(masses) - 1, -1, -1):  # a test that rejects where the loss is at least i h
        power, size = power + masses[i], size + masses[i] * q**i
        with ctx.workprec(FEWER):
            z, s = (2 * size).erfcinv(), ((-size.log()).sqrt() - rho.sqrt()).max(arb(0))
            room, least = (z - m).erfc(), (eps.exp() * (z - g).erfc()).min(2 * (-s * s).exp())
            covered = 2 * power <= room and (covered or least <= room)  # least: of smaller tests
    need(covered and power + size >= 1, "a test has more power than with mu")
    return out | {"delta": delta}


def derived(step: Any, out: Any, parts: list[Any], payers: Any, work: list[int]) -> dict[str, Any]:
    """A node that a rule makes of its parts: their leaves, home, and what they cost by unit."""
    rule, given, unit, most = step["rule"], step["in"], UNITS[" ".join(step["out"])], len(parts)
    homes, mask, first = {p["home"] for p in parts}, sum(p["mask"] for p in parts), parts[0]["out"]
    need(mask.bit_count() == sum(p["mask"].bit_count() for p in parts), "a leaf is used twice")
    if rule == "site_top" and len(homes) == most > 1:
        ((name, _),) = {(name, site is None) for name, site in homes}  # sites of one dataset only
        rule, most = f"sum_{unit}", payers[name, None]["most"]
    if rule == f"pld_{unit}" and unit != "eps" and len(homes) == 1:
        costs = composed(given, out, [p["draw"] for p in parts], [p["costs"] for p in parts], work)
    elif rule == f"sum_{unit}":
        costs = {u: sum(sorted(part["out"][u] for part in parts)[-most:]) for u in out}
    elif rule == f"mu_to_{unit}" and most == 1:
        costs = out | {"delta": 1 - KEPT["gdp"](arb(2 * first["mu2"]).sqrt(), arb(out["eps"]))}
    elif rule == f"rho_to_{unit}" and most == 1:
        a = arb(number(given.pop("alpha")))
        power = (a - 1) * (a * first["rho"] - out["eps"]) - (a - 1).log() + a * (1 - 1 / a).log()
        costs = out | {"delta": power.exp()}
    need([*given] == ["of"], f"{rule}: unknown inputs")
    return {"mask": mask, "home": homes.pop() if len(homes) == 1 else (None, None), "costs": costs}


def derive(plan: Any, plan_hash: str, proof: Any, reservations: Any) -> None:
    payers, leaves, nodes, proved = (dict[Any, Any]() for _ in range(4))
    for entry in plan["datasets"]:
        sites, rows = entry["sites"] or {"max": 1, "members": []}, entry["unit"]["max"]
        for site in [None, *(member["name"] for member in sites["members"])]:
            home, fine = (entry["name"], site), sites["max"] > 0 and entry["relation"] == "replace"
            need(fine and home not in payers, "a dataset is malformed, or a name is repeated")
            key = (entry["population"] or entry["name"]) + ("" if site is None else f"/{site}")
            payers[home] = {"key": key, "most": sites["max"], "rows": rows, "mask": 0}
    for statement in plan["statements"]:
        on, cost, held = ({h["dataset"] for h in statement[p]} for p in ("on", "cost", "leaves"))
        need(on == cost == held and held, "a statement lacks leaves")
        for place, leaf in enumerate(statement["leaves"]):
            home, mask = (leaf["dataset"], leaf["site"]), 1 << len(leaves)
            told = {"statement": statement["name"], "leaf": place, "rows": payers[home]["rows"]}
            text = canonical(["cap" if leaf["role"] == "cap" else leaf["kind"], told | leaf])
            need(text not in leaves, "two statements have one name")
            leaves[text] = drawn(leaf, payers[home]["rows"]) | {"home": home, "mask": mask}
            for payer in {home, (home[0], None)}:
                payers[payer]["mask"] |= mask
    steps, totals = proof.pop("nodes"), proof.pop("totals")
    work = [WORK - sum(len(step["in"]["of"]) * (len(step["in"]["of"]) + 64) // 8 for step in steps)]
    facts = [{fact: entry[fact] for fact in FACTS} for entry in plan["datasets"]]
    head = {"version": 1, "plan_hash": plan_hash, "relation": "replace", "datasets": facts}
    need(canonical(proof) == canonical(head), "another plan, relation or dataset")
    need(len(steps) <= 16 * len(leaves) + 64 and work[0] > 0, "more nodes than the plan can need")
    used = {total["node"] for total in totals}
    for step in steps:
        name, rule, given = step["id"], step["rule"], step["in"]
        need(type(name) is str and name not in nodes and len(step) == 4, "a node is malformed")
        out = {"delta": fmpq(0)} | {unit: number(text) for unit, text in step["out"].items()}
        node = leaves.pop(canonical([rule, given]), None)
        used |= {name} if node else {*given["of"]}
        node = node or derived(step, out, [nodes[part] for part in given["of"]], payers, work)
        need(all(node["costs"][unit] <= out[unit] for unit in out), f"{rule}: too low a claim")
        nodes[name] = node | {"out": out, "text": step["out"]}
    for total in totals:
        node, home, out = nodes[total["node"]], (total["dataset"], total["site"]), total["out"]
        at = (*home, UNITS[" ".join(out)])
        need(node["mask"] == payers[home]["mask"], "a total lacks a leaf")
        need(out == node["text"] and len(total) == 4 and at not in proved, "a total is malformed")
        proved[at] = {"dataset": at[0], "site": at[1], "unit": at[2], "key": payers[home]["key"]}
        proved[at] |= zip(("amount", "delta"), reversed(out.values()))  # eps before delta
    need(not leaves and used == {*nodes}, "a leaf of the plan is missing, or a node is unused")
    if reservations is not None:
        asked = {(entry["dataset"], entry["site"], entry["unit"]): entry for entry in reservations}
        need(asked.items() <= proved.items(), "a reserved amount is not proved")
        keys = [payer["key"] for payer in payers.values() if payer["mask"]]
        owed = sum(keys.count(key) for key, _ in {(e["key"], e["unit"]) for e in reservations})
        need(0 < owed == len(asked) == len(reservations), "a part is missing or reserved twice")


if __name__ == "__main__":
    sys.tracebacklimit = 0  # a rejection is one line
    content, proof = (json.loads(Path(name).read_bytes()) for name in sys.argv[1:])
    check(proof, canonical(content.get("body", content)).encode(), None)
    print("accepted: every total bounds what its leaves cost")
