"""How many groups of windows wait in a query's state."""

from __future__ import annotations

import logging

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from compiler.jobplan.model import Aggregate, Operator, Session, SessionAggregate
from compiler.jobplan.operators.fused_aggregate import FusedAggregate
from runtime.spark.operators.aggregate import TIME_KEY
from runtime.spark.operators.session import SESSION_KEY
from runtime.state.checkpoint import Checkpoint

_log = logging.getLogger(__name__)


def closes_by_time(op: Operator) -> bool:
    """Whether an operator holds groups that a watermark closes."""
    if isinstance(op, Aggregate):
        return op.event_time_key is not None
    return isinstance(op, (FusedAggregate, Session, SessionAggregate))


def count_open_groups(session: SparkSession, checkpoint: Checkpoint) -> int:
    """Groups that a watermark closes, over all stateful operators.

    It reads the state as a batch: that loads the last snapshot and all changes since, seconds of CPU where
    epochs change much. So it is for runs that have computed no epoch; the others are told by Spark.
    """
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
            if SESSION_KEY in keys or TIME_KEY in keys:
                total += state.count()
        except PySparkException as error:
            # State by bucket holds rows and no groups; Spark reads it only variable by variable.
            if error.getCondition() != "STDS_REQUIRED_OPTION_UNSPECIFIED":
                _log.warning("open groups of %s could not be counted", checkpoint.path, exc_info=error)
        except Exception as error:  # noqa: BLE001  # a number for the report is not worth a failed run
            _log.warning("open groups of %s could not be counted", checkpoint.path, exc_info=error)
    return total
