"""Sums of doubles carried as unevaluated pairs high + low, right to about 100 bits.

A plain running sum of n positive doubles loses up to n 2^-53 of its value, which no published
sensitivity covers. Everything here works along the last axis.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "Doubles",
    "Integers",
    "LONGEST_RUN",
    "Pair",
    "add",
    "cumulate",
    "group_sums",
    "levels_for",
    "pair_of",
    "total",
]

Doubles: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Pair: TypeAlias = tuple[Doubles, Doubles]
"""High and low parts of equal shape; the number meant is high + low, |low| <= ulp(high)/2."""

CHUNK = 64
LONGEST_RUN = 1 << 16
"""So many numbers on one grid of 36 bits add up exactly in a double: 36 + 16 < 53 bits."""
GRID_BITS = 36


def pair_of(high: Doubles) -> Pair:
    """The numbers as pairs whose low part is 0; it takes no memory."""
    return high, np.broadcast_to(0.0, high.shape)


def add(left: Pair, right: Pair) -> Pair:
    """The elementwise sum of two pairs."""
    high = left[0] + right[0]
    shadow = high - left[0]
    low = (left[0] - (high - shadow)) + (right[0] - shadow)
    low = low + (left[1] + right[1])
    total = high + low
    return total, low - (total - high)


def cumulate(terms: Pair) -> Pair:
    """The running sums, shape (n,): chunks in step with each other, then the chunks' totals.

    Relative error below 2^-90 for positive terms, for any n that fits into memory.
    """
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


def levels_for(spread: float) -> int:
    """How many grids `group_sums` needs for sums of at most 2^33 numbers between 1 and e^spread."""
    return max(3, math.ceil((spread / math.log(2.0) + 105.0) / (GRID_BITS + 1)))


def group_sums(terms: Pair, counts: Integers, levels: int = 3) -> Pair:
    """The sum of each run of `counts[g]` > 0 consecutive terms, shape (..., groups).

    A run holds at most 2^16 terms. Each level splits what is left of a row into multiples of a
    grid, which add up without error in any order, and a rest 2^37 times smaller than before. Only
    the last rest is dropped: less than 2^(17 - 37 levels) of the row's largest term. Where terms
    are sums of up to 2^33 weights between 1 and e^spread, `levels_for(spread)` makes that less than
    2^-54 of every one of them.
    """
    if len(counts) == terms[0].shape[-1]:
        return terms
    starts = np.cumsum(counts) - counts
    rest = terms[0]
    size = np.maximum(rest.max(axis=-1, keepdims=True), -rest.min(axis=-1, keepdims=True))
    exponent = np.frexp(size)[1]
    sums: Pair = pair_of(np.zeros((*rest.shape[:-1], len(counts))))
    for level in range(levels):
        anchor = np.ldexp(1.5, exponent - (GRID_BITS + 1) * level + 52 - GRID_BITS)
        on_grid = (rest + anchor) - anchor
        rest = rest - on_grid
        sums = add(sums, pair_of(np.add.reduceat(on_grid, starts, axis=-1)))
    if any(terms[1].strides):
        sums = add(sums, pair_of(np.add.reduceat(terms[1], starts, axis=-1)))
    return sums


def total(terms: Doubles) -> float:
    """The sum of all numbers, rounded once up to 2^-90 of the largest."""
    size = terms.shape[-1]
    if size == 0:
        return 0.0
    starts = np.arange(0, size, LONGEST_RUN)
    high, low = group_sums(pair_of(terms), np.diff(np.r_[starts, size]))
    return math.fsum([*high.tolist(), *low.tolist()])


def _columns(part: Doubles, chunks: int, length: int) -> Doubles:
    """The numbers in `chunks` columns of `length`, read down the columns, padded with zeros."""
    padded = np.zeros(chunks * length)
    padded[: len(part)] = part
    return np.ascontiguousarray(padded.reshape(chunks, length).T)
