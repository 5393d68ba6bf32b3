"""SET 'key' = 'value': options for the statements after it in its file."""

from __future__ import annotations

from typing import Any, Final

from compiler.diagnostics.codes import UNKNOWN_OPTION, UNSUPPORTED_SYNTAX, Severity
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.suggest import did_you_mean
from compiler.syntax.declarations import OptionDecl, Text
from compiler.syntax.parsed import Scope
from compiler.syntax.trees import Reader, subtrees

# Flink's key -> (the option it is here, on sources or on models and sinks).
_FLINK: Final = {
    "table.exec.state.ttl": ("state_ttl", "body"),
    "table.exec.source.idle-timeout": ("idle_timeout", "source"),
    "parallelism.default": ("parallelism", "body"),
    "table.exec.resource.default-parallelism": ("parallelism", "body"),
}
_NATIVE: Final = {
    "state_ttl": "body",
    "allow_unbounded": "body",
    "parallelism": "body",
    "trigger": "body",
    "chain": "body",
    "isolation": "body",
    "idle_timeout": "source",
    "on_bad_record": "source",
    "on_late": "source",
    "on_null_time": "source",
}
# Settings of Flink's machinery, which change how and not what is computed: told, and passed over.
_MACHINERY: Final = (
    "execution.",
    "state.",
    "sql-client.",
    "pipeline.",
    "table.exec.mini-batch.",
    "table.exec.async-",
    "table.exec.sink.",
    "table.optimizer.",
    "table.plan.",
    "restart-strategy",
    "taskmanager.",
    "jobmanager.",
    "rest.",
    "metrics.",
    "python.",
    "table.display.",
    "high-availability",
)
_ZONE: Final = "table.local-time-zone"


class Settings:
    """The settings that hold at a place of a file."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._set: dict[str, OptionDecl] = {}

    def of_body(self) -> list[OptionDecl]:
        """Options for what has a query."""
        return [o for k, o in self._set.items() if _NATIVE[k] == "body"]

    def of_source(self) -> list[OptionDecl]:
        """Options for sources."""
        return [o for k, o in self._set.items() if _NATIVE[k] == "source"]

    def set(self, node: Any, reader: Reader) -> None:
        """Takes a SET statement."""
        keys, values = subtrees(node, "option_key"), subtrees(node, "option_value")
        if not keys:
            self._scope.error(
                UNSUPPORTED_SYNTAX, "SET without a key shows settings only in a shell", reader.span(node)
            )
            return
        key, value = reader.one(keys[0]), reader.one(values[0])
        name = key.value.lower()
        option = _FLINK[name][0] if name in _FLINK else name
        if option in _NATIVE:
            self._set[option] = OptionDecl(Text(option, key.span, key.quoted), value, inherited=True)
        elif name == _ZONE:
            self._scope.timezone = value
        elif name == "execution.runtime-mode":
            if value.value.lower() != "streaming":
                self._scope.error(
                    UNSUPPORTED_SYNTAX,
                    f"runtime mode `{value.value}` does not exist here",
                    value.span,
                    cause="every pipeline is a stream",
                    fix="bounded input is run to its end by `headrace run --on-end close`",
                )
        elif name.startswith(_MACHINERY):
            self._scope.reporter.add(
                Diagnostic(
                    UNKNOWN_OPTION,
                    f"setting `{key.value}` has no effect here",
                    key.span,
                    cause="it tunes Flink's own machinery",
                    fix="`trigger`, `parallelism` and `spark` of a target in headrace.yml tune a run",
                    raised=Severity.WARNING,
                )
            )
        else:
            self._scope.error(
                UNKNOWN_OPTION,
                f"unknown setting `{key.value}`",
                key.span,
                fix=did_you_mean(key.value, [*_FLINK, *_NATIVE, _ZONE]),
            )

    def reset(self, node: Any, reader: Reader) -> None:
        """Takes a RESET statement: of one key, or of all."""
        keys = subtrees(node, "option_key")
        if not keys:
            self._set.clear()
            return
        name = reader.one(keys[0]).value.lower()
        self._set.pop(_FLINK[name][0] if name in _FLINK else name, None)
