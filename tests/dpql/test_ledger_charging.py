"""What a ledger admits, charges and hands out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpql import checker
from dpql.errors import CertificateRefused, OverBalance, WrongState
from dpql.ledger import Ledger
from dpql.ledger.admission import check_certificate, payers_of, request
from dpql.ledger.plan_body import PlanBody, canonical
from executors.noise.sampler import OsSampler
from suites.ledger import certificate, facts, plan


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.connect(str(tmp_path / "ledger.db"), create=True)


def test_ten_charges_of_a_tenth_fill_one_and_the_eleventh_is_refused(ledger):
    ledger.open_key(facts(cap="1"))
    for number in range(10):
        asked = plan("0.1", tag=str(number))
        ledger.reserve(asked, certificate(asked))
    balance = ledger.remaining("trial")
    assert balance.remaining == 0
    assert balance.reserved == 1
    eleventh = plan("0.1", tag="eleventh")
    with pytest.raises(OverBalance, match="whose balance is rho=0"):
        ledger.reserve(eleventh, certificate(eleventh))


def test_after_a_refusal_a_smaller_request_is_served(ledger):
    ledger.open_key(facts(cap="1"))
    for amount, fits in (("0.95", True), ("0.1", False), ("0.05", True), ("0.000001", False)):
        asked = plan(amount, tag=amount)
        if fits:
            ledger.reserve(asked, certificate(asked))
        else:
            with pytest.raises(OverBalance):
                ledger.reserve(asked, certificate(asked))
    assert ledger.remaining("trial").remaining == 0


def test_a_run_goes_from_reserved_to_settled_and_is_served_again_without_a_charge(ledger):
    ledger.open_key(facts(cap="1"))
    asked = plan("0.4")
    admitted = ledger.reserve(asked, certificate(asked))
    assert (admitted.state, admitted.keys, admitted.is_new) == ("RESERVED", ("trial",), True)
    token = ledger.start(admitted.rid, OsSampler())
    assert (token.rid, token.keys, token.mock) == (admitted.rid, ("trial",), False)
    ledger.store(admitted.rid, [{"name": "m", "value": {"x": 1.5}}])
    ledger.settle(admitted.rid)
    served = ledger.reserve(asked, certificate(asked))
    assert (served.state, served.rid, served.is_new) == ("SETTLED", admitted.rid, False)
    assert ledger.fetch(served.rid).releases == ({"name": "m", "value": {"x": 1.5}},)
    assert ledger.remaining("trial").spent == Fraction(2, 5)


def test_a_started_run_is_never_released(ledger):
    ledger.open_key(facts(cap="1"))
    asked = plan("0.4")
    admitted = ledger.reserve(asked, certificate(asked))
    ledger.start(admitted.rid, OsSampler())
    with pytest.raises(WrongState):
        ledger.release(admitted.rid)
    assert ledger.remaining("trial").spent == Fraction(2, 5)


def test_a_certificate_is_followed_once_in_a_process_and_anew_where_anything_differs(
    ledger, monkeypatch
):
    followed = []
    check = checker.check

    def counted(*given):
        followed.append(given)
        check(*given)

    monkeypatch.setattr(checker, "check", counted)
    ledger.open_key(facts(cap="1"))
    asked = plan("0.25", tag="followed once")
    proof = certificate(asked)
    for _ in range(2):
        ledger.examine(asked, proof)
    assert len(followed) == 1
    forged = {**proof, "totals": [{**total, "out": {"rho": "0.2"}} for total in proof["totals"]]}
    other = plan("0.25", tag="another plan")
    ledger.examine(asked, certificate(asked, "0.5"))
    for _ in range(2):
        with pytest.raises(CertificateRefused):
            ledger.reserve(asked, forged)
        with pytest.raises(CertificateRefused):
            ledger.reserve(other, proof)
    assert len(followed) == 6
    ledger.start(ledger.reserve(asked, proof).rid, OsSampler())
    ledger.reserve(asked, proof, again=True)
    assert ledger.verify() == ()
    assert len(followed) == 6


def test_what_was_accepted_stands_for_no_lower_claim_and_no_other_proof():
    asked = plan("0.25", tag="remembered")
    body, proof = PlanBody.of(asked), certificate(asked)
    honest = request(payers_of(body, None), proof, {"trial": "rho"})
    check_certificate(honest, body)
    lower = tuple({**claim, "amount": "0.2"} for claim in honest.reservations)
    unproved = canonical({**proof, "nodes": proof["nodes"][1:]})
    for changed in ({"reservations": lower}, {"certificate": unproved}):
        with pytest.raises(CertificateRefused):
            check_certificate(replace(honest, **changed), body)
