"""The checker accepts honest certificates and rejects every forgery."""

from __future__ import annotations

import ast
import json
import random
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import flint
import pytest

from dpql import checker
from dpql.checker import Rejected, check
from planner.calculus.compose import total
from planner.calculus.exact import number, step_down, text
from planner.calculus.leaves import Leaf
from suites.certificates import (
    HONEST,
    canonical,
    certified,
    dataset,
    plan,
    reserve,
    statement,
)
from suites.forgeries import forgeries
from suites.lone_forgeries import lone

F = Fraction


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_certificate_is_accepted(name):
    certificate, data, reservations = HONEST[name]()
    check(certificate, data, reservations)
    check(canonical(certificate), data, reservations)
    check(certificate, data, None)
    check(certificate, data, reservations[:1])


@pytest.mark.parametrize("name", HONEST)
def test_every_forgery_is_refused_with_a_reason(name):
    accepted, wordless, tried = [], [], 0
    for what, certificate, data, reservations in forgeries(*HONEST[name]()):
        tried += 1
        try:
            check(certificate, data, reservations)
        except Rejected as reason:
            if not str(reason):
                wordless.append(what)
        else:
            accepted.append(what)
    assert (accepted, wordless) == ([], [])
    assert tried > 500


@pytest.mark.parametrize("what", lone())
def test_a_forgery_made_by_hand_is_refused(what):
    with pytest.raises(Rejected):
        check(*lone()[what])


@pytest.mark.parametrize("name", ["rounds", "everything"])
def test_changed_bytes_are_refused(name):
    """One byte replaced, dropped or doubled: refused, or a claim moved by its rounding alone."""
    certificate, data, reservations = HONEST[name]()
    written = canonical(certificate)
    chance = random.Random(20261130)
    for _ in range(300):
        at = chance.randrange(len(written))
        middle = chance.choice([b"", written[at : at + 1] * 2, bytes([chance.randrange(256)])])
        changed = written[:at] + middle + written[at + 1 :]
        try:
            check(changed, data, reservations)
        except Rejected:
            continue
        found = json.loads(changed)
        assert {**found, "nodes": []} == {**certificate, "nodes": []}
        for before, after in zip(certificate["nodes"], found["nodes"], strict=True):
            for unit, claim in after["out"].items():
                assert number(claim) >= number(before["out"][unit]) * (1 - F(1, 10**15))


@pytest.mark.parametrize(
    ("leaf", "unit", "native"),
    [
        (Leaf.pure(1, 3, dataset="d"), "mu2", "C2"),
        (Leaf.pure(1, 3, dataset="d"), "rho", "C3"),
        (Leaf.br(1, 3, dataset="d"), "mu2", "C5"),
        (Leaf.lap(1, 3, dataset="d"), "mu2", "C7"),
        (Leaf.lap(1, 3, dataset="d"), "rho", "C8'"),
        (Leaf.lap(30, 1, dataset="d"), "mu2", "C7"),
        (Leaf.pure(30, 1, dataset="d"), "mu2", "C2"),
        (Leaf.pure(1, 10**12, dataset="d"), "mu2", "C2"),
        (Leaf.lap(1, 10**12, dataset="d"), "rho", "C8'"),
    ],
)
def test_a_transcendental_claim_is_checked_to_its_last_digit(leaf, unit, native):
    from planner.calculus.convert import charge

    bound = charge(leaf, "mu_squared" if unit == "mu2" else unit)
    assert bound.rule == native
    body = plan([dataset("d")], statement("s", leaf))
    certificate, data, reservations = certified(body, reserve(unit, bound.value))
    check(certificate, data, reservations)
    low = text(step_down(bound.value))
    lowered = json.loads(json.dumps(certificate).replace(f'"{text(bound.value)}"', f'"{low}"'))
    assert lowered != certificate
    with pytest.raises(Rejected):
        check(lowered, data, [reserve(unit, low)])


def test_a_part_of_a_key_left_out_is_refused():
    body = plan(
        [dataset("d", population="people"), dataset("e", population="people")],
        statement("s", Leaf.lap(1, 2, dataset="d"), Leaf.lap(1, 4, dataset="e")),
    )
    both = [reserve("eps", F(1, 2), key="people"), reserve("eps", F(1, 4), "e", key="people")]
    certificate, data, _ = certified(body, *both)
    check(certificate, data, both)
    with pytest.raises(Rejected, match="missing"):
        check(certificate, data, both[:1])


def test_a_dataset_whose_sites_alone_are_asked_is_a_part_of_its_key():
    members = {"max": 1, "members": [{"name": "a", "rows": 9}]}
    body = plan(
        [dataset("d", population="people", sites=members), dataset("e", population="people")],
        statement("s", Leaf.lap(1, 2, dataset="d", site="a"), Leaf.lap(1, 4, dataset="e")),
    )
    both = [reserve("eps", F(1, 2), key="people"), reserve("eps", F(1, 4), "e", key="people")]
    certificate, data, _ = certified(body, *both)
    check(certificate, data, both)
    with pytest.raises(Rejected, match="missing"):
        check(certificate, data, both[1:])


def test_names_with_any_letters_are_fine():
    body = plan([dataset("d")], statement('größe\u2028\x07"\\', Leaf.lap(1, 2, dataset="d")))
    certificate, data, reservations = certified(body, reserve("eps", F(1, 2)))
    check(certificate, data, reservations)


