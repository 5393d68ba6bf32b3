"""Which columns of a topic's rows are in the key of a message and which in its value, if they can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from compiler.analysis import avro
from compiler.connectors.resolve import Resolved, Role
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import did_you_mean
from compiler.frozen import frozen
from compiler.jobplan.formats import EXCEPT_KEY
from compiler.jobplan.model import OptionValue
from compiler.plan import types as t
from compiler.plan.schema import Field
from compiler.syntax.declarations import Text

_NOT_IN_CSV: Final = (t.Array, t.Map, t.Struct)


@frozen(slots=True)
class Table:
    """A source or sink whose rows are messages.

    Args:
        name: as declared.
        role: source or sink.
        resolved: its connector and options.
        columns: its columns but METADATA and computed ones.
        primary_key: names as they were declared.
    """

    name: Text
    role: Role
    resolved: Resolved
    columns: Sequence[Field]
    primary_key: Sequence[Text]

    def place(self, option: str) -> Span:
        """Where an option was written."""
        return self.resolved.places.get(option, self.name.span)


def message_options(table: Table, reporter: Reporter) -> dict[str, OptionValue]:
    """The options, with `key.fields` as the columns are spelt; what cannot be is reported.

    The key of an upsert topic is the table's primary key. HR104 for options that need others, HR201
    for a key without its column, HR232 for columns that a format cannot hold, HR316 for a table of changes
    without a primary key.
    """
    options = dict(table.resolved.options)
    connector = table.resolved.connector
    if not connector.keyed_messages:
        return options
    changes = options.get("format") in connector.change_formats
    if changes and not table.primary_key and (connector.upsert or table.role == "source"):
        reporter.add(_no_key(table))
    if connector.upsert:
        names = list(table.primary_key)
    else:
        given = [name.strip() for name in str(options.get("key.fields", "")).split(";")]
        names = [Text(name, table.place("key.fields")) for name in given if name]
    fields = {field.name.lower(): field for field in table.columns}
    unknown = [name for name in names if name.value.lower() not in fields]
    asked = [*unknown, *(n for n in table.primary_key if changes and n.value.lower() not in fields)]
    # A sink's primary key is bound with its query.
    if table.role == "source" or not connector.upsert:
        reporter.extend(_unknown(table, name) for name in dict.fromkeys(asked))
    key = [fields[name.value.lower()] for name in names if name not in unknown]
    if key:
        options["key.fields"] = ";".join(field.name for field in key)
    if not unknown:
        reporter.extend(_problems(table, key))
        reporter.extend(_with_schemas(table, key, options))
    return options


def _problems(table: Table, key: Sequence[Field]) -> Iterator[Diagnostic]:
    options = table.resolved.options
    if "key.format" in options and not key and not table.resolved.connector.upsert:
        fix = "name the columns of the key in key.fields, with ; between them"
        yield _wrong(table, "key.format", "key.format needs key.fields", fix)
    prefix = str(options.get("key.fields-prefix", ""))
    except_key = options.get("value.fields-include") == EXCEPT_KEY
    if prefix and not except_key:
        yield _wrong(
            table,
            "key.fields-prefix",
            "key.fields-prefix needs value.fields-include = 'EXCEPT_KEY'",
            "the prefix tells columns of the key from those of the value, so none can be in both",
        )
    for field in key:
        if not field.name.startswith(prefix) or field.name == prefix:
            yield _wrong(
                table,
                "key.fields-prefix",
                f"column `{field.name}` of the key does not begin with the prefix `{prefix}`",
                f"name it {prefix}{field.name}",
            )
    value = [field for field in table.columns if not (except_key and field in key)]
    if not value:
        place = "value.fields-include"
        yield _wrong(table, place, "no column is left for the value", "remove value.fields-include")
        return
    form = str(options.get("format"))
    yield from _misfits(table, "format", form, value)
    if key:
        yield from _misfits(table, "key.format", str(options.get("key.format", form)), key)


def _with_schemas(
    table: Table, key: Sequence[Field], options: dict[str, OptionValue]
) -> Iterator[Diagnostic]:
    """Gives those of key and value that are Avro their schemas: what was given, or what the columns make."""
    prefix = str(options.get("key.fields-prefix", ""))
    except_key = options.get("value.fields-include") == EXCEPT_KEY
    value = {field.name: field for field in table.columns if not (except_key and field in key)}
    keys = {field.name.removeprefix(prefix): field for field in key}
    for option, form, fields in (
        ("avro.schema", options.get("format"), value),
        ("key.avro.schema", options.get("key.format", options.get("format")) if key else None, keys),
    ):
        given = options.get(option)
        if form == "avro-confluent" and "avro-confluent.url" not in options:
            needed = "format `avro-confluent` needs avro-confluent.url, the address of the registry"
            yield _wrong(table, "format", needed, "add 'avro-confluent.url' = 'http://…:8081'")
        if form != "avro" and not (form == "avro-confluent" and table.role == "sink"):
            if given is not None:
                yield _wrong(
                    table, option, f"{option} is for the format avro, or for a sink", f"remove {option}"
                )
            continue
        try:
            if given is None:
                options[option] = avro.schema_of({n: _never_null(table, f) for n, f in fields.items()})
                continue
            for problem in avro.misfits(str(given), fields, table.role == "sink"):
                yield _no_avro(table, option, problem)
        except avro.SchemaProblem as problem:
            yield _no_avro(table, option, str(problem))


def _never_null(table: Table, field: Field) -> Field:
    """A column of the primary key cannot be NULL, as in Flink, which makes its schemas so."""
    keyed = any(name.value.lower() == field.name.lower() for name in table.primary_key)
    return replace(field, nullable=False) if keyed else field


def _no_avro(table: Table, option: str, problem: str) -> Diagnostic:
    part = "key" if option.startswith("key.") else "value"
    return Diagnostic(
        codes.FORMAT_COLUMNS,
        f"format `avro` of {table.role} `{table.name.value}` does not fit the columns of the {part}",
        table.place(option),
        cause=problem,
        fix=f"declare the columns as {option} has them"
        if option in table.resolved.options
        else "leave the column out, or use the format json",
    )


def _misfits(table: Table, option: str, form: str, fields: Sequence[Field]) -> Iterator[Diagnostic]:
    """Columns that a format has no form for."""
    part = "key" if option == "key.format" else "value"
    if form == "debezium-json" and part == "key":
        problem = "format `debezium-json` is for the value of a message, and its key has no other"
        yield _wrong(table, option, problem, "add key.format = 'json'")
    if form == "raw" and (len(fields) != 1 or fields[0].type not in (t.STRING, t.BINARY)):
        yield Diagnostic(
            codes.FORMAT_COLUMNS,
            f"format `raw` of {table.role} `{table.name.value}` takes one column of type STRING or BINARY",
            table.place(option),
            cause=f"a raw {part} is one text, or one value of bytes, and it would be "
            + ", ".join(f"{field.name} {field.type}" for field in fields),
            fix="choose another format, or keep one such column"
            + (
                ": a METADATA column, or one that is only in the key, does not count" if part != "key" else ""
            ),
        )
    if form == "csv":
        for field in fields:
            if isinstance(field.type, _NOT_IN_CSV) or field.type in (t.BINARY, t.VARIANT):
                yield Diagnostic(
                    codes.FORMAT_COLUMNS,
                    f"format `csv` of {table.role} `{table.name.value}` cannot hold column `{field.name}`",
                    table.place(option),
                    cause=f"CSV has no form for {field.type}",
                    fix="use the format json"
                    + (f", or write to_json({field.name})" if table.role == "sink" else ""),
                )


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


def _unknown(table: Table, name: Text) -> Diagnostic:
    names = [field.name for field in table.columns]
    return Diagnostic(
        codes.UNKNOWN_COLUMN,
        f"{table.role} `{table.name.value}` has no column `{name.value}`",
        name.span,
        cause=f"the columns that can be in a key are {', '.join(names)}",
        fix=did_you_mean(name.value, names),
    )


def _wrong(table: Table, option: str, problem: str, fix: str) -> Diagnostic:
    return Diagnostic(codes.WRONG_VALUE, problem, table.place(option), fix=fix)
