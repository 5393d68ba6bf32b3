"""Reads headrace.yml for one target."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from compiler.diagnostics.codes import (
    MISSING_ENVIRONMENT,
    MISSING_KEY,
    UNDEFINED_VARIABLE,
    UNKNOWN_TARGET,
    WRONG_VALUE,
)
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.source import SourceFile, Span
from compiler.diagnostics.suggest import did_you_mean, one_of
from compiler.project.findings import read_policy
from compiler.project.given import AnyVariable
from compiler.project.switches import read_switches
from compiler.syntax.clear_text import clear_text
from compiler.syntax.declarations import OptionDecl, ProjectConfig, TargetConfig, Text
from compiler.syntax.durations import parse_duration_ms
from compiler.syntax.parsed import Scope, unique_options
from compiler.syntax.variables import fill
from compiler.syntax.yaml_nodes import Entry, YamlReader
from compiler.syntax.yaml_scalars import scalar_fragment

KEYS: Final = (
    "name",
    "version",
    "timezone",
    "vars",
    "defaults",
    "default_target",
    "targets",
    "diagnostics",
    "optimizer",
)
_RUN_KEYS: Final = ("master", "state", "trigger", "on_end", "parallelism", "storage", "spark")
TARGET_KEYS: Final = (*_RUN_KEYS, "vars")
DEFAULT_KEYS: Final = ("sources", *_RUN_KEYS)
ON_END: Final = ("leave_open", "close")

DEFAULT_TARGET: Final = TargetConfig(
    name="dev",
    master="local[*]",
    state=".headrace/state",
    trigger_ms=None,
    on_end="leave_open",
    # State partitions are fixed by the first run and each costs start-up time, most of a short run; two keep
    # a laptop busy. A target for more data sets its own.
    parallelism=2,
    storage="out",
    spark=(),
    span=None,
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_ENV = re.compile(r"\$\{env:([A-Za-z_][\w.-]*)\}")


def default_config(
    name: str, target: str | None, given: Mapping[str, str], reporter: Reporter
) -> ProjectConfig:
    """What holds without a headrace.yml."""
    if target is not None and target != DEFAULT_TARGET.name:
        reporter.add(
            Diagnostic(
                UNKNOWN_TARGET,
                f"unknown target `{target}`",
                cause="without a headrace.yml there is the target `dev` alone",
                fix="define it under `targets:` in a headrace.yml",
            )
        )
    return ProjectConfig(name, "0", "UTC", DEFAULT_TARGET, tuple(given.items()), (), None)


class ConfigReader:
    """Reads one headrace.yml."""

    def __init__(
        self,
        file: SourceFile,
        reporter: Reporter,
        *,
        target: str | None,
        given: Mapping[str, str],
        environment: Mapping[str, str],
    ) -> None:
        self.scope = Scope(file, {}, reporter)
        self.yaml = YamlReader(self.scope)
        self.file = file
        self.wanted = target
        self.given = given
        self.environment = environment
        self._names: set[str] = set()

    def read(self, fallback_name: str) -> ProjectConfig:
        """The configuration; what is wrong is reported and replaced by its default."""
        root = self.yaml.compose()
        entries = self.yaml.mapping(root, "headrace.yml", KEYS, ("name",)) if root is not None else None
        if entries is None:
            config = default_config(fallback_name, None, self.given, self.scope.reporter)
            self.scope.variables = AnyVariable()
            return config
        name, target_node = self._choose(entries)
        target_entries = (
            self.yaml.mapping(target_node, f"target `{name}`", TARGET_KEYS)
            if target_node is not None
            else None
        ) or {}
        self.scope.variables = self._variables(entries.get("vars"), target_entries.get("vars"))
        defaults = {}
        if "defaults" in entries and not self.yaml.is_null(entries["defaults"].node):
            defaults = self.yaml.mapping(entries["defaults"].node, "`defaults`", DEFAULT_KEYS) or {}
        span = self.yaml.span(target_node) if target_node is not None else None
        self._other_targets(entries.get("targets"), name)
        sources = (
            self.yaml.options(defaults["sources"].node, "`defaults.sources`") if "sources" in defaults else []
        )
        return ProjectConfig(
            name=self._name(entries.get("name")) or fallback_name,
            version=self._plain(entries.get("version"), "`version`") or "0",
            timezone=self._timezone(entries.get("timezone")),
            target=self._target(name, defaults, target_entries, span),
            variables=tuple(self.scope.variables.items()),
            source_defaults=unique_options(sources, self.scope.error),
            span=self.yaml.span(root),
            policy=read_policy(self.yaml, entries.get("diagnostics")),
            without=read_switches(self.yaml, entries.get("optimizer")),
        )

    # --- the target -----------------------------------------------------------------------------------------

    def _choose(self, entries: dict[str, Entry]) -> tuple[str, Any]:
        """Name and node of the target; no node stands for the built-in `dev`."""
        targets: dict[str, Entry] = {}
        if "targets" in entries and not self.yaml.is_null(entries["targets"].node):
            targets = {e.key.value: e for e in self.yaml.entries(entries["targets"].node, "`targets`")}
        default = entries.get("default_target")
        chosen = self.yaml.text(default.node, "`default_target`") if default is not None else None
        if chosen is not None and chosen.value not in (list(targets) or [DEFAULT_TARGET.name]):
            self._unknown_target(chosen.value, chosen.span, targets)
            chosen = None
        if self.wanted is not None:
            if self.wanted in targets:
                return self.wanted, targets[self.wanted].node
            if targets or self.wanted != DEFAULT_TARGET.name:
                self._unknown_target(self.wanted, None, targets)
        elif chosen is not None:
            return chosen.value, targets[chosen.value].node if chosen.value in targets else None
        if DEFAULT_TARGET.name in targets or not targets:
            entry = targets.get(DEFAULT_TARGET.name)
            return DEFAULT_TARGET.name, entry.node if entry is not None else None
        if len(targets) > 1 and self.wanted is None and default is None:
            self.scope.error(
                MISSING_KEY,
                "headrace.yml has several targets and no `default_target`",
                entries["targets"].key.span,
                fix=f"add `default_target: {next(iter(targets))}`, or name one of them `dev`",
            )
        first = next(iter(targets.values()))
        return first.key.value, first.node

    def _unknown_target(self, name: str, span: Span | None, targets: Mapping[str, Entry]) -> None:
        known = list(targets) or [DEFAULT_TARGET.name]
        self.scope.reporter.add(
            Diagnostic(
                UNKNOWN_TARGET,
                f"unknown target `{name}`",
                span,
                cause=f"headrace.yml has {one_of(known)}",
                fix=did_you_mean(name, known) or "define it under `targets:` in headrace.yml",
            )
        )

    def _other_targets(self, entry: Entry | None, chosen: str) -> None:
        """Judges the keys of the targets that are not used now; a typo there is an error today."""
        if entry is None or entry.node.id != "mapping":
            return
        for _, node in entry.node.value:
            if _.id == "scalar" and _.value != chosen and not self.yaml.is_null(node):
                keys = self.yaml.mapping(node, f"target `{_.value}`", TARGET_KEYS) or {}
                if "vars" in keys and keys["vars"].node.id == "mapping":
                    self._names.update(key.value for key, _ in keys["vars"].node.value)

    def _target(
        self, name: str, defaults: dict[str, Entry], own: dict[str, Entry], span: Span | None
    ) -> TargetConfig:
        def entry(key: str) -> Entry | None:
            return own.get(key) or defaults.get(key)

        base = DEFAULT_TARGET
        spark: dict[str, str] = {}
        for part in (defaults.get("spark"), own.get("spark")):
            if part is not None:
                options = self.yaml.options(part.node, "`spark`")
                spark.update((o.key.value, o.value.value) for o in options)
                self._secrets(options)
        return TargetConfig(
            name=name,
            master=self._plain(entry("master"), "`master`") or base.master,
            state=self._state(entry("state")) or base.state,
            trigger_ms=self._trigger(entry("trigger")),
            on_end=self._on_end(entry("on_end")),
            parallelism=self._parallelism(entry("parallelism")),
            storage=self._plain(entry("storage"), "`storage`") or base.storage,
            spark=tuple(sorted(spark.items())),
            span=span,
        )

    def _secrets(self, options: Sequence[OptionDecl]) -> None:
        """HR608 for a secret of Spark's configuration, such as the key of a store."""
        self.scope.reporter.extend(clear_text(options, "`spark`"))

    # --- variables ------------------------------------------------------------------------------------------

    def _variables(self, *parts: Entry | None) -> dict[str, str]:
        """The variables of the project, of the target and of the command, the later ones first."""
        nodes: dict[str, Any] = {}
        for part in parts:
            if part is None or self.yaml.is_null(part.node):
                continue
            for entry in self.yaml.entries(part.node, "`vars`"):
                if entry.node.id != "scalar" or self.yaml.is_null(entry.node):
                    self.yaml.wrong(
                        entry.node, f"variable `{entry.key.value}`", "a text, a number or a boolean"
                    )
                elif not re.fullmatch(r"[A-Za-z_][\w.-]*", entry.key.value):
                    self.scope.error(
                        WRONG_VALUE, f"`{entry.key.value}` cannot name a variable", entry.key.span
                    )
                else:
                    nodes[entry.key.value] = entry.node
        self._names.update(nodes)
        done: dict[str, str] = {}
        for name in nodes:
            self._resolve(name, nodes, done, ())
        ordered = {name: done.get(name, "") for name in nodes}
        ordered.update(self.given)
        return ordered

    def declared(self) -> set[str]:
        """Names of all variables of the file, whatever target they are of."""
        return self._names

    def _resolve(
        self, name: str, nodes: Mapping[str, Any], done: dict[str, str], above: tuple[str, ...]
    ) -> None:
        """Fills in what a variable's value says of others, those first."""
        if name in done:
            return
        fragment = scalar_fragment(self.file, nodes[name])
        for match in re.finditer(r"\$?\$\{([^}\n]*)\}", fragment.text):
            other = match.group(1).strip()
            if match.group().startswith("$$") or other not in nodes or other in self.given:
                continue
            if other == name or other in above:
                self.scope.error(
                    UNDEFINED_VARIABLE,
                    f"variable `{other}` is defined by itself",
                    fragment.span(match.start(), match.end()),
                    cause=" -> ".join(
                        [*above[above.index(other) if other in above else len(above) :], name, other]
                    ),
                )
                done[name] = ""
                return
            self._resolve(other, nodes, done, (*above, name))
        if name not in done:
            self.scope.variables = {**dict.fromkeys(nodes, ""), **done, **self.given}
            done[name] = fill(fragment, self.scope).text

    # --- values ---------------------------------------------------------------------------------------------

    def _text(self, entry: Entry | None, what: str) -> Text | None:
        """A text in which `${env:…}` is read, since the compiler needs the value."""
        if entry is None:
            return None
        text = self.yaml.text(entry.node, what)
        if text is None or "${env:" not in text.value:
            return text
        missing = [n for n in _ENV.findall(text.value) if n not in self.environment]
        for name in missing:
            self.scope.error(
                MISSING_ENVIRONMENT,
                f"environment variable `{name}` is not set",
                text.span,
                cause=f"{what} is needed to compile",
                fix=f"set {name}, or write the value here",
            )
        if missing:
            return None
        return Text(_ENV.sub(lambda m: self.environment[m.group(1)], text.value), text.span, text.quoted)

    def _plain(self, entry: Entry | None, what: str) -> str | None:
        text = self._text(entry, what)
        return text.value if text is not None else None

    def _wrong(self, text: Text, message: str, fix: str | None = None, cause: str | None = None) -> None:
        self.scope.error(WRONG_VALUE, message, text.span, fix=fix, cause=cause)

    def _name(self, entry: Entry | None) -> str | None:
        text = self._text(entry, "`name`")
        if text is not None and not _NAME.fullmatch(text.value):
            self._wrong(
                text,
                f"`{text.value}` cannot be a project's name",
                "begin with a letter, go on with letters, digits, `_` and `-`",
            )
            return None
        return text.value if text is not None else None

    def _timezone(self, entry: Entry | None) -> str:
        text = self._text(entry, "`timezone`")
        if text is None or text.value == "UTC":
            return "UTC"
        return text.value if check_zone(text, self.scope) else "UTC"

    def _state(self, entry: Entry | None) -> str | None:
        text = self._text(entry, "`state`")
        if text is None:
            return None
        parts = PurePosixPath(text.value.replace("\\", "/")).parts
        if "://" not in text.value and parts[:1] == ("target",):
            self._wrong(
                text,
                "the state cannot lie under target/",
                "use for instance `.headrace/state`",
                "target/ may be deleted at any time; without its state a pipeline starts over",
            )
            return None
        return text.value

    def _trigger(self, entry: Entry | None) -> int | None:
        text = self._text(entry, "`trigger`")
        if text is None or text.value.strip().lower() in ("available_now", "availablenow"):
            return DEFAULT_TARGET.trigger_ms
        millis = parse_duration_ms(text.value)
        if millis is None:
            self._wrong(
                text,
                f"`{text.value}` is no trigger",
                did_you_mean(text.value, ("available_now",))
                or "write `available_now`, or a time such as `5 seconds`",
            )
        return millis

    def _on_end(self, entry: Entry | None) -> str:
        text = self._text(entry, "`on_end`")
        if text is not None and text.value not in ON_END:
            self._wrong(text, f"`on_end` must be {one_of(ON_END)}", did_you_mean(text.value, ON_END))
            return DEFAULT_TARGET.on_end
        return text.value if text is not None else DEFAULT_TARGET.on_end

    def _parallelism(self, entry: Entry | None) -> int:
        text = self._text(entry, "`parallelism`")
        if text is None:
            return DEFAULT_TARGET.parallelism
        if not re.fullmatch(r"[1-9]\d{0,4}", text.value):
            self._wrong(text, "`parallelism` must be a number from 1 on")
            return DEFAULT_TARGET.parallelism
        return int(text.value)


def check_zone(text: Text, scope: Scope) -> bool:
    """Whether a text names a time zone; reports it if not."""
    import zoneinfo

    try:
        zoneinfo.ZoneInfo(text.value)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        near = did_you_mean(text.value, zoneinfo.available_timezones())
        scope.error(
            WRONG_VALUE,
            f"unknown time zone `{text.value}`",
            text.span,
            fix=near or "use a name of the IANA list, such as `Europe/Berlin`",
        )
        return False
    return True
