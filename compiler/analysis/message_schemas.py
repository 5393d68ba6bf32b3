"""Schemas of a message's key and value: what was given, or what the columns make of themselves."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace

from compiler.analysis import avro
from compiler.analysis.message_fields import SchemaProblem
from compiler.analysis.message_parts import Part, Table, wrong
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.suggest import did_you_mean
from compiler.jobplan.formats import DESCRIPTOR, MESSAGE_NAME
from compiler.jobplan.model import OptionValue
from compiler.plan.schema import Field


def with_schemas(
    table: Table, parts: tuple[Part, Part], options: dict[str, OptionValue]
) -> Iterator[Diagnostic]:
    """Gives key and value the schemas that their formats need, in the options."""
    for part in parts:
        yield from _with_avro(table, part, options)
    yield from _unused(table, parts)
    options.pop(DESCRIPTOR, None)
    for part in parts:
        if part.form == "protobuf" and part.fields:
            yield from _with_protobuf(table, part, options)


def _with_avro(table: Table, part: Part, options: dict[str, OptionValue]) -> Iterator[Diagnostic]:
    """The schema of a part that is Avro: what was given, or what the columns make."""
    option = f"{part.prefix}avro.schema"
    form = part.form if part.fields else None
    given = options.get(option)
    if form == "avro-confluent" and "avro-confluent.url" not in options:
        needed = "format `avro-confluent` needs avro-confluent.url, the address of the registry"
        yield wrong(table, "format", needed, "add 'avro-confluent.url' = 'http://…:8081'")
    if form != "avro" and not (form == "avro-confluent" and table.role == "sink"):
        if given is not None:
            problem = f"{option} is for the format avro, or for a sink"
            yield wrong(table, option, problem, f"remove {option}")
        return
    fields = _in_message(table, part)
    try:
        if given is None:
            options[option] = avro.schema_of(fields)
            return
        for problem in avro.misfits(str(given), fields, table.role == "sink"):
            yield _misfit(table, part, option, problem)
    except SchemaProblem as error:
        yield _misfit(table, part, option, str(error))


def _unused(table: Table, parts: tuple[Part, Part]) -> Iterator[Diagnostic]:
    """Options of protobuf without the format."""
    used = {part.prefix for part in parts if part.form == "protobuf" and part.fields}
    for part in parts:
        for name in (f"{part.prefix}{DESCRIPTOR}", f"{part.prefix}{MESSAGE_NAME}"):
            # The key's type may be in the file of the value's.
            shared = bool(used) and name == DESCRIPTOR
            if name in table.resolved.options and part.prefix not in used and not shared:
                yield wrong(table, name, f"{name} is for the format protobuf", f"remove {name}")


def _with_protobuf(table: Table, part: Part, options: dict[str, OptionValue]) -> Iterator[Diagnostic]:
    """The message type of a part that is protobuf, embedded so that the plan needs no file."""
    given = table.resolved.options
    option, named = f"{part.prefix}{DESCRIPTOR}", f"{part.prefix}{MESSAGE_NAME}"
    path = given.get(option, given.get(DESCRIPTOR))
    place = option if option in given else DESCRIPTOR
    for name, value, example in (
        (option, path, "'messages.desc', the file that `protoc --descriptor_set_out` writes"),
        (named, given.get(named), "'package.Message', the full name of a message type"),
    ):
        if value is None:
            yield wrong(table, part.option, f"format `protobuf` needs {name}", f"add '{name}' = {example}")
    if path is None or named not in given:
        return
    content = table.descriptors.get(str(path))
    if content is None:
        yield Diagnostic(
            codes.MISSING_PATH,
            f"`{path}` cannot be read",
            table.place(place),
            cause=f"{place} names it, relative to the project"
            if str(path) in table.descriptors
            else f"the compiler reads what sources and sinks name in their own {place}, and no other file",
            fix="`protoc --include_imports --descriptor_set_out=…` writes it",
        )
        return
    # Imported by those alone who use it.
    from compiler.analysis.protobuf import misfits
    from compiler.jobplan.protobuf import DescriptorProblem, message_type, needed_of

    try:
        message = message_type(content, str(given[named]))
    except DescriptorProblem as error:
        lacks = bool(error.messages)
        yield Diagnostic(
            codes.WRONG_VALUE,
            f"`{path}`: {error}",
            table.place(named if lacks else place),
            fix=did_you_mean(str(given[named]), error.messages) if lacks else "let protoc write it anew",
        )
        return
    for problem in misfits(message, _in_message(table, part), table.role == "sink"):
        yield _misfit(table, part, named, problem)
    options[option] = b64encode(needed_of(message)).decode("ascii")


def _in_message(table: Table, part: Part) -> dict[str, Field]:
    """The columns by their names in the message; those of the primary key cannot be NULL, as in Flink."""
    keys = {name.value.lower() for name in table.primary_key}
    return {
        name: replace(field, nullable=False) if field.name.lower() in keys else field
        for name, field in part.fields.items()
    }


def _misfit(table: Table, part: Part, option: str, problem: str) -> Diagnostic:
    return Diagnostic(
        codes.FORMAT_COLUMNS,
        f"format `{'avro' if 'avro' in part.form else part.form}` of {table.role} `{table.name.value}` "
        f"does not fit the columns of the {part.name}",
        table.place(option),
        cause=problem,
        fix=f"declare the columns as {option} has them"
        if option in table.resolved.options
        else "leave the column out, or use the format json",
    )
