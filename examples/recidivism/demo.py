"""The main job, from a query to an approved, charged, released result, as a tutorial.

The data are the Rossi recidivism data (432 people released from Maryland prisons in the 1970s),
loaded from the package lifelines, which ships them under the MIT licence.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUT = HERE / "out"


def say(text: str) -> None:
    """Print a paragraph of the tutorial."""
    print(f"\n{text.strip()}\n", flush=True)


def dpql(*arguments: str, expect: int = 0, most: int = 0) -> str:
    """Print a command, run it, print what it says (at most `most` lines); its standard output.

    Stops the demonstration where the exit status is not the expected one.
    """
    print(f"$ dpql {shlex.join(arguments)}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "dpql", *arguments],
        cwd=OUT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},  # both streams in the order of writing
    )
    lines = done.stdout.splitlines()
    shown = lines[:most] if most else lines
    if shown:
        print("\n".join(shown))
    if len(shown) < len(lines):
        print(f"... ({len(lines) - len(shown)} more lines)")
    print(flush=True)
    if done.returncode != expect:
        sys.exit(f"the command ended with {done.returncode}, expected was {expect}")
    return done.stdout


def prepare() -> None:
    """An empty folder with the query and the data."""
    from lifelines.datasets import load_rossi

    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    shutil.copy(HERE / "recidivism.dpql", OUT)
    load_rossi().to_parquet(OUT / "rossi.parquet")


def main() -> None:
    """Play all parts: analyst, custodian, board."""
    prepare()
    say(
        "DPQL, from a question to a released answer. Three people take part: an analyst, who asks;"
        "\na custodian, who answers for the data; a member of a board, who must agree.\n\n"
        "1. The analyst writes a query. No row is needed for that, and none is read."
    )
    print((OUT / "recidivism.dpql").read_text())
    dpql("check", "recidivism.dpql")
    say("Nothing was found, so nothing was printed. What will it cost, and is it worth it?")
    dpql("plan", "recidivism.dpql", "-o", "plan.json")

    say(
        "2. The custodian opens a ledger: how many rows there are, where they lie, what may be\n"
        "spent on these people in all, and who has to agree. First the reviewer makes a key pair."
    )
    said = dpql("key", "new", "okafor.pem").splitlines()
    public = next(line for line in said if line.startswith("ed25519:"))
    dpql(
        "ledger",
        "open",
        "rossi",
        "--ledger",
        "ledger.db",
        "--rows",
        "432",
        "--cap",
        "mu=2.5",
        "--data",
        "rossi.parquet",
        "--require-approvals",
        "1",
        "--reviewer",
        f"Dr Okafor={public}",
    )

    say("3. The analyst tries to run the plan before anyone has agreed.")
    run = ["run", "plan.json", "--data", "rossi=rossi.parquet", "--ledger", "ledger.db"]
    dpql(*run, expect=1)
    say(
        "Refused, and the data was not touched. The reviewer checks the plan's arithmetic with an\n"
        "independent program, then signs the plan's hash: this plan and no other."
    )
    dpql("certificate", "verify", "plan.json")
    dpql("report", "plan.json", "-o", "review.html")
    dpql("approve", "plan.json", "--key", "okafor.pem", "--as", "Dr Okafor", "-o", "approval.json")

    say("4. Now it runs: the ledger is charged first, then the data is read, then noise is drawn.")
    dpql(*run, "--approval", "approval.json", "--out", "releases")
    dpql("ledger", "show", "--ledger", "ledger.db")

    say("5. The same plan again gives the same answer, and costs nothing: it was paid for.")
    dpql(*run, "--approval", "approval.json", most=8)

    say(
        "6. A hungrier variant. The file's own budget stops it in `check`; without that budget,\n"
        "the ledger would, since what is spent stays spent."
    )
    text = (OUT / "recidivism.dpql").read_text()
    (OUT / "hungry.dpql").write_text(text.replace("BUDGET eps=2", "BUDGET eps=4"))
    dpql("check", "hungry.dpql", expect=1)
    (OUT / "second.dpql").write_text(
        text.replace("BUDGET eps=2", "BUDGET eps=3").replace("BUDGET mu=2.5", "")
    )
    dpql("approve", "second.dpql", "--key", "okafor.pem", "--as", "Dr Okafor", "-o", "second.json")
    second = ["run", "second.dpql", *run[2:], "--approval", "second.json"]
    dpql(*second, expect=1)

    say("7. Anyone may check that the record is whole: every entry, sum and certificate.")
    dpql("ledger", "verify", "--ledger", "ledger.db")
    say(f"Everything that was written lies in {OUT.relative_to(HERE.parents[1])}/.")


if __name__ == "__main__":
    main()
