"""What stops a run after its start: an interrupt, a full disk, data that changes between passes."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dpql.cli import app
from dpql.errors import DataRefused, LedgerUnavailable, WrongState
from dpql.failing import guarded
from executors.data.bind import open_source
from executors.data.source import Description, Reader
from planner.charge_token import Token
from suites.studies import TRIAL, Study, survival_table

PASSES = TRIAL + "COVARIANCE {method} COLUMNS (age, arm) mu=0.5 AS one\n"
METHODS = ("pace", "adaptive")


def at(step: str, action: Callable[[], Any]) -> Callable[[str], None]:
    """A progress that acts at one step of the run."""
    return lambda told: action() if told == step else None


def lost(study: Study, made: Any = None) -> None:
    """The run was charged, and a rerun says that its results are lost."""
    assert study.spent > 0
    with pytest.raises(WrongState, match="stored nothing"):
        study.run(made)
    with study.ledger() as ledger:
        assert ledger.verify() == ()


# --- Ctrl-C --------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["reading for effect", "releasing sigma"])
def test_an_interrupt_after_the_start_says_that_the_run_is_charged(
    tmp_path: Path, step: str
) -> None:
    study = Study(tmp_path)
    with pytest.raises(KeyboardInterrupt, match="charged"):
        study.run(progress=at(step, lambda: signal.raise_signal(signal.SIGINT)))
    lost(study)


def test_the_command_line_says_so_and_ends_as_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import executors.mechanisms.ssp.run as inside

    study = Study(tmp_path)
    (tmp_path / "q.dpql").write_text(study.text)
    monkeypatch.setattr(inside, "run", lambda *_: signal.raise_signal(signal.SIGINT))
    call = f"run {tmp_path}/q.dpql --data trial={study.data} --ledger {study.ledger_path}"
    assert guarded(lambda: app(call.split())) == 3
    said = capsys.readouterr()
    assert said.err.startswith("interrupted: the run was started, so it is charged")
    assert said.out == ""
    monkeypatch.undo()
    lost(study)


# --- a full disk ---------------------------------------------------------------------------------


@contextmanager
def no_growth() -> Iterator[Callable[[Path], None]]:
    """Hands out a call after which no file of this process grows beyond what one holds then."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        yield lambda path: resource.setrlimit(
            resource.RLIMIT_FSIZE, (os.path.getsize(path), before[1])
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_releases_that_cannot_be_stored_are_charged_and_not_handed_out(tmp_path: Path) -> None:
    study = Study(tmp_path)
    log = Path(f"{study.ledger_path}-wal")
    with no_growth() as fill, pytest.raises(LedgerUnavailable) as refused:
        study.run(progress=at("releasing spread", lambda: fill(log)), out=tmp_path / "out")
    assert "stays charged" in refused.value.note
    assert not (tmp_path / "out").exists()
    lost(study)


@pytest.mark.parametrize("how", ["deleted", "restored"])
@pytest.mark.parametrize("step", ["reading for effect", "releasing spread"])
def test_a_ledger_that_loses_its_place_hands_out_nothing(
    tmp_path: Path, how: str, step: str
) -> None:
    study = Study(tmp_path)
    backup = study.ledger_path.read_bytes()

    def lose() -> None:
        for path in tmp_path.glob("ledger.db*"):
            path.rename(tmp_path / f"old-{path.name}")
        if how == "restored":
            study.ledger_path.write_bytes(backup)

    with pytest.raises(LedgerUnavailable, match="deleted or replaced") as refused:
        study.run(progress=at(step, lose), out=tmp_path / "out")
    assert "stays charged" in refused.value.note
    assert not (tmp_path / "out").exists()
    for path in tmp_path.glob("ledger.db*"):
        path.unlink()
    for path in tmp_path.glob("old-*"):
        path.rename(tmp_path / path.name.removeprefix("old-"))
    lost(study)


# --- data that changes between two passes --------------------------------------------------------


class TwoFaced:
    """A source that shows other rows from its second pass on."""

    def __init__(self, *tables: pa.Table) -> None:
        self._sources = [open_source(table) for table in tables]
        self.location = self._sources[0].location
        self.passes = 0

    def describe(self) -> Description:
        return self._sources[0].describe()

    def open(self, token: Token, unit: str | None = None, max_rows: int = 1) -> Reader:
        self._readers = [source.open(token, unit, max_rows) for source in self._sources]
        return self

    def batches(self, *how: Any, **more: Any) -> Iterator[pa.RecordBatch]:
        reader = self._readers[min(self.passes, 1)]
        self.passes += 1
        return reader.batches(*how, **more)

    def close(self) -> None:
        for reader in self._readers:
            reader.close()


def table(age: float, arm: bool | None) -> pa.Table:
    none = np.zeros(200)
    return pa.table(
        {"time": none, "event": none, "arm": pa.array([arm] * 200, pa.bool_()), "age": none + age}
    )


TABLES = {"corner": table(80, True), "other": table(20, False), "nothing": table(np.nan, None)}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("first", TABLES)
@pytest.mark.parametrize("then", TABLES)
def test_other_rows_in_the_second_pass_change_no_step(
    tmp_path: Path, method: str, first: str, then: str
) -> None:
    source = TwoFaced(TABLES[first], TABLES[then])
    study = Study(tmp_path, PASSES.format(method=method), facts={"data": (source.location,)})
    done = study.run(data={"trial": source})
    assert source.passes == 2
    assert np.isfinite(done["one"]["value"]["matrix"]).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("damage", ["other rows", "fewer rows", "cut", "gone"])
def test_a_file_that_changes_after_the_first_pass_stops_the_run(
    tmp_path: Path, method: str, damage: str
) -> None:
    study = Study(tmp_path, PASSES.format(method=method))
    whole = study.data.read_bytes()

    def change() -> None:
        if damage == "gone":
            study.data.unlink()
        elif damage == "cut":
            study.data.write_bytes(whole[: len(whole) // 2])
        else:
            study.write(survival_table(2).slice(0, 200 if damage == "other rows" else 9))

    with pytest.raises(DataRefused) as refused:
        study.run(progress=at("releasing one", change), out=tmp_path / "out")
    assert refused.value.code in ("DPQL-E102", "DPQL-E105", "DPQL-E106")
    assert refused.value.note == "the run was charged and is spent; nothing was released"
    assert not (tmp_path / "out").exists()
    study.data.write_bytes(whole)
    lost(study)
