"""Runs in a ledger: one row a key and a repetition, moved from state to state under the lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from dpql.errors import LedgerDamaged, WrongState
from dpql.ledger import schema
from dpql.ledger.amounts import recorded, stored
from dpql.ledger.chain import Chain, Kind, entry_at
from dpql.ledger.plan_body import canonical, digest
from planner.calculus.cost import LedgerUnit

__all__ = ["Charge", "Reservation", "Run", "State", "group", "latest", "move", "run_id"]

State: TypeAlias = Literal["RESERVED", "STARTED", "STORED", "SETTLED"]

ALLOWED: Mapping[Kind, tuple[State, State | None]] = {
    "start": ("RESERVED", "STARTED"),
    "store": ("STARTED", "STORED"),
    "settle": ("STORED", "SETTLED"),
    "release": ("RESERVED", None),
}
"""From which state a step leads to which; a released run leaves the table, not the chain."""


def run_id(plan_hash: str, key: str, number: int) -> str:
    """rid = sha256(plan hash, ledger key, k), over the RFC 8785 bytes of the three in a list."""
    return digest(canonical([plan_hash, key, number]))


@dataclass(frozen=True, slots=True)
class Charge:
    """What one key is charged for one run: eps, rho, or mu squared, exactly."""

    key: str
    rid: str
    number: int
    unit: LedgerUnit
    amount: Fraction


@dataclass(frozen=True, slots=True)
class Reservation:
    """A run that a ledger has admitted, with its charges and where it stands.

    `rid` is the run's name: the rid of its first key. RESERVED: to be started. STORED: paid, to be
    settled, then fetched. SETTLED: paid, to be fetched.
    """

    rid: str
    plan_hash: str
    state: State
    utc: str
    charges: tuple[Charge, ...]
    is_new: bool = True

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that pay, sorted."""
        return tuple(charge.key for charge in self.charges)

    @property
    def number(self) -> int:
        """The highest k of its keys: 0 unless one of them was charged for this plan before."""
        return max(charge.number for charge in self.charges)


@dataclass(frozen=True, slots=True)
class Run:
    """One row of the table of runs."""

    rid: str
    lead: str
    key: str
    plan_hash: str
    number: int
    amount: Fraction
    state: State
    expires: str
    reserve_seq: int
    last_seq: int

    @classmethod
    def of(cls, row: Row[Any]) -> Run:
        """The run that a database row holds."""
        return cls(
            row.rid,
            row.lead,
            row.ledger_key,
            row.plan_hash,
            row.number,
            recorded(row.amount),
            row.state,
            row.expires,
            row.reserve_seq,
            row.last_seq,
        )

    def values(self) -> dict[str, Any]:
        """The database row."""
        return {
            "rid": self.rid,
            "lead": self.lead,
            "ledger_key": self.key,
            "plan_hash": self.plan_hash,
            "number": self.number,
            "amount": stored(self.amount),
            "state": self.state,
            "expires": self.expires,
            "reserve_seq": self.reserve_seq,
            "last_seq": self.last_seq,
        }


_LATEST = (
    sa.select(schema.run)
    .where(
        schema.run.c.plan_hash == sa.bindparam("plan"),
        schema.run.c.ledger_key == sa.bindparam("key"),
    )
    .order_by(schema.run.c.number.desc())
    .limit(1)
)
_STALE = (
    sa.select(schema.run.c.lead)
    .where(
        schema.run.c.ledger_key.in_(sa.bindparam("keys", expanding=True)),
        schema.run.c.state == "RESERVED",
        schema.run.c.expires <= sa.bindparam("now"),
    )
    .distinct()
    .order_by(schema.run.c.lead)
)


def latest(connection: Connection, plan_hash: str, keys: Iterable[str]) -> dict[str, Run | None]:
    """The repetition of this plan with the highest number at each key."""
    found: dict[str, Run | None] = {}
    for key in keys:
        row = connection.execute(_LATEST, {"plan": plan_hash, "key": key}).one_or_none()
        found[key] = None if row is None else Run.of(row)
    return found


def group(connection: Connection, rid: str) -> tuple[Run, ...]:
    """All runs that were reserved together with this one, sorted by key."""
    lead = sa.select(schema.run.c.lead).where(schema.run.c.rid == rid).scalar_subquery()
    query = sa.select(schema.run).where(schema.run.c.lead == lead).order_by(schema.run.c.ledger_key)
    runs = tuple(Run.of(row) for row in connection.execute(query))
    if not runs:
        raise _unknown(connection, rid)
    return runs


def _unknown(connection: Connection, rid: str) -> WrongState:
    query = sa.select(schema.entry.c.utc).where(
        schema.entry.c.rid == rid, schema.entry.c.kind == "release"
    )
    released = connection.execute(query.order_by(schema.entry.c.seq.desc())).scalars().first()
    if released is None:
        return WrongState(
            f"the ledger knows no run `{rid[:12]}`", help="`dpql ledger show` lists the runs"
        )
    return WrongState(
        f"the reservation of run `{rid[:12]}` was released on {released}",
        note="it was not started, so nothing was charged",
        help="`dpql run` reserves it anew",
    )


def when(connection: Connection, seq: int) -> str:
    """The instant of an entry."""
    return str(entry_at(connection, seq)["utc"])


def move(
    connection: Connection, chain: Chain, runs: Sequence[Run], kind: Kind, body: Mapping[str, Any]
) -> None:
    """Write one entry a run and its new state; every run must be where this step begins."""
    before, after = ALLOWED[kind]
    for run in runs:
        if run.state != before:
            raise WrongState(
                f"run `{run.lead[:12]}` is {run.state}: it cannot take the step `{kind}`",
                note=f"only a run that is {before} can; the state was read under the ledger's lock",
            )
        seq = chain.append(kind, body, ledger_key=run.key, rid=run.rid, plan_hash=run.plan_hash)
        where = (schema.run.c.rid == run.rid, schema.run.c.state == before)
        moved = connection.execute(
            schema.run.delete().where(*where)
            if after is None
            else schema.run.update().where(*where).values(state=after, last_seq=seq)
        )
        if moved.rowcount != 1:
            raise LedgerDamaged(f"run `{run.lead[:12]}` moved while it was locked")


def reservation(
    utc: str, runs: Sequence[Run], units: Mapping[str, LedgerUnit], *, is_new: bool = False
) -> Reservation:
    """The face of a group of runs that came to where it stands at `utc`."""
    return Reservation(
        runs[0].lead,
        runs[0].plan_hash,
        runs[0].state,
        utc,
        tuple(Charge(run.key, run.rid, run.number, units[run.key], run.amount) for run in runs),
        is_new,
    )


FOR_EVER = "9999-12-31T23:59:59.999999Z"


def stale(connection: Connection, keys: Iterable[str], now: str) -> tuple[str, ...]:
    """The leads of reservations on these keys that expired before they were started."""
    given = {"keys": sorted(set(keys)), "now": now}
    return tuple(connection.execute(_STALE, given).scalars())
