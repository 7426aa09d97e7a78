"""`DERIVE map = heatmap(sigma)`: what it shows, and how it is drawn."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpql.output import table_of
from executors.derivations import correlation
from executors.derivations.heatmap import DERIVATION
from executors.derivations.heatmap_run import run
from executors.derivations.pca import DERIVATION as PCA
from executors.derivations.pca_run import run as components
from executors.mechanisms.pace import MECHANISM as PACE
from executors.mechanisms.ssp import MECHANISM as SSP
from executors.plots import components as components_plot
from executors.plots.heatmap import plot, said
from executors.statistics.partial_correlations import inverse_with_ridge, partial_correlations
from executors.statistics.similar_order import similar_order
from planner.calculus.cost import Cost
from suites.covariance_tables import stored_release


def stored(mechanism: Any = SSP, columns: int = 5, **options: Any) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    rows = rng.normal(0, 0.3, (3000, columns))
    rows[:, 3] = 0.9 * rows[:, 0] + 0.4 * rows[:, 3]
    rows[:, 4] = 0.25
    return stored_release(mechanism, np.clip(rows, -1, 1), Cost("rho", Fraction(1)), 1, **options)


def shown(release: dict[str, Any], **options: Any) -> dict[str, Any]:
    found = {"name": "map", **run(DERIVATION.params(**options), release)}
    json.dumps(found, allow_nan=False)
    return found


def texts(svg: str) -> str:
    ElementTree.fromstring(svg)
    return " ".join(re.findall(r">([^<>]+)<", svg))


def test_it_shows_the_correlations_with_their_noise() -> None:
    release = stored()
    found, plain = shown(release), correlation.run(correlation.CorrelationParams(), release)
    assert found["value"]["matrix"] == plain["value"]["matrix"]
    assert found["uncertainty"] == plain["uncertainty"]
    assert all(all(row) for row in found["value"]["measured"])
    table = table_of({"kind": "derived", **found})
    assert table is not None
    assert table[0] == ["", "x0", "x1", "x2", "x3", "x4"]


def test_pairs_that_were_not_measured_are_told_apart() -> None:
    found = shown(stored(PACE, strategy="entries", rounds=2))
    measured = np.array(found["value"]["measured"])
    errors = np.array(found["uncertainty"]["standard_error"], dtype=float)
    assert measured[0, 3]
    assert not measured.all()
    assert np.isnan(errors[:4, :4][~measured[:4, :4]]).all()
    said = texts(plot(found))
    count = int(np.triu(measured, 1).sum())
    assert f"measured, with noise: {count} of 10 pairs" in said
    assert "implied by a model" in said


def test_the_picture_says_numbers_noise_and_what_is_not_available() -> None:
    found = shown(stored())
    said = texts(plot(found))
    assert f"{found['value']['matrix'][0][3]:.2f}" in said
    assert f"±{found['uncertainty']['standard_error'][0][3]:.2f}" in said
    assert said.count("NA") == 9
    assert "Grey: the variance of a column cannot be told from 0." in said
    assert "all pairs" in said
    clear = shown(stored_release(SSP, np.eye(3)[[0, 1, 2] * 20], Cost("rho", Fraction(500)), 1))
    assert "Grey" not in texts(plot(clear))


def test_the_picture_is_the_same_bytes_each_time() -> None:
    found = shown(stored())
    assert plot(found) == plot(found)


def test_many_columns_have_no_numbers_and_few_labels() -> None:
    found = shown(stored(columns=90))
    picture = plot(found)
    assert "±" not in texts(picture)
    assert len(re.findall(r"\bx\d+\b", texts(picture))) == 90  # every other one, twice
    assert len(picture) < 300_000
    assert picture == plot(found)


def test_columns_may_be_arranged_by_likeness() -> None:
    found = shown(stored(columns=6), order="similar")["value"]
    names = found["columns"]
    assert sorted(names) == [f"x{j}" for j in range(6)]
    assert abs(names.index("x0") - names.index("x3")) == 1
    given = shown(stored(columns=6))["value"]
    j, k = names.index("x0"), names.index("x3")
    assert found["matrix"][j][k] == given["matrix"][0][3]


def test_an_order_of_likeness_is_a_permutation_that_joins_blocks() -> None:
    block = np.kron(np.eye(2), np.full((3, 3), 0.7)) + 0.3 * np.eye(6)
    mixed = [0, 3, 1, 4, 2, 5]
    order = similar_order(block[np.ix_(mixed, mixed)])
    groups = [mixed[j] // 3 for j in order]
    assert sorted(order) == list(range(6))
    assert groups in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    assert similar_order(np.eye(2)) == [0, 1]


@pytest.mark.parametrize(("number", "text"), [(-0.001, "0.00"), (-0.256, "-0.26"), (1.0, "1.00")])
def test_a_zero_has_no_sign(number: float, text: str) -> None:
    assert said(number) == text


def test_components_are_drawn_with_the_edge_of_noise() -> None:
    found = {"name": "axes", **components(PCA.params(), stored())}
    said = texts(components_plot.plot(found))
    assert "edge of pure noise" in said
    assert "Loadings" in said
    many = {"name": "axes", **components(PCA.params(), stored(columns=60))}
    assert "24 largest loadings" in texts(components_plot.plot(many))
    assert components_plot.plot(many) == components_plot.plot(many)


def test_partial_correlations_are_those_of_regressions_on_all_others() -> None:
    rng = np.random.default_rng(4)
    rows = rng.normal(0, 0.25, (3000, 3))
    rows[:, 1] += 0.8 * rows[:, 0]
    rows[:, 2] += 0.8 * rows[:, 1]
    rows = np.clip(rows, -1, 1)
    release = stored_release(SSP, rows, Cost("rho", Fraction(5000)), 1)
    found = shown(release, show="partial")
    assert found["value"]["kind"] == "partial correlation"
    left = [x - np.polyval(np.polyfit(rows[:, 1], x, 1), rows[:, 1]) for x in rows[:, [0, 2]].T]
    expected = np.corrcoef(left)[0, 1]
    assert found["value"]["matrix"][0][2] == pytest.approx(expected, abs=0.02)
    assert abs(found["value"]["matrix"][0][2]) < 0.05 < found["value"]["matrix"][0][1]
    assert found["uncertainty"]["standard_error"][0][1] is None
    assert "Partial correlations" in texts(plot(found))


def test_a_search_leaves_exact_zeros_where_its_graph_has_no_edge() -> None:
    release = stored(PACE, strategy="entries", rounds=2)
    found = shown(release, show="partial")
    matrix = found["value"]["matrix"]
    edges = np.array(release["value"]["precision"])[:4, :4] != 0
    assert (np.array([row[:4] for row in matrix[:4]], dtype=float) != 0).tolist() == edges.tolist()
    assert matrix[4] == [None] * 5
    assert any("no edge" in note for note in found["notes"])


def test_partial_correlations_of_a_known_inverse() -> None:
    precision = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])
    found = partial_correlations(precision)
    assert found == pytest.approx(
        np.array([[1, 0.5, 0], [0.5, 1, -0.5 / 2**0.5], [0, -0.5 / 2**0.5, 1]])
    )
    assert inverse_with_ridge(np.eye(2), 1.0) == pytest.approx(np.eye(2) / 2)
