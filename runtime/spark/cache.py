"""Where headrace keeps what it made once and needs at each start."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_cache_dir


def cache_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Return the user's cache folder for headrace, or the one that HEADRACE_CACHE names.

    Args:
        environ: The environment to look in, the process's own if None.
    """
    environ = os.environ if environ is None else environ
    return Path(environ.get("HEADRACE_CACHE") or user_cache_dir("headrace", appauthor=False)).absolute()
