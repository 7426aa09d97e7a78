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
    ("NUMBER.fullmatch(text)", "NUMBER.match(text)", "rounds: rho of l0.0 ends in 'e3'"),
    (
        'leaf["sensitivity"] is None and kind in',
        "kind in",
        "everything: l0.0 with half a scale in plan and certificate",
    ),
    ('p * rows ** (2 if kind == "zcdp" else 1)', "p", "everything: claim of l0.0 in rho lowered"),
    ('rows ** (2 if kind == "zcdp" else 1)', "rows", "everything: claim of l1.3 in rho lowered"),
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
    ("x * (x / 2).tanh()", "x * (x / 3).tanh()", "everything: claim of l1.0 in rho lowered"),
    ("x + (-x).expm1()", "x * x / 3", "rounds: claim of l1.0 in rho lowered"),
    ('if rule == f"sum_{unit}":', 'if rule[:4] == "sum_":', "rounds: t3 renamed to sum_mu2"),
    ("{(name, site is None) for", "{(name, False) for", "sites: m6 takes l1.0 from t7"),
    (
        "((name, _),) = {(name, site is None)",
        "(name, _), *_ = {(name, site)",
        "sites: m6 takes l1.0 from t7",
    ),
    (
        'need(on == cost == held and held, "a statement lacks leaves")',
        "pass",
        "rounds: a statement without leaves in plan and certificate",
    ),
    (
        'need(canonical(proof) == canonical(head), "another plan, relation or dataset")',
        "pass",
        "rounds: another plan's hash",
    ),
    ('"plan_hash": plan_hash,', '"plan_hash": proof["plan_hash"],', "rounds: another plan's hash"),
    (
        'for entry in plan["datasets"]]\n',
        'for entry in plan["datasets"]][: len(proof["datasets"])]\n',
        "rounds: a dataset less",
    ),
    ("name not in nodes and len(step) == 4", "len(step) == 4", "rounds: t3 doubled"),
    ("name not in nodes and len(step) == 4", "name not in nodes", "rounds: l0.0 with a field more"),
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
