"""Keys of a ledger: what was recorded at opening, and what is left."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from dpql.errors import KeyRefused, LedgerDamaged
from dpql.ledger import schema
from dpql.ledger.amounts import recorded, shown, stored
from dpql.ledger.chain import Chain, body_of, entry_at
from dpql.ledger.facts import KeyFacts, TableFacts
from planner.calculus.cost import LedgerUnit

__all__ = [
    "Account",
    "Balance",
    "accounts",
    "add_table",
    "balance",
    "facts_of",
    "key_names",
    "open_key",
]


@dataclass(frozen=True, slots=True)
class Account:
    """One budget row with the facts that were recorded for it."""

    key: str
    unit: LedgerUnit
    cap: Fraction
    spent: Fraction
    is_frozen: bool
    facts: KeyFacts
    facts_seq: int


@dataclass(frozen=True, slots=True)
class Balance:
    """What a key may spend, what is spent for good, what is reserved and not yet started.

    All amounts are exact, in what adds up: eps, rho, or mu squared for the unit `mu2`.
    """

    key: str
    unit: LedgerUnit
    cap: Fraction
    spent: Fraction
    reserved: Fraction
    is_frozen: bool

    @property
    def remaining(self) -> Fraction:
        """The cap less all that is spent or reserved."""
        return self.cap - self.spent - self.reserved

    def json(self) -> dict[str, Any]:
        """The balance with exact numbers as `p/q` text, and as people read it."""
        return {
            "key": self.key,
            "unit": self.unit,
            "cap": stored(self.cap),
            "spent": stored(self.spent),
            "reserved": stored(self.reserved),
            "remaining": stored(self.remaining),
            "frozen": self.is_frozen,
            "shown": {
                "cap": shown(self.unit, self.cap),
                "spent": shown(self.unit, self.spent, up=True),
                "reserved": shown(self.unit, self.reserved, up=True),
                "remaining": shown(self.unit, self.remaining),
            },
        }


_ACCOUNT = sa.select(schema.budget).where(schema.budget.c.ledger_key == sa.bindparam("key"))
_ACCOUNT_LOCKED = _ACCOUNT.with_for_update()
_CHANGES = {
    column: schema.budget.update()
    .where(
        schema.budget.c.ledger_key == sa.bindparam("key"),
        schema.budget.c.spent == sa.bindparam("before"),
    )
    .values({column: sa.bindparam("value")})
    for column in ("spent", "cap", "frozen", "facts_seq")
}


def key_names(connection: Connection) -> tuple[str, ...]:
    """The names of all keys, sorted."""
    query = sa.select(schema.budget.c.ledger_key).order_by(schema.budget.c.ledger_key)
    return tuple(connection.execute(query).scalars())


def accounts(
    connection: Connection, keys: Iterable[str], *, lock: bool = False
) -> dict[str, Account]:
    """The accounts of these keys, in sorted order; `KeyRefused` where the ledger has none.

    With `lock`, the budget rows stay locked until the transaction ends; the head row must be
    locked first.
    """
    found = {}
    for key in sorted(set(keys)):
        query = _ACCOUNT_LOCKED if lock else _ACCOUNT
        row = connection.execute(query, {"key": key}).one_or_none()
        if row is None:
            known = ", ".join(f"`{name}`" for name in key_names(connection)) or "none"
            raise KeyRefused(
                f"the ledger has no key `{key}`",
                note=f"its keys: {known}",
                help="the custodian opens a key with `dpql ledger open`",
            )
        found[key] = Account(
            key,
            cast(LedgerUnit, row.unit),
            recorded(row.cap),
            recorded(row.spent),
            row.frozen != 0,
            _facts(tuple(entry_at(connection, row.facts_seq).items())),
            row.facts_seq,
        )
    return found


@lru_cache(maxsize=1024)
def _facts(fields: tuple[tuple[str, Any], ...]) -> KeyFacts:
    """The facts in an entry with exactly these fields; checked once."""
    return facts_of(body_of(dict(fields)))


def facts_of(body: Mapping[str, Any]) -> KeyFacts:
    """The facts in the body of an entry that opened or widened a key."""
    # Tuples come back from JSON as lists, which a strict model takes only in its JSON mode.
    return KeyFacts.model_validate_json(json.dumps(body["facts"]))


def open_key(connection: Connection, chain: Chain, facts: KeyFacts) -> None:
    """Record a new key with nothing spent."""
    query = sa.select(schema.budget.c.ledger_key).where(schema.budget.c.ledger_key == facts.key)
    if connection.execute(query).one_or_none() is not None:
        raise KeyRefused(
            f"the ledger already has a key `{facts.key}`",
            note="what was spent on these people stays spent, so a key is opened once",
            help="`dpql ledger show` lists it",
        )
    seq = chain.append(
        "open",
        {"facts": facts.body()},
        ledger_key=facts.key,
        units=f"{facts.cap.unit}={stored(facts.cap.value)}",
    )
    connection.execute(
        schema.budget.insert().values(
            ledger_key=facts.key,
            unit=facts.cap.unit,
            cap=stored(facts.cap.value),
            spent=stored(Fraction(0)),
            frozen=0,
            facts_seq=seq,
        )
    )


def add_table(connection: Connection, chain: Chain, key: str, table: TableFacts) -> None:
    """Record a further table about the same people under a population's key."""
    facts = accounts(connection, [key], lock=True)[key].facts
    if table.dataset in {known.dataset for known in facts.tables}:
        raise KeyRefused(f"key `{key}` already guards a table `{table.dataset}`")
    try:
        wider = KeyFacts(**{**dict(facts), "tables": (*facts.tables, table)})
    except ValueError as error:
        raise KeyRefused(f"key `{key}` cannot guard this table too", note=str(error)) from error
    amend(connection, chain, wider, "one more table")


