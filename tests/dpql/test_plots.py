"""Plots: an SVG file beside the JSON of a release whose method or function has one."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpql.output import write_run
from dpql.plots import lacks_plots
from executors.registry import REGISTRY
from suites.plain_plot import plot

RELEASE = {"name": "sigma $x_", "verb": "COVARIANCE", "method": "ssp", "value": {}}
DERIVED = {"name": "corr", "function": "correlation", "value": {}}


@pytest.fixture
def plotted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives one method and one function a plot, and no other."""
    method, function = REGISTRY.find("COVARIANCE", "ssp"), REGISTRY.derivation("correlation")
    assert method is not None
    assert function is not None
    made = {
        "find": replace(method, plot="suites.plain_plot"),
        "derivation": replace(function, plot="suites.plain_plot"),
    }
    monkeypatch.setattr(type(REGISTRY), "find", lambda self, verb, name: made["find"])
    monkeypatch.setattr(type(REGISTRY), "derivation", lambda self, name: made["derivation"])


@pytest.fixture
def without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python without matplotlib."""
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "dpql.plots.find_spec", lambda name: None if name == "matplotlib" else found(name)
    )


def names(folder: Path, *releases: dict[str, Any]) -> set[str]:
    """The files of a run with these releases."""
    write_run(folder, releases, {}, {})
    return {file.name for file in (folder / "releases").iterdir()}


def test_a_release_and_a_derivation_get_their_plots(tmp_path: Path, plotted: None) -> None:
    made = names(tmp_path, RELEASE, DERIVED)
    assert sum(name.endswith(".svg") for name in made) == 2
    assert "corr.svg" in made
    for file in (tmp_path / "releases").glob("*.svg"):
        assert ElementTree.parse(file).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_the_plot_of_a_mock_run_says_that_it_is_one(tmp_path: Path, plotted: None) -> None:
    names(tmp_path, {**RELEASE, "mock": True}, {**DERIVED, "mock": False})
    marked, plain = (
        ["NOT PRIVATE" in text for text in ElementTree.parse(file).getroot().itertext()]
        for file in sorted((tmp_path / "releases").glob("*.svg"), reverse=True)
    )
    assert any(marked)
    assert not any(plain)


def test_a_method_without_a_plot_gets_none(tmp_path: Path) -> None:
    release = {**RELEASE, "verb": "TEST", "method": "cox", "name": "effect"}
    assert names(tmp_path, release) == {"effect.json"}
    assert not lacks_plots([release])


def test_without_matplotlib_the_run_says_what_to_install(
    tmp_path: Path, plotted: None, without_matplotlib: None
) -> None:
    assert not any(name.endswith(".svg") for name in names(tmp_path, RELEASE, DERIVED))
    assert lacks_plots([DERIVED])


def test_a_plot_has_the_same_bytes_each_time_and_no_date() -> None:
    first = plot(RELEASE)
    assert first == plot(RELEASE)
    assert "dc:date" not in first


def test_a_plot_has_the_same_bytes_under_another_style(monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    first = plot(RELEASE)
    with matplotlib.rc_context({"font.size": 20, "svg.fonttype": "path", "text.usetex": True}):
        assert plot(RELEASE) == first
        assert matplotlib.rcParams["font.size"] == 20


def test_a_name_is_never_read_as_a_formula() -> None:
    assert "sigma $x_" in plot(RELEASE)
    assert "<b>&$" not in plot({"name": "<b>&$"})
    assert "&lt;b&gt;&amp;$" in plot({"name": "<b>&$"})


def test_writing_a_run_without_a_plot_loads_no_matplotlib(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom dpql.output import write_run\n"
        "release = {'name': 'a', 'verb': 'TEST', 'method': 'cox', 'value': {}}\n"
        "write_run(Path(sys.argv[1]), [release], {}, {})\n"
        "print('matplotlib' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=900
    )
    assert done.stdout.strip() == "False", done.stderr
