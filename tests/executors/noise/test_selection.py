"""The grouped exponential mechanism: exact range, exact law, millions of candidates."""

import itertools
import math
import secrets
from dataclasses import dataclass, replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from executors.noise.sampler import OsSampler
from executors.noise.selection import Ladder, _Candidates, _coarse, ladder, select

ETAS = [Fraction(1, 2), Fraction(2), Fraction(8), Fraction(1, 100)]


def weights_of(scores, design, kind=_Candidates, without=()):
    """The exact weight of each candidate still in, after `without` were picked in that order."""
    candidates = kind(_coarse(np.array(scores), design.divisor))
    for picked in without:
        places = np.flatnonzero(candidates._order == picked)
        group = int(np.searchsorted(candidates._starts, places[0], side="right")) - 1
        candidates._take(group, int(places[0] - candidates._starts[group]))
    groups, masses, far = candidates.weigh(design)
    weights = {}
    for group, mass in zip(groups, masses):
        count = int(candidates._counts[group])
        start = int(candidates._starts[group])
        for index in candidates._order[start : start + count]:
            weights[int(index)] = Fraction(mass, count)
    left = set(range(len(scores))) - set(weights) - set(without)
    assert len(left) == far
    deepest = Fraction(design.weight(design.depth)) if left else None
    return weights | dict.fromkeys(left, deepest)


LOGS = {}


def log(value):
    if value not in LOGS:
        LOGS[value] = mpmath.log(mpmath.mpf(value.numerator) / value.denominator)
    return LOGS[value]


def spread(first, second):
    """The range of the log-ratios over the candidates; the normaliser cancels."""
    ratios = [log(first[index]) - log(second[index]) for index in first]
    return max(ratios) - min(ratios)


def worst_range(design, top, moves, kind=_Candidates, count=3, rounds=2):
    """The largest spread over all small scores, all their neighbours, the first draws."""
    mpmath.mp.dps = 30
    worst = mpmath.mpf(0)
    known = {}

    def weights(scores, without):
        if (scores, without) not in known:
            known[scores, without] = weights_of(scores, design, kind, without)
        return known[scores, without]

    for scores in itertools.product(range(top), repeat=count):
        for move in itertools.product(moves, repeat=count):
            other = tuple(score + step for score, step in zip(scores, move))
            for without in [(), *(((index,)) for index in range(count) if rounds > 1)]:
                worst = max(worst, spread(weights(scores, without), weights(other, without)))
    return worst


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("sensitivity", [1, 2])
def test_the_range_never_passes_eta_on_any_neighbours(eta, sensitivity):
    design = ladder(eta, sensitivity)
    worst = worst_range(design, 5, (-sensitivity, 0, sensitivity))
    assert float(eta) * 0.999 < worst <= mpmath.mpf(eta.numerator) / eta.denominator


@pytest.mark.parametrize("depth", [1, 3])
def test_the_range_holds_across_the_depth(depth):
    """A shallow ladder, so that small scores lie beyond it."""
    design = replace(ladder(Fraction(1), 1), depth=depth)
    assert worst_range(design, 6, (-1, 0, 1)) <= 1


def test_the_range_holds_on_the_coarse_grid():
    """D = 5 on two levels: G = 3, D' = 2."""
    design = ladder(Fraction(1, 16), 5)
    assert (design.divisor, design.sensitivity) == (3, 2)
    assert worst_range(design, 9, (-5, 0, 5), count=2) <= Fraction(1, 16)


@dataclass(frozen=True)
class OffByOne(Ladder):
    """A mutant: what lies beyond the depth counts as one level deeper than the depth."""

    def weight(self, level):
        return Ladder.weight(self, level + (level == self.depth))


class Fixed(_Candidates):
    """A mutant that measures levels from the first maximum for ever."""

    def weigh(self, design):
        best = int(self._values[-1])
        groups = range(len(self._values) - 1, -1, -1)
        levels = [min(best - int(self._values[group]), design.depth) for group in groups]
        counts = [int(self._counts[group]) for group in groups]
        return groups, [n * design.weight(level) for n, level in zip(counts, levels)], 0


