"""Says in plain words what the statement parser stumbled over, and what was probably meant."""

from __future__ import annotations

import re
from typing import Any, Final

from compiler.diagnostics.codes import SQL_SYNTAX
from compiler.diagnostics.diagnostic import Diagnostic, Label
from compiler.diagnostics.suggest import suggest
from compiler.frozen import frozen
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
_STRINGS = re.compile(r"--[^\n]*|/\*[\s\S]*?\*/|'(?:[^'\\]++|\\[\s\S]|'')*+'|\"[^\"]*\"|`[^`]*`")
_AFTER_LIST = re.compile(r"CREATE|INSERT|SELECT|WITH|PARTITIONED|EXECUTE", re.IGNORECASE)
_WITH_BEFORE = re.compile(r"\bWITH\s*\Z", re.IGNORECASE)
_WITH_DONE = re.compile(r"\bWITH\s*\(", re.IGNORECASE)
_KEY_BEFORE = re.compile(r"\bPRIMARY\s+KEY\s*\Z", re.IGNORECASE)
_KEY_AFTER = re.compile(r"('[^'\n]*'|[\w.\-]+)\s*=")
_WATERMARK = re.compile(r"\bWATERMARK\s+(\w+)\s*\Z", re.IGNORECASE)
_TYPED = re.compile(r"[\w`]+\s+[^\W\d]\w*")
_STARTS = re.compile(r"(?:CREATE|INSERT|SELECT|WITH|SET|EXECUTE)\b", re.IGNORECASE)


@frozen(slots=True)
class Repair:
    """What to put for the characters [start, end) of a statement, to find its other mistakes too."""

    start: int
    end: int
    text: str


@frozen(slots=True)
class Advice:
    """What is known of a mistake beyond its place."""

    fix: str | None = None
    expected: str | None = None
    repair: Repair | None = None


