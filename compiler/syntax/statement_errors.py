"""Says in plain words what the statement parser stumbled over, and what was probably meant."""

from __future__ import annotations

import re
from typing import Any, Final

from compiler.diagnostics.codes import SQL_SYNTAX
from compiler.diagnostics.diagnostic import Diagnostic, Label
from compiler.diagnostics.suggest import suggest
from compiler.syntax.fragment import Fragment

_SIGNS: Final = {
    "COMMA": "`,`",
    "RPAR": "`)`",
    "LPAR": "`(`",
    "EQUAL": "`=`",
    "GREATER": "`>`",
    "LESS": "`<`",
    "COLON": "`:`",
    "LBRACKET": "`[`",
    "RBRACKET": "`]`",
    "DOT": "`.`",
    "$END": "`;`",
    "STRING": "a string in single quotes",
    "NUMBER": "a number",
    "NAME": "a name",
    "QUOTED": "a name",
    "WORD": "a word",
    "QUERY": "a query",
    "TYPE_WORD": "",
    "OPERATOR": "an operator",
    "DOT_": "",
}
# Rarely what was meant; left out where there is something better to say.
_MINOR: Final = frozenset(
    {"DISTRIBUTED", "LIKE", "LESS", "COLON", "DOT", "OVERWRITE", "TEMPORARY", "IF_NOT_EXISTS"}
)
_MINOR_TOO: Final = frozenset({"OR_REPLACE", "SYSTEM", "CONSTRAINT", "VIRTUAL", "LBRACKET", "PARTITION"})

_TOKEN = re.compile(
    r"'(?:[^'\\\n]|\\.|'')*'?|\"[^\"\n]*\"?|`[^`\n]*`?|[^\W\d][\w.]*|\d[\w.]*|<=|>=|<>|!=|==|\|\||::|=>|->|[^\s]"
)
_INK = re.compile(r"(?:\s|--[^\n]*+|/\*[\s\S]*?\*/)++|'(?:[^']|'')*+'|[\s\S]")
_STARTS = re.compile(r"(?:CREATE|INSERT|SELECT|WITH|SET|EXECUTE)\b", re.IGNORECASE)


def explain(error: Exception, statement: Fragment) -> Diagnostic:
    """The diagnostic for an error of the statement parser."""
    return _Explainer(statement, _offset(error, statement.text), _accepts(error)).diagnostic()


def _accepts(error: Any) -> frozenset[str]:
    return frozenset(error.interactive_parser.accepts()) or frozenset(getattr(error, "allowed", None) or ())


def _offset(error: Any, text: str) -> int:
    token = getattr(error, "token", None)
    if token is not None and token.type == "$END":
        return len(text)
    position = error.pos_in_stream
    return position if isinstance(position, int) else len(text)


