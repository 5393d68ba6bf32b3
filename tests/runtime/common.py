"""What tests of many sinks share."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError


def kv(session: SparkSession, *rows: tuple[Any, ...]) -> DataFrame:
    """Rows of a text and a number."""
    return session.createDataFrame(list(rows), "k string, v int")


def refused(error: pytest.ExceptionInfo[DiagnosticError]) -> Diagnostic:
    """The first finding that was raised."""
    return error.value.diagnostics[0]
