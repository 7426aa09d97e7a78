"""Jobs in processes of their own, forked from a small one without threads, to race or to be killed.

`python -m suites.processes` is that small process: it reads one JSON command a line and answers
with one line.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Processes:
    """Forks jobs, which are functions of a module `suites.<name>`, and waits for their end."""

    def __init__(self, module: str) -> None:
        path = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
        self._server = subprocess.Popen(
            [sys.executable, "-m", "suites.processes", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
        )

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()
        assert self._server.stdout is not None
        self._server.stdout.close()

    def fork(self, job: str, *args: Any) -> int:
        """Start a job; its process id."""
        return int(self._ask({"fork": job, "args": args}))

    def wait(self, pid: int) -> int:
        """Wait for a job; its exit status, or minus the signal that ended it."""
        return int(self._ask({"wait": pid}))

    def _ask(self, command: dict[str, Any]) -> Any:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(command) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())


def serve(module: str) -> None:
    """Answer commands until the input ends."""
    jobs = importlib.import_module(f"suites.{module}")
    for line in sys.stdin:
        command = json.loads(line)
        if "fork" in command:
            answer = os.fork()
            if answer == 0:
                run(getattr(jobs, command["fork"]), command["args"])
        else:
            answer = os.waitstatus_to_exitcode(os.waitpid(command["wait"], 0)[1])
        print(answer, flush=True)


def run(job: Any, args: list[Any]) -> None:
    """Run a job in the forked child and end the child, whatever happens."""
    status = 1
    try:
        os.close(0)
        os.dup2(2, 1)
        job(*args)
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1])
