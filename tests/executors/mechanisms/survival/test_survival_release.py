"""What `RELEASE survival` and `RELEASE hazard` hand out, as numbers, as a table, as a picture."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from fractions import Fraction as F
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dpql.output import table_of
from executors.mechanisms.hazard.plot import plot as plot_test
from executors.mechanisms.hazard_curve import MECHANISM as HAZARD
from executors.mechanisms.hazard_curve.plot import plot as plot_hazard
from executors.mechanisms.survival import MECHANISM
from executors.mechanisms.survival.plot import plot
from planner.calculus.cost import Cost
from planner.facts import Facts
from planner.mechanism import Mechanism
from suites.hazard_cases import rows, source
from suites.samplers import FastSampler, ScriptedSampler
from suites.trial import Case, Trial, written

N = 400
SVG = "{http://www.w3.org/2000/svg}text"


def people(seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    ends, censored = rng.exponential(5, N), rng.exponential(9, N)
    return rows(np.minimum(ends, censored), ends <= censored)


def trial(mechanism: Mechanism = MECHANISM, mu: str = "2", **options: Any) -> Trial:
    params = mechanism.params(**{"bins": 8, **options})
    return Trial(mechanism, Case("one", params, Facts((source(N),), ()), Cost("mu", F(mu))))


def release(
    one: Trial, table: pa.Table, name: str = "curve", sampler: Any = None
) -> dict[str, Any]:
    _, outcome = one.run(one.stats(table), sampler or FastSampler(3))
    return {
        "name": name,
        "verb": one.mechanism.verb,
        "method": one.mechanism.method,
        "value": dict(outcome.value),
    }


def test_without_noise_it_is_the_curve_of_the_table() -> None:
    made = trial(horizon=F(6), floor=F(1, 100))
    value = release(made, people(), sampler=ScriptedSampler(lambda *_: 0))["value"]
    time, event = (column.to_numpy() for column in people().columns)
    order = np.argsort(time)
    steps = event[order] / (N - np.arange(N))
    truth = [np.exp(-steps[time[order] <= t].sum()) for t in value["time"]]
    assert value["estimate"] == pytest.approx(truth, abs=1e-4)
    assert value["at_risk"] == [int((time > t).sum()) for t in value["time"]]
    assert value["kind"] == "survival"
    assert value["reliable_to"] == 6.0


def test_the_median_is_where_the_curve_falls_to_a_half() -> None:
    value = release(trial(bins=64, tree="haar"), people())["value"]
    place = value["time"].index(value["median"])
    assert value["estimate"][place] <= 0.5 < value["estimate"][place - 1]
    assert value["median_lower"] <= value["median"]
    short = release(trial(horizon=F(1)), people())["value"]
    assert short["median"] is None


def test_a_cumulative_hazard_is_minus_the_logarithm_of_survival() -> None:
    survival = release(trial(), people())["value"]
    hazard = release(trial(HAZARD), people())["value"]
    assert hazard["estimate"] == pytest.approx(-np.log(survival["estimate"]))
    assert hazard["lower"] == pytest.approx(-np.log(survival["upper"]), abs=1e-12)
    assert hazard["kind"] == "cumulative_hazard"


@pytest.mark.parametrize(
    ("time", "event"),
    [
        (-1.0, 1.0),
        (float("nan"), 1.0),
        (float("inf"), 1.0),
        (float("-inf"), 0.0),
        (3.0, float("nan")),
        (3.0, 2.0),
        (3.0, -1.0),
        (3.0, 0.5),
    ],
)
def test_a_bad_record_counts_as_censored_at_the_start(time: float, event: float) -> None:
    made, good = trial(), people().slice(1)
    tables = [pa.concat_tables([rows([t], [e]), good]) for t, e in ((time, event), (0.0, 0.0))]
    tape, bad = made.run(made.stats(tables[0]), ScriptedSampler())
    other, empty = made.run(made.stats(tables[1]), ScriptedSampler())
    assert [call.values for call in tape.calls] == [call.values for call in other.calls]
    assert written(bad) == written(empty)


def test_a_time_beyond_the_range_is_a_censoring_at_its_end() -> None:
    made = trial()
    good = people().slice(1)
    late, end = (
        made.run(made.stats(pa.concat_tables([rows([t], [e]), good])), ScriptedSampler())[1]
        for t, e in ((9.5, 1.0), (8.0, 0.0))
    )
    assert written(late) == written(end)


def test_two_and_one_are_no_events_and_non_events() -> None:
    """Another coding empties every record; nothing is raised."""
    table = people()
    coded = rows(table["time"], np.where(table["event"].to_numpy() == 1, 2.0, 1.5))
    made = trial()
    tape, _ = made.run(made.stats(coded), ScriptedSampler())
    assert set(tape.calls[0].values) == {0}


def test_a_table_without_events_is_released_like_any_other() -> None:
    made = trial()
    calm = rows(people()["time"], np.zeros(N))
    tape, outcome = made.run(made.stats(calm), FastSampler(1))
    other, usual = made.run(made.stats(people()), FastSampler(1))
    assert [call.shape for call in tape.calls] == [call.shape for call in other.calls]
    assert outcome.value.keys() == usual.value.keys()


def test_the_table_has_a_row_a_time() -> None:
    made = release(trial(mu="0.5"), people())
    table = table_of(made)
    assert table is not None
    assert table[0] == ["time", "estimate", "lower", "upper", "at_risk", "reliable"]
    assert len(table) == 10
    assert table[1] == [0.0, 1.0, 1.0, 1.0, N, True]
    assert [row[5] for row in table[1:]] == [
        row[0] <= made["value"]["reliable_to"] for row in table[1:]
    ]


def texts(picture: str) -> list[str]:
    """The texts in an SVG file."""
    root = ElementTree.fromstring(picture)
    return [node.text or "" for node in root.iter(SVG)]


def test_the_picture_names_its_axes_its_band_and_the_numbers_at_risk() -> None:
    made = release(trial(), people(), name="what we saw")
    said = texts(plot(made))
    for wanted in ("what we saw", "time", "Survival probability", "Number at risk (with noise)"):
        assert wanted in said
    assert "shaded: 95 % band at each time, privacy noise included" in said
    assert f"{made['value']['at_risk'][0]:,}" in said
    assert "Cumulative hazard" in texts(plot_hazard(release(trial(HAZARD), people())))
    assert plot(made) == plot(made)


def places(picture: str, wanted: list[str]) -> list[float]:
    """Where texts that are centred stand, from left to right, the first time each is met."""
    found: dict[str, float] = {}
    for node in ElementTree.fromstring(picture).iter(SVG):
        if "anchor: middle" in node.get("style", ""):
            found.setdefault(node.text or "", float(node.get("x", "nan")))
    return [found[one] for one in wanted]


@pytest.mark.parametrize(("bins", "rows", "step"), [(8, 400, 1), (24, 5000, 3), (36, 900_000, 6)])
def test_numbers_at_risk_stand_apart_below_the_marks_of_the_axis(
    bins: int, rows: int, step: int
) -> None:
    at_risk = [rows - place for place in range(bins + 1)]
    time = [float(place) for place in range(bins + 1)]
    curve = [1.0 - place / (2 * bins) for place in range(bins + 1)]
    value = {"time": time, "estimate": curve, "lower": curve, "upper": curve, "at_risk": at_risk}
    value |= {"reliable_to": time[-1], "level": 0.05, "time_column": "months"}
    picture = plot({"name": "curve", "value": value})
    shown = range(0, bins + 1, step)
    marks = places(picture, [f"{time[place]:g}" for place in shown])
    counts = places(picture, [f"{at_risk[place]:,}" for place in shown])
    assert counts == pytest.approx(marks, abs=0.5)
    assert min(np.diff(counts)) > 6.5 * len(f"{rows:,}")  # points; a figure is 5.7 wide


def test_the_picture_greys_what_is_not_reliable() -> None:
    assert "too few at risk" not in texts(plot(release(trial(horizon=F(2)), people())))
    assert "too few at risk" in texts(plot(release(trial(mu="0.1"), people())))
    nothing = release(trial(mu="0.01"), people())
    assert nothing["value"]["reliable_to"] == 0.0
    assert "too few at risk" in texts(plot(nothing))


def test_the_picture_of_two_sources_has_a_legend_and_the_verdict() -> None:
    site = {**release(trial(), people())["value"], "source": "north"}
    value = {
        "outcome": "TESTED",
        "p_value": 0.0312,
        "reliable_to": 4.0,
        "time_column": "months",
        "level": 0.05,
        "sites": [site, {**site, "source": "south"}],
    }
    said = texts(plot_test({"name": "h", "value": value}))
    assert {"h: p = 0.0312", "north", "south", "months", "too few at risk"} <= set(said)
    value |= {"outcome": "INCONCLUSIVE", "reliable_to": 0.0}
    assert "h: inconclusive" in texts(plot_test({"name": "h", "value": value}))
