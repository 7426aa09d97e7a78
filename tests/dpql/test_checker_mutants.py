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
    ("parse_float=int, ", "", "rounds: a dataset with a float in plan and certificate"),
    (
        ", parse_constant=int",
        "",
        "rounds: a dataset with a number that is none in plan and certificate",
    ),
    (
        'need(canonical(value) == data, "not in canonical form, or a key is repeated")',
        "pass",
        "rounds: blank at the end",
    ),
    ("NUMBER.fullmatch(text)", "NUMBER.match(text)", "rounds: rho of l0.0 ends in 'e3'"),
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
        '("count", "factor", "width")',
        '("count", "factor", "count")',
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
        "[*params] == [PARAM[kind]]",
        "PARAM[kind] in params",
        "rounds: l0.0 with another parameter in plan and certificate",
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
        "kind in CAPS and factor == 1",
        "kind in CAPS",
        "everything: l0.0 with a factor in plan and certificate",
    ),
    (
        'p * rows ** (2 if kind == "zcdp" else 1)',
        "p",
        "everything: claim of l0.0 in rho lowered",
    ),
    (
        'rows ** (2 if kind == "zcdp" else 1)',
        "rows",
        "everything: claim of l1.3 in rho lowered",
    ),
    (
        "not cap and p == due[kind] * ratio and",
        "not cap and",
        "rounds: l0.0 with a parameter too low in plan and certificate",
    ),
    (
        '(factor == 1 or kind == "pure")',
        "factor > 0",
        "rounds: l0.0 with a factor in plan and certificate",
    ),
    (
        "scale.q == 1 and scale >= 1024",
        "scale.q == 1",
        "sites: l1.0 with a small scale in plan and certificate",
    ),
    (
        "scale.q == 1 and scale >= 1024",
        "scale >= 1024",
        "sites: l1.0 with a broken scale in plan and certificate",
    ),
    ("arb(p), claim / n,", "arb(p), claim,", "one_site: claim of l0.0 in rho lowered"),
    (
        "fine = not cap and p ==",
        "fine = p ==",
        "everything: l1.0 with a cap with a scale in plan and certificate",
    ),
    ('"br": {"eps": p <= c', '"br": {"eps": p <= 2 * c', "one_site: claim of l0.1 in eps lowered"),
    ("arb(p), claim / n,", "arb(p), claim,", "rounds: claim of l0.0 in rho lowered"),
    (
        "(arb(claim / n) / 8).sqrt()",
        "(arb(claim) / 8).sqrt()",
        "rounds: claim of l0.0 in mu2 lowered",
    ),
    ('"mu2": p**2 <= c', '"mu2": p**2 / 2 <= c', "rounds: claim of l0.1 in mu2 lowered"),
    ("ratio**2 / 2 <= c", "ratio**2 / 3 <= c", "rounds: claim of l0.1 in rho lowered"),
    ("p**2 / 8 <= c", "p**2 / 9 <= c", "rounds: claim of l0.0 in rho lowered"),
    ("x * (x / 2).tanh()", "x * (x / 3).tanh()", "everything: claim of l1.0 in rho lowered"),
    ("x + (-x).expm1()", "x * x / 3", "rounds: claim of l1.0 in rho lowered"),
    ("q * (1 + (x / 2).exp())", "q * (1 + (x / 3).exp())", "rounds: claim of l0.0 in mu2 lowered"),
    ("2 * q * (x / 2).exp()", "2 * q * (x / 3).exp()", "rounds: claim of l1.0 in mu2 lowered"),
    ("q * (1 + x.exp())", "q * (1 + (x / 2).exp())", "everything: claim of l1.5 in mu2 lowered"),
    (
        '"zcdp": {"rho": p <= c}',
        '"zcdp": {"rho": True}',
        "everything: claim of l1.3 in rho lowered",
    ),
    (
        'need(all(fits(out[unit], unit, *node["law"]) for unit in out), f"{rule}: claim too low")',
        "pass",
        "rounds: claim of l0.0 in rho lowered",
    ),
    (
        ".get(unit))",
        ".get(unit, True))",
        "rounds: l0.1 with little eps as well",
    ),
    (
        "need(0 < sum(masks).bit_count() == sum(m.bit_count() for m in masks)",
        "need(0 < sum(masks)",
        "everything: t14 with its part 0 alone, 3 times",
    ),
    (
        "need(0 < sum(masks).bit_count() == sum",
        "need(sum(masks).bit_count() == sum",
        "everything: t14 with a part of nothing",
    ),
    (
        "UNITS[tuple(out)]\n    need(0",
        '{**UNITS, ("rho", "tau"): "rho"}[tuple(out)]\n    need(0',
        "sites: s8 with a result more",
    ),
    ('if rule == f"sum_{unit}":', 'if rule[:4] == "sum_":', "rounds: t3 renamed to sum_mu2"),
    (
        "sum(costs) <= claim and spent <=",
        "spent <=",
        "rounds: total 0 in rho cheaper everywhere",
    ),
    (
        'sum(costs) <= claim and spent <= out.get("delta", 0)',
        "sum(costs) <= claim",
        "smooth: total 0 in delta cheaper everywhere",
    ),
    (
        'fine = sum(sorted(costs)[-payers[name, None]["most"] :]) <= claim',
        "fine = True",
        "sites: claim of m6 in mu2 lowered",
    ),
    ('-payers[name, None]["most"] :', "-1:", "sites: claim of m6 in mu2 lowered"),
    (
        "not spent and len(homes) == len(parts) > 1",
        "not spent and len(parts) > 1",
        "sites: t11 renamed to site_top",
    ),
    (
        "len(homes) == len(parts) > 1",
        "len(homes) == len(parts)",
        "sites: t12 renamed to site_top",
    ),
    ("{(name, site is None) for", "{(name, False) for", "sites: m6 takes l1.0 from t7"),
    (
        "((name, _),) = {(name, site is None)",
        "(name, _), *_ = {(name, site)",
        "sites: m6 takes l1.0 from t7",
    ),
    (
        'elif rule in TO_ADP and unit == "adp" and len(parts) == 1:',
        'elif rule in TO_ADP and unit == "adp":',
        "smooth: d4 takes all parts of s3 at the cost of one",
    ),
    (
        "eps.exp() * (z + r).erfc()) / 2 <= delta",
        "eps.exp() * (z + r).erfc()) / 4 <= delta",
        "smooth: claim of d4 in eps lowered",
    ),
    (
        "fine = power <= delta.log()",
        "fine = power <= (2 * delta).log()",
        "everything: claim of d9 in eps lowered",
    ),
    ("need(fine and [*given] == inputs,", "need(fine,", "rounds: t3 with an input more"),
    (
        "need(fine and [*given] == inputs,",
        "need([*given] == inputs,",
        "rounds: total 0 in rho cheaper everywhere",
    ),
    (
        'need(entry["relation"] == "replace", "a relation is not replace")',
        "pass",
        "rounds: a dataset with a relation that is another in plan and certificate",
    ),
    (
        'need((name, site) not in payers, "a name is repeated")',
        "pass",
        "rounds: a dataset twice in plan and certificate",
    ),
    (
        'need((name, site) not in payers, "a name is repeated")',
        "pass",
        "sites: a site twice in plan and certificate",
    ),
    (
        'need(on == cost == held and held, "a statement lacks leaves")',
        "pass",
        "rounds: a statement without leaves in plan and certificate",
    ),
    (
        'need(at not in leaves, "two statements have one name")',
        "pass",
        "smooth: statement 1 twice, new hash",
    ),
    (
        'payers[payer]["mask"] |= bit',
        'payers.setdefault(payer, {"key": "", "mask": 0})["mask"] |= bit',
        "one_site: l0.0 with an unknown site in plan and certificate",
    ),
    (
        'need(canonical(proof) == canonical(head), "another plan, relation or dataset")',
        "pass",
        "rounds: another plan's hash",
    ),
    ('"relation": "replace"}\n', '"relation": proof["relation"]}\n', "rounds: another relation"),
    ('"plan_hash": plan_hash,', '"plan_hash": proof["plan_hash"],', "rounds: another plan's hash"),
    (
        'for entry in plan["datasets"]]\n',
        'for entry in plan["datasets"]][: len(proof["datasets"])]\n',
        "rounds: a dataset less",
    ),
    ("name not in nodes and len(step) == 4", "len(step) == 4", "rounds: t3 doubled"),
    ("name not in nodes and len(step) == 4", "name not in nodes", "rounds: l0.0 with a field more"),
    (
        'need(canonical([rule, given]) == node["told"]',
        'need(canonical([given["kind"], given]) == node["told"]',
        "rounds: l0.0 renamed to pure",
    ),
    (
        'need(canonical([rule, given]) == node["told"], "not a leaf of the plan")',
        "pass",
        "rounds: l0.0 with an input more",
    ),
    (
        'left.pop((given["statement"], given["leaf"]))',
        'leaves[given["statement"], given["leaf"]]',
        "rounds: honest",
    ),
    ("need(not left and used == ", "need(used == ", "smooth: l1.0 dropped"),
    (
        "need(not left and used == {*nodes},",
        "need(not left,",
        "rounds: t3 repeated under another name",
    ),
    (
        'need(node["mask"] == payers[home]["mask"], "a total lacks a leaf")',
        "pass",
        "rounds: t3 without its part 0",
    ),
    ("and len(total) == 4 and at not in proved", "and len(total) == 4", "rounds: total 0 twice"),
    ("and len(total) == 4 and at", "and at", "rounds: total 0 with a field more"),
    (
        'need(out == node["text"] and len',
        "need(len",
        "rounds: total 0 in rho cheaper than its node",
    ),
    ("if reservations is not None:", "if False:", "rounds: nothing is reserved"),
    (
        '"key": payers[home]["key"]}\n',
        '"key": next((e["key"] for e in reservations if e["site"] == at[1]), "")}\n',
        "sites: reservation 2 alone with key 'people/b'",
    ),
    (
        'need(asked.items() <= proved.items(), "a reserved amount is not proved")',
        "pass",
        "rounds: reservation 0 with unit 'tau'",
    ),
    (
        "need(0 < owed == len(asked) == len(reservations)",
        "need(0 < owed == len(asked)",
        "rounds: reservation 0 twice",
    ),
    (
        "need(0 < owed == len(asked) == len(reservations)",
        "need(owed == len(asked) == len(reservations)",
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
