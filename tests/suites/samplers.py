"""Samplers that only tests may use: a scripted one, a fast one, a cheating one."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from executors.noise.knorm import draw_knorm

__all__ = ["FastSampler", "HalvedSampler", "ScriptedSampler"]


@dataclass
class ScriptedSampler:
    """Answers by a script and writes down every question: (law, scale, size).

    `script(law, scale, index)` is the integer drawn; by default every draw is 0.
    """

    script: Callable[[str, int, int], int] = lambda law, scale, index: 0
    calls: list[tuple[str, int, int]] = field(default_factory=list)

    def _answer(self, law: str, scale: int, size: int) -> list[int]:
        start = self.drawn
        self.calls.append((law, scale, size))
        return [self.script(law, scale, start + i) for i in range(size)]

    @property
    def drawn(self) -> int:
        """How many integers were drawn so far."""
        return sum(size for _, _, size in self.calls)

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        return self._answer("discrete_gaussian", scale, size)

    def discrete_laplace(self, scale: int, size: int) -> list[int]:
        return self._answer("discrete_laplace", scale, size)

    def knorm(self, norm: str, rate: Fraction, width: int) -> list[int]:
        return self._answer(f"knorm_{norm}", math.ceil(1 / rate), width)

    def below(self, n: int) -> int:
        self.calls.append(("below", n, 1))
        return self.script("below", n, self.drawn - 1) % n


@dataclass
class FastSampler:
    """The laws of the real sampler from a seeded generator, for simulations only.

    Scales below 2^12 are drawn by their probability table or as differences of geometrics; above,
    a rounded double is nearer to the discrete law than any test here can see.
    """

    seed: int
    _numpy: np.random.Generator = field(init=False, repr=False)
    _python: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._numpy = np.random.default_rng(self.seed)
        self._python = random.Random(self.seed)

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        if scale >= 4096:
            drawn = np.rint(self._numpy.normal(0.0, float(scale), size))
            return [int(value) for value in drawn]
        support = np.arange(-12 * scale - 12, 12 * scale + 13)
        weights = np.exp(-(support.astype(float) ** 2) / (2.0 * scale**2))
        drawn = self._numpy.choice(support, size=size, p=weights / weights.sum())
        return [int(value) for value in drawn]

    def discrete_laplace(self, scale: int, size: int) -> list[int]:
        if scale >= 4096:
            drawn = np.rint(self._numpy.laplace(0.0, float(scale), size))
            return [int(value) for value in drawn]
        stop = -math.expm1(-1.0 / scale)
        left = self._numpy.geometric(stop, size)
        right = self._numpy.geometric(stop, size)
        return [int(value) for value in left - right]

    def knorm(self, norm: str, rate: Fraction, width: int) -> list[int]:
        if rate * 4096 > 1:
            return draw_knorm(self._python.randrange, norm, rate, width)
        if norm == "linf":
            edge = self._numpy.gamma(width + 1) / float(rate)
            drawn = np.rint(self._numpy.uniform(-edge, edge, width))
        else:
            direction = self._numpy.standard_normal(width)
            length = self._numpy.gamma(width) / float(rate)
            drawn = np.rint(direction * (length / np.linalg.norm(direction)))
        return [int(value) for value in drawn]

    def below(self, n: int) -> int:
        return self._python.randrange(n)


@dataclass
class HalvedSampler:
    """A mutant: half the noise that was asked for."""

    inner: FastSampler

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        return self.inner.discrete_gaussian(max(1, scale // 2), size)

    def discrete_laplace(self, scale: int, size: int) -> list[int]:
        return self.inner.discrete_laplace(max(1, scale // 2), size)

    def knorm(self, norm: str, rate: Fraction, width: int) -> list[int]:
        return self.inner.knorm(norm, 2 * rate, width)

    def below(self, n: int) -> int:
        return self.inner.below(n)
