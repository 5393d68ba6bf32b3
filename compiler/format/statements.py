"""Statements of a file, and the check that nothing but the layout has changed."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.format.document import Doc, Hard, Line, group, indent, lines
from compiler.format.expressions import bracketed, comma_list, comment, is_query, words
from compiler.format.queries import query
from compiler.format.tokens import Token, UnreadableError, meaning, tokens
from compiler.format.tree import Nested, Node, first, is_key, tree


def format_sql(text: str) -> str:
    """The text with its statements laid out anew; a statement that cannot be read stays as it is.

    The text ends with one line end, of the kind that it has everywhere. Between statements stays a blank line
    where there was one.
    """
    if "\r" in text:
        plain = text.replace("\r\n", "\n")
        if "\r" in plain or text.count("\r\n") != text.count("\n"):
            return text  # line ends of several kinds, some of them perhaps in strings
        return format_sql(plain).replace("\n", "\r\n")
    if text.startswith("\ufeff"):
        return "\ufeff" + format_sql(text[1:])
    try:
        found = tokens(text)
    except UnreadableError:
        return text
    out: list[str] = []
    for piece in _statements(found):
        if out and piece[0].lines > 1:
            out.append("")
        out += _laid_out(piece)
    return "\n".join(out) + "\n" if out else ""


def _statements(found: Sequence[Token]) -> list[list[Token]]:
    """The tokens of each statement with its `;` and a comment behind it; comments before it stand alone."""
    pieces: list[list[Token]] = []
    current: list[Token] = []
    for index, token in enumerate(found):
        alone = token.is_comment and (not current or all(t.is_comment for t in current))
        if alone and token.lines == 0 and index and pieces and not current:
            pieces[-1].append(token)  # behind the `;`
            continue
        current.append(token)
        if token.text == ";" or alone:
            pieces.append(current)
            current = []
    if current:
        pieces.append(current)
    return pieces


def _laid_out(piece: list[Token]) -> list[str]:
    """The lines of a statement or of a comment between statements."""
    original = _as_written(piece)
    try:
        made = lines((_statement(tree(piece)),))
        if meaning(tokens("\n".join(made))) == meaning(piece):
            return made
    except UnreadableError:
        pass
    return original


def _as_written(piece: Sequence[Token]) -> list[str]:
    """Tokens with the line ends and spaces that they had, as far as those are known."""
    text = ""
    for index, token in enumerate(piece):
        if index:
            text += "\n" * token.lines if token.lines else " " if token.spaced else ""
        text += token.text
    return text.split("\n")


def _statement(nodes: Sequence[Node]) -> Doc:
    """A statement of any kind."""
    body = list(nodes)
    end: list[Node] = []
    while body and (first(body[-1]).is_comment or first(body[-1]).text == ";"):
        end.insert(0, body.pop())
    # Only what follows the `;` is apart from the statement.
    while end and first(end[0]).text != ";" and any(first(n).text == ";" for n in end) and body:
        body.append(end.pop(0))
    tail = words(end, query) if any(first(n).text == ";" for n in end) else []
    if not tail:
        body += end
    return group(_body(body), *tail)


def _body(nodes: Sequence[Node]) -> Doc:
    if is_key(nodes[0] if nodes else None, "EXECUTE", "BEGIN"):
        at = next((i for i, node in enumerate(nodes) if is_key(node, "INSERT")), len(nodes))
        head = words(nodes[:at], query)
        return group(*head, Hard(), _body(nodes[at:])) if at < len(nodes) else group(*head)
    if is_key(nodes[0] if nodes else None, "CREATE"):
        for index, node in enumerate(nodes):
            if is_key(node, "AS") and is_query(nodes[index + 1 :]):
                return group(*_declaration(nodes[: index + 1]), Hard(), query(nodes[index + 1 :]))
        return group(*_declaration(nodes))
    if is_key(nodes[0] if nodes else None, "INSERT"):
        for index in range(1, len(nodes)):
            if is_query(nodes[index:]):
                return group(*_declaration(nodes[:index]), Hard(), query(nodes[index:]))
        return group(*words(nodes, query))
    if is_query(nodes) or _reads_first(nodes):
        return query(nodes)
    return group(*words(nodes, query))


def _reads_first(nodes: Sequence[Node]) -> bool:
    """Whether a query begins with FROM, as Spark allows."""
    said = [node for node in nodes if not first(node).is_comment]
    return bool(said) and is_key(said[0], "FROM")


def _declaration(nodes: Sequence[Node]) -> list[Doc]:
    """CREATE … up to its query: a column a line, options in one bracket."""
    docs: list[Doc] = []
    part: list[Node] = []
    columns = True

    def flush() -> None:
        docs.extend(words(part, query))
        part.clear()

    for index, node in enumerate(nodes):
        if isinstance(node, Nested) and node.opening.text == "(":
            before = nodes[index - 1] if index else None
            flush()
            docs.append(" ")
            is_list = columns and not is_key(before, "WITH", "BY") and first(nodes[0]).upper != "INSERT"
            docs.append(_columns(node) if is_list else bracketed(node, query))
            columns = False
            if index + 1 < len(nodes) and not first(nodes[index + 1]).is_comment:
                docs.append(" ")
        elif first(node).is_comment:
            flush()
            docs += comment(first(node))
        else:
            part.append(node)
            if is_key(node, "WITH", "BY"):
                columns = False
    flush()
    return docs


def _columns(node: Nested) -> Doc:
    return group("(", indent(Hard(), *_broken(comma_list(node.inner, query))), Hard(), ")")


def _broken(docs: Sequence[Doc]) -> list[Doc]:
    """A list with every line end taken."""
    return [Hard() if isinstance(doc, Line) else doc for doc in docs]
