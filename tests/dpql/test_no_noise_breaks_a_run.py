"""After the charge nothing fails, whatever noise is drawn and whatever rows there are.

Each method of the catalogue goes the whole way, with noise at the edge of what the samplers hand
out and tables at the edge of what they may hold: reserved, run, stored, served, printed, written.
"""

from __future__ import annotations

import json
import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pytest

from dpql.api import PlanResult, RunResult, run
from dpql.commands.ledger import cost_of
from dpql.ledger import Ledger
from dpql.ledger.opening import key_facts
from dpql.output import table_of, write_run
from dpql.schemas.build import built
from executors.data.bind import open_source
from executors.registry import REGISTRY
from suites.adversary import NOISE, TABLES, draw, hits, people
from suites.catalogue import ROWS, methods, plan_of

SCHEMA = jsonschema.Draft202012Validator(json.loads(built("release")))
TURNS = [(noise, TABLES[place % len(TABLES)]) for place, noise in enumerate(NOISE)]
DRAWN = ("none", "far to and fro", "heavy tails")
MOST = 2
"""Of each sort so many pictures are drawn, with the noise of `DRAWN`: each takes a tenth of a
second."""


@cache
def planned(title: str) -> PlanResult:
    return plan_of(methods()[title])


def table(name: str, kind: str) -> pa.Table:
    return hits(kind, ROWS[name]) if name == "hits" else people(kind, ROWS[name])


def ran(title: str, kind: str, folder: Path) -> RunResult:
    """The run of a method's plan on such tables, as it is served again afterwards."""
    made = planned(title)
    assert made.planned.plan is not None
    names = [one["name"] for one in made.planned.plan.body["datasets"]]
    data = {name: table(name, kind) for name in names}
    with closing(Ledger.connect(str(folder / "ledger.db"), create=True)) as ledger:
        for name, rows in data.items():
            place = open_source(rows).location
            bound = {"log_e": Fraction(3, 10)} if name == "hits" else {}
            cap = cost_of("rho=100000")
            facts = key_facts(name, rows.num_rows, cap, data=[place], sensitivities=bound)
            ledger.open_key(facts)
        done = run(made, data, ledger)
        served = run(made, data, ledger)
    assert served.served is not None
    assert dict(served.releases) == json.loads(json.dumps(dict(done.releases), allow_nan=False))
    return served


@pytest.mark.parametrize(("noise", "kind"), TURNS)
@pytest.mark.parametrize("title", methods())
def test_a_run_comes_to_its_end(
    title: str, noise: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw(monkeypatch, NOISE[noise])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = ran(title, kind, tmp_path)
        assert not re.search(r"\b(nan|inf|None)\b", f"{done}{done._repr_html_()}")
    for name, release in done.releases.items():
        SCHEMA.validate(release)
        assert release["value"], f"{name} could not be derived"
        sane(release["value"])
    written(list(done.releases.values()), noise in DRAWN, tmp_path)


def written(releases: list[Mapping[str, Any]], is_drawn: bool, folder: Path) -> None:
    """Every file is there, and whole; of what has a picture a few are written."""
    left = Counter({_sort(one): MOST if is_drawn else 0 for one in releases if _plot(one)})
    chosen = []
    for one in releases:
        if _plot(one):
            left[_sort(one)] -= 1
        if left[_sort(one)] >= 0:
            chosen.append(one)
    write_run(folder, chosen, {}, {})
    for one in chosen:
        file = folder / "releases" / str(one["name"])
        assert json.loads(file.with_suffix(".json").read_text("utf-8")) == one
        assert file.with_suffix(".csv").exists() == (table_of(one) is not None)
        if _plot(one):
            picture = file.with_suffix(".svg").read_text("utf-8")
            assert ElementTree.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"
            assert not re.search(r"\bnan\b", picture)


def _sort(release: Mapping[str, Any]) -> str:
    return str(release.get("function") or f"{release['verb']} {release['method']}")


def _plot(release: Mapping[str, Any]) -> str | None:
    found = methods().get(_sort(release)) or REGISTRY.derivation(_sort(release))
    assert found is not None
    return found.plot


def sane(value: Mapping[str, Any]) -> None:
    """What holds of these figures however large the noise was."""
    if "p_value" in value:
        assert 0.0 <= value["p_value"] <= 1.0
    for curve in [value, *value.get("sites", ())]:
        if "lower" in curve:
            for low, found, high in zip(curve["lower"], curve["estimate"], curve["upper"]):
                assert 0.0 <= low <= found <= high
    if "matrix" in value:
        matrix = np.array(value["matrix"], dtype=float)
        if value["kind"] in ("covariance", "second moment"):
            assert np.linalg.eigvalsh(matrix)[0] >= -1e-9 * np.abs(matrix).max()
        else:
            assert np.nanmax(np.abs(matrix), initial=0.0) <= 1.0
