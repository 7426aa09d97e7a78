"""Each guard of the checker is broken in turn; the named forgery must then pass."""

from __future__ import annotations

import types
from functools import cache
from pathlib import Path

import pytest

from dpql import checker
from suites.certificates import HONEST
from suites.forgeries import forgeries
from suites.lone_forgeries import lone

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
        'need([canonical(it).encode() for it in (plan, proof)] == [body, given], "not canonical")',
        "pass",
        "rounds: blank at the end",
    ),
    ("NUMBER.fullmatch(text)", "NUMBER.match(text)", "rounds: rho of l0.0 ends in 'e3'"),
    ("(?=[0.]*[1-9])", "", "smooth: l0.0 with no sensitivity in plan and certificate"),
    (
        "type(i) is int and i > 0",
        "int(i) == i and i > 0",
        "rounds: l0.0 with a true count in plan and certificate",
    ),
    (
        "type(i) is int and i > 0",
        "type(i) is int",
        "rounds: l0.0 with a negative count in plan and certificate",
    ),
    (
        '(n, factor, leaf["width"], rows)',
        "(n, factor, rows)",
        "rounds: l0.0 with a wide width in plan and certificate",
    ),
    (
        '(n, factor, leaf["width"], rows)',
        '(n, factor, leaf["width"])',
        "rounds: a dataset with a person without rows in plan and certificate",
    ),
    ('" ".join(leaf) == LEAF and', "", "rounds: l0.0 with a field more in plan and certificate"),
    ('" ".join(leaf["params"]) == PARAM[kind]', 'leaf["params"]', "rounds: honest"),
    (
        'n == 1 and of != [] and {*of} <= CAPS[kind] if role == "cap" else of == []',
        "True",
        "rounds: l0.0 with kinds drawn that cannot be in plan and certificate",
    ),
    ("of != [] and ", "", "losses: l0.4 with a filter that draws nothing in plan and certificate"),
    (
        "{*of} <= CAPS[kind]",
        "True",
        "losses: l0.4 with kinds drawn that cannot be in plan and certificate",
    ),
    (
        'if role == "cap" else of == []',
        'if role == "cap" else True',
        "rounds: l0.0 with kinds drawn that cannot be in plan and certificate",
    ),
    (
        'leaf["sensitivity"] is None and kind',
        "kind",
        "either: l0.3 with half a scale in plan and certificate",
    ),
    (
        'kind in (*CAPS, "adp") and factor == 1',
        "factor == 1",
        "either: l0.0 with neither of the two in plan and certificate",
    ),
    (
        'kind in (*CAPS, "adp") and factor == 1',
        'kind in (*CAPS, "adp")',
        "everything: l0.0 with a factor in plan and certificate",
    ),
    ('p if role == "cap" else p * rows **', "p * rows **", "losses: honest"),
    ('p * rows ** (2 if kind == "zcdp" else 1)', "p", "losses: claim of l0.5 in delta lowered"),
    ('rows ** (2 if kind == "zcdp" else 1)', "rows", "everything: claim of l1.3 in rho lowered"),
    (
        "delta * arb(p).expm1() / arb(p / rows).expm1()",
        "delta * rows",
        "losses: claim of l0.5 in delta lowered",
    ),
    (
        "fine &= p == due[kind] * ratio and",
        "fine &=",
        "rounds: l0.0 with a parameter too low in plan and certificate",
    ),
    (
        '(factor == 1 or kind == "pure") and role',
        "role",
        "rounds: l0.0 with a factor in plan and certificate",
    ),
    (
        ' and role != "cap"\n',
        "\n",
        "everything: l1.0 with a cap with a scale in plan and certificate",
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
    ("1 + 1 / (20 * scale**2)", "1", "sites: honest"),
    (
        "need(fine and delta < 1,",
        "need(delta < 1,",
        "rounds: l0.0 with a field more in plan and certificate",
    ),
    ('"rho": n * ratio**2 / 2', '"rho": n * ratio**2 / 3', "sites: claim of l0.0 in rho lowered"),
    ('"rho": n * ratio**2 / 2', '"rho": ratio**2 / 2', "everything: claim of l1.2 in rho lowered"),
    ('"mu2": n * p**2}', '"mu2": n * p**2 / 2}', "smooth: claim of l0.0 in mu2 lowered"),
    ("x * (x / 2).tanh()", "x * (x / 3).tanh()", "everything: claim of l0.0 in rho lowered"),
    ("x + (-x).expm1()", "x * x / 3", "everything: claim of l1.6 in rho lowered"),
    ('"br": p**2 / 8', '"br": p**2 / 9', "rounds: claim of l0.0 in rho lowered"),
    (
        '"eps": n * p, "rho": n * rho',
        '"eps": p, "rho": n * rho',
        "one_site: claim of l0.0 in eps lowered",
    ),
    (
        '"eps": n * p, "rho": n * rho',
        '"eps": n * p, "rho": rho',
        "rounds: claim of l0.0 in rho lowered",
    ),
    ('"mu2": 8 * n * KEPT', '"mu2": 8 * KEPT', "rounds: claim of l0.0 in mu2 lowered"),
    ('"mu2": 8 * n * KEPT', '"mu2": 7 * n * KEPT', "rounds: claim of l0.0 in mu2 lowered"),
    (
        "(1 + e.exp()) / (1 + x.exp())",
        "(1 + e.exp()) / (1 + (x / 2).exp())",
        "everything: claim of l1.5 in mu2 lowered",
    ),
    (
        "lambda x, e: ((e - x) / 2).exp()",
        "lambda x, e: ((e - x) / 3).exp()",
        "either: claim of q in delta lowered",
    ),
    (
        "(2 * ((x + e) / 2).exp() - e.exp() - 1) / x.expm1()",
        "1 - (x - e).expm1() / x.expm1() / 9",
        "rounds: honest",
    ),
    (
        "(e / x + x / 4).erfc()) / 2",
        "(e / x + x / 4).erfc()) / 3",
        "smooth: claim of d4 in eps lowered",
    ),
    (
        '"zcdp": {"rho": n * p}',
        '"zcdp": {"rho": n * p / 2}',
        "everything: claim of l1.3 in rho lowered",
    ),
    ('"adp": {"eps": n * p}', '"adp": {"eps": p}', "either: claim of l0.3 in eps lowered"),
    ('| {"delta": n * delta}', '| {"delta": delta}', "either: claim of l0.3 in delta lowered"),
    ('| {"delta": n * delta}', '| {"delta": 0}', "either: claim of l0.3 in delta lowered"),
    (
        "eps, rho, delta = (sum(arb(c.get(u, 0)) for c in costs)",
        "eps, rho, delta = (sum(arb(c.get(u, 0)) for c in costs[:1])",
        "losses: total 0 in delta cheaper everywhere",
    ),
    (
        ' for u in ("eps", "rho", "delta"))',
        ' for u in ("eps", "rho", "tau"))',
        "losses: total 0 in delta cheaper everywhere",
    ),
    ('if "eps" not in c), arb(0))', 'if "eps" not in c and False), arb(0))', "either: honest"),
    ('[("gdp", mu2, 1)] * (mu2 > 0)', "[]", "losses: honest"),
    (
        "need(work[0] > 0 and bits >= 96 and h <= 1,",
        "need(work[0] > 0 and h <= 1,",
        "losses: bits of m is '95'",
    ),
    ("1 - q + q * d[1]", "1 - q", "losses: honest"),
    ("a - b - q * (b - c)", "a - b - (b - c)", "losses: honest"),
    (
        ".floor().fmpz() + 1 for mass in both]] * n",
        ".floor().fmpz() for mass in right]] * n",
        "losses: honest",
    ),
    ("for mass in both]] * n", "for mass in both]]", "losses: total 0 in delta cheaper everywhere"),
    ("[-(-m >> bits)", "[m >> bits", "losses: honest"),
    ("[len(parts[-1]) // 2 :]]", "[len(parts[-1]) // 2 + 2 :]]", "losses: honest"),
    ("delta + power - far", "power - far", "losses: total 0 in delta cheaper everywhere"),
    ("delta + power - far", "delta + power", "losses: total 0 in delta cheaper everywhere"),
    (
        'm, g, q = arb(out.get("mu2", 0) / fmpq(2))',
        'm, g, q = arb(out.get("mu2", 0))',
        "losses: total 1 in mu2 cheaper everywhere",
    ),
    (
        "room, least = (z - m).erfc(),",
        "room, least = (z - m).erfc() + 1,",
        "losses: total 1 in mu2 cheaper everywhere",
    ),
    (
        "covered = 2 * power <= room and (covered or least <= room)",
        "covered = covered or least <= room",
        "losses: total 1 in mu2 cheaper everywhere",
    ),
    (
        "covered = 2 * power <= room and (covered or least <= room)",
        "covered = 2 * power <= room",
        "lone: a mu whose smallest tests no bound covers",
    ),
    ('return out | {"delta": delta}\n', 'return out | {"delta": 0}\n', "lone: a mu of a pair"),
    (
        'need(covered and power + size >= 1, "a test has more power than with mu")',
        "",
        "losses: total 1 in mu2 cheaper everywhere",
    ),
    (
        'need(mask.bit_count() == sum(p["mask"].bit_count() for p in parts)',
        "need(mask",
        "everything: t11 with its part 0 alone, 3 times",
    ),
    (
        'if rule == "site_top" and len(homes) == most > 1:',
        'if rule == "site_top" and most > 1:',
        "sites: s5 renamed to site_top",
    ),
    ("len(homes) == most > 1:", "len(homes) == most:", "sites: t12 renamed to site_top"),
    (
        "((name, _),) = {(name, site is None) for name, site in homes}",
        "(name, _), *_ = {(name, site is None) for name, site in homes}",
        "either: b takes l0.3 from t",
    ),
    ("(name, site is None) for", "(name, False) for", "either: b takes l0.3 from t"),
    ('payers[name, None]["most"]\n', "1\n", "sites: claim of m6 in mu2 lowered"),
    ('and unit != "eps" and len(homes)', "and len(homes)", "lone: a rule without a name"),
    (
        'if rule == f"pld_{unit}" and unit != "eps" and len(homes) == 1:',
        'if rule == f"pld_{unit}" and unit != "eps":',
        "lone: two sites on one grid",
    ),
    (
        '[p["draw"] for p in parts]',
        '[p.get("draw", ("gdp", 0, 1)) for p in parts]',
        "lone: a sum on a grid",
    ),
    ('elif rule == f"sum_{unit}":', 'elif rule[:4] == "sum_":', "either: t renamed to sum_eps"),
    (
        "for part in parts)[-most:])",
        "for part in parts)[-1:])",
        "sites: claim of m6 in mu2 lowered",
    ),
    (
        "for part in parts)[-most:]) for u in out}",
        'for part in parts)[-most:]) for u in out if u != "delta"} | {"delta": 0}',
        "either: claim of b in delta lowered",
    ),
    (
        'elif rule == f"mu_to_{unit}" and most == 1:',
        'elif rule == f"mu_to_{unit}":',
        "smooth: d4 takes all parts of s3 at the cost of one",
    ),
    (
        'arb(2 * first["mu2"]).sqrt()',
        'arb(first["mu2"]).sqrt()',
        "smooth: claim of d4 in eps lowered",
    ),
    (
        'elif rule == f"rho_to_{unit}" and most == 1:',
        'elif rule == f"rho_to_{unit}":',
        "everything: d9 takes all parts of s8 at the cost of one",
    ),
    (
        '"delta": power.exp()}',
        '"delta": power.exp() / 2}',
        "everything: claim of d9 in eps lowered",
    ),
    (
        'need([*given] == ["of"], f"{rule}: unknown inputs")',
        "pass",
        "rounds: t3 with an input more",
    ),
    ("fine and home not in payers", "fine", "rounds: a dataset twice in plan and certificate"),
    (
        'site), sites["max"] > 0 and',
        "site),",
        "rounds: a dataset with a person at no site in plan and certificate",
    ),
    (
        ' and entry["relation"] == "replace"\n',
        "\n",
        "rounds: a dataset with a relation that is another in plan and certificate",
    ),
    (
        'need(on == cost == held and held, "a statement lacks leaves")',
        "pass",
        "rounds: a statement without leaves in plan and certificate",
    ),
    (
        'need(text not in leaves, "two statements have one name")',
        "pass",
        "smooth: statement 1 twice, new hash",
    ),
    ("for payer in {home, (home[0], None)}:", "for payer in {home}:", "sites: honest"),
    (
        'need(canonical(proof) == canonical(head), "another plan, relation or dataset")',
        "pass",
        "rounds: another plan's hash",
    ),
    (
        '"relation": "replace", "datasets": facts}',
        '"relation": proof["relation"], "datasets": facts}',
        "rounds: another relation",
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
        'need(all(node["costs"][unit] <= out[unit] for unit in out), f"{rule}: too low a claim")',
        "pass",
        "rounds: claim of l0.0 in rho lowered",
    ),
    (
        'node["costs"][unit] <= out[unit]',
        'node["costs"].get(unit, 0) <= out[unit]',
        "rounds: l0.1 with little eps as well",
    ),
    ("need(not leaves and used ==", "need(used ==", "smooth: l1.0 dropped"),
    (
        "need(not leaves and used == {*nodes},",
        "need(not leaves,",
        "rounds: t3 repeated under another name",
    ),
    (
        'need(node["mask"] == payers[home]["mask"], "a total lacks a leaf")',
        "pass",
        "rounds: t3 without its part 0",
    ),
    (
        'need(out == node["text"] and len',
        "need(len",
        "rounds: total 0 in rho cheaper than its node",
    ),
    ("and len(total) == 4 and at not in proved", "and len(total) == 4", "rounds: total 0 twice"),
    ("and len(total) == 4 and at", "and at", "rounds: total 0 with a field more"),
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
    ('("" if site is None else f"/{site}")', '""', "sites: honest"),
    (
        'sum(sorted(part["out"][u] for part in parts)[-most:]) for u in out}',
        'sum(sorted(part["out"].get(u, 0) for part in parts)[-most:]) for u in out}',
        "lone: a sum of what claims nothing",
    ),
]


@cache
def corpus(plan):
    if plan == "lone":
        return lone()
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
