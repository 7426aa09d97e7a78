"""Leaves: the worst pair of laws behind each draw of noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast

from grammar.source import Span
from planner.calculus.exact import exact, number, positive, text

__all__ = ["CAP_MAY_DRAW", "SEARCH_FACTOR", "Draft", "Kind", "Leaf", "Loss", "Priced"]

Kind: TypeAlias = Literal["pure", "lap", "gauss", "br", "dgauss", "gdp", "zcdp", "adp"]

_SCALED = ("pure", "lap", "gauss", "br", "dgauss")
_DECLARED = ("pure", "gdp", "zcdp", "adp")
_NAMES: dict[Kind, str] = {
    "pure": "eps0",
    "lap": "eps0",
    "br": "eta",
    "gauss": "mu",
    "dgauss": "mu",
    "gdp": "mu",
    "zcdp": "rho",
    "adp": "eps0",
}
CAP_MAY_DRAW: dict[Kind, tuple[Kind, ...]] = {
    "pure": ("pure", "lap", "br"),
    "gdp": ("pure", "lap", "br", "gauss", "dgauss", "gdp"),
    "zcdp": ("pure", "lap", "br", "gauss", "dgauss", "gdp", "zcdp"),
}
"""Which leaves a filter may draw under a cap of each kind: those that convert to its unit."""

LEAST_INTEGER_SCALE = 1024

SEARCH_FACTOR = 4
"""The factor of a `pure` leaf that pays for the first score above a threshold: 4 D / scale."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One release's worst pair of laws: its kind fixes how `param` is read.

    `sensitivity` is that of ONE person replaced (lap: L1, gauss: L2, br and pure: L-infinity,
    dgauss: L2 in grid steps), `scale` the noise's b, sigma, Gumbel scale or integer scale. Made by
    the constructors only: `param` (eps0, eta, mu or rho) follows from the two, and a leaf whose
    parameter is another is a ValueError. `count` draws are fixed before data access.
    """

    kind: Kind
    count: int
    sensitivity: Fraction | None
    scale: Fraction | None
    param: Fraction
    delta: Fraction = Fraction(0)
    width: int = 1
    role: str = ""
    factor: int = 1
    of: tuple[Kind, ...] = ()
    dataset: str = ""
    site: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    def lap(cls, sensitivity: Fraction | int, scale: Fraction | int, **more: Any) -> Leaf:
        """Laplace noise of scale b on a vector of L1 sensitivity D1: eps0 = D1/b."""
        return cls._scaled("lap", sensitivity, scale, more)

    @classmethod
    def gauss(cls, sensitivity: Fraction | int, sigma: Fraction | int, **more: Any) -> Leaf:
        """Gaussian noise of standard deviation sigma, L2 sensitivity D2: mu = D2/sigma."""
        return cls._scaled("gauss", sensitivity, sigma, more)

    @classmethod
    def br(cls, sensitivity: Fraction | int, scale: Fraction | int, **more: Any) -> Leaf:
        """Gumbel noise of scale s on scores of sensitivity D, largest taken: range eta = 2D/s."""
        return cls._scaled("br", sensitivity, scale, more)

    @classmethod
    def pure(
        cls, sensitivity: Fraction | int, scale: Fraction | int, factor: int = 1, **more: Any
    ) -> Leaf:
        """Any draw with log-ratios within eps0 = factor D/scale (permute-and-flip: factor 2)."""
        return cls._scaled("pure", sensitivity, scale, {**more, "factor": factor})

    @classmethod
    def dgauss(cls, sensitivity: Fraction | int, scale: Fraction | int, **more: Any) -> Leaf:
        """Discrete Gaussian noise on the integers, scale s >= 1024: mu = (D/s)(1 + 1/(20 s^2))."""
        return cls._scaled("dgauss", sensitivity, scale, more)

    @classmethod
    def cap(cls, kind: Kind, value: Fraction | int, of: tuple[Kind, ...], **more: Any) -> Leaf:
        """The reserve of a filter: at most `value` (eps, mu, rho) over draws of the kinds `of`."""
        more = {"count": 1, **more, "role": "cap", "of": tuple(of)}
        return cls(
            kind=kind, sensitivity=None, scale=None, param=positive(value, _names(kind)), **more
        )

    @classmethod
    def declared(
        cls, kind: Kind, value: Fraction | int, delta: Fraction | int = 0, **more: Any
    ) -> Leaf:
        """A guarantee taken from elsewhere: gdp (mu), zcdp (rho), pure (eps), adp (eps, delta).

        It is that of one row replaced; `planner.calculus.group` makes it that of a person.
        An adp with delta 0 becomes pure.
        """
        part = exact(delta)
        if kind == "adp" and part == 0:
            kind = "pure"
        if kind not in _DECLARED:
            raise ValueError(f"`{kind}` needs a sensitivity, so it cannot be declared")
        more = {"count": 1, **more}
        return cls(
            kind=kind,
            sensitivity=None,
            scale=None,
            param=positive(value, _names(kind)),
            delta=part,
            **more,
        )

    @classmethod
    def _scaled(
        cls, kind: Kind, sensitivity: Fraction | int, scale: Fraction | int, more: dict[str, Any]
    ) -> Leaf:
        moved = positive(sensitivity, "a sensitivity")
        noise = positive(scale, "a noise scale")
        more = {"count": 1, **more}
        param = _param(kind, moved, noise, more.get("factor", 1))
        return cls(kind=kind, sensitivity=moved, scale=noise, param=param, **more)

    def json(self) -> dict[str, Any]:
        """The leaf as a plan holds it: counts are ints, exact numbers are text."""
        params = {_NAMES[self.kind]: text(self.param)}
        if self.kind == "adp":
            params["delta"] = text(self.delta)
        return {
            "kind": self.kind,
            "count": self.count,
            "params": params,
            "sensitivity": None if self.sensitivity is None else text(self.sensitivity),
            "scale": None if self.scale is None else text(self.scale),
            "width": self.width,
            "role": self.role,
            "factor": self.factor,
            "of": list(self.of),
            "dataset": self.dataset,
            "site": self.site,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Leaf:
        """The leaf that `json` wrote; ValueError or TypeError where the parts do not agree."""
        kind = cast(Kind, value["kind"])
        params = value["params"]
        return cls(
            kind=kind,
            count=value["count"],
            sensitivity=_maybe(value["sensitivity"]),
            scale=_maybe(value["scale"]),
            param=number(params[_names(kind)]),
            delta=number(params["delta"]) if kind == "adp" else Fraction(0),
            width=value["width"],
            role=value["role"],
            factor=value["factor"],
            of=tuple(value["of"]),
            dataset=value["dataset"],
            site=value["site"],
        )


@dataclass(frozen=True, slots=True)
class Loss:
    """What a statement draws: its leaves, never none."""

    leaves: tuple[Leaf, ...]

    def __post_init__(self) -> None:
        if not self.leaves:
            raise ValueError("a statement without a leaf would be free")


@dataclass(frozen=True, slots=True)
class Draft:
    """A leaf as it follows from a declared cost, before any sensitivity: a parameter, no scale.

    `param` is an upper bound of the parameter that the solved leaf will have. For gauss, dgauss
    and gdp, `mu_squared` is its square without the rounding of the root.
    """

    kind: Kind
    count: int
    param: Fraction
    mu_squared: Fraction | None = None
    role: str = ""
    of: tuple[Kind, ...] = ()
    dataset: str = ""
    site: str | None = None


Priced: TypeAlias = Leaf | Draft
"""What has a cost: a solved leaf, or one known by its declared cost only."""


def _param(kind: Kind, moved: Fraction, noise: Fraction, factor: int) -> Fraction:
    """The parameter of a leaf with a scale, exactly."""
    ratio = moved / noise
    if kind == "br":
        return 2 * ratio
    if kind == "pure":
        return factor * ratio
    if kind == "dgauss":
        return ratio * (1 + 1 / (20 * noise * noise))
    return ratio


def _names(kind: Kind) -> str:
    name = _NAMES.get(kind)
    if name is None:
        raise ValueError("no such kind of leaf")
    return name


def _maybe(written: str | None) -> Fraction | None:
    return None if written is None else number(written)


def _whole(value: object, name: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} of a leaf is an int")
    if value < 1:
        raise ValueError(f"{name} of a leaf is at least 1")


def _check(leaf: Leaf) -> None:
    """Raise unless the parts of a leaf agree with each other."""
    _names(leaf.kind)
    for value, name in ((leaf.count, "count"), (leaf.width, "width"), (leaf.factor, "factor")):
        _whole(value, name)
    if not isinstance(leaf.param, Fraction) or not isinstance(leaf.delta, Fraction):
        raise TypeError("the parameters of a leaf are Fractions")
    positive(leaf.param, _NAMES[leaf.kind])
    if leaf.factor != 1 and (leaf.kind != "pure" or leaf.scale is None):
        raise ValueError("only a pure leaf with a scale has a factor")
    if (0 < leaf.delta < 1) != (leaf.kind == "adp") or (leaf.kind != "adp" and leaf.delta != 0):
        raise ValueError("delta lies in (0, 1) for an adp leaf, is 0 for any other")
    if leaf.role == "cap":
        _check_cap(leaf)
    elif leaf.of:
        raise ValueError("only a cap names kinds")
    _check_scale(leaf)


def _check_cap(leaf: Leaf) -> None:
    allowed = CAP_MAY_DRAW.get(leaf.kind)
    if allowed is None:
        raise ValueError("a cap is pure, gdp or zcdp")
    if not leaf.of or not set(leaf.of) <= set(allowed):
        raise ValueError(f"a {leaf.kind} cap draws only {', '.join(allowed)}")
    if leaf.count != 1 or leaf.scale is not None:
        raise ValueError("a cap has count 1 and no scale")


def _check_scale(leaf: Leaf) -> None:
    if leaf.sensitivity is None or leaf.scale is None:
        if leaf.sensitivity is not leaf.scale or leaf.kind not in _DECLARED:
            raise ValueError(f"a {leaf.kind} leaf needs a sensitivity with a scale")
        return
    if leaf.kind not in _SCALED:
        raise ValueError(f"a {leaf.kind} leaf has no scale")
    moved = positive(leaf.sensitivity, "a sensitivity")
    noise = positive(leaf.scale, "a noise scale")
    if leaf.kind == "dgauss" and (noise.denominator != 1 or noise < LEAST_INTEGER_SCALE):
        raise ValueError(f"the integer scale of a dgauss leaf is at least {LEAST_INTEGER_SCALE}")
    if leaf.param != _param(leaf.kind, moved, noise, leaf.factor):
        raise ValueError("the parameter of a leaf does not follow from its sensitivity")
