"""Admission of a plan: everything is checked, then every key is charged, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import Any

from sqlalchemy.engine import Connection

from dpql.approvals import verify_approvals
from dpql.errors import NoiseRefused, OverBalance, WrongState
from dpql.ledger import releases, schema
from dpql.ledger.admission import Request, well_formed
from dpql.ledger.amounts import added, shown, stored, taken_back
from dpql.ledger.chain import Chain
from dpql.ledger.clock import instant, later
from dpql.ledger.compare import compare
from dpql.ledger.keys import Account, accounts, charge
from dpql.ledger.plan_body import Payer, PlanBody, digest
from dpql.ledger.runs import (
    Reservation,
    Run,
    group,
    latest,
    move,
    reservation,
    run_id,
    stale,
    when,
)
from planner.calculus.cost import LedgerUnit

__all__ = ["Order", "admit", "examine", "give_back", "known", "latest_of", "standing"]

_INSERT = schema.run.insert()
EXPIRES_AFTER = 24
"""Hours until a reservation that was not started may be released by anyone."""


@dataclass(frozen=True, slots=True)
class Order:
    """One call of `reserve`: a plan, who pays, what the certificate claims, who signed."""

    body: PlanBody
    payers: tuple[Payer, ...]
    approvals: tuple[Mapping[str, Any], ...]
    data: Mapping[str, str] | None
    again: bool
    now: datetime

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that pay, sorted."""
        return tuple(sorted({payer.key for payer in self.payers}))


Known = Mapping[str, Run | None]
"""The latest run of the order's plan at each of its keys."""


def known(connection: Connection, order: Order) -> Known:
    """The latest run of the order's plan at each of its keys."""
    return latest(connection, order.body.hash, order.keys)


def standing(
    connection: Connection, order: Order, units: Mapping[str, LedgerUnit], before: Known
) -> Reservation | None:
    """The reservation that already serves this order, or None where a new one is needed.

    Raises `WrongState` where the plan was started and its results are lost, or was run apart.
    """
    live = [run for run in before.values() if run is not None]
    if not live:
        return None
    together = group(connection, live[0].rid)
    if live != list(together) or len(live) != len(order.keys):
        _require_over(live, order)
        return None
    lead = live[0]
    since = when(connection, lead.last_seq)
    if lead.state == "RESERVED":
        is_fresh = lead.expires > instant(order.now)
        return reservation(since, together, units) if is_fresh else None
    if order.again:
        return None
    if lead.state == "STARTED":
        raise WrongState(
            f"run `{lead.lead[:12]}` was started on {since} and stored nothing so far",
            note="if it is still at work, its releases are served once it is done; if it died, it "
            "is charged and its results are lost, since what was started is never refunded",
            help="try again in a while; `--again` runs the plan once more, for the same charge",
        )
    return reservation(since, together, units)


def latest_of(connection: Connection, plan_hash: str, keys: Sequence[str]) -> Reservation | None:
    """Where the latest run of a plan at these keys stands, whatever its state."""
    for run in latest(connection, plan_hash, keys).values():
        if run is not None:
            runs = group(connection, run.rid)
            book = accounts(connection, [run.key for run in runs])
            units = {name: account.unit for name, account in book.items()}
            return reservation(when(connection, run.last_seq), runs, units)
    return None


def _require_over(live: Sequence[Run], order: Order) -> None:
    """Raise unless every earlier run of these keys was started and another was asked for."""
    if order.again and all(run.state != "RESERVED" for run in live):
        return
    names = ", ".join(f"`{run.key}` ({run.state})" for run in live)
    raise WrongState(
        "this plan was run at some of its keys apart from the others",
        note=f"already there: {names}",
        help="`dpql ledger release` frees what is RESERVED; `--again` charges the rest once more",
    )


def admit(connection: Connection, chain: Chain, order: Order, asked: Request) -> Reservation:
    """Reserve the order, or hand out the reservation that stands; the head must be locked."""
    book = accounts(connection, order.keys, lock=True)
    expired = stale(connection, order.keys, instant(order.now))
    for lead in expired:
        give_back(connection, chain, group(connection, lead), "expired")
    if expired:
        book = accounts(connection, order.keys, lock=True)
    units = {key: account.unit for key, account in book.items()}
    before = known(connection, order)
    found = standing(connection, order, units, before)
    if found is not None:
        return found
    numbers = {key: _number(run) for key, run in before.items()}
    signed = {key: _admissible(book[key], order, asked, numbers[key]) for key in order.keys}
    releases.keep(connection, order.body.bytes)
    releases.keep(connection, asked.certificate)
    lead = run_id(order.body.hash, order.keys[0], numbers[order.keys[0]])
    runs = [
        _book(connection, chain, book[key], order, asked, numbers[key], lead, signed[key])
        for key in order.keys
    ]
    return reservation(instant(order.now), runs, units, is_new=True)


