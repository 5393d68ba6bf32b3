"""Turns the tree of a CREATE FUNCTION statement into a declaration."""

from __future__ import annotations

from typing import Any

from compiler.diagnostics.codes import SQL_SYNTAX
from compiler.diagnostics.diagnostic import Label
from compiler.syntax.declarations import ColumnDecl, FunctionDecl, OptionDecl, Text
from compiler.syntax.parsed import Scope, unique_options
from compiler.syntax.trees import Reader, first_token, subtrees, tokens


def create_function(node: Any, reader: Reader, scope: Scope) -> None:
    """Reads a CREATE FUNCTION; what its words mean is said when the function is bound."""
    name = reader.one_part(subtrees(node, "identifier")[0], scope)
    target = reader.text(tokens(node, "STRING")[0])
    language: Text | None = None
    jars: list[Text] = []
    options: list[OptionDecl] = []
    for clause in subtrees(node, "function_clause"):
        kind = first_token(clause).type
        if kind == "LANGUAGE":
            word = reader.text(clause.children[1])
            if language is None:
                language = word
            else:
                first = Label(language.span, "first here")
                scope.error(SQL_SYNTAX, "LANGUAGE stands twice in one statement", word.span, related=(first,))
        elif kind == "USING":
            jars.extend(reader.text(jar) for jar in tokens(clause, "STRING"))
        else:
            options.extend(reader.options(clause.children[1]))
    listed = subtrees(node, "parameters")
    returned = subtrees(node, "returns")
    scope.functions.append(
        FunctionDecl(
            name=name,
            target=target,
            language=language,
            parameters=_parameters(listed[0], reader) if listed else None,
            returns=reader.fragment(returned[0].children[1]) if returned else None,
            jars=tuple(jars),
            options=unique_options(options, scope.error),
            temporary=bool(tokens(node, "TEMPORARY")),
            span=reader.span(node),
        )
    )


def _parameters(node: Any, reader: Reader) -> tuple[ColumnDecl, ...]:
    return tuple(
        ColumnDecl(reader.one(parameter.children[0]), reader.fragment(parameter.children[1]))
        for parameter in subtrees(node, "parameter")
    )