def test_half_the_scale_is_caught():
    design = ladder(Fraction(1), 1)
    assert worst_range(replace(design, kappa=2 * design.kappa), 4, (-1, 0, 1)) > 1


def test_a_depth_that_is_one_off_is_caught():
    design = replace(ladder(Fraction(1), 1), depth=2)
    assert worst_range(design, 6, (-1, 0, 1)) <= 1
    parts = (design.divisor, design.sensitivity, design.kappa, design.depth, design.tau)
    assert worst_range(OffByOne(*parts, design.bits), 6, (-1, 0, 1)) > 1


def gap(kind):
    """How often the second-best comes second, when the best is 100 scales ahead of it."""
    eta, sensitivity = Fraction(1, 10), 1 << 30
    scale = 2 * sensitivity * 10
    scores = np.array([0] * 50 + [100 * scale, 200 * scale], dtype=np.int64)
    design, sampler, hits = ladder(eta, sensitivity), OsSampler(), 0
    for _ in range(200):
        candidates = kind(_coarse(scores, design.divisor))
        picked = [candidates.draw(sampler, design) for _ in range(2)]
        assert picked[0] == 51
        hits += picked[1] == 50
    return hits


def test_the_second_pick_is_right_after_a_gap_of_a_hundred_scales():
    assert gap(_Candidates) == 200


def test_levels_that_are_not_based_anew_are_caught():
    assert gap(Fixed) < 100


