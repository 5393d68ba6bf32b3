"""What is done to a query's tokens before the stock parser sees them: one file each.

A rewrite takes all tokens of a query and gives others. Those that it makes keep the offsets of the text
they stand for, so that every place in the tree is one of the user's file. To add one: write its file and
add its line to `REWRITES`, which are done in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot.tokenizer_core import Token

from compiler.syntax.fragment import Fragment
from compiler.syntax.tokens.flink import mark_rounding, read_unicode
from compiler.syntax.tokens.functions import mark_functions
from compiler.syntax.tokens.json import mark_json
from compiler.syntax.tokens.match_recognize import mark_matches
from compiler.syntax.tokens.partition_by import mark_partitions
from compiler.syntax.tokens.types import mark_types
from compiler.syntax.tokens.watermark import mark_watermarks

Rewrite = Callable[[list[Token], Fragment], list[Token]]

REWRITES: Final[tuple[Rewrite, ...]] = (
    read_unicode,
    mark_matches,
    mark_json,
    mark_rounding,
    mark_types,
    mark_watermarks,
    mark_partitions,
    mark_functions,
)


def rewrite_tokens(tokens: list[Token], fragment: Fragment) -> list[Token]:
    """The tokens that sqlglot is given.

    Raises:
        DiagnosticError: a construct of ours that is not written as it should be (HR101).
    """
    for rewrite in REWRITES:
        tokens = rewrite(tokens, fragment)
    return tokens
