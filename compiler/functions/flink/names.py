"""Flink's functions that are Spark's own: what differs, and what cannot run."""

from __future__ import annotations

from types import MappingProxyType

from compiler.functions.flink.spec import Refused

# Names of Flink's list of built-in functions (2.x) that Spark has with the same arguments.
_SAME = """
abs acos approx_count_distinct array_agg array_append array_contains array_distinct array_except
array_intersect array_join array_max array_min array_position array_prepend array_remove array_union ascii
asin atan atan2 avg bin btrim cardinality ceil ceiling char_length character_length chr coalesce concat
concat_ws cos cosh cot count cume_dist current_database current_date current_timestamp date_format
dayofmonth dayofweek dayofyear decode degrees dense_rank e elt encode endswith exp first_value floor
from_unixtime greatest grouping grouping_id hex hour if ifnull initcap instr lag last_value lead least left
listagg ln locate log log10 log2 lower lpad ltrim map_entries map_from_arrays map_keys map_values max md5
min minute mod month now ntile nullif overlay parse_json parse_url percent_rank percentile pi position power
printf quarter radians rand rank regexp regexp_count regexp_extract regexp_extract_all regexp_instr
regexp_replace regexp_substr repeat replace reverse right round row_number rpad rtrim second sha1 sha2 sign
sin sinh split sqrt startswith stddev_pop stddev_samp str_to_map substr substring sum tan tanh timestampadd
timestampdiff to_date to_timestamp translate trim try_parse_json typeof unhex unix_timestamp upper
url_decode url_encode uuid var_pop var_samp variance year
"""
SAME = tuple(_SAME.split())

# What is other than in Flink: where one name means two things, Spark's wins.
DIFFERS = MappingProxyType(
    {
        "approx_count_distinct": "another sketch",
        "array_position": "BIGINT",
        "array_sort": "NULL comes last (with a second argument as in Flink)",
        "avg": "of whole numbers a DOUBLE",
        "ceil": "of a DOUBLE a BIGINT",
        "chr": "modulo 256, not 255",
        "count": "`COUNT(DISTINCT …)` is exact, by a set of the values",
        "current_timestamp": "the time of the epoch, the same for all its rows",
        "date_format": "pattern letters are Spark's: no `Y`, `u`, `w`",
        "first_value": "in GROUP BY the first by event time; NULL counts unless IGNORE NULLS is said",
        "floor": "of a DOUBLE a BIGINT",
        "greatest": "NULLs are left out",
        "initcap": "words end at blanks only",
        "last_value": "in GROUP BY the last by event time; NULL counts unless IGNORE NULLS is said",
        "least": "NULLs are left out",
        "listagg": "no separator unless one is given",
        "parse_url": "a wrong URL fails",
        "regexp_extract": "the first group unless another is given; no match is an empty string",
        "round": "the digits are a literal",
        "split": "the separator is a regular expression",
        "str_to_map": "`:` between key and value unless another is given",
        "substring": "place 0 is place 1",
        "to_date": "a text that is no date fails; TRY_TO_DATE gives NULL",
        "to_timestamp": "a text that is no time fails; TRY_TO_TIMESTAMP gives NULL",
        "typeof": "the names are Spark's (`bigint`)",
        "unix_timestamp": "a text that is no time fails",
    }
)

_TIME = "Spark 4.2 has no TIME that a stream can hold"
_MULTISET = "Spark has no MULTISET"

REFUSED: tuple[Refused, ...] = (
    Refused("collect", f"it gives a MULTISET, and {_MULTISET}", "use collect_list(x) or collect_set(x)"),
    Refused("current_time", _TIME, "use date_format(current_timestamp(), 'HH:mm:ss')"),
    Refused(
        "current_watermark", "Spark does not show the watermark to expressions", "filter by the event time"
    ),
    Refused("group_id", "Spark has none", "use grouping_id()"),
    Refused("localtime", _TIME, "use date_format(current_timestamp(), 'HH:mm:ss')"),
    Refused("object_of", "Spark has no structured types", "use named_struct('name', value)"),
    Refused("object_update", "Spark has no structured types", "use named_struct with the new values"),
    Refused("to_time", _TIME, "keep it as text"),
)
