"""The state of a ledger as its entries alone make it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from pydantic import ValidationError

from dpql.approvals import verify_approvals
from dpql.errors import DpqlError
from dpql.ledger.amounts import added, recorded, stored, taken_back
from dpql.ledger.clock import read_instant
from dpql.ledger.facts import KeyFacts
from dpql.ledger.keys import facts_of, is_same_key
from dpql.ledger.runs import ALLOWED, Run, run_id
from planner.calculus.cost import LedgerUnit

__all__ = ["Claim", "Replay"]


@dataclass(frozen=True, slots=True)
class Claim:
    """What one reserve entry charged, and the certificate that justified it."""

    seq: int
    key: str
    amount: Fraction
    plan_hash: str
    certificate_hash: str
    reservations: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class _Account:
    facts: KeyFacts
    facts_seq: int
    cap: Fraction
    spent: Fraction = Fraction(0)
    is_frozen: bool = False


class Replay:
    """Reads entries in order, says what no ledger would have written, and keeps the sums."""

    def __init__(self) -> None:
        self._accounts: dict[str, _Account] = {}
        self._runs: dict[str, Run] = {}
        self._started: set[str] = set()
        self._releases: dict[tuple[str, int], str] = {}
        self.documents: set[str] = set()
        self.claims: list[Claim] = []

    def apply(self, row: Mapping[str, Any]) -> Iterator[str]:
        """What is wrong with this entry, after all before it."""
        try:
            body = json.loads(row["body"])
            step = getattr(self, f"_{row['kind']}", None)
            if step is None:
                yield f"its kind `{row['kind']}` is unknown"
                return
            yield from step(row, body)
        except DpqlError as error:
            yield error.message
        except (ValidationError, ValueError, KeyError, TypeError, AttributeError):
            yield "its fields cannot be read"

    def budget_rows(self) -> dict[str, dict[str, Any]]:
        """The rows that the table of budgets should hold, by key."""
        return {
            key: {
                "ledger_key": key,
                "unit": account.facts.cap.unit,
                "cap": stored(account.cap),
                "spent": stored(account.spent),
                "frozen": int(account.is_frozen),
                "facts_seq": account.facts_seq,
            }
            for key, account in self._accounts.items()
        }

    def run_rows(self) -> dict[str, dict[str, Any]]:
        """The rows that the table of runs should hold, by rid."""
        return {rid: run.values() for rid, run in self._runs.items()}

    def release_hashes(self) -> dict[tuple[str, int], str]:
        """The sha256 of every stored release, by run and position."""
        return self._releases

    def _create(self, row: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
        if row["seq"] != 1:
            yield "a ledger is created once, by its first entry"

    def _open(self, row: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
        facts = facts_of(body)
        if row["ledger_key"] in self._accounts or facts.key != row["ledger_key"]:
            yield "opens a key that exists, or another key than its facts name"
            return
        if row["units"] != f"{facts.cap.unit}={stored(facts.cap.value)}":
            yield "names another cap than its facts"
        self._accounts[facts.key] = _Account(facts, row["seq"], facts.cap.value)

    def _amend(self, row: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
        account = self._accounts[row["ledger_key"]]
        facts = facts_of(body)
        if not is_same_key(facts, account.facts):
            yield "changes whose key it is, or its cap"
        self._accounts[facts.key] = replace(account, facts=facts, facts_seq=row["seq"])

    def _cap(self, row: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
        account = self._accounts[row["ledger_key"]]
        cap = _units(row, account.facts.cap.unit)
        if cap < account.spent:
            yield "lowers a cap below what is spent"
        self._accounts[row["ledger_key"]] = replace(account, cap=cap)

    def _reserve(self, row: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
        key, rid, plan_hash = row["ledger_key"], row["rid"], row["plan_hash"]
        account = self._accounts[key]
        wanted = _units(row, account.facts.cap.unit)
        if rid != run_id(plan_hash, key, body["number"]):
            yield "its rid is not that of its plan, key and number"
        if rid in self._runs or rid in self._started:
            yield "reserves a run that is reserved or was started"
        if body["facts"] != account.facts_seq:
            yield "was compared with facts that were not in force"
        spent = added(account.spent, wanted)
        if wanted <= 0 or spent > account.cap:
            yield "overspends its key"
        if account.is_frozen:
            yield "charges a key that was frozen"
        yield from _unsigned(account.facts, row, body)
        self._accounts[key] = replace(account, spent=spent)
        self._runs[rid] = Run(
            rid,
            body["lead"],
            key,
            plan_hash,
            body["number"],
            wanted,
            "RESERVED",
            body["expires"],
            row["seq"],
            row["seq"],
        )
        self.documents |= {plan_hash, row["certificate_hash"]}
        self.claims.append(
            Claim(
                row["seq"],
                key,
                wanted,
                plan_hash,
                row["certificate_hash"],
                tuple(body["reservations"]),
            )
        )

    def _start(self, row: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
        self._started.add(row["rid"])
        yield from self._step(row)

    def _store(self, row: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
        yield from self._step(row)
        lead = self._runs[row["rid"]].lead
        for position, item in enumerate(body["releases"]):
            if self._releases.setdefault((lead, position), item["sha256"]) != item["sha256"]:
                yield "stores other releases than the same run at another key"

    def _settle(self, row: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
        yield from self._step(row)

    def _release(self, row: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
        run = self._runs[row["rid"]]
        yield from self._step(row)
        account = self._accounts[run.key]
        self._accounts[run.key] = replace(account, spent=taken_back(account.spent, run.amount))
        del self._runs[row["rid"]]

    def _step(self, row: Mapping[str, Any]) -> Iterator[str]:
        """Move a run on, if it is where the step begins."""
        before, after = ALLOWED[row["kind"]]
        run = self._runs[row["rid"]]
        if run.state != before:
            yield f"is a {row['kind']} of a run that was {run.state}"
        if (run.key, run.plan_hash) != (row["ledger_key"], row["plan_hash"]):
            yield "names another key or plan than its run"
        if after is not None:
            self._runs[row["rid"]] = replace(run, state=after, last_seq=row["seq"])

    def _freeze(self, row: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
        yield from self._set_frozen(row, True)

    def _thaw(self, row: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
        yield from self._set_frozen(row, False)

    def _set_frozen(self, row: Mapping[str, Any], frozen: bool) -> Iterator[str]:
        account = self._accounts[row["ledger_key"]]
        if account.is_frozen == frozen:
            yield "changes nothing"
        self._accounts[row["ledger_key"]] = replace(account, is_frozen=frozen)


def _units(row: Mapping[str, Any], unit: LedgerUnit) -> Fraction:
    """The amount of an entry, which must be in its key's unit."""
    name, _, written = str(row["units"]).partition("=")
    if name != unit:
        raise ValueError("the entry counts in another unit than its key")
    return recorded(written)


def _unsigned(facts: KeyFacts, row: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
    """Whether the reviewers had signed when the entry was written."""
    if facts.required == 0:
        return
    try:
        verify_approvals(
            body["approvals"],
            row["plan_hash"],
            row["ledger_key"],
            {reviewer.name: reviewer.public_key for reviewer in facts.reviewers},
            facts.required,
            read_instant(row["utc"]),
            body["number"],
        )
    except DpqlError as error:
        yield error.message
