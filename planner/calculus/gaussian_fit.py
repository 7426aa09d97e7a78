"""Whether draws together are mu-GDP: their composed losses against one Gaussian pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from flint import arb, ctx

from planner.calculus.ball_arithmetic import ball, quantile_of_tail, tail, upper
from planner.calculus.convert import gdp_to_rho, laplace_to_rho, pure_to_rho, range_to_rho
from planner.calculus.discretise import Part, Pld
from planner.calculus.exact import round_up, sum_up
from planner.calculus.pld import vertices

__all__ = ["is_within", "least_mu_squared", "rho_of"]

_PRECISION = 128
_GUARD = 32
_FARTHEST = 37
_MOST_BITS = 400
_BEYOND = Fraction(10**40)
_MIDDLE = arb(2) ** -64
_NEAR = 1 + arb(2) ** -12
_RHO: dict[str, Callable[[Fraction], Fraction]] = {
    "pure": pure_to_rho,
    "lap": laplace_to_rho,
    "br": range_to_rho,
    "gdp": gdp_to_rho,
}


def rho_of(parts: Sequence[Part]) -> Fraction:
    """The zCDP cost of all parts, an upper bound."""
    return sum_up(part.count * _RHO[part.kind](part.param) for part in parts)


def is_within(losses: Pld, parts: Sequence[Part], mu_squared: Fraction) -> bool:
    """Whether the parts, composed as `losses`, are certainly mu-GDP.

    From the top down, past the vertices (B, A) of the bound of the power curve: from the first
    that lies below the curve of mu, where a bound of the tail does too, all must, down to the
    diagonal. Then the curve of mu lies above everywhere: on the tail since the bound of the tail
    stays below; between vertices since it is concave; beyond the diagonal by symmetry. Proof:
    proof.md, "Joint mu". Tests: test_calculus_joint.py.
    """
    with ctx.workprec(_PRECISION):
        edge, mu, covered = _Tail(parts), ball(mu_squared).sqrt(), False
        for above, below in _shares(losses):
            room = tail(quantile_of_tail(below) - mu)
            fine = bool(above <= room)
            if covered and not fine:
                return False
            covered = covered or (fine and bool(edge.power(below) <= room))
            if covered and above + below >= 1:
                return True
    return False


def least_mu_squared(losses: Pld, parts: Sequence[Part]) -> tuple[Fraction, int]:
    """About the least mu squared that `is_within` accepts, with the bits that would allow less.

    An estimate: whoever claims it asks `is_within`. The bits are those of `losses` where the tail
    does not decide: then the middle of the curve does, which no unit of mass can lower. Where no
    rate of false alarms is told from 0, as for losses of thousands, more than any cost is said.
    """
    with ctx.workprec(_PRECISION):
        edge, best, from_tail = _Tail(parts), arb("inf"), False
        body, middle = arb(0), arb(0)
        for above, below in reversed(list(_to_diagonal(losses))):
            if not above < 1:
                continue
            at = quantile_of_tail(below)
            body = body.max(at - quantile_of_tail(above))
            if above > _MIDDLE:
                middle = body
            power = edge.power(below)
            beyond = at - quantile_of_tail(power) if power < 1 else arb("inf")
            if beyond.max(body) < best:
                best, from_tail = beyond.max(body), bool(beyond > body)
            if beyond <= body or not body < best:
                break
        if not best.is_finite():
            return _BEYOND, losses.bits
        bits = edge.bits(middle * _NEAR) if from_tail else losses.bits
        return round_up(upper(best * best)), bits


class _Tail:
    """Bounds of the power of any test at a small rate of false alarms.

    By the bounded draws' eps total E beside the Gaussian ones, e^E Q(z - mu) at the rate Q(z); by
    rho, e^-(sqrt(-log rate) - sqrt rho)^2.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        bounded = [part.count * part.param for part in parts if part.kind != "gdp"]
        gaussian = [part.count * part.param for part in parts if part.kind == "gdp"]
        self._factor = ball(sum_up(bounded)).exp()
        self._mu = ball(sum_up(gaussian)).sqrt()
        self._rho = ball(rho_of(parts))

    def power(self, rate: arb) -> arb:
        by_eps = self._factor * tail(quantile_of_tail(rate) - self._mu)
        size = -rate.log()
        if not size > self._rho:
            return by_eps
        gap = size.sqrt() - self._rho.sqrt()
        return by_eps.min((-(gap * gap)).exp())

    def bits(self, mu: arb) -> int:
        """About how small a unit of mass must be for the tail to stay below the curve of mu."""
        for at in range(2, _FARTHEST):
            if self.power(tail(arb(at))) <= tail(at - mu):
                break
        return min(_MOST_BITS, at * at * 3 // 4 + 2 * _GUARD)


def _shares(losses: Pld) -> Iterator[tuple[arb, arb]]:
    """The vertices as probabilities."""
    unit = arb(2) ** -losses.bits
    for _, above, below in vertices(losses):
        yield above * unit, below * unit


def _to_diagonal(losses: Pld) -> Iterator[tuple[arb, arb]]:
    for above, below in _shares(losses):
        yield above, below
        if above + below >= 1:
            return
