"""How long a ledger takes to refuse and to admit: `python benchmarks/ledger.py [entries]`.

Goal: a refusal within 10 ms on a warm ledger. An admission includes a sync to disk.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from dpql.errors import OverBalance  # noqa: E402  (the paths above come first)
from dpql.ledger import Ledger, admission  # noqa: E402
from suites.ledger import certificate, facts, plan  # noqa: E402


def timed(action: Callable[[int], None], times: int) -> str:
    """Median and 95th percentile of wall time, median of CPU time, in milliseconds."""
    wall, busy = [], []
    for number in range(times):
        begin, cpu = time.perf_counter(), time.process_time()
        action(number)
        wall.append((time.perf_counter() - begin) * 1000)
        busy.append((time.process_time() - cpu) * 1000)
    cuts = statistics.quantiles(wall, n=20)
    return f"{statistics.median(wall):7.2f} {cuts[-1]:7.2f} {statistics.median(busy):7.2f}"


def main(entries: int) -> None:
    """Fill a ledger, then time it."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.connect(str(Path(folder) / "ledger.db"), create=True)
        ledger.open_key(facts(cap="1"))
        orders = [plan(f"1/{2 * entries}", tag=str(number)) for number in range(entries)]
        proofs = [certificate(order) for order in orders]

        def admit(number: int) -> None:
            ledger.reserve(orders[number], proofs[number])

        dear = plan("0.75")
        proof = certificate(dear)

        def refuse(number: int) -> None:
            try:
                ledger.reserve(dear, proof)
            except OverBalance:
                return
            raise AssertionError("this plan does not fit")

        print("                     median     95%     CPU  (ms)")
        print(f"admit, to disk       {timed(admit, entries)}")
        print(f"refuse, warm         {timed(refuse, 300)}")
        print(f"remaining            {timed(lambda _: ledger.remaining('trial'), 300)}")
        admission._proved.clear()  # as in a process that has admitted none of them
        begin = time.perf_counter()
        found = ledger.verify()
        seconds = time.perf_counter() - begin
        print(f"verify {entries} entries with certificates: {seconds:.2f} s, {len(found)} findings")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
