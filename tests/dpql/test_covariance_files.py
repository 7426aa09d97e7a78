"""What a run writes for a covariance and for all that is derived from it."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ElementTree
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import dpql
from dpql.report import words
from executors.registry import REGISTRY

QUERY = """
DATASET people ROWS 400 COLUMNS (age REAL IN [18, 90], educ REAL IN [0, 20], pay REAL IN [0, 200])
COVARIANCE ssp mu=1 AS sigma
DERIVE corr = correlation(sigma)
DERIVE picture = heatmap(sigma)
DERIVE slopes = regress(sigma, y=pay, x=(age, educ), errors=bootstrap, draws=20)
DERIVE axes = pca(sigma, components=2)
DERIVE made_up = sample(sigma, rows=7, seed=3)
"""


def table(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.reader(file))


def test_every_derivation_is_written_as_json_table_and_plot(tmp_path: Path) -> None:
    done = dpql.run(dpql.plan(QUERY), mock=True, out=tmp_path)
    folder = tmp_path / "releases"
    names = {"sigma", "corr", "picture", "slopes", "axes", "made_up"}
    assert {path.stem for path in folder.glob("*.json")} == names
    assert {path.stem for path in folder.glob("*.csv")} == names
    assert {path.stem for path in folder.glob("*.svg")} == {"picture", "axes"}
    assert len(table(folder / "made_up.csv")) == 8
    assert [row[0] for row in table(folder / "slopes.csv")] == [
        "term",
        "(intercept)",
        "age",
        "educ",
    ]
    assert table(folder / "picture.csv")[0] == ["", "age", "educ", "pay"]
    for path in folder.glob("*.svg"):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
    for name in names:
        kept = json.loads((folder / f"{name}.json").read_text())
        assert kept == json.loads(json.dumps(done[name]))
        assert kept["uncertainty"]


def test_what_follows_is_the_same_each_time_a_release_is_served() -> None:
    """Derivations draw with public seeds alone: two plans of one release agree."""
    release = dpql.run(dpql.plan(QUERY), mock=True)
    for name in ("correlation", "heatmap", "pca", "sample"):
        function = REGISTRY.derivation(name)
        assert function is not None
        module = import_module(function.run)
        first = module.run(function.params(), release["sigma"])
        assert first == module.run(function.params(), release["sigma"])


def test_a_fault_in_a_derivation_does_not_lose_what_was_paid_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("executors.derivations.pca_run.run", broken)
    monkeypatch.setattr("executors.plots.heatmap.plot", broken)
    done = dpql.run(dpql.plan(QUERY), mock=True, out=tmp_path)
    assert done["sigma"]["value"]["matrix"]
    assert done["axes"]["value"] == {}
    assert any("could not be computed" in note for note in done["axes"]["notes"])
    assert str(done)
    written = {path.name for path in (tmp_path / "releases").iterdir()}
    assert {"sigma.json", "axes.json", "picture.csv"} <= written
    assert not any(name.endswith(".svg") for name in written)


def test_a_plan_calls_a_search_a_search(tmp_path: Path) -> None:
    """Both forms name the search for a radius, whose leaf is not noise on eighty numbers."""
    planned = dpql.plan(QUERY.replace("COVARIANCE ssp", "COVARIANCE adaptive"))
    assert "search for the first of 80 values above 0" in str(planned)
    (_, search, _) = planned.json()["body"]["statements"][0]["leaves"]
    assert "search for the first of 80 values" in words.noise(search)
    assert "declared ranges" not in words.noise(search)
