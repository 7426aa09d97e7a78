"""A ledger recomputed from its entries, and compared with every row that it keeps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from dpql.errors import DpqlError
from dpql.ledger import schema
from dpql.ledger.admission import check_certificate, request
from dpql.ledger.chain import FIELDS, GENESIS, entry_hash
from dpql.ledger.plan_body import Payer, PlanBody, digest_text
from dpql.ledger.replay import Replay

__all__ = ["Finding", "chain_findings", "verify"]

ROW = (*FIELDS, "prev_hash", "hash")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in the record that is not as it was written, at a place such as `entry 5`."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


def entries(connection: Connection) -> list[dict[str, Any]]:
    """All entries in order, as they stand."""
    query = sa.select(schema.entry).order_by(schema.entry.c.seq)
    return [{**row} for row in connection.execute(query).mappings()]


def chain_findings(
    rows: Iterable[Mapping[str, Any]], anchor: Mapping[str, Any] | None = None
) -> Iterator[Finding]:
    """What is wrong with the hashes, the order and the completeness of entries.

    Works on a database's rows and on exported ones alike. `anchor` is a head exported earlier.
    """
    expected = 1
    before: Any = GENESIS
    hashes: dict[Any, Any] = {}
    for row in rows:
        seq = row.get("seq")
        place = f"entry {seq}"
        if seq != expected:
            yield Finding(place, f"follows entry {expected - 1}, so an entry is missing before it")
        if not _holds(row):
            yield Finding(place, "was changed: its hash is not the hash of its fields")
        if row.get("prev_hash") != before:
            yield Finding(place, "does not follow the entry before it")
        hashes[seq] = before = row.get("hash")
        expected = seq + 1 if isinstance(seq, int) else expected + 1
    if anchor is not None:
        seq = anchor.get("seq")
        if seq not in hashes:
            yield Finding("the end", f"the record ends before the exported head, entry {seq}")
        elif hashes[seq] != anchor.get("hash"):
            yield Finding(f"entry {seq}", "is not the entry of the exported head")


def _holds(row: Mapping[str, Any]) -> bool:
    if set(row) != set(ROW) or type(row["seq"]) is not int:
        return False
    if not all(isinstance(row[name], str) for name in ROW if name != "seq"):
        return False
    try:
        return bool(entry_hash(row) == row["hash"])
    except DpqlError:
        return False


def verify(
    connection: Connection, anchor: Mapping[str, Any] | None, certificates: bool
) -> tuple[Finding, ...]:
    """Everything that is not as it was written, in the order of the record."""
    rows = entries(connection)
    found = list(chain_findings(rows, anchor))
    replay = Replay()
    for row in rows:
        found += [Finding(f"entry {row['seq']}", said) for said in replay.apply(row)]
    found += _version(connection)
    found += _head(connection, rows)
    found += _table(connection, schema.budget, "ledger_key", "key", replay.budget_rows())
    found += _table(connection, schema.run, "rid", "run", replay.run_rows())
    found += _releases(connection, replay)
    found += _documents(connection, replay)
    if certificates:
        found += _certificates(connection, replay)
    return tuple(dict.fromkeys(found))


def _version(connection: Connection) -> Iterator[Finding]:
    if connection.execute(sa.select(schema.version.c.version)).scalars().all() != [schema.VERSION]:
        yield Finding("the version", "is not the one that this ledger was written in")


def _head(connection: Connection, rows: list[dict[str, Any]]) -> Iterator[Finding]:
    heads = [tuple(row) for row in connection.execute(sa.select(schema.head))]
    last = (1, rows[-1]["seq"], rows[-1]["hash"]) if rows else (1, 0, GENESIS)
    if heads != [last]:
        yield Finding("the head", "does not name the last entry: entries were cut off or added")


def _table(
    connection: Connection,
    table: sa.Table,
    name: str,
    what: str,
    expected: Mapping[str, Mapping[str, Any]],
) -> Iterator[Finding]:
    """Compare a table, row by row, with what the entries make of it."""
    found = {row[name]: {**row} for row in connection.execute(sa.select(table)).mappings()}
    for key in sorted({*found, *expected}, key=str):
        if key not in found:
            yield Finding(f"{what} {key}", "has lost its row")
        elif key not in expected:
            yield Finding(f"{what} {key}", "has a row that no entry explains")
        else:
            differing = [
                column
                for column, value in expected[key].items()
                if found[key][column] != value or type(found[key][column]) is not type(value)
            ]
            if differing:
                yield Finding(f"{what} {key}", f"has another {', '.join(differing)} than recorded")


def _releases(connection: Connection, replay: Replay) -> Iterator[Finding]:
    query = sa.select(schema.release)
    found = {(row.lead, row.position): _text_hash(row.value) for row in connection.execute(query)}
    expected = replay.release_hashes()
    for lead, position in sorted({*found, *expected}, key=str):
        if found.get((lead, position)) != expected.get((lead, position)):
            yield Finding(f"release {position} of run {lead}", "is not what was stored")


def _documents(connection: Connection, replay: Replay) -> Iterator[Finding]:
    found = {row.hash: row.value for row in connection.execute(sa.select(schema.document))}
    for name, value in found.items():
        if _text_hash(value) != name:
            yield Finding(f"document {name}", "is not the text of its hash")
        elif name not in replay.documents:
            yield Finding(f"document {name}", "is mentioned by no entry")
    for name in sorted(replay.documents - set(found)):
        yield Finding(f"document {name}", "is missing")


def _text_hash(value: Any) -> str | None:
    return digest_text(value) if isinstance(value, str) else None


def _certificates(connection: Connection, replay: Replay) -> Iterator[Finding]:
    texts = {row.hash: row.value for row in connection.execute(sa.select(schema.document))}
    for claim in replay.claims:
        place = f"entry {claim.seq}"
        try:
            body = PlanBody.of(json.loads(texts[claim.plan_hash]))
            payers = [
                Payer(item["key"], item["dataset"], item["site"]) for item in claim.reservations
            ]
            units = {item["key"]: item["unit"] for item in claim.reservations}
            asked = request(payers, json.loads(texts[claim.certificate_hash]), units)
            if list(asked.reservations) != [dict(item) for item in claim.reservations]:
                yield Finding(place, "charged another amount than its certificate proves")
            check_certificate(asked, body)
            mine = {payer for payer in body.payers() if payer.key in units}
            if mine != set(payers):
                yield Finding(place, "left out a part of the plan that its keys guard")
            if asked.totals.get(claim.key) != claim.amount:
                yield Finding(place, "charged another amount than its certificate proves")
        except DpqlError as error:
            yield Finding(place, error.message)
        except (KeyError, TypeError, ValueError):
            yield Finding(place, "its plan or certificate cannot be read")
