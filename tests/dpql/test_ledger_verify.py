"""Every change of the record is found, and where."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpql.approvals import public_text, sign
from dpql.errors import LedgerDamaged, LedgerError
from dpql.ledger import Ledger
from dpql.ledger.verify import chain_findings, verify
from executors.noise.sampler import OsSampler
from suites.ledger import certificate, dataset, facts, plan, table

REVIEWER = Ed25519PrivateKey.from_private_bytes(b"reviewer" * 4)
TABLES = ("entry", "budget", "run", "release", "document", "head", "ledger_version")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with an entry of every kind and a row in every table."""
    path = tmp_path_factory.mktemp("record") / "ledger.db"
    ledger = Ledger.connect(str(path), create=True)
    ledger.open_key(facts(reviewers={"anna": public_text(REVIEWER)}, required=1))
    ledger.open_key(facts("north", population="people", tables=(table("north"),)))
    ledger.add_table("people", table("south"))
    for number in range(4):
        asked = plan("0.1", tag=str(number))
        signed = sign(
            asked["plan_hash"],
            "trial",
            "board",
            "anna",
            REVIEWER,
            "2020-01-01T00:00:00Z",
            "2099-01-01T00:00:00Z",
        )
        rid = ledger.reserve(asked, certificate(asked), [signed]).rid
        if number == 0:
            ledger.release(rid)
        if number >= 2:
            ledger.start(rid, OsSampler())
        if number >= 3:
            ledger.store(rid, [{"name": "m", "value": 0.5}, {"name": "k", "value": [1, 2]}])
            ledger.settle(rid)
    ledger.change_cap("people", ledger.remaining("people").cap * 2, reason="board")
    assert ledger.verify() == ()
    ledger.close()
    return path


@pytest.fixture
def copy(record: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(record, tmp_path / "ledger.db"))


def tamper(path: Path, *statements: tuple[str, tuple[Any, ...]]) -> None:
    """Change rows as someone with the file would: without the triggers."""
    connection = sqlite3.connect(path)
    names = connection.execute("select name from sqlite_master where type='trigger'").fetchall()
    for (name,) in names:
        connection.execute(f"drop trigger {name}")
    for statement, values in statements:
        connection.execute(statement, values)
    connection.commit()
    connection.close()


def found(path: Path, **how: Any) -> list[str]:
    """The places that verify names; a ledger that does not open names itself."""
    try:
        ledger = Ledger.connect(str(path))
    except LedgerError:
        return ["the database"]
    findings = ledger.verify(**how)
    ledger.close()
    return [finding.place for finding in findings]


