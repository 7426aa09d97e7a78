"""Whose signatures count, for which plan, key and run."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpql.approvals import (
    new_key,
    public_text,
    read_private_key,
    sign,
    signature_holds,
    signature_of,
    verify_approvals,
)
from dpql.errors import ApprovalRefused
from dpql.ledger import Ledger
from dpql.ledger.clock import instant, read_instant
from executors.noise.sampler import OsSampler
from suites.ledger import certificate, facts, plan

HASH = "ab" * 32
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TIME, EXPIRY = "2026-11-29T12:00:00Z", "2026-12-30T12:00:00Z"
KEYS = {
    name: Ed25519PrivateKey.from_private_bytes(name.encode() * 8)
    for name in ("anna", "bert", "cleo")
}
REVIEWERS = {name: public_text(KEYS[name]) for name in ("anna", "bert")}


def approval(who: str = "anna", **changes: Any) -> dict[str, Any]:
    terms = {
        "plan_hash": HASH,
        "key_name": "trial",
        "role": "board",
        "signer": who,
        "private_key": KEYS[who],
        "time": TIME,
        "expiry": EXPIRY,
        **changes,
    }
    return sign(**terms)


def verify(approvals: list[Any], k: int = 1, run_index: int = 0, now: datetime = NOW) -> Any:
    return verify_approvals(approvals, HASH, "trial", REVIEWERS, k, now, run_index)


def test_distinct_registered_reviewers_count():
    accepted = verify([approval("anna"), approval("bert")], k=2)
    assert sorted(item["signer"] for item in accepted) == ["anna", "bert"]


def test_one_reviewer_who_signs_twice_counts_once():
    with pytest.raises(ApprovalRefused, match="2 reviewers of `trial` must sign this run, 1 has"):
        verify([approval("anna"), approval("anna", role="chair")], k=2)


def test_keys_made_by_the_analyst_do_not_count():
    made = [Ed25519PrivateKey.generate() for _ in range(5)]
    forged = [
        approval(signer=f"friend{number}", private_key=key) for number, key in enumerate(made)
    ]
    forged += [approval(signer="anna", private_key=made[0])]
    with pytest.raises(ApprovalRefused, match="none has") as refused:
        verify(forged)
    assert refused.value.note.count("is signed with a key that is not registered") == 6


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (approval("cleo"), "the approval of `cleo` is signed with a key that is not registered"),
        (approval(signer="bert"), "the approval of `bert` is signed with another reviewer's key"),
        (approval(plan_hash="cd" * 32), "is for another plan (cdcdcdcdcdcd)"),
        (approval(key_name="trial/north"), "is for the ledger key `trial/north`"),
        (approval(expiry="2026-11-30T12:00:00Z"), "expired on 2026-11-30T12:00:00Z"),
        (approval(time="2026-11-30T12:10:01Z"), "is dated in the future"),
        ({**approval(), "runs": 5}, "was changed after it was signed"),
        ({**approval(), "expiry": "2036-12-30T12:00:00Z"}, "was changed after it was signed"),
        ({**approval(), "signature": "00" * 64}, "was changed after it was signed"),
        ({**approval(), "signature": "junk"}, "was changed after it was signed"),
        ({**approval(), "extra": 1}, "an approval is malformed: its fields must be"),
        ({**approval(), "runs": True}, "its runs is not a whole number"),
        ({**approval(), "schema": "dpql/approval/2"}, "its schema is `dpql/approval/2`"),
        ({**approval(), "time": "yesterday"}, "is not an instant in UTC"),
        ("approved", "an approval is malformed"),
        ({}, "an approval is malformed"),
    ],
)
def test_an_approval_that_does_not_count_says_why(given, reason):
    with pytest.raises(ApprovalRefused) as refused:
        verify([given])
    assert reason in refused.value.note
    assert refused.value.code == "DPQL-E082"
    assert "`anna`, `bert`" in refused.value.note


def test_a_bad_approval_beside_enough_good_ones_does_no_harm():
    assert len(verify([approval("cleo"), {}, approval("anna")])) == 1


def test_one_approval_covers_one_run_unless_it_says_more():
    with pytest.raises(ApprovalRefused) as refused:
        verify([approval()], run_index=1)
    assert "covers 1 run; this would be run 2" in refused.value.note
    assert verify([approval(runs=2)], run_index=1)
    with pytest.raises(ApprovalRefused):
        verify([approval(runs=2)], run_index=2)


def test_a_signature_for_one_purpose_does_not_serve_another():
    fields = {name: value for name, value in approval().items() if name != "signature"}
    public = fields["public_key"]
    other = signature_of("dpql/head/1", fields, KEYS["anna"])
    assert signature_holds("dpql/head/1", fields, public, other)
    assert not signature_holds("dpql/approval/1", fields, public, other)
    with pytest.raises(ApprovalRefused):
        verify([{**fields, "signature": other}])


def test_the_order_of_fields_does_not_matter():
    turned = dict(reversed(approval().items()))
    assert verify([turned])


@pytest.mark.parametrize(
    "terms",
    [
        {"plan_hash": "mock:" + HASH},
        {"runs": 0},
        {"time": "2026-11-29 12:00"},
        {"expiry": "2026-11-28T12:00:00Z"},
        {"time": "2026-11-29T12:00:00+02:00"},
    ],
)
def test_terms_that_could_not_be_verified_are_not_signed(terms):
    with pytest.raises(ApprovalRefused, match="this cannot be signed"):
        approval(**terms)


def test_a_new_key_is_private_and_never_overwritten(tmp_path):
    path = tmp_path / "anna.pem"
    public = new_key(path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert (tmp_path / "anna.pem.pub").read_text() == f"{public}\n"
    assert public_text(read_private_key(path)) == public
    before = path.read_bytes()
    with pytest.raises(ApprovalRefused, match="exists and is not overwritten"):
        new_key(path)
    path.unlink()
    with pytest.raises(ApprovalRefused, match="pub` exists"):
        new_key(path)
    assert not path.exists()
    path.write_bytes(before)


def test_a_dangling_link_is_not_followed(tmp_path):
    (tmp_path / "key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ApprovalRefused, match="exists"):
        new_key(tmp_path / "key")


def test_a_password_locks_the_key(tmp_path):
    path = tmp_path / "key.pem"
    public = new_key(path, password="correct horse")
    assert b"ENCRYPTED" in path.read_bytes()
    assert public_text(read_private_key(path, "correct horse")) == public
    for wrong in (None, "wrong"):
        with pytest.raises(ApprovalRefused, match="not a private key that opens"):
            read_private_key(path, wrong)
    with pytest.raises(ApprovalRefused, match="cannot be read"):
        read_private_key(tmp_path / "missing.pem")
    with pytest.raises(ApprovalRefused, match="cannot be written"):
        new_key(tmp_path / "no" / "such" / "folder")


def test_instants_are_read_strictly():
    assert read_instant("2026-11-30T12:00:00Z") == NOW
    assert instant(read_instant("2026-11-30T12:00:00.5Z")) == "2026-11-30T12:00:00.500000Z"
    for text in (
        "2026-11-30",
        "2026-11-30T12:00:00",
        "2026-13-30T12:00:00Z",
        "²026-11-30T12:00:00Z",
    ):
        with pytest.raises(ValueError):
            read_instant(text)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.connect(str(tmp_path / "ledger.db"), create=True, clock=lambda: NOW)
    made.open_key(facts(reviewers=REVIEWERS, required=2))
    return made


def test_a_ledger_admits_a_run_that_enough_reviewers_have_signed(ledger):
    asked = plan("0.1")
    signed = [approval(who, plan_hash=asked["plan_hash"]) for who in ("anna", "bert")]
    for few in ([], signed[:1], [signed[0], signed[0]]):
        with pytest.raises(ApprovalRefused):
            ledger.reserve(asked, certificate(asked), few)
    assert ledger.remaining("trial").remaining == 1
    admitted = ledger.reserve(asked, certificate(asked), signed)
    assert ledger.verify(certificates=False) == ()
    ledger.start(admitted.rid, OsSampler())
    with pytest.raises(ApprovalRefused):
        ledger.reserve(asked, certificate(asked), signed, again=True)
    more = [approval(who, plan_hash=asked["plan_hash"], runs=2) for who in ("anna", "bert")]
    ledger.reserve(asked, certificate(asked), more, again=True)
    body = ledger.export()["entries"][-1]["body"]
    assert all(item["signature"] in body for item in more)


def test_serving_an_earlier_run_needs_no_approval(ledger):
    asked = plan("0.1")
    signed = [approval(who, plan_hash=asked["plan_hash"]) for who in ("anna", "bert")]
    rid = ledger.reserve(asked, certificate(asked), signed).rid
    ledger.start(rid, OsSampler())
    ledger.store(rid, [])
    ledger.settle(rid)
    assert ledger.reserve(asked, certificate(asked)).state == "SETTLED"


def test_reviewers_are_amended_by_a_logged_act(ledger):
    asked = plan("0.1")
    ledger.amend(
        facts(reviewers={"cleo": public_text(KEYS["cleo"])}, required=1), reason="new board"
    )
    old = [approval(who, plan_hash=asked["plan_hash"]) for who in ("anna", "bert")]
    with pytest.raises(ApprovalRefused):
        ledger.reserve(asked, certificate(asked), old)
    ledger.reserve(asked, certificate(asked), [approval("cleo", plan_hash=asked["plan_hash"])])
    assert ledger.verify() == ()
