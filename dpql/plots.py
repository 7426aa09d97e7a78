"""The pictures of releases, by the method or function that each came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from executors.registry import REGISTRY

__all__ = ["drawn", "lacks_plots"]

_MOCK = (
    '<text x="50%" y="40%" text-anchor="middle" font-family="sans-serif" font-size="20" '
    'fill="#a02015" fill-opacity="0.75">NOT PRIVATE: made from synthetic rows</text>'
)


def drawn(releases: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Name and SVG text of every release that has a plot; none without matplotlib.

    A picture of a mock run says so: it may go where the release does not.
    """
    if not _can_draw():
        return
    for release in releases:
        module = _module(release)
        if module is not None:
            try:
                picture = import_module(module).plot(release)
            except Exception:  # what was paid for must be written, with a picture or without
                continue
            yield str(release["name"]), _marked(picture) if release.get("mock") else picture


def lacks_plots(releases: Iterable[Mapping[str, Any]]) -> bool:
    """Whether some release has a plot that cannot be drawn, because matplotlib is not here."""
    return not _can_draw() and any(_module(release) is not None for release in releases)


def _marked(picture: str) -> str:
    before, end, after = picture.rpartition("</svg>")
    return f"{before}{_MOCK}\n{end}{after}"


def _can_draw() -> bool:
    return find_spec("matplotlib") is not None


def _module(release: Mapping[str, Any]) -> str | None:
    """The import path of what draws a release."""
    if "function" in release:
        function = REGISTRY.derivation(str(release["function"]))
        return None if function is None else function.plot
    method = REGISTRY.find(str(release["verb"]), str(release["method"]))
    return None if method is None else method.plot
