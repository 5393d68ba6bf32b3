"""JOIN: which kind one is, its checks and its operators; one file a kind.

`sql` reads a join of a SELECT, `compiler.analysis.steps.join` that of a YAML step; both ask `dispatch.join`,
which knows the kinds. To add one: write its file and let `dispatch` tell when it is meant.
"""

from __future__ import annotations

from compiler.analysis.joins.dispatch import join
from compiler.analysis.joins.request import AsOf, JoinForm, JoinRequest
from compiler.analysis.joins.sql import bind_join

__all__ = ["AsOf", "JoinForm", "JoinRequest", "bind_join", "join"]
