"""Text from a file made safe for a terminal."""

from __future__ import annotations

import unicodedata

__all__ = ["cells", "safe", "width"]

_TAB = "    "


def cells(text: str) -> list[str]:
    """What to show for each character: itself, spaces for a tab, `<U+202E>` for the unprintable."""
    if text.isascii() and text.isprintable():
        return list(text)
    return [
        character
        if character.isprintable()
        else _TAB
        if character == "\t"
        else f"<U+{ord(character):04X}>"
        for character in text
    ]


def safe(text: str) -> str:
    """The text on one line, without anything that could steer a terminal."""
    return text if text.isprintable() else "".join(cells(text))


def width(shown: str) -> int:
    """How many columns a terminal gives to a printable text."""
    if shown.isascii():
        return len(shown)
    return sum(_columns(character) for character in shown)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
