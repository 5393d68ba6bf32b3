"""Posts rows to a web service: at least once."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.diagnostics.codes import UNREACHABLE, WRONG_VALUE
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import Sink
from runtime.connectors.retries import Passing, retried
from runtime.connectors.sinks.base import SinkContext, columns_of

_BATCH_ROWS = 100
_TIMEOUT_MS = 30_000
_RETRIES = 5
# The server is busy, or somebody in front of it is; all else above 399 stays as it is.
_PASSING = frozenset((408, 425, 429, 500, 502, 503, 504))
_RESULT: Final = "written BIGINT, problem STRING"


class _Refused(Exception):
    """A request that failed for good; the message says how."""


class _Unanswered(Exception):
    """A request whose failure may pass; the server may ask for a pause, in seconds."""

    def __init__(self, problem: str, pause: float | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.pause = pause


@dataclass(frozen=True)
class _Post:
    """Sends the rows of a task, `size` a request. Its text shows neither address nor headers."""

    url: str = field(repr=False)
    headers: dict[str, str] = field(repr=False)
    method: str
    size: int
    timeout: float
    retries: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields how many rows were taken, and what went wrong."""
        written, problem = 0, ""
        waiting: list[str] = []
        try:
            for batch in batches:
                waiting += batch.column(0).to_pylist()
                while len(waiting) >= self.size:
                    self._send(waiting[: self.size])
                    written += self.size
                    del waiting[: self.size]
            if waiting:
                self._send(waiting)
                written += len(waiting)
        except _Refused as error:
            problem = str(error)
        yield pa.RecordBatch.from_arrays(
            [pa.array([written], pa.int64()), pa.array([problem])], names=["written", "problem"]
        )

    def _send(self, rows: list[str]) -> None:
        """Sends one request, and again while its failure may pass.

        Raises:
            _Refused: it failed for good, or too often.
        """
        body = f"[{','.join(rows)}]".encode()

        def post() -> None:
            request = urllib.request.Request(  # noqa: S310  # the scheme was checked when the sink was made
                self.url, body, self.headers, method=self.method
            )
            try:
                with urllib.request.urlopen(request, timeout=self.timeout):  # noqa: S310  # as above
                    return
            except urllib.error.HTTPError as error:
                problem = f"it answered {error.code} {error.reason}"
                if error.code not in _PASSING:
                    raise _Refused(problem) from None
                asked = error.headers.get("Retry-After", "")
                raise _Unanswered(problem, float(asked) if asked.isdigit() else None) from None
            except (OSError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", None) or error
                raise _Unanswered(str(reason) or type(error).__name__) from None

        try:
            retried(self.retries, post, _passing)
        except _Unanswered as error:
            raise _Refused(f"{error.problem}; it was tried {self.retries + 1} times") from None


def _passing(error: Exception) -> Passing | None:
    return Passing(f"webhook: {error.problem}", error.pause) if isinstance(error, _Unanswered) else None


class WebhookWriter:
    """Sends an epoch as requests, each a JSON array of rows.

    An epoch that is cut off is sent again. Each request names sink and epoch, so that the service can tell.
    """

    passes = 1

    def __init__(self, sink: Sink, ctx: SinkContext) -> None:
        self._sink = sink
        self.rows_written = 0
        url = str(sink.options["url"])
        parts = urllib.parse.urlsplit(url)
        # Path and query may hold a token.
        self.location = f"{parts.scheme}://{parts.hostname or ''}"
        if parts.scheme not in ("http", "https") or not parts.hostname:
            problem = f"the url of sink {sink.uid} cannot be used"
            cause = "it does not begin with http:// or https:// and a host"
            raise DiagnosticError(Diagnostic(WRONG_VALUE, problem, cause=cause))
        own = {
            name.removeprefix("header."): str(value)
            for name, value in sink.options.items()
            if name.startswith("header.")
        }
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "headrace",
            "Headrace-Sink": f"{ctx.project}/{sink.uid}",
            **own,
        }
        self._post = _Post(
            url,
            headers,
            str(sink.options.get("method", "post")).upper(),
            int(sink.options.get("batch_size", _BATCH_ROWS)),
            int(sink.options.get("timeout", _TIMEOUT_MS)) / 1000,
            int(sink.options.get("max_retries", _RETRIES)),
        )

    def prepare(self, incarnation: str, last_epoch: int) -> None:
        """Nothing to claim."""

    def has(self, epoch: int) -> bool:
        """At least once: nothing is remembered."""
        return False

    def write(self, epoch: int, batch: DataFrame) -> bool:
        """Sends all rows of the epoch."""
        rows = columns_of(self._sink, batch)
        text = F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("row")
        post = replace(self._post, headers={**self._post.headers, "Headrace-Epoch": str(epoch)})
        results = rows.select(text).mapInArrow(post, _RESULT).collect()
        self.rows_written += sum(result["written"] for result in results)
        problem = next((result["problem"] for result in results if result["problem"]), None)
        if problem:
            message = f"sink {self._sink.uid} cannot send epoch {epoch} to {self.location}"
            fix = "the epoch runs again with the next run; the service may get some of its rows twice"
            raise DiagnosticError(Diagnostic(UNREACHABLE, message, cause=problem, fix=fix))
        return True

    def check_empty(self) -> None:
        """Nothing can stand in the way."""

    def empty(self) -> None:
        """What was sent stays where it is."""
