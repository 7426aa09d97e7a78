"""Sums of doubles carried as unevaluated pairs high + low, right to about 100 bits.

A plain running sum of n positive doubles loses up to n 2^-53 of its value, which no published
sensitivity covers. These sums lose less than 2^-90 for any n that fits into memory.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Doubles", "Integers", "Pair", "add", "cumulate", "group_sums"]

Doubles: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Pair: TypeAlias = tuple[Doubles, Doubles]
"""High and low parts of equal shape; the number meant is high + low, |low| <= ulp(high)/2."""

CHUNK = 64


def add(left: Pair, right: Pair) -> Pair:
    """The elementwise sum of two pairs."""
    high = left[0] + right[0]
    shadow = high - left[0]
    low = (left[0] - (high - shadow)) + (right[0] - shadow)
    low = low + (left[1] + right[1])
    total = high + low
    return total, low - (total - high)


def cumulate(terms: Pair) -> Pair:
    """The running sums, shape (n,): chunks in step with each other, then the chunks' totals."""
    size = len(terms[0])
    if size <= 1:
        return terms
    length = min(CHUNK, math.isqrt(size) + 1)
    chunks = -(-size // length)
    high, low = (_columns(part, chunks, length) for part in terms)
    for row in range(1, length):
        high[row], low[row] = add((high[row - 1], low[row - 1]), (high[row], low[row]))
    if chunks > 1:
        before = cumulate((high[-1, :-1].copy(), low[-1, :-1].copy()))
        high[:, 1:], low[:, 1:] = add((high[:, 1:], low[:, 1:]), before)
    return high.T.reshape(-1)[:size], low.T.reshape(-1)[:size]


def group_sums(terms: Pair, counts: Integers) -> Pair:
    """The sum of each run of `counts[g]` > 0 consecutive terms, shape (groups,)."""
    many = counts > 1
    if not many.any():
        return terms
    member = np.repeat(many, counts)
    halved = _halve((terms[0][member], terms[1][member]), counts[many])
    sums = group_sums(halved, (counts[many] + 1) // 2)
    high, low = np.empty(len(counts)), np.empty(len(counts))
    high[~many], low[~many] = terms[0][~member], terms[1][~member]
    high[many], low[many] = sums
    return high, low


def _columns(part: Doubles, chunks: int, length: int) -> Doubles:
    """The numbers in `chunks` columns of `length`, read down the columns, padded with zeros."""
    padded = np.zeros(chunks * length)
    padded[: len(part)] = part
    return np.ascontiguousarray(padded.reshape(chunks, length).T)


def _halve(terms: Pair, counts: Integers) -> Pair:
    """Neighbours in a run added two by two; an odd last one stays."""
    ends = np.cumsum(counts)
    position = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
    left = np.flatnonzero(position % 2 == 0)
    has_right = position[left] + 1 < np.repeat(counts, counts)[left]
    high, low = terms[0][left], terms[1][left]
    first, second = left[has_right], left[has_right] + 1
    high[has_right], low[has_right] = add(
        (terms[0][first], terms[1][first]), (terms[0][second], terms[1][second])
    )
    return high, low
