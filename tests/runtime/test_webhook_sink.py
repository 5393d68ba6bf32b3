"""The sink for web services against a server of our own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan import model as m
from runtime.connectors.sinks import SINKS
from runtime.connectors.sinks.base import SinkContext, Writer

COLUMNS = (m.Column("k", "STRING"), m.Column("v", "INT"))


class Service(ThreadingHTTPServer):
    """Keeps what it was sent; answers as `answers` says, then 200."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[int] = []
        self.taken: list[tuple[dict[str, str], list[dict[str, Any]]]] = []
        self.lock = threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            answer = self.server.answers.pop(0) if self.server.answers else 200
            if answer == 200:
                self.server.taken.append((dict(self.headers), json.loads(body)))
        self.send_response(answer)
        self.send_header("Content-Length", "0")
        if answer == 429:
            self.send_header("Retry-After", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def webhook(session: SparkSession, service: Service, **more: Any) -> Writer:
    options = {"url": f"http://127.0.0.1:{service.server_port}/hook?token=s3cret", **more}
    sink = m.Sink("out", "x", "http", options, COLUMNS, "at_least_once")
    return SINKS["http"](sink, SinkContext(session, "shop", Path(), print))


def test_rows_arrive_in_batches_and_are_sent_again_while_the_service_is_busy(
    session: SparkSession, service: Service
) -> None:
    rows = session.createDataFrame([(f"k{n}", n) for n in range(5)] + [(None, None)], "k string, v int")
    service.answers = [503, 429]
    hook = webhook(session, service, batch_size=2, **{"header.Authorization": "Bearer x"})
    assert hook.write(7, rows.coalesce(1))
    assert hook.rows_written == 6
    assert [len(body) for _, body in service.taken] == [2, 2, 2]
    headers, body = service.taken[-1]
    assert body[-1] == {"k": None, "v": None}
    assert headers["Authorization"] == "Bearer x"
    assert (headers["Headrace-Sink"], headers["Headrace-Epoch"]) == ("shop/out", "7")


@pytest.mark.parametrize(
    ("answers", "cause"), [([400], "it answered 400 Bad Request"), ([503, 503], "tried 2 times")]
)
def test_what_does_not_pass_fails(
    session: SparkSession, service: Service, answers: list[int], cause: str
) -> None:
    service.answers = answers
    rows = session.createDataFrame([("a", 1)], "k string, v int").coalesce(1)
    with pytest.raises(DiagnosticError) as error:
        webhook(session, service, max_retries=1).write(0, rows)
    (found,) = error.value.diagnostics
    assert found.code.name == "HR610"
    assert cause in str(found.cause)
    assert "s3cret" not in f"{found}"
    assert service.taken == []


def test_service_that_is_not_there(session: SparkSession, service: Service) -> None:
    sink = m.Sink("out", "x", "http", {"url": "ftp://x"}, COLUMNS, "at_least_once")
    with pytest.raises(DiagnosticError) as error:
        SINKS["http"](sink, SinkContext(session, "shop", Path(), print))
    assert error.value.diagnostics[0].code.name == "HR104"
    closed = webhook(session, service, url="http://127.0.0.1:1/", max_retries=0)
    rows = session.createDataFrame([("a", 1)], "k string, v int").coalesce(1)
    with pytest.raises(DiagnosticError) as gone:
        closed.write(0, rows)
    assert "refused" in str(gone.value.diagnostics[0].cause)
