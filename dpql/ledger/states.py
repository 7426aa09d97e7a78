"""The steps after admission: start, store, settle, release, fetch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from dpql.errors import AlreadyStarted, NoiseRefused, WrongState
from dpql.ledger import keys, releases, schema
from dpql.ledger.amounts import amount, shown
from dpql.ledger.chain import Chain, body_of
from dpql.ledger.keys import accounts
from dpql.ledger.runs import Run, group, move, when

__all__ = ["fetch", "require_production", "settle", "start", "store"]


def require_production(sampler: object) -> None:
    """Raise `NoiseRefused` unless this is the production sampler itself, as it was built.

    A subclass, a stand-in for tests, or an instance with replaced methods is refused.
    """
    from executors.noise.sampler import OsSampler

    if type(sampler) is not OsSampler or any(hasattr(OsSampler, name) for name in vars(sampler)):
        raise NoiseRefused(
            f"`{type(sampler).__name__}` is not the production noise",
            note="a ledger starts a run only with the exact sampler over the system's randomness",
            help="scripted noise is for tests, and `--mock` for rehearsals without data",
        )


def start(connection: Connection, chain: Chain, rid: str, now: str) -> tuple[Run, ...]:
    """Move a reservation to STARTED; from here on its charge is spent for good."""
    runs = group(connection, rid)
    lead = runs[0]
    if lead.state in ("STARTED", "STORED", "SETTLED"):
        raise AlreadyStarted(
            f"run `{lead.lead[:12]}` was already started on {_started(connection, lead)}",
            note="a run is started once; if another process is at work on it, its releases are "
            "served once it is done",
            help="try again in a while; `--again` runs the plan once more, for the same charge",
        )
    if lead.state == "RESERVED" and lead.expires <= now:
        raise WrongState(
            f"the reservation of run `{lead.lead[:12]}` expired on {lead.expires}",
            help="`dpql run` reserves it anew, with approvals that are valid then",
        )
    for account in accounts(connection, [run.key for run in runs], lock=True).values():
        if account.is_frozen:
            raise NoiseRefused(f"key `{account.key}` is frozen", help="ask the custodian")
    move(connection, chain, runs, "start", {})
    return runs


def _started(connection: Connection, run: Run) -> str:
    query = sa.select(schema.entry.c.utc).where(
        schema.entry.c.rid == run.rid, schema.entry.c.kind == "start"
    )
    return str(connection.execute(query).scalar_one_or_none())


def store(
    connection: Connection, chain: Chain, rid: str, values: Sequence[Mapping[str, Any]]
) -> None:
    """Keep all releases of a run, with their hashes in the chain."""
    runs = group(connection, rid)
    if runs[0].state == "STARTED":
        index = releases.write_releases(connection, runs[0].lead, values)
    else:
        index = []
    move(connection, chain, runs, "store", {"releases": index})


def settle(
    connection: Connection, chain: Chain, rid: str, draws: Sequence[Mapping[str, Any]]
) -> NoiseRefused | None:
    """Close a stored run with what was really drawn.

    A draw is a JSON object; one with `key` and `amount` counts against what that key reserved, in
    its own unit. If a key's draws exceed its reservation the key is frozen and the error is
    returned, so that the freeze is kept.
    """
    runs = group(connection, rid)
    excess = _excess(connection, runs, draws) if runs[0].state == "STORED" else None
    if excess is None:
        move(connection, chain, runs, "settle", {"draws": [dict(draw) for draw in draws]})
        return None
    run, drawn = excess
    account = accounts(connection, [run.key], lock=True)[run.key]
    if not account.is_frozen:
        chain.append(
            "freeze",
            {"draws": [dict(draw) for draw in draws]},
            ledger_key=run.key,
            rid=run.rid,
            plan_hash=run.plan_hash,
        )
        keys.freeze(connection, account, True)
    return NoiseRefused(
        f"run `{run.lead[:12]}` drew {shown(account.unit, drawn, up=True)} of `{run.key}` "
        f"but reserved {shown(account.unit, run.amount)}",
        note="the key is frozen: no plan is admitted until the custodian has looked into it",
        help="this is a fault in DPQL or in a mechanism; please report it",
    )


def _excess(
    connection: Connection, runs: Sequence[Run], draws: Sequence[Mapping[str, Any]]
) -> tuple[Run, Fraction] | None:
    for run in runs:
        try:
            mine = [amount(draw["amount"]) for draw in draws if draw.get("key") == run.key]
        except (ValueError, KeyError, AttributeError) as error:
            raise NoiseRefused(f"the draws of run `{run.lead[:12]}` are malformed") from error
        drawn = sum(mine, Fraction(0))
        if drawn > run.amount:
            return run, drawn
    return None


def fetch(connection: Connection, rid: str) -> releases.Stored:
    """The releases of a settled run; reading them costs nothing."""
    runs = group(connection, rid)
    lead = runs[0]
    if lead.state != "SETTLED":
        raise WrongState(
            f"run `{lead.lead[:12]}` is {lead.state}, so it has no releases to hand out",
            help="`dpql run` with the same plan takes it up where it can be taken up",
        )
    query = sa.select(schema.entry).where(
        schema.entry.c.rid == lead.rid, schema.entry.c.kind == "store"
    )
    row = {**connection.execute(query).mappings().one()}
    values = releases.read_releases(connection, lead.lead, body_of(row)["releases"])
    return releases.Stored(
        lead.lead, lead.plan_hash, values, row["utc"], when(connection, lead.last_seq)
    )