class _Explainer:
    def __init__(self, statement: Fragment, offset: int, accepts: frozenset[str]) -> None:
        self.statement = statement
        self.text = statement.text
        self.offset = offset
        self.accepts = accepts
        match = _TOKEN.match(self.text, offset)
        self.token = match.group() if match else ""
        self.before_end = _trimmed(self.text[:offset])
        self.previous = self._previous()

    def _previous(self) -> str:
        """The token before the mistake."""
        last = ""
        for match in _TOKEN.finditer(self.text, max(0, self.before_end - 200), self.before_end):
            last = match.group()
        return last

    def diagnostic(self) -> Diagnostic:
        if not self.token:
            return self._at_end()
        fix, expected = self._advice()
        return Diagnostic(
            SQL_SYNTAX,
            f"unexpected {self._shown()}",
            self.statement.span(self.offset, self.offset + len(self.token)),
            fix=fix,
            label=f"expected {expected or self._expected()}",
            related=self._related(),
        )

    def _shown(self) -> str:
        token = self.token if len(self.token) <= 40 else self.token[:37] + "…"
        return f"`{token}`" if "`" not in token else token

    def _at_end(self) -> Diagnostic:
        end = self.before_end
        start = (
            end - len(self.previous)
            if self.previous and self.text.endswith(self.previous, 0, end)
            else end - 1
        )
        fix = None
        if "RPAR" in self.accepts and (opened := self._open_paren()) is not None:
            return Diagnostic(
                SQL_SYNTAX,
                "a parenthesis is not closed",
                self.statement.span(opened, opened + 1),
                fix="close it with `)`",
                label="opened here",
                related=(
                    Label(self.statement.span(max(0, start), end), f"expected {self._expected()} after this"),
                ),
            )
        if "EQUAL" in self.accepts:
            fix = "write `=` and the value"
        return Diagnostic(
            SQL_SYNTAX,
            "the statement is not complete",
            self.statement.span(max(0, start), end),
            fix=fix,
            label=f"expected {self._expected()} after this",
        )

    def _open_paren(self) -> int | None:
        """The innermost parenthesis that is open at the mistake."""
        opened: list[int] = []
        for match in re.finditer(
            r"--[^\n]*|/\*[\s\S]*?\*/|'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|[()]", self.text
        ):
            if match.start() >= self.offset:
                break
            if match.group() == "(":
                opened.append(match.start())
            elif match.group() == ")" and opened:
                opened.pop()
        return opened[-1] if opened else None

    def _related(self) -> tuple[Label, ...]:
        if (
            "RPAR" in self.accepts
            and _STARTS.match(self.token)
            and (opened := self._open_paren()) is not None
        ):
            return (Label(self.statement.span(opened, opened + 1), "this parenthesis is open"),)
        return ()

    def _in_options(self) -> bool:
        opened = self._open_paren()
        if opened is None:
            return False
        return re.search(r"WITH\s*\Z", self.text[:opened], re.IGNORECASE) is not None

    def _advice(self) -> tuple[str | None, str | None]:
        """What to do, and what to name as expected, for the mistakes that people make."""
        token, accepts = self.token, self.accepts
        word = token[0].isalpha() or token[0] in "_`'\""
        if token[0] in "‘’“”":
            return "use straight quotes: '…'", None
        if token in ("==", ":", "=>", "->") and "EQUAL" in accepts:
            return "write `=` between the key and its value", "`=`"
        if token == ")" and self.previous == ",":
            return "delete the comma before it", None
        if token == "," and self.previous == ",":
            return "delete one of the commas", None
        if self._in_options():
            if "EQUAL" in accepts:
                return "write `=` between the key and its value", "`=`"
            if token[0] == '"' and "STRING" in accepts:
                return (
                    f"put the value in single quotes: '{token.strip(chr(34))}'",
                    "a string in single quotes",
                )
            if "STRING" in accepts and "EQUAL" not in accepts and self.previous == "=":
                return "put the value in single quotes", "a string, a number or a word"
            if "COMMA" in accepts and self._same_line() and not token.startswith(("'", "`")):
                return "put the value in single quotes, or write a `,` before the next key", "`,` or `)`"
        if "$END" in accepts and _STARTS.match(token) and "AS" not in accepts:
            return "end the statement before with `;`", "`;`"
        if token.upper() in ("SELECT", "WITH", "FROM") and "AS" in accepts:
            return "write AS before the query", "AS"
        if "QUERY" in accepts and "AS" not in accepts:
            return "a query begins with SELECT or WITH", "a query"
        if (
            token == "("
            and "WITH" in accepts
            and re.search(r"\bWITH\s*\(", self.text[: self.offset], re.IGNORECASE)
        ):
            return "write the columns before WITH", None
        keyword = self._keyword()
        if keyword is not None:
            return f"did you mean {keyword}?", None
        if "COMMA" in accepts and word:
            return "write a `,` before it", "`,` or `)`"
        if token == "=" and "WITH" in accepts:
            return None, None
        return None, None

    def _same_line(self) -> bool:
        return "\n" not in self.text[self.before_end : self.offset]

    def _keyword(self) -> str | None:
        """The keyword that was mistyped."""
        if not self.token[0].isalpha() or len(self.token) < 3:
            return None
        words = {
            a.split("_")[0] if a.endswith("_BY") or a.startswith("WATERMARK") else a.replace("_", " "): a
            for a in self.accepts
            if a not in _SIGNS
        }
        near = suggest(self.token, words)
        if near is None or near == self.token.upper():
            return None
        return words[near].replace("_", " ")

    def _expected(self) -> str:
        names = set(self.accepts)
        if {"OPERATOR", "LPAR", "NAME", "STRING"} <= names:
            names -= {"OPERATOR", "LPAR", "NAME", "STRING", "NUMBER", "QUOTED", "LBRACKET"}
            extra = ["more of the expression"] if "COMMA" in names or "RPAR" in names else ["an expression"]
        else:
            extra = []
        if {"NAME", "RPAR", "COMMA"} <= names or {"TYPE_WORD", "COMMA"} <= names:
            names -= _MINOR | {"TYPE_WORD", "LPAR"}
        if {"STRING", "WORD", "NUMBER"} <= names:
            names -= {"STRING", "WORD", "NUMBER"}
            extra.append("a value")
        elif {"STRING", "WORD"} <= names:
            names -= {"STRING", "WORD"}
            extra.append("an option's name")
        if len(names) > 3:
            names -= _MINOR | _MINOR_TOO
        words = [_SIGNS.get(n, n.replace("_", " ")) for n in sorted(names, key=_order)]
        words = [w for w in dict.fromkeys([*extra, *words]) if w]
        if not words:
            return "something else"
        if len(words) > 6:
            words = [*words[:6], "…"]
            return ", ".join(words)
        return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def _order(name: str) -> tuple[int, str]:
    first = ("NAME", "COMMA", "RPAR", "EQUAL", "WITH", "AS", "$END")
    return (first.index(name), name) if name in first else (len(first), name)


def _trimmed(text: str) -> int:
    """The length of a text without the white space and comments at its end."""
    end = 0
    for match in _INK.finditer(text):
        if match.group()[0] not in " \t\r\n\f\v" and not match.group().startswith(("--", "/*")):
            end = match.end()
    return end
