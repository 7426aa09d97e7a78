"""Plans, findings and releases as a notebook shows them."""

from __future__ import annotations

import dpql
from dpql.report.html import releases_html

MATRIX = {
    "schema": "dpql/1",
    "kind": "release",
    "name": "sigma<",
    "verb": "COVARIANCE",
    "method": "ssp",
    "mock": True,
    "value": {"columns": ["a<b", "c"], "matrix": [[1.25, 0.5], [0.5, 2.0]], "mean": [0.1, 0.2]},
    "uncertainty": {"noise_sd": 0.01},
    "noise": [{"law": "discrete_gaussian", "scale": 0.01, "role": ""}],
    "notes": ["a note"],
    "tables": {"measured": {"row": list(range(60)), "value": [0.5] * 60}},
}


def test_a_matrix_is_a_table_with_its_names():
    text = releases_html([MATRIX])
    assert "<b" not in text.replace("<body", "")
    assert '<th scope="row">a&lt;b</th><td>1.25</td><td>0.5</td>' in text
    assert "NOT PRIVATE" in text
    assert "sigma&lt;: COVARIANCE ssp" in text
    assert "the first 50 of 60" in text


def test_a_derived_release_names_its_origin():
    text = releases_html(
        [{"kind": "derived", "name": "c", "function": "ebh", "of": "p", "value": {"rejected": []}}]
    )
    assert "c: ebh of p" in text


def test_findings_mark_their_place():
    found = dpql.check("DATASET a\n  ROWS 10 COLUMNS (x REAL IN [1, 0])\nCOVARIANCE ssp mu=<b>")
    text = found._repr_html_()
    assert "<b>" not in text.replace("<body>", "")
    assert "<mark>" in text
    assert "DPQL-E0" in text


def test_a_clean_check_says_so():
    found = dpql.check("DATASET a ROWS 10 COLUMNS (x REAL IN [0, 1])")
    assert "No findings" in found._repr_html_()


def test_a_plan_is_its_sheet_without_a_page():
    text = dpql.plan(
        "DATASET a ROWS 1000 COLUMNS (x REAL IN [0, 1])\nCOVARIANCE diagonal mu=0.5\n"
    )._repr_html_()
    assert "<html" not in text
    assert 'class="verdict"' in text


def test_a_curve_shows_its_plot_and_its_table():
    run = dpql.run(
        dpql.plan(
            "DATASET a ROWS 500 COLUMNS (t DURATION IN [0, 9], e EVENT)\n"
            "RELEASE survival bins=6 mu=0.5 AS curve\n"
        ),
        mock=True,
    )
    text = run._repr_html_()
    assert '<img src="data:image/svg+xml;base64,' in text
    assert 'alt="' in text
    assert '<th scope="col">estimate</th><th scope="col">lower</th>' in text
    assert text.count('<tr><th scope="row">') == 7


def test_a_matrix_comes_with_its_standard_errors_and_a_dash_for_what_is_missing():
    text = releases_html(
        [{**MATRIX, "uncertainty": {"standard_error": [[0.125, None], [None, 0.25]]}}]
    )
    assert "<caption>uncertainty: standard error</caption>" in text
    assert '<th scope="row">a&lt;b</th><td>0.125</td><td>-</td>' in text
