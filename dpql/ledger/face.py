"""A ledger as a run holds it: reserve, start, store, settle, fetch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy.engine import Connection

from dpql.ledger import reserve, states
from dpql.ledger.admission import Request, check_certificate, payers_of, request
from dpql.ledger.chain import Chain, require_anchor
from dpql.ledger.clock import instant
from dpql.ledger.custody import Custody
from dpql.ledger.keys import accounts
from dpql.ledger.plan_body import PlanBody
from dpql.ledger.releases import Stored
from dpql.ledger.reserve import Order
from dpql.ledger.runs import Reservation, Run, group
from planner.charge_token import Token

__all__ = ["Ledger"]

JSON = Mapping[str, object]


class Ledger(Custody):
    """The record of what was spent on whom, that no crash, race or restart can overspend.

    A run is reserved (checked and charged), started (from then on spent for good), stored, settled
    and fetched. A `LedgerError` says why a step was refused; nothing was then charged by it.

    The promise: for each person behind a key, all outputs of all started plans together satisfy
    the key's guarantee at the spent total, whatever the analysts chose after seeing earlier
    outputs (costs in eps, rho and mu squared add up under such choices too). Not promised: what
    other ledgers spend on the same people, side channels, a wrong sensitivity in a mechanism.
    """

    def reserve(
        self,
        plan: JSON,
        certificate: JSON,
        approvals: Iterable[JSON] = (),
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
        order = self._order(plan, approvals, again, keys, data)
        seen = self._look(order, certificate)
        if isinstance(seen, Reservation):
            return seen
        # A key's unit never changes, so the certificate may be checked before the lock is taken.
        check_certificate(seen, order.body)
        return self._write(
            lambda connection, chain: reserve.admit(connection, chain, order, seen),
            actor,
            role,
            order.now,
        )

    def examine(
        self,
        plan: JSON,
        certificate: JSON,
        approvals: Iterable[JSON] = (),
        *,
        again: bool = False,
        keys: Sequence[str] | None = None,
        data: Mapping[str, str] | None = None,
    ) -> None:
        """Raise what `reserve` would raise, and change nothing.

        So that facts, signatures and balances are known to be right before the data is looked at.
        Another run may still take the balance first: `reserve` decides.
        """
        order = self._order(plan, approvals, again, keys, data)
        seen = self._look(order, certificate)
        if isinstance(seen, Request):
            check_certificate(seen, order.body)

    def find(self, plan: JSON, keys: Sequence[str] | None = None) -> Reservation | None:
        """Where the latest run of a plan at these keys stands; None if there is none."""
        body = PlanBody.of(plan)
        wanted = sorted({payer.key for payer in payers_of(body, keys)})
        return self._database.read(
            lambda connection: reserve.latest_of(connection, body.hash, wanted)
        )

    def start(self, rid: str, sampler: object, *, actor: str = "", role: str = "analyst") -> Token:
        """The token that opening data needs, once; the charge is on disk before this returns."""
        states.require_production(sampler)
        now = self._clock()

        def work(connection: Connection, chain: Chain) -> tuple[Run, ...]:
            require_anchor(connection, self._anchor)
            return states.start(connection, chain, rid, instant(now))

        runs = self._write(work, actor, role, now)
        return Token(runs[0].lead, runs[0].plan_hash, tuple(run.key for run in runs))

    def store(
        self, rid: str, releases: Sequence[JSON], *, actor: str = "", role: str = "analyst"
    ) -> None:
        """Keep all releases of a started run, together."""
        self._write(
            lambda connection, chain: states.store(connection, chain, rid, releases), actor, role
        )

    def settle(
        self, rid: str, draws: Sequence[JSON] = (), *, actor: str = "", role: str = "analyst"
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

    def _order(
        self,
        plan: JSON,
        approvals: Iterable[JSON],
        again: bool,
        keys: Sequence[str] | None,
        data: Mapping[str, str] | None,
    ) -> Order:
        body = PlanBody.of(plan)
        return Order(body, payers_of(body, keys), tuple(approvals), data, again, self._clock())

    def _look(self, order: Order, certificate: JSON) -> Reservation | Request:
        """The reservation that serves the order already, or what a new one would charge."""

        def work(connection: Connection) -> Reservation | Request:
            book = accounts(connection, order.keys)
            units = {key: account.unit for key, account in book.items()}
            before = reserve.known(connection, order)
            found = reserve.standing(connection, order, units, before)
            if found is not None:
                return found
            asked = request(order.payers, certificate, units)
            reserve.examine(connection, order, asked, book, before)
            return asked

        return self._database.read(work)
