"""What is said of constant arguments is so in Spark: the call fails, or is NULL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from compiler.functions.constant_arguments import CHECKS, Value
from compiler.functions.text_patterns import like_problem
from compiler.plan.expr_sql import quote_string

_LETTERS = "GyYMLQqwWdDFEuecaBhHkKmsSAnNVvzOXxZpbfgilrtTIU"
_TIMES = (
    *(letter * count for letter in _LETTERS for count in (1, 5)), "yyyy-MM-dd",
    "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "yyyy-MM-ddTHH", "'", "''", "HH 'o''clock'", "HH 'Uhr", "bad{",
    "yyyy}", "yy#", "[yyyy][MM]", "yyyy]", "[yyyy", "yyyyyyyyyy", "yyyyyyyyyyy", "SSSSSSSSS",
    "SSSSSSSSSS", "dd/MM", "Mdd", "",
)  # fmt: skip
_UNITS = (
    "YEAR", "yyyy", "yy", "quarter", "qtr", "month", "MON", "mm", "week", "day", "dd", "hour", "hours",
    "minute", "second", "millisecond", "microsecond", "nanosecond", "hourz", "dow", "",
)  # fmt: skip
_DAYS = ("MO", "Mon", "monday", "tues", "thu", "Mitday", "", "su")
_ZONES = (
    "UTC", "GMT", "Z", "UT", "Europe/Berlin", "Europ/Berlin", "Mars", "+01:00", "-5", "+1:30", "UTC+1",
    "GMT-03:00", "PST", "EST", "MST", "HST", "CET", "IST", "ABC", "Etc/GMT+3", "",
    "America/Argentina/Buenos_Aires",
)  # fmt: skip
_CHARSETS = (
    "UTF-8", "utf8", "US-ASCII", "ISO-8859-1", "UTF-16", "utf-16BE", "UTF-16LE", "UTF-32", "latin1", "UTF-99",
    "",
)  # fmt: skip
_LIKES = ("a%", "a\\", "a\\%", "a\\b", "\\\\", "%\\_", "\\")
_REGEXES = (
    "[", "[a", "(", "(a", "a)", "(a)b)", "*", "+a", "?a", "a|*", "a|?", "(*)", "(+a)", "{", "a|{", "[]",
    "[]a]", "[^]a]", "[(]", "[a[b]]", "[a&&[b]]", "[[]", "[a]]", "\\[", "\\(", "\\Q[(\\E", "(?x)a # [(",
    "(?<y>a)", "(?:a)", "(?=a)*", "a{2}", "^*", "|", "", "a||b", "[\\]", "[\\]]", "\\p{L}(", "[()", "a}",
    "]", "(?i)[A-Z]+", "((a))", "x*+",
)  # fmt: skip
_CALLS: dict[str, tuple[Value, ...]] = {
    "date_format(ts, {})": _TIMES,
    "to_timestamp(s, {})": (*_LETTERS, "SSSSSSSSSS", "yyyy]", "HH 'Uhr"),
    "to_date(s, {})": ("yyyy", "u", "E"),
    "unix_timestamp(s, {})": ("yyyy", "u", "E"),
    "from_unixtime(n, {})": ("yyyy", "u", "E"),
    "date_trunc({}, ts)": _UNITS,
    "trunc(d, {})": _UNITS,
    "next_day(d, {})": _DAYS,
    "from_utc_timestamp(ts, {})": _ZONES,
    "to_utc_timestamp(ts, {})": ("UTC", "Mars"),
    "encode(s, {})": _CHARSETS,
    "decode(b, {})": _CHARSETS,
    "like(s, {})": _LIKES,
    "ilike(s, {})": _LIKES,
    "regexp_replace(s, {}, '')": _REGEXES,
    "split(s, {})": _REGEXES,
    "rlike(s, {})": _REGEXES,
    "regexp_extract(s, {}, 0)": ("(", "a"),
    "regexp_extract_all(s, {}, 0)": ("(", "a"),
    "regexp_count(s, {})": ("(", "a"),
    "regexp_instr(s, {})": ("(", "a"),
    "regexp_substr(s, {})": ("(",),
    "element_at(xs, {})": (0, 1, -1),
    "try_element_at(xs, {})": (0, 1, -1),
    "elt({}, s)": (0, 1),
    "split_part(s, ',', {})": (0, 1, -1),
    "sha2(s, {})": (0, 1, 224, 256, 384, 512, 1024, -1),
    "conv(s, {}, 10)": (0, 1, 2, 36, 37, -2, -10),
    "conv(s, 10, {})": (0, 1, 2, 36, 37, -2, -10),
}


def _told(call: str, value: Value) -> bool:
    """Whether the compiler refuses the call."""
    name, _, rest = call.partition("(")
    index = rest.split(",").index(next(part for part in rest.split(",") if "{}" in part))
    return any(check.problem(value) is not None for check in CHECKS[name] if check.place == index)


def _cases() -> Iterator[tuple[str, Value]]:
    return ((call, value) for call, values in _CALLS.items() for value in values)


@pytest.fixture(scope="module")
def view(session: SparkSession) -> str:
    session.sql(
        "SELECT timestamp'2024-02-29 12:30:00' AS ts, date'2024-02-29' AS d, '12' AS s, 1L AS n, "
        "array(1, 2) AS xs, encode('a', 'utf-8') AS b"
    ).createOrReplaceTempView("constant_arguments")
    return "constant_arguments"


def _works(session: SparkSession, view: str, call: str, value: Value) -> bool:
    written = quote_string(value) if isinstance(value, str) else str(value)
    try:
        (row,) = session.sql(f"SELECT {call.format(written)} FROM {view}").collect()
    except Exception as error:  # noqa: BLE001 - what it is named depends on where Spark finds it
        # A text that does not fit the pattern is another matter.
        return "CANNOT_PARSE" in str(error) or "UPGRADE" in str(error)
    return row[0] is not None


def test_every_check_is_tried() -> None:
    tried = {call.partition("(")[0] for call in _CALLS}
    # The others share a line of the table with one that is tried.
    assert {checks for name, checks in CHECKS.items() if name not in tried} <= {
        CHECKS[name] for name in tried
    }


def test_what_is_refused_fails(session: SparkSession, view: str) -> None:
    told = [(call, value) for call, value in _cases() if _told(call, value)]
    assert [f"{call}: {value}" for call, value in told if _works(session, view, call, value)] == []


@pytest.mark.parametrize("pattern", ["a!", "a!b", "!!", "a!%", "%!_", "a\\"])
def test_escapes(pattern: str, session: SparkSession) -> None:
    query = f"SELECT s LIKE {quote_string(pattern)} ESCAPE '!' FROM VALUES ('a') AS t (s)"
    try:
        session.sql(query).collect()
        fails = False
    except Exception:  # noqa: BLE001 - any error says that it fails
        fails = True
    assert (like_problem(pattern, "!") is not None) == fails
