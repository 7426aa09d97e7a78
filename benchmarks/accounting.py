"""Certified accounting of mixed plans beside dp_accounting: `python benchmarks/accounting.py`.

Both compose the same worst pairs on the same grid (step 1/1000) and ask for eps at delta = 1e-5.
Ours is exact in integers, is written into a certificate, and is recomputed by the independent
checker; theirs is a floating-point convolution. Goals: 42 mechanisms within 1 s, 1,000 mechanisms
within 20 s, on one core, warm. Needs dp-accounting.
"""

from __future__ import annotations

import random
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable
from fractions import Fraction as F
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from dpql import checker  # noqa: E402  (the paths above come first)
from planner.calculus import grid_eps  # noqa: E402
from planner.calculus.compose import eps_at  # noqa: E402
from planner.calculus.exact import root_up, round_up  # noqa: E402
from planner.calculus.leaves import Leaf  # noqa: E402
from planner.calculus.risk import view  # noqa: E402
from suites.certificates import (  # noqa: E402
    canonical,
    certified,
    dataset,
    plan,
    reserve,
    statement,
)
from suites.opinions import composed  # noqa: E402

DELTA = F(1, 10**5)


def forty_two() -> list[Leaf]:
    """A test, twenty rounds of selection with measurement, one covariance."""
    return [
        Leaf.pure(1, 1, dataset="d"),
        *[Leaf.br(1, 20, dataset="d") for _ in range(20)],
        *[Leaf.gauss(2, 25, dataset="d") for _ in range(20)],
        Leaf.gauss(1, root_up(F(5)), dataset="d"),
    ]


def thousand(laws: int) -> list[Leaf]:
    """A thousand draws of four kinds with so many different parameters."""
    rng = random.Random(7)
    kinds = (Leaf.lap, Leaf.br, Leaf.pure, Leaf.gauss)
    made = [
        kinds[number % 4](1, F(rng.randint(4_000, 12_000), 100), dataset="d")
        for number in range(laws)
    ]
    return [made[number % laws] for number in range(1000)]


def measured(action: Callable[[], Any]) -> tuple[Any, float, float]:
    """Its result, the least CPU seconds of three runs, the peak of Python's memory in MB."""
    times = []
    for _ in range(3):
        grid_eps.on_grid.cache_clear()
        begin = time.process_time()
        result = action()
        times.append(time.process_time() - begin)
    grid_eps.on_grid.cache_clear()
    tracemalloc.start()
    action()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return result, min(times), peak


def compare(name: str, leaves: list[Leaf]) -> None:
    """Print one row a step."""
    print(f"{name}: {len(leaves)} mechanisms, delta = 1e-5")
    ours, seconds, peak = measured(lambda: eps_at(leaves, DELTA))
    theirs, theirs_seconds, theirs_peak = measured(
        lambda: composed(grouped(leaves), True, 1e-3).get_epsilon_for_delta(float(DELTA))
    )
    on_grid, grid_seconds, _ = measured(lambda: grid_eps.eps_at(parts(leaves), DELTA))
    body = plan([dataset("d")], *[statement(f"s{i}", leaf) for i, leaf in enumerate(leaves)])
    asked = reserve("adp", round_up(on_grid * (1 + F(1, 10**6)), 8), delta="0.00001")
    proof, written, written_peak = measured(lambda: certified(body, asked))
    _, checked, checked_peak = measured(lambda: checker.check(proof[0], proof[1], proof[2]))
    _, risked, _ = measured(lambda: view(leaves))

    def row(step: str, value: str, seconds: float, peak: float | None) -> None:
        memory = "" if peak is None else f"{peak:7.1f} MB"
        print(f"  {step:34}{value:>12}{seconds:8.2f} s {seconds / theirs_seconds:7.1f} x{memory}")

    row("dp_accounting, floats", f"{theirs:.6f}", theirs_seconds, theirs_peak)
    row("the grid, certified", f"{float(on_grid):.6f}", grid_seconds, None)
    row(f"least of all bounds ({ours.by})", f"{float(ours.eps):.6f}", seconds, peak)
    row("certificate written", f"{len(canonical(proof[0])) // 1024} kB", written, written_peak)
    row("certificate checked", "accepted", checked, checked_peak)
    row("risk figures with the curve", "", risked, None)


def parts(leaves: list[Leaf]) -> Any:
    """The leaves by law, as the planner groups them."""
    from planner.calculus.dominating_pairs import parts_of

    return parts_of(leaves)


def grouped(leaves: list[Leaf]) -> list[Leaf]:
    """Equal leaves counted, so that the peer may square too."""
    counts: dict[Leaf, int] = {}
    for leaf in leaves:
        counts[leaf] = counts.get(leaf, 0) + leaf.count
    make = {"lap": Leaf.lap, "br": Leaf.br, "pure": Leaf.pure, "gauss": Leaf.gauss}
    return [
        make[leaf.kind](leaf.sensitivity, leaf.scale, count=count) for leaf, count in counts.items()
    ]


def main() -> None:
    """Print three plans, then the peak memory of the process."""
    compare("plan B", forty_two())
    compare("a thousand draws of 40 laws", thousand(40))
    compare("a thousand different draws", thousand(1000))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the process {peak:.0f} MB")


if __name__ == "__main__":
    main()
