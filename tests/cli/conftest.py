"""Projects to call commands on, and the calls."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from shop import SHOP, Invoke, Write

from runtime.cli import group


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a project: SHOP with the given files in place of, or beside, its own."""

    def _write(files: Mapping[str, str] = {}) -> Path:
        for name, text in {**SHOP, **files}.items():
            file = tmp_path / "shop" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tmp_path / "shop"

    return _write


@pytest.fixture
def shop(write: Write, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project without mistakes, with the current folder in it."""
    folder = write({})
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def invoke() -> Invoke:
    """Calls the command line in this process. No call may end in a traceback."""

    def _invoke(*args: object, **more: object) -> Result:
        result = CliRunner().invoke(group, [str(arg) for arg in args], **more)  # type: ignore[arg-type]
        assert "Traceback" not in result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return _invoke


@pytest.fixture(autouse=True)
def _log_handlers() -> Iterator[None]:
    """Takes away the log files that a run has opened."""
    root = logging.getLogger()
    before = list(root.handlers)
    yield
    for handler in [h for h in root.handlers if h not in before]:
        root.removeHandler(handler)
        handler.close()
