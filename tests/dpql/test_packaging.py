"""What is installed: every file that the packages need, under one version."""

from __future__ import annotations

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


def test_the_changelog_has_the_version():
    assert re.search(
        rf"^## {re.escape(dpql.__version__)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M
    )


def test_the_version_is_said_on_the_command_line():
    done = subprocess.run(
        [sys.executable, "-m", "dpql", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"dpql {dpql.__version__}\n"
