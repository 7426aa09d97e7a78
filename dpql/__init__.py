"""The face of DPQL: the one import a user writes."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


def guard() -> None:
    """Refuse to start when another distribution has taken one of our package names."""
    home = Path(__file__).resolve().parents[1]
    for name in ("grammar", "planner", "executors"):
        spec = find_spec(name)
        found = Path(spec.origin).resolve() if spec and spec.origin else None
        ours = home / name / "__init__.py"
        if found != ours or "Part of DPQL." not in ours.read_text("utf-8"):
            raise ImportError(f"DPQL-E091: `{name}` is not DPQL's own: {found}")


guard()

__all__ = ["Ledger", "allocate", "check", "location", "parse", "plan", "run"]


def __getattr__(name: str) -> Any:
    """The calls and the ledger, loaded when they are used."""
    if name in ("allocate", "check", "location", "parse", "plan", "run"):
        from dpql import api

        return getattr(api, name)
    if name == "Ledger":
        from dpql.ledger import Ledger

        return Ledger
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
