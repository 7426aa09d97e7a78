"""`kill -9` at any moment of a run: no release without a charge, no charge lost."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dpql.api import plan, run
from dpql.errors import WrongState
from planner.calculus.exact import number
from suites.studies import Study, query


def plans(count: int) -> list[dict[str, Any]]:
    """Distinct plans of one cost."""
    text = query(cox="eps=0.1", ssp="mu=0.05", diagonal="mu=0.05")
    found = []
    for index in range(count):
        made = plan(text.replace("0.02]", f"0.0{10_000 + index}]"))
        assert made.ok
        found.append(made.json())
    return found


def killed_run(study: Study, made: dict[str, Any], out: Path, delay: float) -> None:
    """Run a plan in a child process and kill it after `delay` seconds."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            run(made, {"trial": str(study.data)}, str(study.ledger_path), out=out)
            code = 0
        finally:
            os._exit(code)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def state_of(study: Study, made: dict[str, Any]) -> str:
    with study.ledger() as ledger:
        found = ledger.find(made["body"])
    return "NONE" if found is None else found.state


def charge_of(made: dict[str, Any]) -> Any:
    (amount,) = [t["out"]["mu2"] for t in made["certificate"]["totals"] if "mu2" in t["out"]]
    return number(amount)


def check_kills(folder: Path, kills: int, seed: int) -> Counter[str]:
    study = Study(folder, cap="mu=1000")
    generator = random.Random(seed)
    first, second, *others = plans(kills + 2)
    for one in (first, second):  # a child is as warm as the second run
        started = time.monotonic()
        run(one, {"trial": str(study.data)}, str(study.ledger_path), out=folder / "whole")
        usual = time.monotonic() - started
    charged = charge_of(first) + charge_of(second)
    seen: Counter[str] = Counter()
    for index, one in enumerate(others):
        out = folder / f"out{index}"
        # Most of a run passes before the first write to the ledger and little after it.
        killed_run(study, one, out, generator.triangular(0, 2 * usual, usual))
        state = state_of(study, one)
        seen[state] += 1
        if state != "NONE":
            charged += charge_of(one)
        assert study.spent == charged
        assert state in ("STORED", "SETTLED") or not list(out.rglob("releases/*"))
        charged += rerun(study, one, state)
        assert study.spent == charged
    with study.ledger() as ledger:
        assert ledger.verify() == ()
    return seen


def rerun(study: Study, made: dict[str, Any], state: str) -> Any:
    """What a rerun charges; asserts that it does what the state demands."""
    call = (made, {"trial": str(study.data)}, str(study.ledger_path))
    if state == "STARTED":
        with pytest.raises(WrongState):
            run(*call)
        done = run(*call, again=True)
        assert done.served is None
        return charge_of(made)
    done = run(*call)
    assert len(done.releases) == 3
    assert (done.served is not None) == (state in ("STORED", "SETTLED"))
    assert state_of(study, made) == "SETTLED"
    return charge_of(made) if state == "NONE" else 0


def test_runs_killed_at_random_moments_are_neither_lost_nor_free(tmp_path: Path) -> None:
    seen = check_kills(tmp_path, 24, 7)
    assert sum(seen.values()) == 24


@pytest.mark.slow
def test_five_hundred_kills_reach_every_state(tmp_path: Path) -> None:
    seen = check_kills(tmp_path, 500, 11)
    print(json.dumps(seen))
    assert sum(seen.values()) == 500
    assert seen["NONE"]
    assert seen["STARTED"]
    assert seen["SETTLED"]
