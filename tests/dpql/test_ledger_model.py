"""Random histories of a ledger against a model of a few lines."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from dpql.errors import OverBalance, WrongState
from dpql.ledger import Ledger
from executors.noise.sampler import OsSampler
from suites.ledger import certificate, dataset, facts, plan, table

CAP = Fraction(1)
AMOUNTS = st.sampled_from(["0.1", "1/3", "1/7", "0.25", "0.000000000001", "1"])
KEYS = st.sampled_from([("a",), ("b",), ("a", "b")])


class LedgerModel(RuleBasedStateMachine):
    """Two keys; plans that charge one or both; every step may be tried at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.ledger = Ledger.connect(
            str(Path(self.folder) / "ledger.db"), create=True, clock=lambda: self.now
        )
        for name in ("a", "b"):
            self.ledger.open_key(facts(tables=(table(name),), cap="1"))
        self.runs: dict[str, dict[str, Any]] = {}
        self.latest: dict[str, str] = {}
        self.count = 0

    plans = Bundle("plans")

    def spent(self, key: str) -> Fraction:
        return sum((r["cost"] for r in self.runs.values() if key in r["keys"]), Fraction(0))

    def forget_expired(self, keys: tuple[str, ...]) -> None:
        for rid, run in list(self.runs.items()):
            if (
                run["state"] == "RESERVED"
                and run["until"] <= self.now
                and set(keys) & set(run["keys"])
            ):
                self.drop(rid)

    def drop(self, rid: str) -> None:
        run = self.runs.pop(rid)
        self.latest[run["plan"]] = run["before"]

    @rule(target=plans, amount=AMOUNTS, keys=KEYS)
    def write(self, amount: str, keys: tuple[str, ...]) -> Any:
        self.count += 1
        order = plan(
            amount,
            tag=str(self.count),
            on=[(key, None) for key in keys],
            datasets=[dataset(key) for key in keys],
        )
        return order, keys, Fraction(amount), certificate(order)

    @rule(order=plans, again=st.booleans())
    def reserve(self, order: Any, again: bool) -> None:
        asked, keys, amount, proof = order
        name = asked["plan_hash"]

        def call() -> Any:
            return self.ledger.reserve(asked, proof, again=again)

        current = self.runs.get(self.latest.get(name, ""))
        if current and current["state"] == "RESERVED" and current["until"] <= self.now:
            current = None
        if current and current["state"] == "STARTED" and not again:
            refusal(call, WrongState)
            return
        if current and (current["state"] == "RESERVED" or not again):
            found = call()
            assert (found.rid, found.state) == (self.latest[name], current["state"])
            return
        # What a refused reservation would have released stays as it is.
        kept = dict(self.runs), dict(self.latest)
        self.forget_expired(keys)
        if any(self.spent(key) + amount > CAP for key in keys):
            self.runs, self.latest = kept
            refusal(call, OverBalance)
            return
        made = call()
        assert made.is_new
        assert made.rid not in self.runs
        self.runs[made.rid] = {
            "plan": name,
            "keys": keys,
            "cost": amount,
            "state": "RESERVED",
            "until": self.now + timedelta(hours=24),
            "before": self.latest.get(name, ""),
        }
        self.latest[name] = made.rid

    def step(self, order: Any, call: Any, before: str, after: str | None) -> None:
        """Try a step: it succeeds just where the model stands before it."""
        rid = self.latest.get(order[0]["plan_hash"], "") or "0" * 64
        run = self.runs.get(rid)
        is_late = run is not None and after == "STARTED" and run["until"] <= self.now
        if run is None or run["state"] != before or is_late:
            refusal(lambda: call(rid), WrongState)
            return
        call(rid)
        if after is None:
            self.drop(rid)
        else:
            run["state"] = after

    @rule(order=plans)
    def start(self, order: Any) -> None:
        self.step(order, lambda rid: self.ledger.start(rid, OsSampler()), "RESERVED", "STARTED")

    @rule(order=plans)
    def store(self, order: Any) -> None:
        releases = [{"name": "m", "value": order[0]["plan_hash"]}]
        self.step(order, lambda rid: self.ledger.store(rid, releases), "STARTED", "STORED")

    @rule(order=plans)
    def settle(self, order: Any) -> None:
        self.step(order, lambda rid: self.ledger.settle(rid), "STORED", "SETTLED")

    @rule(order=plans)
    def release(self, order: Any) -> None:
        self.step(order, lambda rid: self.ledger.release(rid), "RESERVED", None)

    @rule(order=plans)
    def fetch(self, order: Any) -> None:
        run = self.runs.get(self.latest.get(order[0]["plan_hash"], ""))
        if run and run["state"] == "SETTLED":
            found = self.ledger.fetch(self.latest[order[0]["plan_hash"]])
            assert found.releases == ({"name": "m", "value": order[0]["plan_hash"]},)

    @rule(hours=st.sampled_from([1, 12, 24]))
    def wait(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @invariant()
    def sums_agree(self) -> None:
        for key in ("a", "b"):
            balance = self.ledger.remaining(key)
            assert balance.spent + balance.reserved == self.spent(key) <= CAP
            started = sum(
                r["cost"]
                for r in self.runs.values()
                if key in r["keys"] and r["state"] != "RESERVED"
            )
            assert balance.spent == started

    def teardown(self) -> None:
        assert self.ledger.verify() == ()
        self.ledger.close()
        shutil.rmtree(self.folder)


def refusal(call: Any, kind: type[Exception]) -> None:
    try:
        call()
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was expected")


LedgerModel.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
TestLedgerModel = LedgerModel.TestCase