def explain(error: Exception, statement: Fragment) -> tuple[Diagnostic, Repair | None]:
    """The diagnostic for an error of the statement parser, and how to read on if that is clear."""
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

    def diagnostic(self) -> tuple[Diagnostic, Repair | None]:
        if (opened := self._long_string()) is not None:
            end = self.text.index("\n", opened)
            span = self.statement.span(opened, len(self.text[:end].rstrip()))
            text = "the string is not closed"
            return Diagnostic(SQL_SYNTAX, text, span, fix="close it with `'`", label="it starts here"), None
        if not self.token:
            return self._at_end(), None
        advice = self._advice()
        found = Diagnostic(
            SQL_SYNTAX,
            f"unexpected {self._shown()}",
            self.statement.span(self.offset, self.offset + len(self.token)),
            fix=advice.fix,
            label=f"expected {advice.expected or self._expected()}",
            related=self._related(),
        )
        return found, advice.repair

    def _long_string(self) -> int | None:
        """Where the string before the mistake begins, if it runs over a line's end: its quote is missing."""
        for match in _STRINGS.finditer(self.text):
            if match.end() == self.before_end and match.group()[0] == "'" and "\n" in match.group():
                return match.start()
            if match.end() > self.before_end:
                break
        return None

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
        if "RPAR" in self.accepts and self._clause_inside() and (opened := self._open_paren()) is not None:
            return (Label(self.statement.span(opened, opened + 1), "this parenthesis is open"),)
        return ()

    def _clause_inside(self) -> bool:
        """Whether the mistake is a word that begins what comes after a list in parentheses."""
        return _AFTER_LIST.fullmatch(self.token) is not None

    def _advice(self) -> Advice:
        """What to do about the mistakes that people make."""
        opened = self._open_paren()
        in_options = opened is not None and _WITH_BEFORE.search(self.text[:opened]) is not None
        return (
            self._signs(opened)
            or (self._in_options() if in_options else None)
            or self._clauses(opened)
            or self._columns()
            or self._keywords()
            or Advice()
        )

    def _insert(self, text: str) -> Repair:
        return Repair(self.offset, self.offset, text)

    def _instead(self, text: str) -> Repair:
        return Repair(self.offset, self.offset + len(self.token), text)

    def _signs(self, opened: int | None) -> Advice | None:
        """Mistakes of one sign, wherever they stand."""
        token = self.token
        if token[0] in "‘’“”„":
            return Advice("use straight quotes: '…'")
        if token == "=" and self.previous == "=":
            return Advice("write one `=`", None, self._instead(" "))
        if token in ("==", ":", "=>", "->", ":=") and "EQUAL" in self.accepts:
            return Advice("write `=` between the key and its value", "`=`", self._instead("="))
        if token in (")", ",") and self.previous == ",":
            comma = self.before_end - 1
            return Advice("delete the comma before it", None, Repair(comma, comma + 1, " "))
        if token == ")" and opened is None:
            return Advice("delete it: no parenthesis is open here", None, self._instead(" "))
        if token == ")" and "GREATER" in self.accepts:
            return Advice("close the type with `>`", "`>`", self._insert(">"))
        return None

    def _in_options(self) -> Advice | None:
        """Between the parentheses of WITH."""
        token, accepts = self.token, self.accepts
        if "EQUAL" in accepts:
            return Advice("write `=` between the key and its value", "`=`")
        if "STRING" in accepts and self.previous == "=":
            if token[0] == '"':
                value = token.strip('"')
                repair = self._instead(f"'{value}'") if "'" not in value else None
                return Advice(
                    f"put the value in single quotes: '{value}'", "a string in single quotes", repair
                )
            return Advice("put the value in single quotes", "a string, a number or a word")
        if "COMMA" in accepts and token.upper() == "AS":
            return Advice("close the parenthesis before it", "`,` or `)`", self._insert(") "))
        if "COMMA" in accepts and not self._clause_inside():
            follows = _KEY_AFTER.match(self.text, self.offset) is not None
            if follows or self.previous[:1] == "'":
                return Advice("write a `,` before it", "`,` or `)`", self._insert(", ") if follows else None)
            return Advice("put the value in single quotes", "`,` or `)`")
        return None

    def _clauses(self, opened: int | None) -> Advice | None:
        """Between the parts of a statement."""
        token, accepts, upper = self.token, self.accepts, self.token.upper()
        if "RPAR" in accepts and opened is not None and self._clause_inside():
            return Advice("close the parenthesis before it", "`)`", self._insert(") "))
        if "$END" in accepts and _STARTS.match(token) and "AS" not in accepts:
            return Advice("end the statement before with `;`", "`;`")
        if upper in ("SELECT", "WITH", "FROM") and "AS" in accepts and "RPAR" not in accepts:
            return Advice("write AS before the query", "AS", self._insert("AS "))
        if "QUERY" in accepts and "AS" not in accepts:
            return Advice("a query begins with SELECT or WITH", "a query")
        if token == "(" and "WITH" in accepts and _WITH_DONE.search(self.text[: self.offset]):
            return Advice("write the columns before WITH")
        if accepts == {"LPAR"}:
            if self.previous.upper() == "WITH":
                return Advice("write the options in parentheses: WITH (key = 'value')")
            if _KEY_BEFORE.search(self.text[: self.offset]):
                return Advice(f"write the columns in parentheses: PRIMARY KEY ({token})")
        if "INTO" in accepts and self._keyword() is None:
            return Advice("write INTO before the name", "INTO", self._insert("INTO "))
        if "NAME" in accepts and token == "(":
            return Advice(f"write a name after {self.previous.upper()}", "a name")
        if "NAME" in accepts and token[0].isdigit():
            return Advice("a name begins with a letter or `_`; others go in backquotes", "a name")
        return None

    def _columns(self) -> Advice | None:
        """Between columns and other elements of a list."""
        token, accepts = self.token, self.accepts
        before = self.text[: self.offset]
        if token.upper() == "AS" and "NOT_NULL" in accepts:
            name = self.text[before.rfind(",") + 1 : self.before_end].split("(")[-1].split()
            shown = name[0] if name else "name"
            return Advice(f"a computed column has no type: write `{shown} AS …`")
        if token.upper() == "NOT" and "NOT_NULL" in accepts:
            return Advice("write NOT NULL", "`,`, `)` or NOT NULL")
        if "COMMA" in accepts and (match := _WATERMARK.search(before)):
            return Advice("write WATERMARK FOR column AS expression", f"FOR instead of `{match.group(1)}`")
        if "LPAR" in accepts and "WITH" in accepts and _TYPED.match(self.text, self.offset):
            return Advice("write `(` before the columns", "`(`")
        return None

    def _keywords(self) -> Advice | None:
        keyword = self._keyword()
        if keyword is not None:
            return Advice(f"did you mean `{keyword}`?", None, self._instead(keyword))
        if "COMMA" in self.accepts and (self.token[0].isalpha() or self.token[0] in "_`"):
            return Advice("write a `,` before it", "`,` or `)`", self._insert(", "))
        return None

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
