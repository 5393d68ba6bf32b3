"""One session for all tests of the runtime."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
sys.path.insert(0, os.path.dirname(__file__))


@pytest.fixture(scope="session")
def session() -> Iterator[SparkSession]:
    from sessions import open_test_session

    spark = open_test_session()
    yield spark
    spark.stop()
