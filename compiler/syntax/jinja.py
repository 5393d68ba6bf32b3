"""dbt's static calls: `{{ ref('x') }}`, `{{ source('a', 'b') }}`, `{{ var('x') }}`, `{{ config(…) }}`.

Their syntax is that of a Python call, so Python's own parser reads them. Nothing is evaluated.
"""

from __future__ import annotations

import ast
import re
import warnings

from compiler.diagnostics.codes import WRONG_VALUE
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import did_you_mean
from compiler.syntax.declarations import OptionDecl, Text
from compiler.syntax.parsed import GroupReference, Scope
from compiler.syntax.variables import jinja_error, lookup

_CALLS = ("ref", "source", "var", "config")
_CLOSING = re.compile(r"\{%[-+]?\s*(?:end\w+|else|elif)\b")
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_WAYS = "`${name}` holds what changes from run to run, and a model holds a query that others use"
_FIXES = {
    "env_var": "write `${env:NAME}` in an option's value",
    "this": "a streaming model has no earlier result to read",
    "is_incremental": "a streaming model is always incremental: write its query without the condition",
    "macro": "macros do not exist here: write the expression, or a model to select from",
    "set": "write the value under `vars:` in headrace.yml, and `${name}` here",
    "doc": "write the text out",
}


def expand(found: str, span: Span, scope: Scope, *, in_string: bool) -> str | None:
    """The SQL that stands for a template part, or None (reported) if it is not a static call."""
    if found.startswith("{#") and found.endswith("#}") and len(found) > 3:
        return "" if in_string else " "
    if found.startswith("{%"):
        scope.templated = True
        if not _CLOSING.match(found):
            jinja_error("Jinja statements are not run", span, scope, _block_fix(found) or _WAYS)
        return " "
    if not found.endswith("}}") or len(found) < 4:
        jinja_error("template part is not closed", span, scope)
        return None
    inner = found[2:-2].removeprefix("-").removesuffix("-")
    call = _parse(inner)
    if call is None or not isinstance(call.func, ast.Name) or call.func.id not in _CALLS:
        word = re.search(r"\w+", inner)
        name = word.group() if word else ""
        fix = _FIXES.get(name) or (did_you_mean(name, _CALLS) if call is not None else None) or _WAYS
        jinja_error(f"`{' '.join(found.split())[:60]}` is not one of the static calls", span, scope, fix)
        return "_"
    name = call.func.id
    if name == "config":
        _config(call, found, span, scope)
        return " "
    values = [a.value for a in call.args if isinstance(a, ast.Constant)]
    texts = [v for v in values if isinstance(v, str)]
    wanted = {"ref": (1, 2), "source": (2,), "var": (1, 2)}[name]
    if (
        call.keywords
        or len(values) != len(call.args)
        or len(values) not in wanted
        or not texts
        or (name != "var" and len(texts) != len(values))
    ):
        shape = {"ref": "ref('model')", "source": "source('group', 'table')", "var": "var('name')"}[name]
        what = "has one version of a model" if name == "ref" and call.keywords else "takes fixed texts here"
        jinja_error(f"`{name}` {what}", span, scope, f"write `{{{{ {shape} }}}}`")
        return "_"
    if name == "var":
        default = _plain(values[1]) if len(values) == 2 else None
        return lookup(texts[0], span, scope, default)
    if name == "source":
        scope.references.append(GroupReference(texts[0], texts[1], span))
    elif len(texts) == 2:
        scope.packages.append(Text(texts[0], span, True))
    target = texts[-1]
    return target if in_string or _PLAIN.fullmatch(target) else "`" + target.replace("`", "``") + "`"


def _parse(inner: str) -> ast.Call | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            node = ast.parse(f"({inner.strip()}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return node if isinstance(node, ast.Call) else None


def _block_fix(found: str) -> str | None:
    word = re.search(r"\w+", found)
    name = word.group() if word else ""
    if name == "if" and "is_incremental" in found:
        name = "is_incremental"
    return _FIXES.get(name)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _constant(node: ast.expr) -> object:
    """The value of a literal, with Jinja's lower-case constants; a list gives a list of them."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in ("true", "false"):
        return node.id == "true"
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        value = node.operand.value
        return -value if isinstance(value, int | float) else None
    if isinstance(node, ast.List | ast.Tuple):
        return [_constant(e) for e in node.elts]
    if isinstance(node, ast.Dict):
        keys = [_constant(key) if key is not None else None for key in node.keys]
        return dict(zip(map(str, keys), map(_constant, node.values), strict=True))
    return None


def _nested(key: str, values: dict[str, object], place: Span, scope: Scope) -> None:
    """`contract={'enforced': true}`: the keys are joined with dots, as those of YAML are."""
    for inner, value in values.items():
        if isinstance(value, str | int | float):
            text = Text(_plain(value), place, isinstance(value, str))
            scope.config.append(OptionDecl(Text(f"{key}.{inner}", place), text))
        else:
            scope.error(WRONG_VALUE, f"`{key}.{inner}` takes a fixed text, number or boolean", place)


def _config(call: ast.Call, found: str, span: Span, scope: Scope) -> None:
    for keyword in call.keywords:
        # Where a key stands is looked up in the text; the call as a whole is a good second choice.
        key = keyword.arg or "**"
        match = re.search(rf"\b{re.escape(key)}\s*=", found)
        place = span
        if match and span.end - span.start == len(found):
            place = Span(span.file, span.start + match.start(), span.start + match.start() + len(key))
        value = _constant(keyword.value)
        if key == "meta":
            continue
        if key == "tags":
            tags = value if isinstance(value, list) else [value]
            scope.config_tags.extend(Text(str(t), place, True) for t in tags if isinstance(t, str))
            continue
        if isinstance(value, dict):
            _nested(key, value, place, scope)
            continue
        if not isinstance(value, str | int | float):
            scope.error(WRONG_VALUE, f"`{key}` takes a fixed text, number or boolean", place)
            continue
        text = Text(_plain(value), place, isinstance(value, str))
        scope.config.append(OptionDecl(Text(key, place), text))
    if call.args:
        jinja_error("`config` takes options as name=value", span, scope)
