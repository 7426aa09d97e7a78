"""The word that a misspelt one was meant to be."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["distance", "nearest"]

_LONGEST = 40


def distance(left: str, right: str) -> int:
    """How many letters were added, dropped, changed or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1]


def nearest(word: str, known: Iterable[str], most: int = 2) -> str | None:
    """The known word nearest to `word`, case ignored; None where none is near or two are equally.

    One mistake is near; two are near in a word of seven letters or more that begins alike.
    """
    if len(word) > _LONGEST:
        return None
    folded = word.upper()
    best: list[str] = []
    least = most + 1
    for candidate in known:
        if abs(len(candidate) - len(word)) > most:
            continue
        other = candidate.upper()
        apart = distance(folded, other)
        if apart > 1 and (len(other) < 7 or other[0] != folded[0]):
            continue
        if len(other) <= 2 and apart > 0:
            continue
        if apart < least:
            best, least = [candidate], apart
        elif apart == least:
            best.append(candidate)
    return best[0] if len(best) == 1 else None
