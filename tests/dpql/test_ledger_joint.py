"""One run that several ledgers pay for."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpql.errors import CertificateRefused, LedgerDamaged, NoiseRefused, OverBalance, WrongState
from dpql.ledger import Ledger
from dpql.ledger.joint import reserve_joint
from executors.noise.sampler import OsSampler
from suites.ledger import certificate, facts, plan, table

RELEASES = [{"name": "m", "value": 1.5}]
ASKED = plan("0.4", on=(("a", None), ("b", None)))
PROOF = certificate(ASKED)


@pytest.fixture
def ledgers(tmp_path: Path) -> dict[str, Ledger]:
    return {name: opened(tmp_path, name) for name in ("a", "b")}


def opened(folder: Path, name: str, cap: str = "1") -> Ledger:
    ledger = Ledger.connect(str(folder / f"{name}.db"), create=True)
    ledger.open_key(facts(tables=(table(name),), cap=cap))
    return ledger


def spent(ledgers: dict[str, Ledger]) -> list[Fraction]:
    balances = [ledgers[name].remaining(name) for name in sorted(ledgers)]
    return [balance.spent + balance.reserved for balance in balances]


def join(ledgers: dict[str, Ledger], **how: Any) -> Any:
    return reserve_joint(ASKED, PROOF, (), ledgers, **how)


def test_a_run_is_charged_in_every_ledger_and_served_from_any(ledgers):
    run = join(ledgers)
    token = run.start(OsSampler())
    assert (token.rid, token.keys) == (run.rid, ("a", "b"))
    run.store(RELEASES)
    run.settle([{"key": "a", "amount": "0.4"}, {"key": "b", "amount": "0.3"}])
    assert run.fetch().releases == tuple(RELEASES)
    assert spent(ledgers) == [Fraction(2, 5)] * 2
    served = join(ledgers)
    assert served.stored is not None
    assert served.fetch().releases == tuple(RELEASES)
    assert spent(ledgers) == [Fraction(2, 5)] * 2
    assert all(ledger.verify() == () for ledger in ledgers.values())


def test_two_keys_of_one_ledger_are_one_reservation(tmp_path):
    ledger = opened(tmp_path, "a")
    ledger.open_key(facts(tables=(table("b"),), cap="0.5"))
    both = {"a": ledger, "b": ledger}
    run = join(both)
    assert len(run.parts) == 1
    assert run.keys == ("a", "b")
    kinds = [entry["kind"] for entry in ledger.export()["entries"]]
    assert kinds == ["create", "open", "open", "reserve", "reserve"]
    assert run.start(OsSampler()).keys == ("a", "b")
    with pytest.raises(OverBalance, match="of `b`"):
        reserve_joint(*again_of("0.2"), (), both)
    assert spent(both) == [Fraction(2, 5)] * 2


def again_of(amount: str) -> tuple[Any, Any]:
    asked = plan(amount, tag="other", on=(("a", None), ("b", None)))
    return asked, certificate(asked)


def test_where_one_ledger_refuses_the_other_gets_its_charge_back(tmp_path):
    ledgers = {"a": opened(tmp_path, "a"), "b": opened(tmp_path, "b", cap="0.3")}
    with pytest.raises(OverBalance, match="of `b`"):
        join(ledgers)
    assert spent(ledgers) == [0, 0]
    kinds = [entry["kind"] for entry in ledgers["a"].export()["entries"]]
    assert kinds[-2:] == ["reserve", "release"]


def test_where_one_ledger_does_not_start_the_started_one_stays_spent(ledgers):
    run = join(ledgers)
    ledgers["b"].release(run.parts[1][1].rid)
    with pytest.raises(WrongState) as refused:
        run.start(OsSampler())
    assert "started and spent for good: `a`" in refused.value.note
    assert spent(ledgers) == [Fraction(2, 5), 0]
    with pytest.raises(WrongState, match="stored nothing"):
        join(ledgers)
    repeated = join(ledgers, again=True)
    repeated.start(OsSampler())
    assert spent(ledgers) == [Fraction(4, 5), Fraction(2, 5)]


def test_scripted_noise_starts_nothing_anywhere(ledgers):
    run = join(ledgers)
    with pytest.raises(NoiseRefused):
        run.start(object())
    assert [ledgers[name].find(ASKED, [name]).state for name in ("a",)] == ["RESERVED"]
    assert ledgers["b"].find(ASKED, ["b"]) is None


def test_a_crash_between_two_ledgers_while_storing_loses_nothing(ledgers):
    run = join(ledgers)
    run.start(OsSampler())
    ledgers["a"].store(run.parts[0][1].rid, RELEASES)
    served = join(ledgers)
    assert served.fetch().releases == tuple(RELEASES)
    assert [ledgers[name].find(ASKED, [name]).state for name in ("a", "b")] == ["SETTLED"] * 2
    assert spent(ledgers) == [Fraction(2, 5)] * 2
    assert ledgers["b"].fetch(run.parts[1][1].rid).releases == tuple(RELEASES)
    assert all(ledger.verify() == () for ledger in ledgers.values())


def test_a_ledger_that_forgot_a_run_stops_it(ledgers, tmp_path):
    run = join(ledgers)
    run.start(OsSampler())
    run.store(RELEASES)
    folder = tmp_path / "older"
    folder.mkdir()
    restored = opened(folder, "b")
    with pytest.raises(LedgerDamaged, match="never started in another"):
        join({"a": ledgers["a"], "b": restored})
    assert restored.remaining("b").remaining == 1


def test_every_key_needs_a_ledger(ledgers):
    with pytest.raises(CertificateRefused, match="charges `b`, for which no ledger is given"):
        join({"a": ledgers["a"]})
    assert spent(ledgers) == [0, 0]


# --- two processes with one plan, and repetitions that were cut off -------------------------------


def test_who_comes_second_to_a_start_leaves_the_other_ledgers_to_the_first(ledgers):
    first, second = join(ledgers), join(ledgers)
    ledgers["a"].start(first.parts[0][1].rid, OsSampler())
    with pytest.raises(WrongState, match="already started") as refused:
        second.start(OsSampler())
    assert "served" in refused.value.note
    ledgers["b"].start(first.parts[1][1].rid, OsSampler())
    assert spent(ledgers) == [Fraction(2, 5)] * 2


def test_who_serves_a_run_meanwhile_does_not_stop_it(ledgers, tmp_path):
    run = join(ledgers)
    run.start(OsSampler())
    theirs = {name: Ledger.connect(str(tmp_path / f"{name}.db")) for name in ledgers}
    store = ledgers["b"].store

    def served_before(rid: str, releases: Any, **how: Any) -> None:
        assert join(theirs).fetch().releases == tuple(RELEASES)
        store(rid, releases, **how)

    ledgers["b"].store = served_before
    run.store(RELEASES)
    run.settle()
    assert run.fetch().releases == tuple(RELEASES)
    assert ledgers["b"].fetch(run.parts[1][1].rid).releases == tuple(RELEASES)
    with pytest.raises(WrongState):
        run.store([{"name": "m", "value": 2.5}])
    assert spent(ledgers) == [Fraction(2, 5)] * 2


def test_a_repetition_that_was_reserved_at_one_key_only_is_no_damage(ledgers):
    run = join(ledgers)
    run.start(OsSampler())
    run.store(RELEASES)
    run.settle()
    ledgers["a"].reserve(ASKED, PROOF, again=True, keys=["a"])
    with pytest.raises(WrongState, match="begun at some of its keys only"):
        join(ledgers)
    taken = join(ledgers, again=True)
    assert spent(ledgers) == [Fraction(4, 5)] * 2
    ledgers["a"].start(taken.rid, OsSampler())
    ledgers["b"].release(taken.parts[1][1].rid)
    with pytest.raises(WrongState, match="begun at some of its keys only"):
        join(ledgers)
    states = [ledgers[name].find(ASKED, [name]).state for name in ("a", "b")]
    assert states == ["STARTED", "SETTLED"]
