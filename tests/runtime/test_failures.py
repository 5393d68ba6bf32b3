"""What a dying query says, from exceptions as Spark chains them; without Spark."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from compiler.diagnostics.codes import UNREACHABLE
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from runtime.jobs.environment import Environment
from runtime.jobs.failures import diagnose
from runtime.jobs.runner import _masked


@dataclass
class Throwable:
    """As much of Java's as is asked for."""

    name: str
    message: str
    cause: Throwable | None = None

    def getMessage(self) -> str:  # noqa: N802  # Java's names
        return self.message

    def getCause(self) -> Throwable | None:  # noqa: N802
        return self.cause

    def getClass(self) -> Throwable:  # noqa: N802
        return self

    def getName(self) -> str:  # noqa: N802
        return self.name

    def getCondition(self) -> None:  # noqa: N802
        return None


class Raised(Exception):
    """As py4j hands on what Java throws."""

    def __init__(self, *messages: str) -> None:
        chain: Throwable | None = None
        for message in reversed(messages):
            chain = Throwable("org.apache.spark.SparkException", message, chain)
        super().__init__(messages[0])
        self.java_exception = chain


FULL = "java.io.IOException: No space left on device"
BAD = "[headrace:bad_record] source=t position=in/0/7 {broken"


@pytest.mark.parametrize(
    ("messages", "code", "text"),
    [
        # A full disk, and a record that would fail on an empty one, too.
        ((BAD, FULL), "HR406", "the record at in/0/7"),
        ((f"{BAD} No space left on device",), "HR406", "the record at in/0/7"),
        (("Malformed records are detected in record parsing", FULL), "HR406", "a record"),
        (("Job aborted", FULL), "HR606", "there is no room"),
        (
            ("Job aborted", "Python worker exited unexpectedly (crashed)", "java.io.EOFException"),
            "HR410",
            "a Python worker of it was killed",
        ),
        # What a worker says itself before it goes counts.
        (
            ("FunctionFailure: function f: KeyError", "Python worker exited unexpectedly"),
            "HR410",
            "function f",
        ),
    ],
)
def test_causes(messages: tuple[str, ...], code: str, text: str) -> None:
    found = diagnose("q", Raised(*messages), Environment({}))
    assert (found.code.name, text in found.message) == (code, True), found


def test_secrets_are_masked_in_what_is_raised_as_a_finding() -> None:
    environment = Environment({"PASSWORD": "hunter22"})
    environment.spark_conf({"any": "${env:PASSWORD}"})
    told = DiagnosticError(Diagnostic(UNREACHABLE, "hunter22", cause="its hunter22", fix="correct hunter22"))
    found = diagnose("q", told, environment)
    assert (found.message, found.cause, found.fix) == (
        "${env:PASSWORD}",
        "its ${env:PASSWORD}",
        "correct ${env:PASSWORD}",
    )
    with pytest.raises(DiagnosticError) as error, _masked(environment):
        raise told
    assert "hunter22" not in f"{error.value} {error.value.diagnostics}"
    assert error.value.__suppress_context__
