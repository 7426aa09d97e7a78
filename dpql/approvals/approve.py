"""Signatures of registered reviewers over one plan, one ledger key, so many runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpql.approvals.signatures import public_text, signature_holds, signature_of
from dpql.errors import ApprovalRefused
from dpql.ledger.clock import read_instant

__all__ = ["PURPOSE", "sign", "verify_approvals"]

PURPOSE = "dpql/approval/1"
SKEW = timedelta(minutes=10)
"""How far a signer's clock may be ahead of the ledger's."""

_FIELDS = ("schema", "plan_hash", "key", "role", "signer", "public_key", "time", "expiry", "runs")
_HASH = re.compile(r"[0-9a-f]{64}")


def sign(
    plan_hash: str,
    key_name: str,
    role: str,
    signer: str,
    private_key: Ed25519PrivateKey,
    time: str,
    expiry: str,
    runs: int = 1,
) -> dict[str, Any]:
    """An approval of so many runs of one plan against one ledger key, as JSON values.

    `time` and `expiry` are ISO 8601 instants in UTC; raises `ApprovalRefused` if they are not.
    """
    fields: dict[str, Any] = {
        "schema": PURPOSE,
        "plan_hash": plan_hash,
        "key": key_name,
        "role": role,
        "signer": signer,
        "public_key": public_text(private_key),
        "time": time,
        "expiry": expiry,
        "runs": runs,
    }
    fault = _malformed({**fields, "signature": ""})
    if fault:
        raise ApprovalRefused(f"this cannot be signed: {fault}")
    return {**fields, "signature": signature_of(PURPOSE, fields, private_key)}


def verify_approvals(
    approvals: Iterable[Mapping[str, Any]],
    plan_hash: str,
    ledger_key: str,
    reviewers: Mapping[str, str],
    k: int,
    now: datetime,
    run_index: int = 0,
) -> tuple[dict[str, Any], ...]:
    """The approvals that count: one each of at least `k` distinct registered reviewers.

    `reviewers` maps a name to a public key; `run_index` is 0 for a plan's first run. Raises
    `ApprovalRefused` with the reason for every approval that does not count.
    """
    accepted: dict[str, dict[str, Any]] = {}
    reasons: list[str] = []
    for approval in approvals:
        fault = _fault(approval, plan_hash, ledger_key, reviewers, now, run_index)
        if fault:
            reasons.append(fault)
        else:
            accepted.setdefault(str(approval["public_key"]), dict(approval))
    if len(accepted) < k:
        who = "1 reviewer" if k == 1 else f"{k} reviewers"
        named = ", ".join(f"`{name}`" for name in sorted(reviewers)) or "nobody"
        raise ApprovalRefused(
            f"{who} of `{ledger_key}` must sign this run, {_count(len(accepted))}",
            note="; ".join([*reasons, f"registered are {named}"]),
            help="`dpql approve PLAN --key FILE` signs; give the file to `dpql run --approval`",
        )
    return tuple(accepted[key] for key in sorted(accepted))


def _count(number: int) -> str:
    return {0: "none has", 1: "1 has"}.get(number, f"{number} have")


def _fault(
    approval: Mapping[str, Any],
    plan_hash: str,
    ledger_key: str,
    reviewers: Mapping[str, str],
    now: datetime,
    run_index: int,
) -> str:
    """Why an approval does not count, or nothing."""
    malformed = _malformed(approval)
    if malformed:
        return f"an approval is malformed: {malformed}"
    signer, public = approval["signer"], approval["public_key"]
    who = f"the approval of `{signer}`"
    if public not in reviewers.values():
        return f"{who} is signed with a key that is not registered for `{ledger_key}`"
    if reviewers.get(signer) != public:
        return f"{who} is signed with another reviewer's key"
    fields = {name: approval[name] for name in _FIELDS}
    if not signature_holds(PURPOSE, fields, public, approval["signature"]):
        return f"{who} was changed after it was signed"
    return _limits(approval, who, plan_hash, ledger_key, now, run_index)


def _limits(
    approval: Mapping[str, Any],
    who: str,
    plan_hash: str,
    ledger_key: str,
    now: datetime,
    run_index: int,
) -> str:
    if approval["plan_hash"] != plan_hash:
        return f"{who} is for another plan ({approval['plan_hash'][:12]})"
    if approval["key"] != ledger_key:
        return f"{who} is for the ledger key `{approval['key']}`"
    if read_instant(approval["expiry"]) <= now:
        return f"{who} expired on {approval['expiry']}"
    if read_instant(approval["time"]) > now + SKEW:
        return f"{who} is dated in the future, {approval['time']}"
    if run_index >= approval["runs"]:
        allowed = "1 run" if approval["runs"] == 1 else f"{approval['runs']} runs"
        return f"{who} covers {allowed}; this would be run {run_index + 1}"
    return ""


def _malformed(approval: Mapping[str, Any]) -> str:
    """What is wrong with the form of an approval, or nothing."""
    if not isinstance(approval, Mapping) or set(approval) != {*_FIELDS, "signature"}:
        return f"its fields must be {', '.join(_FIELDS)}, signature"
    texts: Sequence[str] = [name for name in (*_FIELDS, "signature") if name != "runs"]
    if not all(isinstance(approval[name], str) for name in texts):
        return "all its fields but runs are texts"
    if approval["schema"] != PURPOSE:
        return f"its schema is `{approval['schema'][:40]}`, not `{PURPOSE}`"
    if not _HASH.fullmatch(approval["plan_hash"]):
        return "its plan_hash is not a sha256"
    runs = approval["runs"]
    if type(runs) is not int or not 1 <= runs <= 1_000_000:
        return "its runs is not a whole number from 1 to 1000000"
    try:
        if read_instant(approval["expiry"]) <= read_instant(approval["time"]):
            return "it expires before it was signed"
    except ValueError as error:
        return str(error)
    return ""
