"""Lays out the SQL of a file anew: keywords in capitals, a clause a line, long lists an item a line.

    text -> tokens (tokens.py) -> a tree of brackets (tree.py) -> a document (queries.py, statements.py)
         -> lines (document.py)

Only white space and the case of keywords change: the tokens of the result are those of the text, comments
included, and that is checked each time. What cannot be laid out so stays as it was written.
"""

from __future__ import annotations

from compiler.format.statements import format_sql

__all__ = ["format_sql"]
