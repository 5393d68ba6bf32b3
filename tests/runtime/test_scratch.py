"""The folder of a JVM goes with its owner, or with the next run if the owner was killed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from runtime.spark.scratch import Scratch, remove_left_over

ROOT = Path(__file__).parents[2]
KILLED = """
import os, signal
from runtime.spark.scratch import Scratch
print(Scratch().path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def grown_old(folder: Path) -> Path:
    os.utime(folder, (1_700_000_000, 1_700_000_000))
    return folder


def test_what_killed_runs_left_goes_and_what_others_use_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    killed = [
        Path(
            subprocess.run(
                [sys.executable, "-c", KILLED], env=environment, capture_output=True, text=True, check=False
            ).stdout.strip()
        )
        for _ in range(2)
    ]
    in_use, of_now = Scratch(), killed[0]
    grown_old(in_use.path)
    (killed[1] / "connection").write_text("secret")
    grown_old(killed[1])
    others = [tmp_path / "headrace-other", tmp_path / "headrace-jvm-without-lock"]
    for folder in others:
        folder.mkdir()
        grown_old(folder)
    remove_left_over()
    assert sorted(tmp_path.iterdir()) == sorted([in_use.path, of_now, *others])
    in_use.remove()
    assert not in_use.path.exists()
