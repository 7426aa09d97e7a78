"""Characters that show a reader something else than what a program reads."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

__all__ = ["describe", "hidden", "scripts"]

# Controls but tab and line ends, a return that ends no line, and what Unicode calls format
# characters, fillers, joiners, variation selectors, line separators, tags and lone surrogates.
_HIDDEN = re.compile(
    "(?:[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891"
    "\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
    "|\r(?!\n))+"
)
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO", "HANGUL", "IDEOGRAPHIC")


def hidden(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every run of invisible, bidirectional or control characters."""
    start = 1 if text.startswith("\ufeff") else 0
    for match in _HIDDEN.finditer(text, start):
        yield match.span()


def describe(character: str) -> str:
    """`U+200B ZERO WIDTH SPACE`: safe to print."""
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X} {name}".rstrip()


def scripts(name: str) -> tuple[str, ...]:
    """The scripts of a name's letters in order of appearance, such as `Latin`, `Cyrillic`.

    East Asian scripts are written together and count as one.
    """
    if name.isascii():
        return ("Latin",)
    found: dict[str, None] = {}
    for character in name:
        if character.isalpha():
            first = unicodedata.name(character, "UNKNOWN").split()[0]
            if first.startswith(_EAST_ASIAN):
                first = "EAST ASIAN"
            if first not in ("MODIFIER", "FEMININE", "MASCULINE", "MICRO"):
                found[first.capitalize() if first != "EAST ASIAN" else "East Asian"] = None
    return tuple(found)
