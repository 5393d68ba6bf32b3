"""Writers of `jdbc` sinks, whatever the database."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from compiler.jobplan import model as m
from runtime.connectors.sinks import SINKS
from runtime.connectors.sinks.base import SinkContext, Writer


def writer(session: SparkSession, sink: m.Sink, incarnation: str = "one", last_epoch: int = -1) -> Writer:
    made = SINKS["jdbc"](sink, SinkContext(session, "shop", Path(), print))
    made.prepare(incarnation, last_epoch)
    return made