def amend(connection: Connection, chain: Chain, facts: KeyFacts, reason: str) -> None:
    """Record other facts of a key; whose people it is and what they may spend stays."""
    account = accounts(connection, [facts.key], lock=True)[facts.key]
    if not is_same_key(facts, account.facts):
        raise KeyRefused(
            f"key `{facts.key}` stays a key of the same people with the same cap",
            note="tables and reviewers can be amended; a cap is changed by an act of its own",
        )
    seq = chain.append("amend", {"facts": facts.body(), "reason": reason}, ledger_key=facts.key)
    _update(connection, account, "facts_seq", seq)


def is_same_key(facts: KeyFacts, other: KeyFacts) -> bool:
    """Whether two records are of one key: population, site and cap agree."""
    return (facts.key, facts.population, facts.site, facts.cap) == (
        other.key,
        other.population,
        other.site,
        other.cap,
    )


def change_cap(connection: Connection, chain: Chain, key: str, cap: Fraction, reason: str) -> None:
    """Record another cap, in what adds up; not below what is spent or reserved."""
    account = accounts(connection, [key], lock=True)[key]
    if cap < account.spent or cap <= 0:
        raise KeyRefused(
            f"the cap of `{key}` cannot be lowered to {shown(account.unit, cap)}",
            note=f"{shown(account.unit, account.spent, up=True)} is spent or reserved already",
        )
    chain.append("cap", {"reason": reason}, ledger_key=key, units=f"{account.unit}={stored(cap)}")
    _update(connection, account, "cap", stored(cap))


def thaw(connection: Connection, chain: Chain, key: str, reason: str) -> None:
    """Allow plans on a frozen key again."""
    account = accounts(connection, [key], lock=True)[key]
    if not account.is_frozen:
        raise KeyRefused(f"key `{key}` is not frozen")
    chain.append("thaw", {"reason": reason}, ledger_key=key)
    freeze(connection, account, False)


def charge(connection: Connection, account: Account, spent: Fraction) -> None:
    """Write the new sum; the old one must still stand there."""
    _update(connection, account, "spent", stored(spent))


def freeze(connection: Connection, account: Account, frozen: bool) -> None:
    """Stop, or allow again, further reservations of a key."""
    _update(connection, account, "frozen", int(frozen))


def _update(connection: Connection, account: Account, column: str, value: Any) -> None:
    """Change one field of a budget row whose balance is still the one that was read."""
    given = {"key": account.key, "before": stored(account.spent), "value": value}
    if connection.execute(_CHANGES[column], given).rowcount != 1:
        raise LedgerDamaged(f"the balance of `{account.key}` moved while it was locked")


def balance(connection: Connection, account: Account) -> Balance:
    """The account's balance, reservations that were not started apart."""
    waiting = connection.execute(
        sa.select(schema.run.c.amount).where(
            schema.run.c.ledger_key == account.key, schema.run.c.state == "RESERVED"
        )
    ).scalars()
    reserved = min(sum((recorded(text) for text in waiting), Fraction(0)), account.spent)
    return Balance(
        account.key,
        account.unit,
        account.cap,
        account.spent - reserved,
        reserved,
        account.is_frozen,
    )
