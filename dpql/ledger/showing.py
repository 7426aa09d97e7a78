"""A ledger's state as JSON values, for people and for `show`."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from dpql.ledger import schema
from dpql.ledger.amounts import shown, stored
from dpql.ledger.chain import read_head
from dpql.ledger.keys import accounts, balance, key_names
from dpql.ledger.runs import Run, when
from grammar.exchange import SCHEMA

__all__ = ["show"]


def show(connection: Connection) -> dict[str, Any]:
    """Every key with its facts and balance, every run that is not released, and the head."""
    book = accounts(connection, key_names(connection))
    head = read_head(connection)
    rows = connection.execute(sa.select(schema.run).order_by(schema.run.c.reserve_seq))
    return {
        "schema": SCHEMA,
        "kind": "ledger",
        "head": {"seq": head.seq, "hash": head.hash},
        "keys": [
            {**balance(connection, account).json(), "facts": account.facts.body()}
            for account in book.values()
        ],
        "runs": [_run(connection, Run.of(row), book) for row in rows],
    }


def _run(connection: Connection, run: Run, book: Any) -> dict[str, Any]:
    unit = book[run.key].unit
    return {
        "rid": run.rid,
        "run": run.lead,
        "key": run.key,
        "plan_hash": run.plan_hash,
        "number": run.number,
        "state": run.state,
        "amount": stored(run.amount),
        "shown": shown(unit, run.amount, up=True),
        "expires": run.expires,
        "reserved": when(connection, run.reserve_seq),
        "since": when(connection, run.last_seq),
    }
