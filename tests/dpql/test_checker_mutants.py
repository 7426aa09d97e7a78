"""Each guard of the checker is broken in turn; the named forgery must then pass."""

from __future__ import annotations

import types
from functools import cache
from pathlib import Path

import pytest

from dpql import checker
from suites.forgeries import HONEST, forgeries

SOURCE = Path(checker.__file__).read_text()

# What is written in the checker, what stands there instead, what then goes wrong.
MUTANTS = [
    ("parse_float=refused, ", "", "rounds: a dataset with a float in plan and certificate"),
    (
        ", parse_constant=refused",
        "",
        "rounds: a dataset with a number that is none in plan and certificate",
    ),
    (
        'need(canonical(value) == data, "not in canonical form, or a key is repeated")',
        "pass",
        "rounds: blank at the end",
    ),
    ("NUMBER.fullmatch(text)", "NUMBER.match(text)", "rounds: eta of l0.0 ends in 'e3'"),
    (
        "type(value) is int and 1 <= value",
        "int(value) == value and 1 <= value",
        "rounds: l0.0 with a true count in plan and certificate",
    ),
    (
        "type(value) is int and 1 <= value",
        "type(value) is int and -1 <= value",
        "rounds: l0.0 with a wide width in plan and certificate",
    ),
    (
        "0 < value <= LARGEST",
        "0 <= value <= LARGEST",
        "rounds: l0.0 with no sensitivity in plan and certificate",
    ),
    (
        '" ".join(sorted(leaf)) == LEAF and',
        "",
        "rounds: l0.0 with a field more in plan and certificate",
    ),
    (
        "of and n == 1 and {*of} <= CAPS[kind] if cap else of == []",
        "True",
        "rounds: l0.0 with kinds drawn that cannot be in plan and certificate",
    ),
    (
        'leaf["sensitivity"] is None and kind in',
        "kind in",
        "everything: l0.0 with half a scale in plan and certificate",
    ),
    (
        "k, x = fine and factor == 1, 1 if cap else rows, ball(p[main])",
        "k, x = fine and factor == 1, 1, ball(p[main])",
        "everything: claim of l0.0 in eps0 lowered",
    ),
    (
        "p[main] *= k * k if kind",
        "p[main] *= k if kind",
        "everything: claim of l1.3 in rho lowered",
    ),
    (
        'made["grown"] = (k * x).expm1() / x.expm1()',
        'made["grown"] = x / x',
        "everything: claim of l0.0 in delta lowered",
    ),
    (
        "fine = fine and p[main] == value / s",
        "pass",
        "rounds: l0.0 with a parameter too low in plan and certificate",
    ),
    (
        "fine = not cap and kind not in",
        "fine = kind not in",
        "everything: l1.0 with a cap with a scale in plan and certificate",
    ),
    (
        'n * p <= claim and n * leaf["p"]["delta"] <= out["delta"]',
        "n * p <= claim",
        "everything: claim of l0.0.adp in delta lowered",
    ),
    (
        'n * p <= claim and n * leaf["p"]["delta"] <= out["delta"]',
        'n * leaf["p"]["delta"] <= out["delta"]',
        "everything: claim of l0.0.adp in eps lowered",
    ),
    (
        "return n * exact[unit][kind] <= claim",
        "return exact[unit][kind] <= claim",
        "rounds: claim of l0.0.rho in rho lowered",
    ),
    (
        "return n * exact[unit][kind] <= claim",
        "return True",
        "rounds: claim of l0.0.rho in rho lowered",
    ),
    (
        "dict.fromkeys(SMOOTH, p * p)}",
        "dict.fromkeys(SMOOTH, p * p / 2)}",
        "rounds: claim of l0.1.mu2 in mu2 lowered",
    ),
    ('"br": p * p / 8', '"br": p * p / 9', "rounds: claim of l0.0.rho in rho lowered"),
    (
        "n * one[kind] <= ball(claim)",
        "one[kind] <= ball(claim)",
        "one_site: claim of l0.0.rho in rho lowered",
    ),
    ("x * (x / 2).tanh()", "x * (x / 3).tanh()", "everything: claim of l1.0.rho in rho lowered"),
    ("x + (-x).expm1()", "x * x / 3", "rounds: claim of l1.0.rho in rho lowered"),
    ("ball(claim / n).sqrt()", "ball(claim).sqrt()", "rounds: claim of l0.0.mu2 in mu2 lowered"),
    (
        '"br": 1 + (x / 2).exp()',
        '"br": 1 + (x / 3).exp()',
        "rounds: claim of l0.0.mu2 in mu2 lowered",
    ),
    (
        '"lap": 2 * (x / 2).exp()',
        '"lap": 2 * (x / 3).exp()',
        "rounds: claim of l1.0.mu2 in mu2 lowered",
    ),
    (
        'need(not mask & node["bit"], "a leaf is used twice")',
        "pass",
        "everything: t23 with its part 0 twice",
    ),
    (
        'need([*out] == (["delta", "eps"] if unit == "adp" else [unit]), ',
        "need(True, ",
        "rounds: l0.0.rho with a result more",
    ),
    (
        'fine = len(above) == 1 and units == {"leaf"} and fits',
        "fine = fits",
        "rounds: l0.0.rho swallows l0.1.rho",
    ),
    (
        'fine = units <= ({"eps", "adp"} if unit == "adp" else {unit})',
        "fine = True",
        "everything: l1.3.rho renamed to sum_rho",
    ),
    (
        "fine = fine and added(costs) <= out[main] and",
        "fine = fine and",
        "rounds: total 0 in rho cheaper everywhere",
    ),
    ('and mixed <= out.get("delta", 0)', "", "smooth: total 0 in delta cheaper everywhere"),
    (
        "and None not in sites and added(largest) <= out[unit]",
        "and None not in sites",
        "sites: claim of m11 in mu2 lowered",
    ),
    ('-sets[dataset]["most"] :', "-1:", "sites: claim of m11 in mu2 lowered"),
    ("1 < len(sites) == len(homes)", "1 < len(homes)", "sites: t21 renamed to site_top"),
    (
        "elif rule in TO_ADP and len(above) == 1 and units == {TO_ADP[rule]}",
        "elif rule in TO_ADP and units == {TO_ADP[rule]}",
        "smooth: d6 takes all parts of s5 at the cost of one",
    ),
    (
        "claim.exp() * tail(z + half) <= delta",
        "claim.exp() * tail(z + half) <= 2 * delta",
        "smooth: claim of d6 in eps lowered",
    ),
    (
        "fine = power <= delta.log()",
        "fine = power <= (2 * delta).log()",
        "everything: claim of d15 in eps lowered",
    ),
    (
        'fine = fine and inputs == (["alpha", "of"] if rule == "rho_to_adp" else ["of"])',
        "pass",
        "rounds: l0.0.rho with an input more",
    ),
    (
        'need(fine, f"{rule}: the claim is too low, or the rule does not apply here")',
        "pass",
        "rounds: claim of l0.0.rho in rho lowered",
    ),
    (
        'need(entry["relation"] == "replace", "a relation is not replace")',
        "pass",
        "rounds: a dataset with a relation that is another in plan and certificate",
    ),
    (
        'entry["name"] not in sets and len({*names}) == len(names)',
        "True",
        "rounds: a dataset twice in plan and certificate",
    ),
    (
        'need(on == cost == held and held, "a statement lacks leaves")',
        "pass",
        "rounds: a statement without leaves in plan and certificate",
    ),
    (
        'need(at not in leaves, "two statements have one name")',
        "pass",
        "rounds: statement 1 twice, new hash",
    ),
    (
        'need(leaf["site"] is None or leaf["site"] in about["sites"], "a site is not declared")',
        "pass",
        "one_site: l0.0 with an unknown site in plan and certificate",
    ),
    (
        'need(canonical(proof) == canonical(head), "another plan, relation or dataset")',
        "pass",
        "rounds: another plan's hash",
    ),
    ('"relation": "replace"}\n', '"relation": proof["relation"]}\n', "rounds: another relation"),
    ('"plan_hash": plan_hash,', '"plan_hash": proof["plan_hash"],', "rounds: another plan's hash"),
    ("name not in nodes and len(step) == 4", "len(step) == 4", "rounds: l0.0.rho doubled"),
    ("name not in nodes and len(step) == 4", "name not in nodes", "rounds: l0.0 with a field more"),
    (
        'rule == leaf["rule"] and canonical(given) == leaf["in"]',
        'canonical(given) == leaf["in"]',
        "rounds: l0.0 renamed to pure",
    ),
    (
        'rule == leaf["rule"] and canonical(given) == leaf["in"]',
        'rule == leaf["rule"]',
        "rounds: l0.0 with an input more",
    ),
    (
        'left.pop((given["statement"], given["leaf"]), {"rule": None})',
        'leaves.get((given["statement"], given["leaf"]), {"rule": None})',
        "rounds: honest",
    ),
    (
        '[*out] == [*leaf["p"]] and all(v <= out[q] for q, v in leaf["p"].items())',
        '[*out] == [*leaf["p"]]',
        "rounds: claim of l0.0 in eta lowered",
    ),
    (
        'fine = fine and ball(leaf["p"]["delta"]) * leaf["grown"] <= ball(out["delta"])',
        "pass",
        "everything: claim of l0.0 in delta lowered",
    ),
    ('need(not left, "a leaf of the plan is missing")', "pass", "smooth: l1.0 dropped"),
    ('need(node["bit"] == whole, "a total lacks a leaf")', "pass", "sites: s10 without its part 0"),
    (
        'need(node["unit"] != "leaf" and (*home, node["unit"]) not in totals, "a repeated total")',
        "pass",
        "rounds: total 0 twice",
    ),
    (
        'need(out == node["p"] and len(claim) == 4, "a total is not its node\'s")',
        "pass",
        "rounds: total 0 with a field more",
    ),
    ('need(not idle, "a node is unused")', "pass", "rounds: l0.0.rho repeated under another name"),
    ("if reservations is not None:", "if False:", "rounds: nothing is reserved"),
    (
        'need(entry["key"] == key(home, sets), "a reservation names the wrong ledger key")',
        "pass",
        "rounds: reservation 0 with key 'others'",
    ),
    (
        'need(totals.get((*home, unit)) == amounts, "a reserved amount is not proved")',
        "pass",
        "rounds: reservation 0 with unit 'tau'",
    ),
    (
        'need((*home, unit) not in seen, "one amount is reserved twice")',
        "pass",
        "rounds: reservation 0 twice",
    ),
    (
        'need(seen and not missing, "a part of what is reserved is missing")',
        "pass",
        "rounds: nothing is reserved",
    ),
]


@cache
def corpus(plan):
    honest = HONEST[plan]()
    cases = {"honest": honest}
    for what, *parts in forgeries(*honest):
        cases.setdefault(what, tuple(parts))
    return cases


@pytest.mark.parametrize(("old", "new", "caught"), MUTANTS)
def test_a_broken_checker_is_caught(old, new, caught):
    assert SOURCE.count(old) == 1
    module = types.ModuleType("broken")
    exec(compile(SOURCE.replace(old, new), "broken", "exec"), module.__dict__)
    plan, _, what = caught.partition(": ")
    case = corpus(plan)[what]
    if what == "honest":
        checker.check(*case)
        with pytest.raises(module.Rejected):
            module.check(*case)
    else:
        module.check(*case)
        with pytest.raises(checker.Rejected):
            checker.check(*case)
