"""One run that is charged to one or more ledgers: all of them first, then data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dpql.errors import AlreadyStarted, CertificateRefused, LedgerDamaged, LedgerError, WrongState
from dpql.ledger.admission import payers_of
from dpql.ledger.face import Ledger
from dpql.ledger.plan_body import PlanBody
from dpql.ledger.releases import Stored
from dpql.ledger.runs import Reservation
from planner.charge_token import Token

__all__ = ["Joint", "reserve_joint", "serve_joint", "shares_of"]

_DONE = ("STORED", "SETTLED")


@dataclass(frozen=True, slots=True)
class Joint:
    """A run admitted by every ledger that it charges, in the sorted order of their keys.

    `stored` holds the releases of an earlier run of the same plan: they are served, and nothing is
    started or charged.
    """

    parts: tuple[tuple[Ledger, Reservation], ...]
    stored: Stored | None = None

    @property
    def rid(self) -> str:
        """The run's name: that of its first part."""
        return self.parts[0][1].rid

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys that pay."""
        return tuple(key for _, part in self.parts for key in part.keys)

    def start(self, sampler: object, *, actor: str = "") -> Token:
        """Start the run in every ledger; only then may data be opened.

        If one refuses, what was started before it stays spent and the rest is released; but where
        another process has started this run, the rest is left to that one.
        """
        started: list[Reservation] = []
        try:
            for ledger, part in self.parts:
                ledger.start(part.rid, sampler, actor=actor)
                started.append(part)
        except LedgerError as error:
            if not isinstance(error, AlreadyStarted):
                for ledger, part in self.parts[len(started) + 1 :]:
                    _give_back(ledger, part)
            if started:
                names = ", ".join(f"`{key}`" for part in started for key in part.keys)
                error.note = f"{error.note}; started and spent for good: {names}".lstrip("; ")
            raise
        return Token(self.rid, self.parts[0][1].plan_hash, self.keys)

    def store(self, releases: Sequence[Mapping[str, Any]], *, actor: str = "") -> None:
        """Keep all releases of the run in every ledger, in order."""
        (first, lead), *others = self.parts
        first.store(lead.rid, releases, actor=actor)
        for ledger, part in others:
            _completed(ledger, part, releases, actor)

    def settle(self, draws: Sequence[Mapping[str, Any]] = (), *, actor: str = "") -> None:
        """Close the run in every ledger, each with the draws on its own keys."""
        for ledger, part in self.parts:
            mine = [draw for draw in draws if draw.get("key") in (None, *part.keys)]
            _settled(ledger, part, actor, mine)

    def fetch(self) -> Stored:
        """The releases with their dates."""
        return self.stored or self.parts[0][0].fetch(self.rid)


def reserve_joint(
    plan: Mapping[str, Any],
    certificate: Mapping[str, Any],
    approvals: Iterable[Mapping[str, Any]],
    ledgers: Mapping[str, Ledger],
    *,
    again: bool = False,
    data: Mapping[str, str] | None = None,
    actor: str = "",
) -> Joint:
    """Admit a plan at the ledger of each of its keys; `ledgers` maps every key to its ledger.

    In the sorted order of keys; on a refusal what this call had reserved is released. A plan whose
    releases are stored in one of the ledgers is served from there.
    """
    signed = tuple(approvals)
    shares = shares_of(plan, ledgers)
    if not again:
        served = serve_joint(plan, ledgers, actor=actor)
        if served is not None:
            return served
    admitted: list[tuple[Ledger, Reservation]] = []
    try:
        for ledger, keys in shares:
            part = ledger.reserve(
                plan, certificate, signed, again=again, keys=keys, data=data, actor=actor
            )
            admitted.append((ledger, part))
    except LedgerError:
        for ledger, part in admitted:
            if part.is_new:
                _give_back(ledger, part)
        raise
    return Joint(tuple(admitted))


def shares_of(
    plan: Mapping[str, Any], ledgers: Mapping[str, Ledger]
) -> tuple[tuple[Ledger, tuple[str, ...]], ...]:
    """Each ledger once, with its keys, by its first key."""
    keys = sorted({payer.key for payer in payers_of(PlanBody.of(plan), None)})
    missing = [key for key in keys if key not in ledgers]
    if missing:
        raise CertificateRefused(
            f"the plan charges `{missing[0]}`, for which no ledger is given",
            help="`--ledger NAME=FILE` names the ledger of each key",
        )
    places: dict[str, tuple[Ledger, list[str]]] = {}
    for key in keys:
        places.setdefault(ledgers[key].place, (ledgers[key], []))[1].append(key)
    return tuple((ledger, tuple(mine)) for ledger, mine in places.values())


def _give_back(ledger: Ledger, part: Reservation) -> None:
    """Release a reservation; where the ledger cannot, it expires by itself."""
    try:
        ledger.release(part.rid, reason="another ledger refused", role="analyst")
    except LedgerError:
        return


def serve_joint(
    plan: Mapping[str, Any], ledgers: Mapping[str, Ledger], *, actor: str = ""
) -> Joint | None:
    """The releases of an earlier run, completed in every ledger; None if there are none.

    What was stored in one ledger was charged in all, because no data opens before all are started:
    a crash between two ledgers loses nothing.
    """
    shares = shares_of(plan, ledgers)
    # Runs move on in the order of their ledgers, and this reads against it: a run at work between
    # two looks never seems to be done at a later ledger only.
    found = [(ledger, ledger.find(plan, keys)) for ledger, keys in reversed(shares)][::-1]
    parts = tuple((ledger, part) for ledger, part in found if part is not None)
    done = [part.state in _DONE for _, part in parts]
    if not any(done):
        return None
    waiting = [part for _, part in parts if part.state == "RESERVED"]
    if len(parts) != len(found) or any(part.number == 0 for part in waiting):
        raise LedgerDamaged(
            "a run was stored in one ledger but never started in another",
            note="one of the ledgers is older than the other: a restored backup, perhaps",
            help="`dpql ledger verify --head` tells which",
        )
    if waiting or not done[0]:
        names = ", ".join(f"`{key}` ({part.state})" for _, part in parts for key in part.keys)
        raise WrongState(
            "a repetition of this plan was begun at some of its keys only",
            note=f"where its keys stand: {names}",
            help="`--again` takes up what is RESERVED, and charges the rest once more",
        )
    stored = _settled(*parts[0], actor)
    for ledger, part in parts[1:]:
        if part.state == "STARTED":
            _completed(ledger, part, stored.releases, actor)
        if part.state != "SETTLED":
            _settled(ledger, part, actor)
    return Joint(parts, stored)


def _completed(
    ledger: Ledger, part: Reservation, releases: Sequence[Mapping[str, Any]], actor: str
) -> None:
    """Store what the first ledger holds, unless another process that serves it came first."""
    try:
        ledger.store(part.rid, releases, actor=actor)
    except WrongState:
        _settled(ledger, part, actor)


def _settled(
    ledger: Ledger, part: Reservation, actor: str, draws: Sequence[Mapping[str, Any]] = ()
) -> Stored:
    """The releases of a stored run, settled here or by a process that served it meanwhile."""
    if part.state != "SETTLED":
        with suppress(WrongState):
            ledger.settle(part.rid, draws, actor=actor)
    return ledger.fetch(part.rid)