def rows(path: Path, name: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    connection = sqlite3.connect(path)
    cursor = connection.execute(f'select rowid, * from "{name}"')
    columns = [item[0] for item in cursor.description]
    result = cursor.fetchall()
    connection.close()
    return columns, result


def place_of(name: str, row: dict[str, Any]) -> str:
    return {
        "entry": f"entry {row.get('seq')}",
        "budget": f"key {row.get('ledger_key')}",
        "run": f"run {row.get('rid')}",
        "release": f"release {row.get('position')} of run {row.get('lead')}",
        "document": f"document {row.get('hash')}",
        "head": "the head",
        "ledger_version": "the database",
    }[name]


def flipped(value: Any, bit: int) -> Any:
    """The value with one bit of its stored form changed."""
    if isinstance(value, int):
        return value ^ (1 << (bit % 57 + 5))
    raw = bytearray(value.encode("utf-8", "surrogateescape")) or bytearray(1)
    raw[bit // 8 % len(raw)] ^= 1 << (bit % 8)
    return bytes(raw)


@pytest.mark.parametrize("name", [name for name in TABLES if name != "ledger_version"])
def test_any_single_bit_change_of_any_row_is_found_at_that_row(copy, name):
    """Each field of each row, one random bit at a time, in transactions that are undone."""
    columns, content = rows(copy, name)
    tamper(copy)
    ledger = Ledger.connect(str(copy))
    draw = random.Random(20261130)
    for values in content:
        row = dict(zip(columns, values, strict=True))
        for column in columns[1:]:
            new = flipped(row[column], draw.getrandbits(24))
            found = verified_after(ledger, name, column, new, row)
            # A changed number of an entry moves the row: it is named by its number as it stands.
            changed = {**row, column: new} if isinstance(new, int) else row
            assert {place_of(name, row), place_of(name, changed)} & found, (row, column, new)
    assert ledger.verify(certificates=False) == ()


def verified_after(ledger: Ledger, name: str, column: str, new: Any, row: Any) -> set[str]:
    """The places that verify names when one field is changed; the change is then undone."""
    put = "cast(? as text)" if isinstance(new, bytes) else "?"
    places: set[str] = set()

    class Undo(Exception):
        pass

    def work(connection: Any) -> None:
        change = f'update "{name}" set "{column}" = {put} where rowid = ?'
        connection.exec_driver_sql(change, (new, row["rowid"]))
        places.update(finding.place for finding in verify(connection, None, certificates=False))
        raise Undo

    with pytest.raises(Undo):
        ledger._database.write(work)
    return places


def test_a_deleted_middle_row_is_found_where_it_was(copy):
    tamper(copy, ("delete from entry where seq = 6", ()))
    places = found(copy)
    assert places[0] == "entry 7"


@pytest.mark.parametrize("name", ["budget", "run", "release", "document", "head"])
def test_a_deleted_row_of_any_table_is_found(copy, name):
    columns, content = rows(copy, name)
    row = dict(zip(columns, content[0], strict=True))
    tamper(copy, (f'delete from "{name}" where rowid = ?', (row["rowid"],)))
    assert place_of(name, row) in found(copy)


def test_a_cut_off_tail_is_found_from_the_head_row(copy):
    tamper(copy, ("delete from entry where seq = (select max(seq) from entry)", ()))
    assert "the head" in found(copy)


def test_a_rewound_ledger_is_found_from_the_exported_head_alone(record, tmp_path):
    old = Path(shutil.copy(record, tmp_path / "ledger.db"))
    ledger = Ledger.connect(str(record))
    before = ledger.head()
    current = Ledger.connect(str(shutil.copy(record, tmp_path / "current.db")))
    current.open_key(facts("later"))
    head = current.head()
    assert found(old) == []
    assert found(old, head=head) == ["the end"]
    assert found(tmp_path / "current.db", head=before) == []
    other = {**before, "hash": "0" * 64}
    assert found(old, head=other) == [f"entry {before['seq']}"]


def test_a_ledger_behind_its_anchor_starts_nothing(record, tmp_path):
    old = Path(shutil.copy(record, tmp_path / "ledger.db"))
    current = Ledger.connect(str(shutil.copy(record, tmp_path / "current.db")))
    current.open_key(facts("later"))
    restored = Ledger.connect(str(old), anchor=current.head())
    asked = plan("0.1", on=(("north", None),), datasets=[dataset("north", population="people")])
    rid = restored.reserve(asked, certificate(asked)).rid
    with pytest.raises(LedgerDamaged, match="does not contain the head"):
        restored.start(rid, OsSampler())
    assert restored.find(asked).state == "RESERVED"
    Ledger.connect(str(old), anchor=Ledger.connect(str(record)).head()).start(rid, OsSampler())


def test_a_rewritten_chain_needs_more_than_new_hashes(copy):
    """Someone lowers a charge and recomputes every hash: the sums and the certificate object."""
    from dpql.ledger.chain import GENESIS, entry_hash

    columns, content = rows(copy, "entry")
    before, statements = GENESIS, []
    for values in content:
        entry = dict(zip(columns, values, strict=True))
        entry.pop("rowid")
        if entry["kind"] == "reserve":
            entry["units"] = "rho=1/100"
        entry["prev_hash"] = before
        entry["hash"] = before = entry_hash(entry)
        names = ("units", "prev_hash", "hash")
        statements.append(
            (
                "update entry set units=?, prev_hash=?, hash=? where seq=?",
                (*(entry[name] for name in names), entry["seq"]),
            )
        )
    statements.append(("update head set hash=?", (before,)))
    statements.append(("update run set amount='1/100'", ()))
    tamper(copy, *statements)
    places = found(copy)
    assert "key trial" in places
    assert [place for place in places if place.startswith("entry")]


@pytest.mark.parametrize(
    ("kind", "key", "units"),
    [
        pytest.param("open", "trial", {}, id="a key that exists"),
        pytest.param("open", "elsewhere", {}, id="a key of other facts"),
        pytest.param("cap", "trial", {"units": "rho=1/1000"}, id="a cap below what is spent"),
    ],
)
def test_an_appended_entry_that_no_ledger_writes_is_found_in_spite_of_its_hash(
    copy, kind, key, units
):
    from dpql.ledger.chain import entry_hash

    columns, content = rows(copy, "entry")
    entries = [dict(zip(columns[1:], values[1:], strict=True)) for values in content]
    model = next(entry for entry in entries if entry["kind"] == kind)
    last = entries[-1]
    forged = {
        **model, "ledger_key": key, **units, "seq": last["seq"] + 1, "prev_hash": last["hash"]
    }  # fmt: skip
    forged["hash"] = entry_hash({name: forged[name] for name in forged if name != "hash"})
    names, marks = ", ".join(f'"{name}"' for name in forged), ", ".join("?" * len(forged))
    tamper(
        copy,
        (f"insert into entry ({names}) values ({marks})", tuple(forged.values())),
        ("update head set seq=?, hash=?", (forged["seq"], forged["hash"])),
    )
    assert f"entry {forged['seq']}" in found(copy)


def test_triggers_refuse_changes_of_what_is_appended_only(copy):
    connection = sqlite3.connect(copy)
    for name in ("entry", "release", "document", "ledger_version"):
        for statement in (f'delete from "{name}"', f'update "{name}" set rowid = rowid + 1'):
            with pytest.raises(sqlite3.DatabaseError, match="never changed"):
                connection.execute(statement)
    connection.close()


def test_an_export_can_be_checked_without_the_database(record):
    exported = json.loads(json.dumps(Ledger.connect(str(record)).export()))
    assert list(chain_findings(exported["entries"], exported["head"])) == []
    exported["entries"][3]["actor"] = "someone else"
    assert [finding.place for finding in chain_findings(exported["entries"])] == ["entry 4"]


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7), width=st.integers(1, 600))
def test_a_damaged_file_is_found_or_harmless_and_never_a_traceback(
    record, tmp_path, where, bit, width
):
    whole = bytearray(record.read_bytes())
    begin = int(where * len(whole))
    for place in range(begin, min(begin + width, len(whole))):
        whole[place] ^= 1 << bit
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        path = Path(folder) / "ledger.db"
        path.write_bytes(whole)
        if not found(path):
            damaged, sound = Ledger.connect(str(path)), Ledger.connect(str(record))
            assert damaged.export() == sound.export()
            assert damaged.show() == sound.show()
            damaged.close()
            sound.close()


def test_an_older_or_newer_ledger_is_refused_by_its_version(copy):
    tamper(copy, ("update ledger_version set version = 2", ()))
    with pytest.raises(LedgerDamaged, match="is a ledger of version 2") as refused:
        Ledger.connect(str(copy))
    assert "reads version 1" in refused.value.note
