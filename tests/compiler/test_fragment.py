"""Every character of a fragment knows its place in the file."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.source import SourceFile
from compiler.syntax.fragment import Fragment
from compiler.syntax.parsed import Scope
from compiler.syntax.variables import fill_sql, replaced
from compiler.syntax.yaml_scalars import scalar_fragment


def fragment(text: str, **variables: str) -> Fragment:
    file = SourceFile("x.sql", text)
    reporter = Reporter()
    filled = fill_sql(Fragment.plain(file, 0, len(text)), Scope(file, variables, reporter))
    assert not reporter.all()
    return filled


def place(found: Fragment, word: str) -> str:
    start = found.text.index(word)
    return found.span(start, start + len(word)).text


def test_plain() -> None:
    found = fragment("SELECT a FROM b").slice(7, 15)
    assert (found.text, found.span().text, place(found, "FROM")) == ("a FROM b", "a FROM b", "FROM")
    assert found.span(2, 2).text == ""


def test_variables_keep_places() -> None:
    found = fragment("a ${x} b ${empty}c '${y}' -- ${z}\n$${d} e", x="12345", y="it", empty="")
    assert found.text == "a 12345 b c 'it' -- ${z}\n${d} e"
    assert place(found, "34") == "${x}"
    assert place(found, "it") == "${y}"
    assert place(found, "c") == "c"
    assert place(found, "5 b") == "${x} b"
    assert place(found, "e") == "e"
    part = found.slice(4, len(found.text)).strip()
    assert (place(part, "45"), place(part, "it"), place(part, "e")) == ("${x}", "${y}", "e")


def test_replaced() -> None:
    found = replaced(fragment("a b c"), 2, 3, "xyz")
    assert (found.text, place(found, "y"), place(found, "c")) == ("a xyz c", "b", "c")
    inserted = replaced(fragment("a c"), 2, 2, ", ")
    assert (inserted.text, place(inserted, "c"), inserted.span(2, 4).text) == ("a , c", "c", "")


SCALARS = [
    "a + b",
    "'it''s + b'",
    '"a + b"',
    '"a \\t + \\u00e9 b"',
    "a +\n    b\n\n    c",
    "'a +\n    b'",
    '"a +\n    b"',
    "|\n    a +\n      b\n\n    c\n",
    "|-\n    a + b",
    ">\n    a +\n    b\n\n      c\n    d\n",
    "|2\n      a\n    b\n",
    "é + 日本 + b",
]


def composed(text: str) -> yaml.Node:
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    assert node is not None
    return node


@pytest.mark.parametrize("scalar", SCALARS)
def test_yaml_scalars(scalar: str) -> None:
    text = f"é: x\nkey: {scalar}\n"
    file = SourceFile("x.yml", text)
    node = composed(text).value[1][1]
    found = scalar_fragment(file, node)
    assert found.text == node.value
    for offset, char in enumerate(found.text):
        if not char.isspace() and char not in "é'":
            assert found.span(offset, offset + 1).text == char, (offset, char)


@settings(max_examples=150, deadline=None)
@given(st.text("ab'\"\\ \n:#é-", max_size=30), st.sampled_from(["'", '"', "|", ">", None]))
def test_any_yaml_scalar(value: str, style: str | None) -> None:
    """Whatever PyYAML writes is mapped to characters that are the same, or to a range in the scalar."""
    text = yaml.safe_dump({"key": value}, default_style=style, allow_unicode=True, width=20)
    file = SourceFile("x.yml", text)
    node = composed(text).value[0][1]
    found = scalar_fragment(file, node)
    # Not `value`: PyYAML folds some texts into others.
    assert found.text == node.value
    for offset, char in enumerate(node.value):
        span = found.span(offset, offset + 1)
        assert node.start_mark.index <= span.start <= span.end <= node.end_mark.index
        if span.end - span.start == 1 and not char.isspace() and char not in "'\"\\é":
            assert span.text == char


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["a", " b ", "${x}", "'", "${e}", "\n", "-- c\n"]), max_size=12), st.data())
def test_slices_agree_with_the_whole(parts: list[str], data: st.DataObject) -> None:
    whole = fragment("".join(parts), x="value", e="")
    start = data.draw(st.integers(0, len(whole.text)))
    end = data.draw(st.integers(start, len(whole.text)))
    part = whole.slice(start, end)
    assert part.text == whole.text[start:end]
    for offset in range(end - start):
        assert part.span(offset, offset + 1) == whole.span(start + offset, start + offset + 1)
