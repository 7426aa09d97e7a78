"""Files are written whole or not at all, and what is no file stays what it is."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from dpql.errors import UsageError
from dpql.output import write_text


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    place = tmp_path / "new folder" / "a.json"
    write_text(place, "one")
    write_text(place, "two")
    assert place.read_text() == "two"
    assert [file.name for file in place.parent.iterdir()] == ["a.json"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    """Renaming over /dev/null would take it from everybody else."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    write_text(pipe, "said")
    reader.join(10)
    assert read == ["said"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_to_an_open_file_is_written_through(tmp_path: Path) -> None:
    """/dev/stdout is such a link, also where the output of a command goes into a file."""
    with (tmp_path / "out").open("w") as file:
        link = tmp_path / "stdout"
        link.symlink_to(f"/proc/self/fd/{file.fileno()}")
        write_text(link, "said")
        assert link.is_symlink()
        assert (tmp_path / "out").read_text() == "said"
        write_text(Path(f"/proc/self/fd/{file.fileno()}"), "more")
    assert (tmp_path / "out").read_text() == "more"


def test_a_folder_in_the_place_is_a_refusal(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        write_text(tmp_path, "said")
