"""e-BH and Bonferroni on e-values of which some were released."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from executors.statistics.ebh import bonferroni, ebh, threshold
from executors.statistics.evalue_constant import log_k

values = st.lists(st.floats(-20, 40), min_size=1, max_size=12)


def test_three_of_five_are_rejected() -> None:
    logs = [math.log(e) for e in (500, 250, 140, 30, 5)]
    assert ebh(logs, 20, 0.05) == (True, True, True, False, False)


def test_the_boosted_rule_rejects_where_the_plain_one_does_not() -> None:
    released = (3.68, 2.98)
    assert ebh(released, 5, 0.05) == (False, False)
    assert ebh(released, 5, 0.05, log_k(1.2)) == (True, True)


def test_nothing_released_is_nothing_rejected() -> None:
    assert ebh((), 5, 0.05) == ()
    assert bonferroni((), 5, 0.05) == ()


@given(values, st.floats(0.001, 0.5), st.floats(-3, 0))
def test_rejections_are_those_of_the_definition(
    logs: list[float], level: float, log_constant: float
) -> None:
    m = len(logs) + 3
    decided = ebh(logs, m, level, log_constant)
    ranked = sorted(logs, reverse=True)
    fitting = [
        k for k in range(1, len(logs) + 1) if ranked[k - 1] >= threshold(m, level, k, log_constant)
    ]
    assert sum(decided) == max(fitting, default=0)
    if any(decided) and not all(decided):
        kept = [v for v, d in zip(logs, decided) if d]
        rest = [v for v, d in zip(logs, decided) if not d]
        assert min(kept) > max(rest)


@given(values, st.floats(0.001, 0.5), st.randoms())
def test_the_order_of_hypotheses_does_not_matter(
    logs: list[float], level: float, random: object
) -> None:
    order = list(range(len(logs)))
    random.shuffle(order)  # type: ignore[attr-defined]
    decided = ebh(logs, len(logs), level)
    shuffled = ebh([logs[i] for i in order], len(logs), level)
    assert shuffled == tuple(decided[i] for i in order)


@given(values, st.floats(0.001, 0.25))
def test_more_level_or_more_constant_rejects_more(logs: list[float], level: float) -> None:
    strict = ebh(logs, len(logs), level)
    assert all(a <= b for a, b in zip(strict, ebh(logs, len(logs), 2 * level)))
    assert all(a <= b for a, b in zip(strict, ebh(logs, len(logs), level, -1.0)))
    assert all(a <= b for a, b in zip(bonferroni(logs, len(logs), level), strict))


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match="level"):
        ebh((1.0,), 5, 1.0)
    with pytest.raises(ValueError, match="more values"):
        ebh((1.0, 2.0), 1, 0.05)
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="finite"):
            bonferroni((bad,), 5, 0.05)
        with pytest.raises(ValueError, match="finite"):
            ebh((1.0,), 5, 0.05, bad)


def common_shock_fdr(draws: int, sigma: float, excess: float, seed: int) -> tuple[float, float]:
    """FDR of boosted and of plain e-BH where all of 200 true nulls share one shock.

    With chance 1/E all nulls have the e-value E = exp(excess) / level, else 0. Given no shock
    nothing is rejected, so only the shocked case is drawn and then weighted by its chance.
    """
    rng = np.random.default_rng(seed)
    m, level = 200, 0.05
    height = excess - math.log(level)
    counts = np.zeros(2)
    for _ in range(draws):
        released = (height - sigma**2 / 2 - sigma * rng.standard_normal(m)).tolist()
        counts += any(ebh(released, m, level, log_k(sigma))), any(ebh(released, m, level))
    boosted, plain = counts / draws * math.exp(-height)
    return float(boosted), float(plain)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.0])
def test_a_common_shock_nearly_uses_up_the_level_and_never_breaks_it(sigma: float) -> None:
    """Recorded seed 7; 1,500 draws a point: standard error below 0.0005."""
    found = [common_shock_fdr(1500, sigma, excess, 7) for excess in (-0.1, 0.0, 0.1, 0.2, 0.3)]
    worst = max(boosted for boosted, _ in found)
    assert 0.8 * 0.05 < worst < 0.05 + 4 * 0.0005
    assert max(plain for _, plain in found) < worst


def least_fixed_cut(level: float, sigma: float) -> float:
    """log of the least threshold that holds a level for noise of this scale, fixed in advance.

    Up to sigma = phi(q) / level, q the normal quantile of the level, the worst e-value has two
    values and the constant is needed; beyond, the worst one is always 1.
    """
    q = float(ndtri(level))
    if sigma <= math.exp(-q * q / 2) / math.sqrt(2 * math.pi) / level:
        return log_k(sigma) - math.log(level)
    return -sigma * q - sigma * sigma / 2


def adversarial_size_level(border: float, small: float, large: float, by_constant: bool) -> float:
    """The chance, over `border`, that a null is rejected where an adversary sets the noise.

    The adversary chooses E and one of two noise scales jointly, with E of mean 1. By duality the
    largest chance is the least over prices p of max over (E, scale) of P(reject) - p E, plus p.
    """
    log_e = np.concatenate([[-np.inf], np.linspace(-60, 20, 8001)])
    rejects = []
    for sigma in (small, large):
        cut = log_k(sigma) - math.log(border) if by_constant else least_fixed_cut(border, sigma)
        rejects.append(ndtr((log_e - sigma**2 / 2 - cut) / sigma))
    prices = border * np.exp(np.linspace(-1, 3, 1601))
    best = min(
        max(float(np.max(reject - price * np.exp(log_e))) for reject in rejects) + price
        for price in prices
    )
    return best / border


@pytest.mark.parametrize(("large", "excess"), [(3, 1.10), (8, 1.40), (20, 1.61)])
def test_only_the_constant_survives_an_adaptive_size(large: float, excess: float) -> None:
    assert adversarial_size_level(0.05, 1, large, by_constant=True) <= 1 + 1e-9
    assert adversarial_size_level(0.05, 1, large, by_constant=False) == pytest.approx(
        excess, abs=0.006
    )
