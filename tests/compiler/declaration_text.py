"""A compact text of declarations, for goldens; every fragment shows the place it maps to."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import fields

from compiler.diagnostics.source import Span
from compiler.syntax.declarations import OptionDecl, Project, Text
from compiler.syntax.fragment import Fragment


def declaration_text(project: Project) -> str:
    """Sources, models, sinks, seeds and functions of a project."""
    lines: list[str] = []
    for kind in ("sources", "models", "sinks", "seeds", "functions"):
        for declaration in getattr(project, kind):
            lines.append(f"{kind[:-1]} {declaration.name.value}")
            lines.extend(_fields(declaration, "  "))
    if project.broken:
        lines.append("broken " + ", ".join(sorted(project.broken)))
    return "\n".join(lines) + "\n"


def _fields(value: Struct, indent: str) -> Iterator[str]:
    for field in fields(value):
        inner = getattr(value, field.name)
        if (
            field.name in ("span", "sha256")
            or inner in (None, (), False)
            or inner is field.default
            or (indent == "  " and field.name == "name")
        ):
            continue
        yield from _value(field.name, inner, indent)


def _value(name: str, value: object, indent: str) -> Iterator[str]:
    if isinstance(value, Text):
        yield f"{indent}{name}: {_text(value)}"
    elif isinstance(value, Fragment):
        line, column = value.file.position(value.span().start)
        mapped = value.span().text
        shown = "" if mapped == value.text else f" <- {mapped!r}"
        yield f"{indent}{name}: {value.text!r} at {line}:{column}{shown}"
    elif isinstance(value, OptionDecl):
        yield f"{indent}{value.key.value} = {_text(value.value)}{' (inherited)' if value.inherited else ''}"
    elif isinstance(value, tuple) and value and all(isinstance(v, Text) for v in value):
        yield f"{indent}{name}: [{', '.join(_text(v) for v in value)}]"
    elif isinstance(value, tuple):
        yield f"{indent}{name}:"
        for item in value:
            if isinstance(item, Struct) and not isinstance(item, OptionDecl):
                yield f"{indent}  - {type(item).__name__}"
                yield from _fields(item, indent + "    ")
            else:
                yield from _value("-", item, indent + "  ")
    elif isinstance(value, Struct) and not isinstance(value, Span):
        yield f"{indent}{name}: {type(value).__name__}"
        yield from _fields(value, indent + "  ")
    else:
        yield f"{indent}{name}: {value!r}"


def _text(text: Text) -> str:
    return repr(text.value) if text.quoted else text.value
