"""What is heard outside does not depend on a row: messages, exit codes, files, order, counts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from suites.studies import TRIAL, Study, survival_table

HOSTILE: list[dict[str, Any]] = [
    {},
    {"age": float("nan")},
    {"age": float("inf")},
    {"age": float("-inf")},
    {"age": None},
    {"age": 1e308},
    {"age": -5.0},
    {"time": float("nan")},
    {"time": -1.0},
    {"time": 1e9},
    {"time": None},
    {"event": 2},
    {"event": -1},
    {"event": None},
    {"arm": None},
    {"age": None, "time": None, "event": None, "arm": None},
]


def changed(table: pa.Table, values: dict[str, Any]) -> pa.Table:
    """The table with the first person's values replaced."""
    for name, value in values.items():
        index = table.column_names.index(name)
        column = table.column(name).to_pylist()
        column[0] = value
        field = table.schema.field(name)
        table = table.set_column(index, field, pa.array(column, type=field.type, from_pandas=False))
    return table


def heard(study: Study, capfd: pytest.CaptureFixture[str]) -> tuple[Any, ...]:
    """Exit code, the words of both streams without their numbers, the files with their keys."""
    from dpql.cli import app
    from dpql.failing import guarded

    plan, out = study.folder / "plan.json", study.folder / "out"
    plan.write_text(json.dumps(study.plan.json()))
    where = ["--data", f"trial={study.data}", "--ledger", str(study.ledger_path)]
    capfd.readouterr()
    code = guarded(lambda: app(["run", str(plan), *where, "--out", str(out)]))
    said = capfd.readouterr()
    words = re.sub(r"reject  (yes|no)", "reject #", re.sub(r"-?[0-9][-0-9.e+]*", "#", said.out))
    errors = said.err.replace(str(study.folder), "")
    files = []
    for path in sorted(out.rglob("*")):
        if path.is_file():
            name = str(path.relative_to(out))
            keys = keys_of(json.loads(path.read_text())) if path.suffix == ".json" else ()
            files.append((name, keys))
    return code, re.sub(r"\s+", " ", words), errors, tuple(files)


def keys_of(content: Any) -> Any:
    """The structure of a JSON value without its numbers, texts and truths."""
    if isinstance(content, dict):
        return tuple((key, keys_of(value)) for key, value in content.items())
    if isinstance(content, list):
        return tuple(keys_of(value) for value in content)
    return type(content) in (int, float) or type(content).__name__


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_neighbours_sound_alike(
    tmp_path: Path, format: str, capfd: pytest.CaptureFixture[str]
) -> None:
    said = set()
    for index, values in enumerate(HOSTILE):
        if format == "csv" and index % 3:
            continue
        folder = tmp_path / str(index)
        folder.mkdir()
        study = Study(folder, table=changed(survival_table(), values), format=format)
        said.add(heard(study, capfd))
    assert len(said) == 1
    ((code, _, errors, files),) = said
    assert code == 0
    assert errors == "wrote /out/\n"
    assert len(files) == 7


def test_a_csv_cell_that_is_no_number_is_not_heard(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said = set()
    lines = None
    for index, cell in enumerate(["50", "secret", "1e999", "", '"a,b"', "0x10", "nan", "1_000"]):
        folder = tmp_path / str(index)
        folder.mkdir()
        study = Study(folder, format="csv")
        if lines is None:
            lines = study.data.read_text().splitlines()
        first = lines[1].split(",")
        first[3] = cell
        study.data.write_text("\n".join([lines[0], ",".join(first), *lines[2:]]) + "\n")
        said.add(heard(study, capfd))
    assert len(said) == 1
    assert next(iter(said))[0] == 0


def test_the_clamp_holds_in_every_release(tmp_path: Path) -> None:
    """Releases of neighbours differ by noise only: a huge value is no louder than its bound."""
    table = survival_table()
    loud = changed(table, {"age": 1e300})
    bound = changed(table, {"age": 80.0})
    from executors.data.bind import open_source
    from executors.registry import REGISTRY
    from executors.run import execute
    from planner.charge_token import Token
    from planner.decode import decode
    from suites.samplers import ScriptedSampler

    study = Study(tmp_path)
    runnable = decode(study.plan.json()["body"], REGISTRY)
    outcomes = [
        execute(
            runnable,
            {"trial": open_source(one)},
            Token("r", runnable.hash, ("trial",)),
            ScriptedSampler(),
        )
        for one in (loud, bound)
    ]
    for name in outcomes[0]:
        left, right = outcomes[0][name].value, outcomes[1][name].value
        assert left.keys() == right.keys()
        for key in left:
            assert np.array_equal(np.array(left[key], object), np.array(right[key], object)), key


SEARCH = f"""\
{TRIAL}COVARIANCE pace strategy=entries anneal=1 rho=0.3 AS searched
COVARIANCE pace strategy=dense rho=0.3 AS released
"""


def test_a_search_and_a_second_pass_sound_alike(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The rule that shrank a matrix follows from noise, so its name is left out."""
    said = set()
    for index, values in enumerate(HOSTILE[::3]):
        folder = tmp_path / str(index)
        folder.mkdir()
        study = Study(folder, text=SEARCH, cap="rho=2", table=changed(survival_table(), values))
        code, words, errors, files = heard(study, capfd)
        said.add((code, re.sub(r"shrunk_by \w+", "", words), errors, files))
    assert len(said) == 1
    assert next(iter(said))[0] == 0
