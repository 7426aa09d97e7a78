"""From a table of log e-values to the released ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from executors.mechanisms.peel.breakeven import aims
from executors.mechanisms.peel.cost import query
from executors.mechanisms.peel.design import Design, asserted, grid_of
from executors.mechanisms.peel.params import EvaluesParams
from executors.mechanisms.peel.report import outcome
from executors.noise import StatementNoise
from executors.pricing.allowance import Allowance
from executors.pricing.evalues import centering_steps, sensitivity_steps
from executors.release import NoiseNote, Outcome
from executors.summaries.log_evalues import LogEvalues
from planner.calculus.leaves import Leaf, Loss
from planner.facts import Facts
from planner.mechanism import Query

__all__ = ["Peeled", "run", "size_utility"]

Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Peeled:
    """Indices in the order of selection, noisy integers x + N, their scale, all notes."""

    chosen: tuple[int, ...]
    noisy: tuple[int, ...]
    scale: int
    notes: tuple[NoiseNote, ...]


def run(
    params: EvaluesParams,
    facts: Facts,
    loss: Loss,
    stats: Callable[[Query], LogEvalues],
    noise: StatementNoise,
) -> Outcome:
    """Select, hide, test: the released log e-values are L - sigma^2 / 2 + Gaussian noise.

    Only `loss` decides about noise. Under ADAPTIVE every draw is charged to the filter first.
    """
    table = stats(query(params, facts)).aligned()
    draw = _adaptive if params.adaptive else _fixed
    peeled = draw(params, facts, loss, table.x, noise)
    grid = grid_of(params)
    centre = centering_steps(peeled.scale, grid)
    return outcome(
        params,
        names=tuple(table.name(index) for index in peeled.chosen),
        log_evalues=tuple((noisy - centre) / (1 << grid) for noisy in peeled.noisy),
        sigma=peeled.scale / (1 << grid),
        hypotheses=facts.rows,
        notes=peeled.notes,
    )


def _fixed(
    params: EvaluesParams, facts: Facts, loss: Loss, x: Integers, noise: StatementNoise
) -> Peeled:
    """`count` selections, then one noisy value each; all in order where there is no selection."""
    grid = grid_of(params)
    select, measure = _leaf(loss, "br"), _leaf(loss, "dgauss")
    if measure is None or measure.scale is None:
        raise ValueError("a fixed size needs a leaf for the values")
    notes = []
    chosen = list(range(len(x)))
    if select is not None and select.scale is not None:
        chosen = noise.select(select, x, sensitivity_steps(asserted(facts), grid))
        notes.append(_selection_note(select.scale, "select"))
    noisy = noise.dgauss(measure, [int(x[index]) for index in chosen])
    scale = int(measure.scale)
    notes.append(NoiseNote("discrete_gaussian", scale / (1 << grid), "measure"))
    return Peeled(tuple(chosen), tuple(noisy), scale, tuple(notes))


def _adaptive(
    params: EvaluesParams, facts: Facts, loss: Loss, x: Integers, noise: StatementNoise
) -> Peeled:
    """One draw weighs the sizes by how near their last value is to the aim; then as fixed."""
    cap = _leaf(loss, "gdp") or _leaf(loss, "zcdp")
    if cap is None:
        raise ValueError("ADAPTIVE needs the cap of a filter")
    design = Design.of(params, facts, Allowance.behind(cap))
    filtered = noise.cap(cap)
    notes = []
    weighed = design.sizes[0]
    if design.choice is not None:
        eta = design.choice.eta()
        levels = aims(design, float(params.level), params.rule == "boosted", float(params.kappa))
        utility = size_utility(x, design.sizes, levels, design.grid)
        weighed = design.sizes[filtered.select(eta, design.steps, utility, 1)[0]]
        notes.append(_selection_note(2 * design.sensitivity / eta, "size"))
    size = design.reached(weighed)
    chosen = list(range(len(x)))
    selection = design.rounds(size).selection
    if selection is not None:
        eta = selection.eta()
        chosen = filtered.select(eta, design.steps, x, size)
        notes.append(_selection_note(2 * design.sensitivity / eta, "select"))
    scale = design.scale(size)
    noisy = filtered.dgauss(design.together(size), scale, [int(x[index]) for index in chosen])
    notes.append(NoiseNote("discrete_gaussian", scale / (1 << design.grid), "measure"))
    return Peeled(tuple(chosen), tuple(noisy), scale, tuple(notes))


def size_utility(
    x: Integers, sizes: tuple[int, ...], levels: tuple[float, ...], grid: int
) -> Integers:
    """-|T_s - aim(s)| in grid steps, for each size s; T_s is the s-th largest value.

    Every T_s moves by no more than a single value does, so the same sensitivity holds.
    """
    largest = sizes[-1]
    top = np.sort(np.partition(x, len(x) - largest)[len(x) - largest :])[::-1]
    ends = top[np.array(sizes) - 1]
    targets = np.array([floor(level * (1 << grid)) for level in levels], dtype=np.int64)
    distance: Integers = np.abs(ends - targets)
    return -distance


def _leaf(loss: Loss, kind: str) -> Leaf | None:
    return next((leaf for leaf in loss.leaves if leaf.kind == kind), None)


def _selection_note(scale: Fraction, role: str) -> NoiseNote:
    return NoiseNote("exponential_mechanism", float(scale), role)
