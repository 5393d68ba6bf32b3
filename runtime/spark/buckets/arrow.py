"""Arrow's compute functions, as values that type checkers accept."""

from __future__ import annotations

from typing import Any

import pyarrow.compute

compute: Any = pyarrow.compute
"""pyarrow makes most of these functions when it is imported, out of sight of type checkers."""
