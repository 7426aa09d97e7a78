"""Every claim has its proof beside the code, and every proof names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dpql
import planner.calculus

ROOT = Path(dpql.__file__).parents[1]
CALCULUS = ROOT / "planner" / "calculus"
FOLDERS = sorted(path.parent for path in (ROOT / "executors" / "mechanisms").glob("*/cost.py"))
PROOFS = sorted(
    path for name in ("planner", "executors") for path in (ROOT / name).rglob("proof.md")
)
FILES = {path.name for path in ROOT.glob("*/**/*.py") if ".venv" not in path.parts}


def quoted(text: str) -> set[str]:
    """What stands in backticks."""
    return set(re.findall(r"`([^`\s]+)`", text))


@pytest.mark.parametrize("path", PROOFS, ids=lambda path: path.parent.name)
def test_a_proof_names_its_neighbours_and_tests_that_exist(path: Path) -> None:
    text = path.read_text("utf-8")
    assert re.search(r"^(\*\*)?Neighbours", text, re.M), "no neighbour relation"
    named = {name for name in quoted(text) if name.endswith(".py")}
    tests = {name for name in named if Path(name).name.startswith("test_")}
    assert {Path(name).name for name in named} <= FILES
    assert tests, "nothing attacks it"
    for name in quoted(text):
        if "/" in name and name.split("/")[0] in ("tests", "executors", "planner", "dpql"):
            assert (ROOT / name).exists(), name


@pytest.mark.parametrize("path", PROOFS, ids=lambda path: path.parent.name)
def test_what_attacks_a_claim_is_said_under_its_own_heading(path: Path) -> None:
    text = path.read_text("utf-8")
    last = text.rsplit("## Attacks", 1)[-1] if "## Attacks" in text else None
    if last is None:
        claims = re.split(r"^## ", text, flags=re.M)[1:]
        assert all("Attacks: " in claim for claim in claims)
    else:
        assert re.search(r"`(?:[a-z/]+/)?test_[a-z_]+\.py`", last)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_mechanism_has_the_shape_of_every_other(folder: Path) -> None:
    for name in ("__init__.py", "cost.py", "forecast.py", "run.py", "proof.md"):
        assert (folder / name).exists(), name
    cost = (folder / "cost.py").read_text("utf-8")
    listed = re.search(r"__all__ = \[(.*?)\]", cost, re.S)
    assert listed is not None
    assert {"assumptions", "check", "need", "query"} <= set(re.findall(r'"(\w+)"', listed[1]))
    tests = ROOT / "tests" / "executors" / "mechanisms" / folder.name
    assert (tests / f"test_{folder.name}_suite.py").exists()


def test_the_way_of_a_price_leads_through_functions_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    steps = re.findall(r"`((?:grammar|planner|dpql)/[\w/]+\.py)`: `(\w+)`", text)
    assert len(steps) > 9
    for path, name in steps:
        assert f"def {name}(" in (ROOT / path).read_text("utf-8"), (path, name)


def test_the_map_of_the_calculus_has_every_module_and_no_other() -> None:
    said = planner.calculus.__doc__ or ""
    drawn = {
        name
        for line in said.splitlines()
        if line.startswith("    ")
        for name in re.split(r",\s*", re.split(r"\s{2,}", line.strip())[0])
    }
    assert drawn == {path.stem for path in CALCULUS.glob("[!_]*.py")}


def test_the_proofs_of_the_calculus_name_every_module_that_claims_something() -> None:
    text = (CALCULUS / "proof.md").read_text("utf-8")
    declarations = {"cost.py", "need.py", "leaves.py", "ball_arithmetic.py"}
    claiming = {path.name for path in CALCULUS.glob("[!_]*.py")} - declarations
    assert claiming <= quoted(text)


@pytest.mark.parametrize("package", ["planner", "executors", "dpql", "grammar"])
def test_a_test_that_a_docstring_names_exists(package: str) -> None:
    for path in (ROOT / package).rglob("*.py"):
        text = re.sub(r"/\n\s+", "/", path.read_text("utf-8"))
        for name, case in re.findall(r"(tests/[\w/]+(?:\.py)?)(?:::(\w+))?", text):
            found = ROOT / name
            assert found.exists(), (path.name, name)
            assert not case or f"def {case}(" in found.read_text("utf-8"), (path.name, case)
