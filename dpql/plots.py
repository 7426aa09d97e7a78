"""The pictures of releases, by the method or function that each came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from executors.registry import REGISTRY

__all__ = ["drawn", "lacks_plots"]


def drawn(releases: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Name and SVG text of every release that has a plot; none without matplotlib."""
    if not _can_draw():
        return
    for release in releases:
        module = _module(release)
        if module is not None:
            try:
                picture = import_module(module).plot(release)
            except Exception:  # what was paid for must be written, with a picture or without
                continue
            yield str(release["name"]), picture


def lacks_plots(releases: Iterable[Mapping[str, Any]]) -> bool:
    """Whether some release has a plot that cannot be drawn, because matplotlib is not here."""
    return not _can_draw() and any(_module(release) is not None for release in releases)


def _can_draw() -> bool:
    return find_spec("matplotlib") is not None


def _module(release: Mapping[str, Any]) -> str | None:
    """The import path of what draws a release."""
    if "function" in release:
        function = REGISTRY.derivation(str(release["function"]))
        return None if function is None else function.plot
    method = REGISTRY.find(str(release["verb"]), str(release["method"]))
    return None if method is None else method.plot