def test_every_weight_is_within_its_error_and_the_errors_are_paid_for():
    mpmath.mp.dps = 60
    for eta in [*ETAS, Fraction(1, 10**16), Fraction(1, 10**9), Fraction(1000)]:
        for sensitivity in (1, 7, 1 << 40):
            design = ladder(eta, sensitivity)
            kappa = mpmath.mpf(design.kappa.numerator) / design.kappa.denominator
            tau = mpmath.mpf(design.tau.numerator) / design.tau.denominator
            for level in {0, 1, design.depth // 2, design.depth}:
                exact = mpmath.mpf(2) ** design.bits * mpmath.exp(-kappa * level)
                assert abs(design.weight(level) - exact) <= tau * exact
            claim = 2 * design.sensitivity * kappa + 2 * mpmath.log((1 + tau) / (1 - tau))
            assert claim <= mpmath.mpf(eta.numerator) / eta.denominator
            assert design.depth * design.kappa >= 60


@pytest.mark.parametrize("eta", [*ETAS, Fraction(1, 3), Fraction(1, 1000)])
def test_the_noise_is_hardly_larger_than_ideal(eta):
    """For fine scores: at most 1 + J / D times the ideal 2 D / eta, J = max(1, ceil(32 eta))."""
    sensitivity = 1 << 40
    design = ladder(eta, sensitivity)
    noise = design.divisor / design.kappa
    assert 1 <= noise / (2 * sensitivity / eta) < 1 + Fraction(1, 10**6)


def chi_square(counts, law, draws):
    return sum((counts[key] - draws * p) ** 2 / (draws * p) for key, p in law.items())


def softmax_pairs(scores, scale):
    """The exact law of the first two picks without replacement."""
    weights = [math.exp(score / scale) for score in scores]
    total = sum(weights)
    return {
        (a, b): weights[a] / total * weights[b] / (total - weights[a])
        for a in range(len(scores))
        for b in range(len(scores))
        if a != b
    }


def test_ordered_pairs_follow_the_exact_softmax():
    """Five candidates, 20 ordered pairs, 20,000 draws; chi-square(19) above 90 is below 1e-10."""
    sensitivity, eta, draws = 1 << 30, Fraction(1), 20_000
    scale = 2 * sensitivity
    scores = np.array([0, scale // 2, scale, scale // 3, 3 * scale // 2], dtype=np.int64)
    law = softmax_pairs([float(score) for score in scores], scale)
    sampler, counts = OsSampler(), dict.fromkeys(law, 0)
    for _ in range(draws):
        counts[tuple(select(sampler, eta, sensitivity, scores, 2))] += 1
    assert chi_square(counts, law, draws) < 90
    wrong = softmax_pairs([float(score) for score in scores], scale / 2)
    assert chi_square(counts, wrong, draws) > 1000


def test_two_candidates_have_gumbel_frequencies_and_not_those_of_permute_and_flip():
    """Scores 0 and 1, noise scale 1: Gumbel picks the better with 0.7311, the other law 0.8161."""
    sensitivity, draws = 1 << 30, 20_000
    sampler = OsSampler()
    scores = np.array([0, sensitivity], dtype=np.int64)
    hits = sum(select(sampler, Fraction(2), sensitivity, scores, 1)[0] for _ in range(draws))
    p = 1 / (1 + math.exp(-1))
    assert abs(hits / draws - p) < 7 * math.sqrt(p * (1 - p) / draws)
    assert abs(hits / draws - (1 - math.exp(-1) / 2)) > 7 * math.sqrt(p * (1 - p) / draws)


def test_equal_scores_are_drawn_evenly_also_far_below():
    """Members of one level, of a clipped one too, are drawn by their count."""
    sampler, draws = OsSampler(), 20_000
    counts = [0] * 6
    for _ in range(draws):
        counts[select(sampler, Fraction(1), 1, [5] * 6, 1)[0]] += 1
    assert chi_square(dict(enumerate(counts)), dict.fromkeys(range(6), 1 / 6), draws) < 60
    design = replace(ladder(Fraction(1), 1), depth=1)
    counts = [0] * 4
    for _ in range(draws):
        candidates = _Candidates(np.array([-50, -70, 0, -50]))
        counts[candidates.draw(sampler, design)] += 1
    assert max(abs(counts[i] - counts[j]) for i in (0, 1, 3) for j in (0, 1, 3)) < 7 * math.sqrt(
        2 * max(counts)
    )


def test_all_candidates_can_be_drawn_each_once():
    sampler = OsSampler()
    for scores in ([3], [1, 1, 1], [10**6, 0, -(10**6), 5], list(range(40))):
        assert sorted(select(sampler, Fraction(1, 2), 3, scores, len(scores))) == list(
            range(len(scores))
        )


def test_scores_of_any_size_are_taken():
    sampler = OsSampler()
    edge = 2**63
    assert select(sampler, Fraction(1), 1, [edge - 1, -edge, 0], 1) == [0]
    assert select(sampler, Fraction(1), 1 << 70, [0, 10**30, 1], 1) == [1]
    assert select(sampler, Fraction(1), 1, np.array([0, 200], dtype=np.uint8), 1) == [1]
    assert select(sampler, Fraction(1, 10**6), 1 << 20, [0, 1 << 60], 1) == [1]


@pytest.mark.parametrize("scores", [[0.5, 1.0], [[1, 2]], [True, False], ["a"], [None]])
def test_scores_that_are_no_integers_are_refused(scores):
    with pytest.raises((TypeError, ValueError)):
        select(OsSampler(), Fraction(1), 1, scores, 1)


@pytest.mark.parametrize("count", [0, -1, 4])
def test_more_draws_than_candidates_are_refused(count):
    with pytest.raises(ValueError):
        select(OsSampler(), Fraction(1), 1, [1, 2, 3], count)


@pytest.mark.parametrize(("eta", "sensitivity"), [(Fraction(0), 1), (Fraction(1), 0)])
def test_a_range_or_sensitivity_of_zero_is_refused(eta, sensitivity):
    with pytest.raises(ValueError):
        ladder(eta, sensitivity)


def test_a_million_candidates_are_drawn_from_their_top():
    rng = np.random.default_rng(1)
    sensitivity, eta = 1 << 40, Fraction(1, 10)
    scores = rng.exponential(20 * 2 * sensitivity * 10, 10**6).astype(np.int64)
    picked = select(OsSampler(), eta, sensitivity, scores, 50)
    assert len(set(picked)) == 50
    assert np.mean(scores[picked]) > np.quantile(scores, 0.999)


def test_the_whole_range_of_uniform_integers_is_used():
    """The sampler answers below the sum of all weights, so no candidate is out of reach."""

    class Last:
        asked = ()

        def below(self, n):
            self.asked = (*self.asked, n)
            return n - 1

    sampler = Last()
    picked = select(sampler, Fraction(1), 1, [0, 1, -(10**6)], 1)
    assert picked == [2]
    assert all(n >= 1 for n in sampler.asked)
    assert secrets.randbelow(1) == 0
