"""An append to a Delta table that commits its epoch's number without reading the table's state.

Given `txnAppId` and `txnVersion`, Delta's own writer asks the snapshot for all transactions, which is three
Spark jobs over the log for each version that it has not asked before: as much CPU as writing a million rows.
Whoever has followed the log knows the answer. So this takes Delta's write apart: the transaction is begun,
declared to depend on our application's number (another commit of it in between is then a conflict), and
committed with the files and the new number.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession


class Append:
    """A transaction that is begun; `read_version` is the version of the table that it stands on."""

    def __init__(self, session: SparkSession, folder: Path, app: str) -> None:
        self._session: Any = session._jsparkSession
        jvm: Any = session._jvm  # Delta has no Python API for its transactions
        self._jvm = jvm
        self._delta = jvm.org.apache.spark.sql.delta
        self._app = app
        self._log = self._delta.DeltaLog.forTable(self._session, str(folder))
        self._transaction = self._log.startTransaction()
        self._transaction.readTxn().addOne(app)
        self.read_version = int(self._transaction.readVersion())

    def commit(self, epoch: int, rows: DataFrame, *, adds_columns: bool) -> int:
        """Writes the rows and commits them with the epoch's number.

        Returns:
            The table's new version.

        Raises:
            Py4JJavaError: `ConcurrentTransactionException`: the application has committed meanwhile.
        """
        utils, none = self._jvm.PythonUtils, self._jvm.scala.Option.empty()
        mode = self._jvm.org.apache.spark.sql.SaveMode.Append
        merges = str(adds_columns).lower()
        settings = {"txnAppId": self._app, "txnVersion": str(epoch), "mergeSchema": merges}
        options = self._delta.DeltaOptions(utils.toScalaMap(settings), self._session.sessionState().conf())
        no_columns, no_properties = utils.toSeq([]), utils.toScalaMap({})
        frame: Any = rows._jdf
        write = self._delta.commands.WriteIntoDelta(
            self._log, mode, options, no_columns, no_properties, frame, none, none, False
        )
        data = write.writeAndReturnCommitData(self._transaction, self._session, none, False)
        merged = self._jvm.scala.Option.apply(True) if adds_columns else none
        operation = getattr(self._delta, "DeltaOperations$Write")(
            mode, self._jvm.scala.Option.apply(no_columns), none, none, none, none, merged, none, none
        )
        committed = self._transaction.commitIfNeeded(data.actions(), operation, data.stringTags())
        return int(committed.get())
