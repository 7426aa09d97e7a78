"""Instants as the ledger writes them: ISO 8601, UTC, one form, so that text order is time order."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Protocol

__all__ = ["Clock", "instant", "later", "read_instant", "system_clock"]

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:Z|\+00:00)", re.ASCII
)


class Clock(Protocol):
    """Tells the time in UTC."""

    def __call__(self) -> datetime:
        """Now, with a time zone."""


def system_clock() -> datetime:
    """Now, in UTC, by this machine's clock."""
    return datetime.now(UTC)


def instant(moment: datetime) -> str:
    """`2026-11-30T03:43:51.000000Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_instant(text: str) -> datetime:
    """The instant that an ISO 8601 text in UTC names; ValueError for any other text."""
    found = _ISO.fullmatch(text)
    if found is None:
        raise ValueError(f"`{text[:40]}` is not an instant in UTC such as 2026-11-30T03:43:51Z")
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    micro = int((found[7] or "0").ljust(6, "0"))
    return datetime(year, month, day, hour, minute, second, micro, UTC)


def later(moment: datetime, hours: int) -> str:
    """The instant so many hours after `moment`."""
    return instant(moment + timedelta(hours=hours))
