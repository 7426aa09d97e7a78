"""How long parsing takes beside a bare interpreter: run `python benchmarks/parsing.py`.

Each figure is the least CPU time of several fresh processes: a busy machine only adds to it.
"""

from __future__ import annotations

import subprocess
import sys

_REPEATS = 3
_RULE = "resource.getrusage(resource.RUSAGE_SELF)"
_REPORT = f"import resource; u = {_RULE}; print(u.ru_utime + u.ru_stime, u.ru_maxrss)"
_TEXT = '''
HEAD = """DATASET rossi
  ROWS 432
  COLUMNS (week DURATION IN [0, 52], arrest EVENT, age REAL IN [16, 60], prio REAL IN [0, 20])
  BUDGET mu=2.5
LET b0 = [0, 0, 0]
LET b1 = [-0.4, -0.03, 0.09]
"""
KINDS = (
    "TEST cox beta=b0 VS b1 ON rossi riskfloor=0.1 rule=finite event_rate=0.26 eps=1 AS t{}\\n",
    "COVARIANCE pace COLUMNS (age, prio) center=private mu=0.3 AS s{}\\n",
    "FIT lmm y ~ age + prio * week BY site eps=4, delta=1e-6 AS m{}\\n",
    "LET v{} = [1, -2.5, 3 * (4 + 1e-3)]\\n",
    "EXPECT t{}.power >= 0.15\\n",
)
text = HEAD + "".join(KINDS[i % 5].format(i) for i in range(SIZE - 3))
'''
_PARSE = """
from grammar.parser import parse
from grammar.source import Source
script, findings = parse(Source("benchmark.dpql", text))
assert len(script.statements) == SIZE and not findings
"""
_PRINT = """
from grammar.printer import print_script
print_script(script)
"""


def measure(code: str) -> tuple[float, float]:
    """CPU seconds and peak MiB of a fresh interpreter that runs `code`."""
    runs = []
    for _ in range(_REPEATS):
        done = subprocess.run(
            [sys.executable, "-c", f"{code}\n{_REPORT}"], capture_output=True, text=True, check=True
        )
        seconds, kilobytes = done.stdout.split()
        runs.append((float(seconds), float(kilobytes) / 1024))
    return min(seconds for seconds, _ in runs), min(memory for _, memory in runs)


def main() -> None:
    """Prints a row for each task: seconds, ratio to the bare interpreter, peak memory."""
    bare, memory = measure("pass")
    print(f"{'task':<34} {'CPU s':>7} {'ratio':>7} {'peak MiB':>9}")
    print(f"{'bare interpreter':<34} {bare:>7.3f} {1:>7.1f} {memory:>9.1f}")
    tasks = [("import grammar.parser", "import grammar.parser")]
    for size in (300, 10_000):
        made = f"SIZE = {size}\n{_TEXT}"
        tasks.append((f"parse {size:,} statements", made + _PARSE))
        tasks.append((f"parse and print {size:,} statements", made + _PARSE + _PRINT))
    for task, code in tasks:
        seconds, memory = measure(code)
        print(f"{task:<34} {seconds:>7.3f} {seconds / bare:>7.1f} {memory:>9.1f}")


if __name__ == "__main__":
    main()
