"""Pictures as one HTML file that needs nothing else: no network, no server.

dagre (`page/dagre.min.js`, @dagrejs/dagre 3.1.3, MIT) lays each panel out when the page is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files

import msgspec

from compiler.diagnostics.secrets import without_secrets
from compiler.explain.picture import Picture


def to_html(pictures: Sequence[Picture], level: str) -> str:
    """A page of all pictures.

    Args:
        pictures: one a level.
        level: the one that is shown first.
    """
    page = files("compiler.explain") / "page"
    data = msgspec.json.encode({"level": level, "pictures": pictures}).decode()
    parts = {
        "TITLE": escape(f"{pictures[0].title} – headrace"),
        "STYLE": (page / "page.css").read_text("utf-8"),
        "DAGRE": _licence((page / "dagre.LICENSE").read_text("utf-8"))
        + (page / "dagre.min.js").read_text("utf-8"),
        # `</script>` in a string would end the script, and `<!--` change how it is read.
        "DATA": without_secrets(data).replace("<", "\\u003c"),
        "SCRIPT": (page / "page.js").read_text("utf-8"),
    }
    pieces = (page / "page.html").read_text("utf-8").split("%")
    # Names stand at odd places: what is put in is never searched for names again.
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def _licence(text: str) -> str:
    return "/*! @dagrejs/dagre 3.1.3\n" + text.strip() + "\n*/\n"
