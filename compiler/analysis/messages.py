"""Options of a topic's messages: whether its columns can be in key and value as they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.analysis.message_parts import Part, Table, parts_of, wrong
from compiler.analysis.message_schemas import with_schemas
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.suggest import did_you_mean
from compiler.jobplan.formats import EXCEPT_KEY, SEPARATOR
from compiler.jobplan.model import OptionValue
from compiler.plan import types as t
from compiler.syntax.declarations import Text


def message_options(table: Table, reporter: Reporter) -> dict[str, OptionValue]:
    """The options, with `key.fields` as the columns are spelt, and schemas; what cannot be is reported.

    The key of an upsert topic is the table's primary key. HR104 for options that need others, HR201
    for a key without its column, HR232 for columns that a key or a format cannot hold, HR316 for a table
    of changes without a primary key, HR605 for a file that is not there.
    """
    options = dict(table.resolved.options)
    connector = table.resolved.connector
    if not connector.keyed_messages:
        return options
    changes = options.get("format") in connector.change_formats
    if changes and not table.primary_key and (connector.upsert or table.role == "source"):
        reporter.add(_no_key(table))
    names = table.primary_key if connector.upsert else _listed(table)
    fields = {field.name.lower(): field for field in table.columns}
    lost = [name for name in names if name.value.lower() not in fields]
    asked = [*lost, *(n for n in table.primary_key if changes and n.value.lower() not in fields)]
    reporter.extend(_lost(table, dict.fromkeys(asked)))
    # Once, whatever the spelling: Flink takes a name for each time that it is given.
    key = list(dict.fromkeys(fields[name.value.lower()].name for name in names if name not in lost))
    if key:
        options["key.fields"] = SEPARATOR.join(key)
    cut = [name for name in key if SEPARATOR in name]
    reporter.extend(_cut(table, name) for name in cut)
    if not lost and not cut:
        parts = parts_of(table, options)
        reporter.extend(_problems(table, parts))
        reporter.extend(with_schemas(table, parts, options))
    return options


def _listed(table: Table) -> list[Text]:
    """The names in `key.fields`."""
    given = str(table.resolved.options.get("key.fields", "")).split(SEPARATOR)
    return [Text(name.strip(), table.place("key.fields")) for name in given if name.strip()]


def _problems(table: Table, parts: tuple[Part, Part]) -> Iterator[Diagnostic]:
    options = table.resolved.options
    value, key = parts
    if "key.format" in options and not key.fields and not table.resolved.connector.upsert:
        fix = "name the columns of the key in key.fields, with ; between them"
        yield wrong(table, "key.format", "key.format needs key.fields", fix)
    prefix = str(options.get("key.fields-prefix", ""))
    if prefix and options.get("value.fields-include") != EXCEPT_KEY:
        yield wrong(
            table,
            "key.fields-prefix",
            "key.fields-prefix needs value.fields-include = 'EXCEPT_KEY'",
            "the prefix tells columns of the key from those of the value, so none can be in both",
        )
    for there, field in key.fields.items():
        if prefix and there in ("", field.name):
            yield wrong(
                table,
                "key.fields-prefix",
                f"column `{field.name}` of the key does not begin with the prefix `{prefix}`",
                f"name it {prefix}{field.name}",
            )
    if not value.fields:
        place = "value.fields-include"
        yield wrong(table, place, "no column is left for the value", "remove value.fields-include")
        return
    for part in parts:
        if part.fields:
            yield from _misfits(table, part)


def _misfits(table: Table, part: Part) -> Iterator[Diagnostic]:
    """Columns that a format has no form for."""
    fields = part.fields.values()
    if part.form == "debezium-json" and part.name == "key":
        problem = "format `debezium-json` is for the value of a message, and its key has no other"
        yield wrong(table, part.option, problem, "add key.format = 'json'")
    if part.form == "raw" and [f.type for f in fields] not in ([t.STRING], [t.BINARY]):
        yield Diagnostic(
            codes.FORMAT_COLUMNS,
            f"format `raw` of {table.role} `{table.name.value}` takes one column of type STRING or BINARY",
            table.place(part.option),
            cause=f"a raw {part.name} is one text, or one value of bytes, and it would be "
            + ", ".join(f"{field.name} {field.type}" for field in fields),
            fix="choose another format, or keep one such column"
            + (
                ": a METADATA column, or one that is only in the key, does not count"
                if part.name == "value"
                else ""
            ),
        )
    if part.form == "csv":
        for field in fields:
            if not has_csv_form(field.type):
                yield Diagnostic(
                    codes.FORMAT_COLUMNS,
                    f"format `csv` of {table.role} `{table.name.value}` cannot hold column `{field.name}`",
                    table.place(part.option),
                    cause=f"CSV has no form for {field.type}",
                    fix="use the format json"
                    + (f", or write to_json({field.name})" if table.role == "sink" else ""),
                )


def has_csv_form(type_: t.DataType) -> bool:
    """Whether CSV, whose fields are texts, has one for values of a type."""
    return t.is_atomic(type_) and type_ not in (t.BINARY, t.VARIANT)


def _no_key(table: Table) -> Diagnostic:
    connector = table.resolved.connector
    what = connector.name if connector.upsert else f"format `{table.resolved.options.get('format')}`"
    cause = (
        "the primary key is the key of its messages, by which a message replaces or deletes a row"
        if connector.upsert
        else "its messages are changes, and the key says whose row a change replaces or deletes"
    )
    return Diagnostic(
        codes.CHANGES_WITHOUT_KEY,
        f"{table.role} `{table.name.value}` of {what} has no primary key",
        table.name.span,
        cause=cause,
        fix="declare PRIMARY KEY (…) NOT ENFORCED with the columns that tell its rows apart",
    )


def _lost(table: Table, names: Iterable[Text]) -> Iterator[Diagnostic]:
    """Columns of a key that are not in a message: there are none such, or they stand beside it."""
    beside = {name.lower() for name in table.beside}
    # What no column has in the primary key of a sink is told where that is bound with its query.
    told = table.primary_key if table.role == "sink" else ()
    for name in names:
        columns = ", ".join(field.name for field in table.columns)
        if name.value.lower() in beside:
            yield Diagnostic(
                codes.FORMAT_COLUMNS,
                f"column `{name.value}` of {table.role} `{table.name.value}` cannot be in a key",
                name.span,
                cause="a METADATA column stands beside key and value, and a computed one is in no message; "
                f"what can be in a key is {columns}",
            )
        elif name not in told:
            yield Diagnostic(
                codes.UNKNOWN_COLUMN,
                f"{table.role} `{table.name.value}` has no column `{name.value}`",
                name.span,
                cause=f"the columns that can be in a key are {columns}",
                fix=did_you_mean(name.value, [field.name for field in table.columns]),
            )


def _cut(table: Table, name: str) -> Diagnostic:
    """A column of the key whose name `key.fields` would cut in two."""
    place = next((n.span for n in table.primary_key if n.value.lower() == name.lower()), table.name.span)
    return Diagnostic(
        codes.FORMAT_COLUMNS,
        f"column `{name}` of {table.role} `{table.name.value}` cannot be in a key",
        place,
        cause=f"`{SEPARATOR}` stands between the columns of a key, so none can have it in its name",
        fix="give the column another name",
    )
