"""Randomness has one door: no other module of the house imports a way to draw."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLOORS = ("grammar", "planner", "executors", "dpql")
DOOR = Path("executors/noise/sampler.py")
MADE_UP = Path("executors/data/mock.py")
IDENTIFIERS = Path("dpql/ledger")
BANNED = {"random", "secrets", "opendp", "uuid"}


def finds(tree):
    """Each way to draw in a module, as (line, what)."""
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""] + [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if node.attr in ("urandom", "getrandom", "rvs"):
                names = [f"{owner}.{node.attr}"]
            elif owner in ("np.random", "numpy.random"):
                names = [f"numpy.random.{node.attr}"]
        for name in names:
            if (
                name.split(".")[0] in BANNED
                or name.startswith("numpy.random")
                or name.endswith((".urandom", ".getrandom", ".rvs"))
            ):
                yield node.lineno, name


def seeded_only(tree):
    """Whether every generator of a module gets a seed."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    made = [call for call in calls if ast.unparse(call.func).endswith("random.default_rng")]
    return all(call.args or call.keywords for call in made)


def offences(path, text):
    tree = ast.parse(text)
    found = sorted(set(finds(tree)))
    if path == DOOR:
        return []
    if path == MADE_UP:
        return [one for one in found if not one[1].startswith("random")]
    if path.is_relative_to(IDENTIFIERS):
        # Names of rows and locks; no number that is released.
        return [one for one in found if not one[1].startswith("secrets")]
    simulates = path.is_relative_to("executors") and path.name != "run.py"
    simulates &= not path.is_relative_to("executors/noise")
    if simulates and seeded_only(tree):
        allowed = ("numpy.random.default_rng", "numpy.random.Generator")
        return [one for one in found if one[1] not in allowed]
    return found


def modules():
    for floor in FLOORS:
        yield from sorted((ROOT / floor).rglob("*.py"))


def test_only_the_sampler_draws():
    found = {
        str(path.relative_to(ROOT)): offences(path.relative_to(ROOT), path.read_text("utf-8"))
        for path in modules()
    }
    assert {name: one for name, one in found.items() if one} == {}


def test_the_sampler_has_no_seed():
    text = (ROOT / DOOR).read_text("utf-8")
    names = {node.arg for node in ast.walk(ast.parse(text)) if isinstance(node, ast.arg)}
    assert "seed" not in names
    assert "environ" not in text
    assert "getenv" not in text


@pytest.mark.parametrize(
    "text",
    [
        "import random",
        "from random import Random",
        "import numpy as np\nnp.random.normal()",
        "import numpy as np\nnp.random.default_rng()",
        "from numpy.random import default_rng",
        "import secrets",
        "import os\nos.urandom(8)",
        "import opendp.prelude as dp",
        "from scipy import stats\nstats.norm.rvs(3)",
    ],
)
def test_the_lint_sees_every_way_to_draw(text):
    for path in ("planner/x.py", "executors/summaries/x.py", "executors/mechanisms/cox/run.py"):
        assert offences(Path(path), text)