def examine(
    connection: Connection,
    order: Order,
    asked: Request,
    book: Mapping[str, Account],
    before: Known,
) -> None:
    """Raise what `admit` would raise for a new reservation; nothing is locked or written.

    Reservations that have expired count as released, since `admit` releases them.
    """
    free = {key: Fraction(0) for key in order.keys}
    for lead in stale(connection, order.keys, instant(order.now)):
        for run in group(connection, lead):
            if run.key in free:
                free[run.key] += run.amount
    for key in order.keys:
        account = replace(book[key], spent=taken_back(book[key].spent, free[key]))
        _admissible(account, order, asked, _number(before[key]))


def _number(before: Run | None) -> int:
    """k: 0 for a first run, one more for each that was started before."""
    if before is None:
        return 0
    return before.number if before.state == "RESERVED" else before.number + 1


def _admissible(
    account: Account, order: Order, asked: Request, number: int
) -> tuple[dict[str, Any], ...]:
    """The approvals that count, once facts, signatures and the sum have passed."""
    facts = account.facts
    mine = [payer for payer in order.payers if payer.key == account.key]
    with well_formed("plan"):
        compare(facts, order.body, mine, order.data)
    if account.is_frozen:
        raise NoiseRefused(
            f"key `{account.key}` is frozen",
            note="a run reported more noise draws than it had paid for",
            help="the custodian looks into it and lifts the freeze, which the ledger records",
        )
    signed: tuple[dict[str, Any], ...] = ()
    if facts.required > 0:
        signed = verify_approvals(
            order.approvals,
            order.body.hash,
            account.key,
            {reviewer.name: reviewer.public_key for reviewer in facts.reviewers},
            facts.required,
            order.now,
            number,
        )
    _fits(account, asked)
    return signed


def _fits(account: Account, asked: Request) -> None:
    """Raise `OverBalance` unless the exact sum stays within the cap."""
    wanted = asked.totals[account.key]
    if added(account.spent, wanted) <= account.cap:
        return
    left = account.cap - account.spent
    unit = account.unit
    note = (
        f"{shown(unit, account.spent, up=True)} of {shown(unit, account.cap)} is spent or reserved"
    )
    if unit == "mu2":
        note += "; squares of mu add up over analyses of the same people"
    else:
        note += f"; {unit} adds up over analyses of the same people"
    raise OverBalance(
        f"the plan needs {shown(unit, wanted, up=True)} of `{account.key}`, "
        f"whose balance is {shown(unit, left)}",
        note=note,
        help=(
            f"{shown(unit, left)} fits here; lower the costs, or ask the custodian for more"
            if left > 0
            else "nothing is left: no further analysis of these people can run on this key"
        ),
    )


def _book(
    connection: Connection,
    chain: Chain,
    account: Account,
    order: Order,
    asked: Request,
    number: int,
    lead: str,
    signed: Sequence[Mapping[str, Any]],
) -> Run:
    """Write the entry, the run's row and the new sum of one key."""
    rid = run_id(order.body.hash, account.key, number)
    wanted = asked.totals[account.key]
    expires = later(order.now, EXPIRES_AFTER)
    seq = chain.append(
        "reserve",
        {
            "number": number,
            "lead": lead,
            "expires": expires,
            "facts": account.facts_seq,
            "reservations": list(asked.reservations),
            "approvals": [dict(approval) for approval in signed],
        },
        ledger_key=account.key,
        rid=rid,
        units=f"{account.unit}={stored(wanted)}",
        plan_hash=order.body.hash,
        certificate_hash=digest(asked.certificate),
    )
    run = Run(
        rid, lead, account.key, order.body.hash, number, wanted, "RESERVED", expires, seq, seq
    )
    connection.execute(_INSERT, run.values())
    charge(connection, account, added(account.spent, wanted))
    return run


def give_back(connection: Connection, chain: Chain, runs: Sequence[Run], reason: str) -> None:
    """Release reservations that were not started, and take their charge back."""
    book = accounts(connection, [run.key for run in runs], lock=True)
    move(connection, chain, runs, "release", {"reason": reason})
    for run in runs:
        account = book[run.key]
        charge(connection, account, taken_back(account.spent, run.amount))
