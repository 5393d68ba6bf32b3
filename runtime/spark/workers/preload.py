"""What a Python worker needs, imported before it is forked."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from typing import Any, Final

_MODULES: Final = (
    "pyspark.worker",
    "pyspark.sql.conversion",
    "pyspark.sql.pandas.serializers",
    "pyspark.sql.pandas.types",
    "pyspark.sql.streaming.stateful_processor_util",
    "pyarrow.compute",
    "pandas",
    "runtime.spark.buckets.processor",
)


def preload() -> None:
    """Imports what workers use. What this machine lacks is left out: the worker that needs it says so."""
    for name in _MODULES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    os.register_at_fork(after_in_child=_reseed)
    # What is here now lives as long as the process; a collection in a child would copy its pages.
    gc.collect()
    gc.freeze()


def _reseed() -> None:
    """NumPy's generator would give the same numbers in each child. The standard library sees to its own."""
    numpy_random: Any = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
