"""Compiles that were done before: a project that has not changed is not compiled again.

The record of a compile lies in target/cache, one a target. It holds the hash of every input that the compile
read, and all that commands need of its result. It is used only if all hashes are the same; whatever is wrong
with it, the project is compiled and the record written anew.

No secret gets into it: environment variables are kept by name, with one salted hash of their values.
"""

from __future__ import annotations

from runtime.cli.cache.recall import compile_or_recall

__all__ = ["compile_or_recall"]
