"""Processes killed at every boundary and at random moments: spent only grows, nothing is free."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from dpql.errors import WrongState
from dpql.ledger import Ledger
from executors.noise.sampler import OsSampler
from suites.ledger import certificate, facts, plan
from suites.processes import Processes

CHARGE = Fraction(1, 100)


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with Processes("ledger_jobs") as running:
        yield running


class Scene:
    """A ledger that processes work on and die over, watched from outside."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "ledger.db")
        self.log = folder / "opened"
        self.out = str(folder / "out.json")
        self.ledger = Ledger.connect(self.path, create=True)
        self.ledger.open_key(facts(cap="1000"))
        self.spent = Fraction(0)

    def watch(self) -> None:
        """After each death: the sum has only grown, and no data was opened without a START."""
        balance = self.ledger.remaining("trial")
        spent = balance.spent + balance.reserved
        assert spent >= self.spent
        self.spent = spent
        started = {run["rid"] for run in self.ledger.show()["runs"] if run["state"] != "RESERVED"}
        opened = set(self.log.read_text().split()) if self.log.exists() else set()
        assert opened <= started
        assert self.ledger.verify(certificates=False) == ()

    def rerun(self, tag: str) -> str:
        """Run the plan of a dead process again; the state in which it was found."""
        order = plan("0.01", tag=tag)
        found = self.ledger.find(order)
        state = "NONE" if found is None else found.state
        expected = self.spent + (CHARGE if state == "NONE" else 0)
        if state == "STARTED":
            with pytest.raises(WrongState, match="stored nothing"):
                self.ledger.reserve(order, certificate(order))
        else:
            taken = self.ledger.reserve(order, certificate(order))
            if taken.state == "RESERVED":
                assert state in ("NONE", "RESERVED")
                self.ledger.start(taken.rid, OsSampler())
                self.ledger.store(taken.rid, [{"name": "m", "value": tag}])
            if taken.state != "SETTLED":
                self.ledger.settle(taken.rid)
            assert self.ledger.fetch(taken.rid).releases[0] == {"name": "m", "value": tag}
        self.watch()
        assert self.spent == expected
        return state


def kill_at_boundaries(processes: Processes, scene: Scene, step: int) -> set[str]:
    """One process for each boundary between statements, or for every `step`th of them."""
    whole = processes.fork("lifecycle", scene.path, str(scene.log), scene.out, "whole", None)
    assert processes.wait(whole) == 0
    boundaries = json.loads(Path(scene.out).read_text())["boundaries"]
    assert boundaries > 60
    scene.watch()
    states = {scene.rerun("whole")}
    for at in range(1, boundaries + 1, step):
        tag = f"killed-at-{at}"
        pid = processes.fork("lifecycle", scene.path, str(scene.log), scene.out, tag, at)
        assert processes.wait(pid) == -signal.SIGKILL
        scene.watch()
        states.add(scene.rerun(tag))
    return states


def kill_at_random(processes: Processes, scene: Scene, times: int, seed: int) -> None:
    """Kill a process that runs plan after plan; take up what it was doing."""
    moments = random.Random(seed)
    for number in range(times):
        pid = processes.fork("runs_for_ever", scene.path, str(scene.log), f"r{number}")
        time.sleep(moments.uniform(0.03, 0.4))
        os.kill(pid, signal.SIGKILL)
        assert processes.wait(pid) == -signal.SIGKILL
        scene.watch()
        done = 0
        while scene.ledger.find(plan("0.01", tag=f"r{number}-{done}")) is not None:
            done += 1
        for last in range(max(0, done - 1), done + 1):
            scene.rerun(f"r{number}-{last}")


def test_a_kill_between_any_two_statements_leaves_a_sound_ledger(processes, tmp_path):
    states = kill_at_boundaries(processes, Scene(tmp_path), step=3)
    assert states == {"NONE", "RESERVED", "STARTED", "STORED", "SETTLED"}


def test_a_kill_at_a_random_moment_leaves_a_sound_ledger(processes, tmp_path):
    kill_at_random(processes, Scene(tmp_path), times=20, seed=1)


@pytest.mark.slow
def test_kills_between_all_statements_leave_a_sound_ledger(processes, tmp_path):
    kill_at_boundaries(processes, Scene(tmp_path), step=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 105))
def test_five_hundred_kills_at_random_moments_leave_a_sound_ledger(processes, tmp_path, seed):
    kill_at_random(processes, Scene(tmp_path), times=100, seed=seed)
