"""From a list of bins to what is noised of it, and from that to sums up to each time."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from executors.pricing.hazard import Tree, measured_numbers, root_coefficients

__all__ = ["Doubles", "measured", "prefixes", "to_prefixes"]

Doubles = npt.NDArray[np.float64]


def measured(tree: Tree, leaves: Sequence[int], step: Fraction) -> list[Fraction]:
    """What is noised, exactly: F a for `sqrt`, the sums of all nodes but the root for `haar`.

    `leaves` are whole numbers of `step`. 4^(B-1) F holds integers, so F a is one fraction whatever
    the machine. Nodes come level by level: halves, quarters, ..., the leaves.
    """
    bins = len(leaves)
    if tree == "sqrt":
        scale = 4 ** (bins - 1)
        whole = [int(f * scale) for f in root_coefficients(bins)]
        unit = step / scale
        return [
            unit * sum(whole[j - i] * leaves[i] for i in range(j + 1) if leaves[i])
            for j in range(bins)
        ]
    nodes: list[int] = []
    level = list(leaves)
    while len(level) > 1:
        nodes = level + nodes
        level = [level[i] + level[i + 1] for i in range(0, len(level), 2)]
    return [step * node for node in nodes]


def prefixes(tree: Tree, noisy: Sequence[float]) -> Doubles:
    """Sums up to the end of each bin, shape (B,), of the measured numbers with their noise."""
    bins = len(noisy) if tree == "sqrt" else len(noisy) // 2 + 1
    return to_prefixes(tree, bins) @ np.array(noisy, dtype=np.float64)


@lru_cache(maxsize=32)
def to_prefixes(tree: Tree, bins: int) -> Doubles:
    """The matrix from measured numbers to prefix sums, shape (B, m): F, or which nodes add up.

    Prefix j < B is the nodes of j's binary digits, prefix B both halves.
    """
    matrix = np.zeros((bins, measured_numbers(tree, bins)))
    if tree == "sqrt":
        coefficients = np.array([float(f) for f in root_coefficients(bins)])
        for j in range(bins):
            matrix[j, : j + 1] = coefficients[j::-1]
        return matrix
    matrix[-1, :2] = 1.0
    for j in range(1, bins):
        start = 0
        for level in range(1, bins.bit_length()):
            size = bins >> level
            if j & size:
                matrix[j - 1, 2**level - 2 + start // size] = 1.0
                start += size
    return matrix
