"""What is installed: every file that the packages need, under one version."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import dpql

ROOT = Path(dpql.__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES = ("dpql", "executors", "grammar", "planner")


def data_files() -> set[str]:
    """Everything in the packages that is no Python, as paths from the root."""
    return {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }


def shipped() -> set[str]:
    """What the globs of package data find; those of `*` belong to every package."""
    found: set[str] = set()
    for package, globs in PROJECT["tool"]["setuptools"]["package-data"].items():
        for home in PACKAGES if package == "*" else (package.replace(".", "/"),):
            for glob in globs:
                found |= {str(path.relative_to(ROOT)) for path in (ROOT / home).glob(glob)}
    return found


def test_every_file_beside_the_code_is_shipped_with_it():
    assert data_files() == shipped()


def test_every_package_says_that_it_is_typed():
    assert all((ROOT / package / "py.typed").exists() for package in PACKAGES)


def imported() -> set[str]:
    """The top modules that the packages import from elsewhere, whenever it is done."""
    found: set[str] = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    found |= {name.name.split(".")[0] for name in node.names}
                elif isinstance(node, ast.ImportFrom):
                    found.add((node.module or "").split(".")[0])
    return found - set(sys.stdlib_module_names) - set(PACKAGES)


def test_what_is_imported_is_required_and_no_more():
    project = PROJECT["project"]
    required = [*project["dependencies"], *project["optional-dependencies"]["plots"]]
    names = {re.split(r"[^\w-]", one)[0].replace("-", "_") for one in required}
    assert {*names - {"python_flint"}, "flint"} == imported()


def test_the_changelog_has_the_version():
    assert re.search(
        rf"^## {re.escape(dpql.__version__)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M
    )


def test_the_version_is_said_on_the_command_line():
    done = subprocess.run(
        [sys.executable, "-m", "dpql", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"dpql {dpql.__version__}\n"
