"""Names of tables in databases, as options have them."""

from __future__ import annotations


def split_name(text: str) -> tuple[str | None, str]:
    """Schema, if there is one, and table of `orders` or `shop.orders`.

    A name with dots, or with capitals that matter, stands in double quotes.
    """
    parts: list[str] = [""]
    quoted = False
    for char in text:
        if char == '"':
            quoted = not quoted
        elif char == "." and not quoted and len(parts) == 1:
            parts.append("")
        else:
            parts[-1] += char
    return parts[0] if len(parts) > 1 else None, parts[-1]
