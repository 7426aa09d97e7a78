"""Cold `dpql check` in CPU seconds, beside a bare interpreter and importing opendp."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HEAD = """\
DATASET trial ROWS 10000 COLUMNS (t DURATION IN [0, 99], e EVENT, a REAL IN [0, 9], b BOOLEAN)
LET b0 = [0, 0]
LET b1 = [0.2, -0.4]
"""


def statements(count: int) -> str:
    """A file of that many statements, every second one a test."""
    lines = [
        f"TEST cox beta=b0 VS b1 level=0.0{1 + i % 9} eps=0.{1 + i % 9} AS t{i}"
        if i % 2
        else f"COVARIANCE ssp COLUMNS (a, b) mu=0.{1 + i % 9} AS c{i}"
        for i in range(count - 3)
    ]
    return HEAD + "\n".join(lines) + "\n"


def cpu(*command: str, repeats: int = 5) -> float:
    """The least CPU seconds (user and system) of a command."""
    times = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main() -> None:
    """Print seconds and ratios."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "300.dpql", Path(folder) / "10000.dpql"
        small.write_text(statements(300))
        large.write_text(statements(10_000))
        bare = cpu("-c", "pass")
        opendp = cpu("-c", "import opendp.prelude", repeats=3)
        help_ = cpu("-m", "dpql", "--help")
        few = cpu("-m", "dpql", "check", str(small))
        many = cpu("-m", "dpql", "check", str(large), repeats=2)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"bare interpreter             {bare:6.2f} CPU s")
    print(f"import opendp.prelude        {opendp:6.2f} CPU s")
    print(f"dpql --help                  {help_:6.2f} CPU s")
    print(
        f"dpql check, 300 statements   {few:6.2f} CPU s"
        f"  ({few / opendp:.2f} x opendp, {few / bare:.0f} x bare; goal 0.35 s)"
    )
    print(f"dpql check, 10,000 statements{many:6.2f} CPU s  (goal 6 s)")
    print(f"peak memory of a child       {peak:6.0f} MB")


if __name__ == "__main__":
    main()
