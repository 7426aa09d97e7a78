"""The folder that a run writes: plan, certificate, one file a release, tables, plots."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpql.errors import UsageError
from dpql.plots import drawn

__all__ = ["file_name", "table_of", "write_json", "write_run", "write_text"]

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def write_run(
    folder: Path,
    releases: Sequence[Mapping[str, Any]],
    plan: Mapping[str, Any],
    certificate: Mapping[str, Any],
) -> tuple[Path, ...]:
    """Write `plan.json`, `certificate.json` and `releases/`; the files written, in order.

    Each file is written beside its place and renamed, so that a crash leaves no half file. Which
    files there are depends on the plan, and on whether plots can be drawn here; plots come last.
    """
    try:
        return _write_run(folder, releases, plan, certificate)
    except UsageError as failure:
        note = "what a run released is stored in its ledger, and is served again for nothing"
        raise UsageError(failure.message, note=note, help=failure.help) from failure


def _write_run(
    folder: Path,
    releases: Sequence[Mapping[str, Any]],
    plan: Mapping[str, Any],
    certificate: Mapping[str, Any],
) -> tuple[Path, ...]:
    written = [
        write_text(folder / "plan.json", _json(plan)),
        write_text(folder / "certificate.json", _json(certificate)),
    ]
    for release in releases:
        name = file_name(str(release["name"]))
        written.append(write_text(folder / "releases" / f"{name}.json", _json(release)))
        table = table_of(release)
        if table is not None:
            written.append(write_text(folder / "releases" / f"{name}.csv", _csv(table)))
    for name, picture in drawn(releases):
        written.append(write_text(folder / "releases" / f"{file_name(name)}.svg", picture))
    return tuple(written)


def file_name(name: str) -> str:
    """A release's name as a file name; characters that a file system may not take become `_`."""
    plain = "".join(c if c in _PLAIN else "_" for c in name)
    return plain if plain == name else f"{plain}-{name.encode().hex()[:16]}"


def table_of(release: Mapping[str, Any]) -> list[list[Any]] | None:
    """The release as rows with a header, where it is one: a matrix, a selection, one table."""
    value = release.get("value", {})
    if not isinstance(value, Mapping):
        return None
    if "matrix" in value and "columns" in value:
        rows = [["", *value["columns"]]]
        rows += [
            [name, *numbers]
            for name, numbers in zip(value["columns"], value["matrix"], strict=True)
        ]
        return rows
    if "time" in value and "estimate" in value:
        return _curve(value, [])
    if "sites" in value and "statistic" in value:
        return _sites(value["sites"])
    if "selected" in value and "log_evalue" in value:
        rejected = set(value.get("rejected", ()))
        return [["hypothesis", "log_evalue", "rejected"]] + [
            [name, number, name in rejected]
            for name, number in zip(value["selected"], value["log_evalue"], strict=True)
        ]
    tables = list(release.get("tables", {}).values())
    if release.get("kind") == "derived" and len(tables) == 1:
        return [list(tables[0]), *map(list, zip(*tables[0].values(), strict=True))]
    return None


_CURVE = ("time", "estimate", "lower", "upper", "at_risk")


def _curve(value: Mapping[str, Any], first: list[Any]) -> list[list[Any]]:
    """A curve as rows of time, estimate, band, numbers at risk, and whether it can be trusted."""
    head = [*(["source"] if first else []), *_CURVE, "reliable"]
    rows = zip(*(value[name] for name in _CURVE), strict=True)
    return [head, *([*first, *row, row[0] <= value["reliable_to"]] for row in rows)]


def _sites(sites: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """The curves of several sources, one below the other."""
    parts = [_curve(site, [site["source"]]) for site in sites]
    return [parts[0][0], *(row for part in parts for row in part[1:])]


def write_json(path: Path, content: Mapping[str, Any]) -> Path:
    """Write one JSON file, beside its place first."""
    return write_text(path, _json(content))


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _csv(rows: list[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def write_text(path: Path, text: str) -> Path:
    """Write one text file: beside its place, to disk, then renamed. Raises `UsageError`.

    A device or a pipe, or a name of an open file, such as /dev/stdout, is written to and never
    replaced.
    """
    try:
        if _is_open_already(path):
            path.write_text(text, "utf-8")
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".dpql-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as failure:
        raise UsageError(
            f"`{path}` cannot be written: {(failure.strerror or '').lower()}",
            help="write to another place",
        ) from failure
    return path


def _is_open_already(path: Path) -> bool:
    """Whether a path names a device, a pipe, or by way of /proc a file that somebody has open."""
    target = path.readlink() if path.is_symlink() else path
    if any(place.is_relative_to("/proc") for place in (target, path.parent.resolve())):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()
