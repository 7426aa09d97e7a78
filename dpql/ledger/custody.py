"""What a custodian does with a ledger: open keys, look, verify, export."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Self, TypeVar

from sqlalchemy.engine import Connection

from dpql.errors import LedgerDamaged, LedgerUnavailable
from dpql.ledger import keys, schema
from dpql.ledger.chain import GENESIS, Chain
from dpql.ledger.clock import Clock, instant, system_clock
from dpql.ledger.engine import Database, file_url
from dpql.ledger.export import export, exported_head
from dpql.ledger.facts import KeyFacts, TableFacts
from dpql.ledger.keys import Balance, accounts, balance
from dpql.ledger.reserve import give_back
from dpql.ledger.runs import FOR_EVER, group, stale
from dpql.ledger.showing import show
from dpql.ledger.verify import Finding, verify

__all__ = ["Custody"]

Result = TypeVar("Result")


class Custody:
    """The part of a ledger that needs no plan. Every method is one transaction, or none.

    All methods raise a `LedgerError`: `LedgerUnavailable` where the database is busy, full or not
    writable, `LedgerDamaged` where it is not what was written. Nothing is then changed.
    """

    def __init__(self, database: Database, clock: Clock, anchor: Mapping[str, Any] | None) -> None:
        self._database = database
        self._clock = clock
        self._anchor = anchor

    @classmethod
    def connect(
        cls,
        url: str,
        *,
        create: bool = False,
        anchor: Mapping[str, Any] | None = None,
        clock: Clock = system_clock,
        patience: float = 30.0,
    ) -> Self:
        """The ledger at a path or `sqlite:///` URL; with `create`, an empty one if there is none.

        `anchor` is an exported head: a ledger that does not contain it starts nothing. `patience`
        is how many seconds a step waits for other writers.
        """
        address = file_url(url)
        path = Path(str(address.database))
        if not create and not path.exists():
            raise LedgerUnavailable(
                f"there is no ledger at `{path}`",
                help="check the path; `dpql ledger open` makes a ledger with its first key",
            )
        ledger = cls(Database(address, patience), clock, anchor)
        try:
            if create:
                ledger._create()
            ledger._database.read(lambda connection: schema.require_version(connection, str(path)))
        except BaseException:
            ledger.close()
            raise
        return ledger

    @property
    def place(self) -> str:
        """The file of the ledger."""
        return self._database.place

    def close(self) -> None:
        """Give the database's connections back."""
        self._database.close()

    def open_key(self, facts: KeyFacts, *, actor: str = "", role: str = "custodian") -> Balance:
        """Record a key with its facts and cap; `KeyRefused` if the name is taken."""

        def work(connection: Connection, chain: Chain) -> Balance:
            keys.open_key(connection, chain, facts)
            return balance(connection, accounts(connection, [facts.key])[facts.key])

        return self._write(work, actor, role)

    def add_table(
        self, key: str, table: TableFacts, *, actor: str = "", role: str = "custodian"
    ) -> None:
        """Record a further table about the same people under a population's key."""
        self._write(
            lambda connection, chain: keys.add_table(connection, chain, key, table), actor, role
        )

    def amend(
        self, facts: KeyFacts, *, reason: str, actor: str = "", role: str = "custodian"
    ) -> None:
        """Record other tables or reviewers of a key; what is spent stays spent.

        Reservations that were not started are released: they were compared with the old facts.
        """

        def work(connection: Connection, chain: Chain) -> None:
            for lead in stale(connection, [facts.key], FOR_EVER):
                give_back(connection, chain, group(connection, lead), "the key was amended")
            keys.amend(connection, chain, facts, reason)

        self._write(work, actor, role)

    def change_cap(
        self, key: str, cap: Fraction, *, reason: str, actor: str = "", role: str = "custodian"
    ) -> None:
        """Record another cap, in what adds up (of mu the square); not below what is spent."""
        self._write(
            lambda connection, chain: keys.change_cap(connection, chain, key, cap, reason),
            actor,
            role,
        )

    def thaw(self, key: str, *, reason: str, actor: str = "", role: str = "custodian") -> None:
        """Allow plans again on a key that a run has frozen."""
        self._write(
            lambda connection, chain: keys.thaw(connection, chain, key, reason), actor, role
        )

    def facts(self, key: str) -> KeyFacts:
        """What was recorded for a key."""
        return self._database.read(lambda connection: accounts(connection, [key])[key].facts)

    def guards(self, key: str, dataset: str, location: str) -> bool:
        """Whether the key guards this location, or this fingerprint, as the dataset's rows."""
        table = self.facts(key).table(dataset)
        return table is not None and table.guards(location)

    def keys(self) -> tuple[str, ...]:
        """The names of all keys, sorted."""
        return self._database.read(keys.key_names)

    def remaining(self, key: str) -> Balance:
        """The balance of a key: cap, spent, reserved, remaining, exactly."""
        return self._database.read(
            lambda connection: balance(connection, accounts(connection, [key])[key])
        )

    def show(self) -> dict[str, Any]:
        """Keys with facts and balances, and live runs, as JSON values."""
        return self._database.read(show)

    def verify(
        self, head: Mapping[str, Any] | None = None, *, certificates: bool = True
    ) -> tuple[Finding, ...]:
        """Everything in the record that is not as it was written; empty where all is well.

        Recomputes hashes, states, sums, signatures and certificates, and compares every row.
        `head` is an exported head (default: the anchor): the record must still contain it.
        """
        try:
            broken = self._database.damage()
            found = self._database.read(
                lambda connection: verify(connection, head or self._anchor, certificates)
            )
        except LedgerDamaged as error:
            return (Finding("the database", error.message),)
        return (*(Finding("the database", said) for said in broken), *found)

    def head(self) -> dict[str, Any]:
        """Name of the ledger, number and hash of its last entry: small enough to print."""
        return self._database.read(exported_head)

    def export(self) -> dict[str, Any]:
        """The head and every entry as JSON values."""
        return self._database.read(export)

    def _create(self) -> None:
        def work(connection: Connection) -> None:
            if schema.is_empty(connection):
                schema.build(connection)
                connection.execute(schema.head.insert().values(id=1, seq=0, hash=GENESIS))
                chain = Chain(connection, instant(self._clock()), "", "custodian")
                chain.append("create", schema.birth())

        self._database.write(work)

    def _write(
        self,
        work: Callable[[Connection, Chain], Result],
        actor: str,
        role: str,
        now: datetime | None = None,
    ) -> Result:
        utc = instant(now or self._clock())
        return self._database.write(
            lambda connection: work(connection, Chain(connection, utc, actor, role))
        )
