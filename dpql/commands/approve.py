"""`dpql approve`: a reviewer's signature over a plan's hash."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dpql.approvals import read_private_key, sign
from dpql.errors import UsageError
from dpql.failing import OK, say
from dpql.ledgers import keys_of
from dpql.output import write_json
from dpql.plan_file import read_plan, runnable

__all__ = ["run"]


def run(
    plan: Path,
    key: Path,
    signer: str | None,
    ledger_key: str | None,
    role: str,
    days: int,
    runs: int,
    output: Path | None,
) -> int:
    """Sign, and write the approval (to standard output without `output`)."""
    file = read_plan(plan)
    charged = keys_of(runnable(file))
    if ledger_key is None:
        if len(charged) != 1:
            raise UsageError(
                "the plan charges several keys, and an approval is for one",
                help="add `--ledger-key` with one of " + ", ".join(f"`{one}`" for one in charged),
            )
        ledger_key = charged[0]
    elif ledger_key not in charged:
        raise UsageError(
            f"the plan charges no key `{ledger_key}`",
            help="its keys: " + ", ".join(f"`{one}`" for one in charged),
        )
    if days < 1 or days > 3660:
        raise UsageError("an approval holds for 1 to 3660 days")
    signer = signer or key.stem
    private = read_private_key(key, _password(key))
    now = datetime.now(UTC).replace(microsecond=0)
    approval = sign(
        file.hash,
        ledger_key,
        role,
        signer,
        private,
        _instant(now),
        _instant(now + timedelta(days=days)),
        runs,
    )
    if output is None:
        print(json.dumps(approval, indent=2))
    else:
        write_json(output, approval)
        say(f"wrote {output}")
    say(f"{signer} approves plan {file.hash[:16]} against `{ledger_key}`, {runs} run(s)")
    return OK


def _instant(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _password(key: Path) -> str | None:
    """Ask for the password of a locked key; the key's own first lines say whether it is."""
    if b"ENCRYPTED" not in key.read_bytes()[:64]:
        return None
    import getpass

    return getpass.getpass(f"password of {key}: ")
