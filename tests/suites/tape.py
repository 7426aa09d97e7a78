"""A recorder between a mechanism and its noise: what was noised, and what came back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["Call", "Tape", "ratio"]


@dataclass(frozen=True)
class Call:
    """One use of the noise: the public arguments, the secret values, the answer."""

    method: str
    leaf: Any
    public: tuple[Any, ...]
    values: tuple[Any, ...]
    answer: Any

    @property
    def shape(self) -> tuple[Any, ...]:
        """Everything about the call that neighbours must share."""
        leaf = self.leaf
        law = None if leaf is None else (leaf.kind, leaf.sensitivity, leaf.scale, leaf.role)
        return (self.method, law, self.public, len(self.values))


def _exact(value: Any) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float | np.floating) and not math.isfinite(value):
        raise AssertionError("a value handed to the noise is not finite")
    return (
        Fraction(float(value)) if isinstance(value, float | np.floating) else Fraction(int(value))
    )


def ratio(first: Call, second: Call) -> float:
    """The distance of two calls' values over the sensitivity that was declared for them.

    L1 for Laplace, L2 for Gaussian noise, its own norm for K-norm noise, the largest difference for
    a selection; decided in exact arithmetic, so that a value above 1 is never rounded down to 1.
    """
    differences = [_exact(b) - _exact(a) for a, b in zip(first.values, second.values)]
    if not differences:
        return 0.0
    if first.method == "dgauss" and first.public:
        differences = [w * d for w, d in zip(first.public, differences, strict=True)]
    if first.method == "filter.dgauss" and len(first.public) > 2:
        differences = [w * d for w, d in zip(first.public[2:], differences, strict=True)]
    if first.method in ("select", "filter.select", "above") or first.public == ("linf",):
        square = max(abs(d) for d in differences) ** 2
    elif first.method == "lap":
        square = sum((abs(d) for d in differences), Fraction(0)) ** 2
    else:
        square = sum((d * d for d in differences), Fraction(0))
    allowed = first.leaf.sensitivity
    if first.method == "select" or first.method.startswith("filter."):
        allowed = first.public[0]
    quotient = square / Fraction(allowed) ** 2
    found = math.sqrt(quotient)
    return math.nextafter(1.0, 2.0) if quotient > 1 and found <= 1.0 else found


def _values(values: Any) -> tuple[Any, ...]:
    return tuple(np.asarray(values, dtype=object).ravel().tolist())


@dataclass
class Tape:
    """Stands for a `StatementNoise`; with `replay`, gives back another tape's answers.

    A mechanism fed with the same answers on neighbouring tables must ask the same questions, about
    values no further apart than declared, and must release the same outcome: that is what its
    privacy proof says.
    """

    inner: Any
    replay: Tape | None = None
    calls: list[Call] = field(default_factory=list)

    def _write(
        self, method: str, leaf: Any, public: tuple[Any, ...], values: Any, answer: Any
    ) -> Any:
        if self.replay is not None:
            index = len(self.calls)
            if index >= len(self.replay.calls):
                raise AssertionError("more noise was asked for than on the neighbouring table")
            answer = self.replay.calls[index].answer
        self.calls.append(Call(method, leaf, public, _values(values), answer))
        return answer

    def lap(self, leaf: Any, values: Sequence[float], *rest: Any, **named: Any) -> Any:
        public = (*rest, *sorted(named.items()))
        return self._write(
            "lap", leaf, public, values, self.inner.lap(leaf, values, *rest, **named)
        )

    def gauss(self, leaf: Any, values: Sequence[float], *rest: Any, **named: Any) -> Any:
        public = (*rest, *sorted(named.items()))
        answer = self.inner.gauss(leaf, values, *rest, **named)
        return self._write("gauss", leaf, public, values, answer)

    def knorm(self, leaf: Any, values: Sequence[float], norm: str) -> Any:
        return self._write("knorm", leaf, (norm,), values, self.inner.knorm(leaf, values, norm))

    def dgauss(
        self, leaf: Any, integers: Sequence[int], weights: Sequence[Fraction] | None = None
    ) -> Any:
        answer = self.inner.dgauss(leaf, integers, weights)
        return self._write("dgauss", leaf, () if weights is None else (*weights,), integers, answer)

    def above(self, leaf: Any, scores: Sequence[int]) -> Any:
        return self._write("above", leaf, (), scores, self.inner.above(leaf, scores))

    def select(self, leaf: Any, scores: Any, sensitivity_int: int) -> Any:
        answer = self.inner.select(leaf, scores, sensitivity_int)
        return self._write("select", leaf, (sensitivity_int,), scores, answer)

    def below(self, n: int) -> int:
        return int(self._write("below", None, (n,), (), self.inner.below(n)))

    def cap(self, leaf: Any) -> TapedFilter:
        return TapedFilter(self, leaf, self.inner.cap(leaf))

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the noise has no `{name}`")

    def of(self, leaf: Any) -> Iterator[Call]:
        """The calls that consumed this leaf."""
        return (call for call in self.calls if call.leaf is leaf or call.leaf == leaf)


@dataclass
class TapedFilter:
    """A filter whose draws are written on the tape."""

    tape: Tape
    leaf: Any
    inner: Any

    def dgauss(
        self,
        sensitivity_int: int,
        scale_int: int,
        integers: Sequence[int],
        weights: Sequence[Fraction] | None = None,
    ) -> Any:
        answer = self.inner.dgauss(sensitivity_int, scale_int, integers, weights)
        public = (sensitivity_int, scale_int, *(weights or ()))
        return self.tape._write("filter.dgauss", self.leaf, public, integers, answer)

    def select(self, eta: Fraction, sensitivity_int: int, scores: Any, k: int) -> Any:
        answer = self.inner.select(eta, sensitivity_int, scores, k)
        public = (sensitivity_int, eta, k)
        return self.tape._write("filter.select", self.leaf, public, scores, answer)

    @property
    def left(self) -> Any:
        return self.inner.left
