"""How many windows wait in a query's state."""

from __future__ import annotations

import logging

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from runtime.spark.operators.aggregate import TIME_KEY
from runtime.spark.operators.session import SESSION_KEY
from runtime.state.checkpoint import Checkpoint

_log = logging.getLogger(__name__)


def count_open_windows(session: SparkSession, checkpoint: Checkpoint) -> int:
    """Distinct window ends and sessions, over all stateful operators. It reads the state as a batch."""
    folder = checkpoint.path / "state"
    if checkpoint.last_committed < 0 or not folder.is_dir():
        return 0
    total = 0
    for operator in sorted(entry.name for entry in folder.iterdir() if entry.name.isdigit()):
        try:
            state = (
                session.read.format("statestore").option("operatorId", operator).load(str(checkpoint.path))
            )
            keys = state.schema["key"].dataType.fieldNames()  # type: ignore[attr-defined]  # it is a struct
            if SESSION_KEY in keys:
                total += state.count()
            elif TIME_KEY in keys:
                total += state.select(F.col(f"key.{TIME_KEY}")).distinct().count()
        except PySparkException as error:
            # State by bucket holds rows and no windows; Spark reads it only variable by variable.
            if error.getCondition() != "STDS_REQUIRED_OPTION_UNSPECIFIED":
                _log.warning("open windows of %s could not be counted", checkpoint.path, exc_info=error)
        except Exception as error:  # noqa: BLE001  # a number for the report is not worth a failed run
            _log.warning("open windows of %s could not be counted", checkpoint.path, exc_info=error)
    return total
