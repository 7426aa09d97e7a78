"""What a second run of a plan does, and what becomes of a run that stopped."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpql.errors import NoiseRefused, OverBalance, RunFailed, WrongState
from dpql.ledger import Ledger
from dpql.ledger.plan_body import canonical, digest
from executors.noise.sampler import OsSampler
from suites.ledger import certificate, facts, plan

RELEASES = [{"name": "m", "value": {"x": 0.25}}]


class Watch:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def ledger(tmp_path: Path, watch: Watch) -> Ledger:
    made = Ledger.connect(str(tmp_path / "ledger.db"), create=True, clock=watch)
    made.open_key(facts(cap="1"))
    return made


def spent(ledger: Ledger) -> Fraction:
    balance = ledger.remaining("trial")
    return balance.spent + balance.reserved


def again(ledger: Ledger, asked: dict[str, Any], **more: Any) -> Any:
    return ledger.reserve(asked, certificate(asked), **more)


def test_the_rid_is_the_hash_of_plan_key_and_number(ledger):
    asked = plan("0.1")
    rid = again(ledger, asked).rid
    assert rid == digest(canonical([asked["plan_hash"], "trial", 0]))


def test_a_reserved_run_is_taken_over_and_charged_once(ledger):
    asked = plan("0.1")
    first, second = again(ledger, asked), again(ledger, asked)
    assert first.rid == second.rid
    assert (first.is_new, second.is_new, second.state) == (True, False, "RESERVED")
    assert spent(ledger) == Fraction(1, 10)
    ledger.start(second.rid, OsSampler())


def test_a_started_run_with_nothing_stored_is_lost_and_charged(ledger):
    asked = plan("0.1")
    ledger.start(again(ledger, asked).rid, OsSampler())
    with pytest.raises(WrongState, match="stored nothing") as refused:
        again(ledger, asked)
    assert "--again" in refused.value.help
    assert spent(ledger) == Fraction(1, 10)


def test_again_charges_once_more_under_the_next_number(ledger):
    asked = plan("0.1")
    lost = again(ledger, asked)
    ledger.start(lost.rid, OsSampler())
    repeated = again(ledger, asked, again=True)
    assert repeated.rid == digest(canonical([asked["plan_hash"], "trial", 1]))
    assert spent(ledger) == Fraction(2, 10)


def test_again_does_not_charge_twice_for_a_run_that_waits(ledger):
    asked = plan("0.1")
    waiting = again(ledger, asked)
    assert again(ledger, asked, again=True).rid == waiting.rid
    assert spent(ledger) == Fraction(1, 10)


def test_a_stored_run_is_settled_and_served(ledger):
    asked = plan("0.1")
    rid = again(ledger, asked).rid
    ledger.start(rid, OsSampler())
    ledger.store(rid, RELEASES)
    found = again(ledger, asked)
    assert (found.state, found.rid) == ("STORED", rid)
    with pytest.raises(WrongState, match="is STORED"):
        ledger.fetch(rid)
    ledger.settle(rid)
    assert ledger.fetch(rid).releases == tuple(RELEASES)
    assert spent(ledger) == Fraction(1, 10)


def test_a_settled_run_is_served_with_its_date(ledger, watch):
    asked = plan("0.1")
    rid = again(ledger, asked).rid
    ledger.start(rid, OsSampler())
    ledger.store(rid, RELEASES)
    ledger.settle(rid)
    watch.now += timedelta(days=400)
    found = again(ledger, asked)
    assert (found.state, found.utc) == ("SETTLED", "2026-11-30T12:00:00.000000Z")
    assert ledger.fetch(rid).settled == found.utc
    assert spent(ledger) == Fraction(1, 10)


def test_what_is_served_is_what_was_stored_to_the_order_and_the_sign(ledger):
    kept = {"name": "m", "table": {"term": ["a"], "estimate": [-0.0, 1.0, 1e300, 2**70]}, "a": "é"}
    rid = again(ledger, plan("0.1")).rid
    ledger.start(rid, OsSampler())
    ledger.store(rid, [kept])
    ledger.settle(rid)
    assert json.dumps(ledger.fetch(rid).releases[0]) == json.dumps(kept)
    assert ledger.verify(certificates=False) == ()


@pytest.mark.parametrize("value", [float("nan"), 0.5j, {1, 2}])
def test_what_is_no_json_is_not_stored_and_not_quoted(ledger, value):
    rid = again(ledger, plan("0.1")).rid
    ledger.start(rid, OsSampler())
    with pytest.raises(RunFailed) as failed:
        ledger.store(rid, [{"name": "m", "value": value}])
    assert str(value) not in str(failed.value)
    assert (failed.value.__cause__, failed.value.__context__) == (None, None)
    assert again(ledger, plan("0.1"), again=True).rid != rid


def test_a_token_is_handed_out_once(ledger):
    rid = again(ledger, plan("0.1")).rid
    ledger.start(rid, OsSampler())
    with pytest.raises(WrongState, match="already started"):
        ledger.start(rid, OsSampler())


@pytest.mark.parametrize(
    "steps", [(), ("start",), ("start", "store"), ("start", "store", "settle")]
)
def test_no_step_is_taken_from_a_wrong_state(ledger, steps):
    rid = again(ledger, plan("0.1")).rid
    calls = {
        "start": lambda: ledger.start(rid, OsSampler()),
        "store": lambda: ledger.store(rid, RELEASES),
        "settle": lambda: ledger.settle(rid),
        "release": lambda: ledger.release(rid),
    }
    for step in steps:
        calls[step]()
    allowed = {(): ("start", "release"), ("start",): ("store",), ("start", "store"): ("settle",)}
    head = ledger.head()
    for step, call in calls.items():
        if step not in allowed.get(steps, ()):
            with pytest.raises(WrongState):
                call()
    assert ledger.head() == head
    assert ledger.verify(certificates=False) == ()


def test_a_released_reservation_is_given_back_and_may_be_made_anew(ledger):
    asked = plan("0.7")
    rid = again(ledger, asked).rid
    ledger.release(rid, actor="custodian")
    assert spent(ledger) == 0
    with pytest.raises(WrongState, match="was released on"):
        ledger.start(rid, OsSampler())
    assert again(ledger, asked).rid == rid
    assert spent(ledger) == Fraction(7, 10)
    assert ledger.verify(certificates=False) == ()


def test_an_expired_reservation_makes_room_for_the_next_plan(ledger, watch):
    forgotten = again(ledger, plan("0.7"))
    watch.now += timedelta(hours=23)
    with pytest.raises(OverBalance):
        again(ledger, plan("0.6"))
    watch.now += timedelta(hours=1)
    with pytest.raises(WrongState, match="expired"):
        ledger.start(forgotten.rid, OsSampler())
    again(ledger, plan("0.6"))
    assert spent(ledger) == Fraction(6, 10)
    with pytest.raises(WrongState, match="released"):
        ledger.start(forgotten.rid, OsSampler())
    assert ledger.verify(certificates=False) == ()


def test_a_started_run_never_expires(ledger, watch):
    rid = again(ledger, plan("0.7")).rid
    ledger.start(rid, OsSampler())
    watch.now += timedelta(days=1000)
    with pytest.raises(OverBalance):
        again(ledger, plan("0.6"))
    assert spent(ledger) == Fraction(7, 10)


def test_unknown_runs_are_named(ledger):
    with pytest.raises(WrongState, match="knows no run"):
        ledger.settle("0" * 64)


def test_drawing_more_than_reserved_freezes_the_key_until_it_is_thawed(ledger):
    asked = plan("0.1")
    rid = again(ledger, asked).rid
    ledger.start(rid, OsSampler())
    ledger.store(rid, RELEASES)
    with pytest.raises(NoiseRefused, match=r"drew rho=0\.11"):
        ledger.settle(rid, [{"key": "trial", "amount": "0.06"}, {"key": "trial", "amount": "0.05"}])
    assert ledger.remaining("trial").is_frozen
    other = plan("0.1", tag="other")
    with pytest.raises(NoiseRefused, match="frozen"):
        again(ledger, other)
    ledger.thaw("trial", reason="looked into it", actor="custodian")
    again(ledger, other)
    assert ledger.verify(certificates=False) == ()


def test_drawing_less_than_reserved_gives_nothing_back(ledger):
    rid = again(ledger, plan("0.1")).rid
    ledger.start(rid, OsSampler())
    ledger.store(rid, RELEASES)
    ledger.settle(rid, [{"key": "trial", "amount": "0.01", "statement": "m"}])
    assert spent(ledger) == Fraction(1, 10)


class Scripted:
    """Noise that a test would choose."""

    def below(self, n: int) -> int:
        return 0


class Pretender(OsSampler):
    """A subclass may override a method."""


def test_only_the_production_sampler_starts_a_run(ledger):
    rid = again(ledger, plan("0.1")).rid
    patched = OsSampler()
    patched.below = lambda n: 0
    disguised = Scripted()
    disguised.__class__ = type("OsSampler", (Scripted,), {})
    for sampler in (Scripted(), Pretender(), patched, disguised, None, OsSampler):
        with pytest.raises(NoiseRefused, match="not the production noise"):
            ledger.start(rid, sampler)
    assert ledger.remaining("trial").spent == 0
    ledger.start(rid, OsSampler())


def test_a_mock_plan_is_never_charged(ledger):
    asked = plan("0.1")
    for marked in ({**asked, "plan_hash": f"mock:{asked['plan_hash']}"}, {**asked, "mock": True}):
        with pytest.raises(NoiseRefused, match="mock"):
            ledger.reserve(marked, certificate(asked))
