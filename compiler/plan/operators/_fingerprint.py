"""A short name of all that stored bytes depend on."""

from __future__ import annotations

import hashlib
import json


def fingerprint(stored: object) -> str:
    """Of a value made of lists, dicts and text."""
    return hashlib.sha256(json.dumps(stored).encode()).hexdigest()[:16]
