"""How much of the machine a scan may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of the engine, with what is told while it works.

    `memory_limit` is the engine's hard cap in its own spelling ("4GB"); beyond it sorts go to
    `temp_directory`, which defaults to the system's. `threads` of None leaves it to the engine.
    `progress` is called with the number of rows read so far, which is public as n is.
    """

    memory_limit: str = "4GB"
    temp_directory: str | None = None
    threads: int | None = None
    progress: Callable[[int], None] | None = None
