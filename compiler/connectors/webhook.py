"""Rows posted to a web service, some at a time."""

from compiler.connectors.spec import Connector, Option
from compiler.connectors.texts import web_address

CONNECTOR = Connector(
    name="http",
    sink=(
        Option("url", required=True, problem=web_address),
        Option("method", "choice", choices=("post", "put"), flink=("insert-method",)),
        Option("batch_size", "integer", flink=("http.sink.request.batch.size",), least=1),
        Option("timeout", "duration", least=1),
        Option("max_retries", "integer", flink=("sink.max-retries",), least=0),
        Option("format", "choice", choices=("json",)),
    ),
    prefixes=("header.",),
    flink=("webhook", "http-sink"),
)