def test_a_number_that_fits_no_memory_is_refused_unread():
    certificate, data, reservations = HONEST["rounds"]()
    node = {**certificate["nodes"][-1]}
    for monster in ("9" * 10**7, "1e99999999", "1/" + "3" * 10**7, "0." + "3" * 10**7):
        node["out"] = {**node["out"], next(iter(node["out"])): monster}
        with pytest.raises(Rejected):
            check({**certificate, "nodes": [*certificate["nodes"][:-1], node]}, data, reservations)


def test_more_nodes_than_a_plan_can_need_are_refused():
    certificate, data, reservations = HONEST["rounds"]()
    sum_rho = next(node for node in certificate["nodes"] if node["rule"] == "sum_rho")
    chain = []
    for i in range(200):
        part = sum_rho["id"] if i == 0 else f"x{i - 1}"
        chain.append({**sum_rho, "id": f"x{i}", "in": {"of": [part]}})
    with pytest.raises(Rejected, match="more nodes"):
        check({**certificate, "nodes": [*certificate["nodes"], *chain]}, data, reservations)


def test_a_huge_certificate_is_refused_unread(monkeypatch):
    certificate, data, reservations = HONEST["rounds"]()
    monkeypatch.setattr(checker, "SIZE", 100)
    with pytest.raises(Rejected, match="too large"):
        check(certificate, data, reservations)


def test_sums_of_unrelated_fractions_are_exact():
    sizes = [F(1, 10**40 + i) for i in range(1, 4000, 2)]
    leaves = [Leaf.lap(size, 1, dataset="d") for size in sizes]
    body = plan([dataset("d")], statement("s", *leaves))
    certificate, data, reservations = certified(body, reserve("eps", total(leaves, "eps")))
    check(certificate, data, reservations)
    low = text(F(int(sum(sizes) * 10**60), 10**60))
    lowered = json.loads(json.dumps(certificate).replace(reservations[0]["amount"], low))
    with pytest.raises(Rejected, match="too low"):
        check(lowered, data, [reserve("eps", low)])


def test_the_checker_imports_nothing_of_the_project():
    tree = ast.parse(Path(checker.__file__).read_text())
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        )
    }
    assert imported == {
        "hashlib",
        "json",
        "pathlib",
        "re",
        "typing",
        "flint",
        "sys",
    }


def test_the_checker_is_short_enough_to_be_read_whole():
    assert len(Path(checker.__file__).read_text().splitlines()) < 200


@pytest.mark.parametrize("name", ["rounds", "losses"])
def test_one_copied_file_runs_alone_with_nothing_but_flint(name, tmp_path):
    """Also on a certificate with other line ends and blanks than the canonical one."""
    certificate, data, _ = HONEST[name]()
    packages, empty = tmp_path / "packages", tmp_path / "empty"
    packages.mkdir()
    empty.mkdir()
    home = Path(flint.__file__).parents[1]
    for part in ("flint", "python_flint.libs"):
        if (home / part).exists():
            (packages / part).symlink_to(home / part)
    shutil.copy(checker.__file__, empty / "checker.py")
    (empty / "plan.json").write_text(json.dumps({"body": json.loads(data)}, indent=2))
    (empty / "good.json").write_text(json.dumps(certificate, indent=2))
    (empty / "bad.json").write_bytes(canonical({**certificate, "version": 2}))
    alone = (
        "import sys, runpy; sys.path.append(sys.argv.pop(1)); sys.argv[0] = 'checker.py'; "
        "runpy.run_path('checker.py', run_name='__main__'); "
        "assert not {'dpql', 'planner', 'numpy'} & {*sys.modules}"
    )

    def run(which):
        command = [sys.executable, "-I", "-S", "-c", alone, str(packages), "plan.json", which]
        return subprocess.run(command, cwd=empty, capture_output=True, text=True, check=False)

    good, bad = run("good.json"), run("bad.json")
    assert (good.returncode, good.stderr) == (0, "")
    assert "accepted" in good.stdout
    assert bad.returncode == 1
    assert "another plan" in bad.stderr
    assert "accepted" not in bad.stdout


def test_as_a_script_it_says_in_one_line_why_it_refuses(tmp_path):
    certificate, data, _ = HONEST["rounds"]()
    (tmp_path / "plan.json").write_bytes(data)
    (tmp_path / "bad.json").write_bytes(canonical({**certificate, "version": 2}))
    command = [sys.executable, "-I", checker.__file__, "plan.json", "bad.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "another plan" in done.stderr


def test_sums_that_would_take_minutes_are_refused_before_they_are_made():
    """Each node adds up a thousand unrelated fractions, and there are a thousand such nodes."""
    leaves = [Leaf.lap(F(1, 10**35 + i), 1, dataset="d") for i in range(1, 2000, 2)]
    body = plan([dataset("d")], statement("s", *leaves))
    certificate, data, reservations = certified(body, reserve("eps", "1"))
    total = certificate["nodes"][-1]
    many = [{**total, "id": f"x{i}"} for i in range(1100)]
    with pytest.raises(Rejected, match="more nodes"):
        check({**certificate, "nodes": [*certificate["nodes"], *many]}, data, reservations)
