"""A ledger as its users hold it: open keys, reserve, start, store, settle, look."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.engine import Connection

from dpql.errors import LedgerDamaged, LedgerUnavailable
from dpql.ledger import keys, reserve, schema, states
from dpql.ledger.admission import check_certificate, payers_of, request
from dpql.ledger.chain import GENESIS, Chain, require_anchor
from dpql.ledger.clock import Clock, instant, system_clock
from dpql.ledger.engine import Database, file_url
from dpql.ledger.export import export, exported_head
from dpql.ledger.facts import KeyFacts, TableFacts
from dpql.ledger.keys import Balance, accounts, balance
from dpql.ledger.plan_body import PlanBody
from dpql.ledger.releases import Stored
from dpql.ledger.runs import Reservation, Run, group
from dpql.ledger.showing import show
from dpql.ledger.verify import Finding, verify
from planner.spending import Token

__all__ = ["Ledger"]

Result = TypeVar("Result")


class Ledger:
    """The record of what was spent on whom. Every method is one transaction, or none.

    All methods raise a `LedgerError`: `LedgerUnavailable` where the database is busy, full or not
    writable, `LedgerDamaged` where it is not what was written. Nothing is then charged.
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
    ) -> Ledger:
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
        if create:
            ledger._create()
        ledger._database.read(lambda connection: schema.require_version(connection, str(path)))
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

    def reserve(
        self,
        plan: Mapping[str, Any],
        certificate: Mapping[str, Any],
        approvals: Iterable[Mapping[str, Any]] = (),
        *,
        again: bool = False,
        keys: Sequence[str] | None = None,
        data: Mapping[str, str] | None = None,
        actor: str = "",
        role: str = "analyst",
    ) -> Reservation:
        """Admit a plan and charge all its keys in one transaction, or refuse it.

        `plan` is a plan file or its body; `keys` are the keys that lie in this ledger (default:
        all that the plan charges); `data` maps each dataset, or `dataset/site`, to the location
        bound to it. A plan that was reserved before is taken over, one that was stored is handed
        out again without a charge; a new charge for the same plan needs `again`.
        """
        body = PlanBody.of(plan)
        order = reserve.Order(
            body, payers_of(body, keys), tuple(approvals), data, again, self._clock()
        )

        def look(connection: Connection) -> tuple[Any, Reservation | None]:
            units = {key: account.unit for key, account in accounts(connection, order.keys).items()}
            return units, reserve.standing(connection, order, units)

        units, found = self._database.read(look)
        if found is not None:
            return found
        # A key's unit never changes, so the certificate may be checked before the lock is taken.
        asked = request(order.payers, certificate, units)
        check_certificate(asked, body)
        return self._write(
            lambda connection, chain: reserve.admit(connection, chain, order, asked),
            actor,
            role,
            order.now,
        )

    def find(
        self, plan: Mapping[str, Any], keys: Sequence[str] | None = None
    ) -> Reservation | None:
        """Where the latest run of a plan at these keys stands; None if there is none."""
        body = PlanBody.of(plan)
        wanted = sorted({payer.key for payer in payers_of(body, keys)})
        return self._database.read(
            lambda connection: reserve.latest_of(connection, body.hash, wanted)
        )

    def start(self, rid: str, sampler: object, *, actor: str = "", role: str = "analyst") -> Token:
        """The token that opening data needs, once; the charge is on disk before this returns."""
        states.require_production(sampler)
        now = instant(self._clock())

        def work(connection: Connection, chain: Chain) -> tuple[Run, ...]:
            require_anchor(connection, self._anchor)
            return states.start(connection, chain, rid, now)

        runs = self._write(work, actor, role)
        return Token(runs[0].lead, runs[0].plan_hash, tuple(run.key for run in runs))

    def store(
        self,
        rid: str,
        releases: Sequence[Mapping[str, Any]],
        *,
        actor: str = "",
        role: str = "analyst",
    ) -> None:
        """Keep all releases of a started run, together."""
        self._write(
            lambda connection, chain: states.store(connection, chain, rid, releases), actor, role
        )

    def settle(
        self,
        rid: str,
        draws: Sequence[Mapping[str, Any]] = (),
        *,
        actor: str = "",
        role: str = "analyst",
    ) -> None:
        """Close a stored run with what was drawn; more than was reserved freezes the key."""
        refused = self._write(
            lambda connection, chain: states.settle(connection, chain, rid, draws), actor, role
        )
        if refused is not None:
            raise refused

    def release(
        self, rid: str, *, reason: str = "released", actor: str = "", role: str = "custodian"
    ) -> None:
        """Give a reservation back that was not started; `WrongState` for any other run."""
        self._write(
            lambda connection, chain: reserve.give_back(
                connection, chain, group(connection, rid), reason
            ),
            actor,
            role,
        )

    def fetch(self, rid: str) -> Stored:
        """The releases of a settled run, with their dates."""
        return self._database.read(lambda connection: states.fetch(connection, rid))

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
