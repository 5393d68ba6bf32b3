"""Every code that headrace can say, one line each.

To add one: write `docs/diagnostics/HRnnn.md` (a test compiles its wrong and its right example) and add
its line here. HR1xx syntax, HR2xx names and types, HR3xx streaming semantics, HR4xx delivery,
HR5xx state, HR6xx environment. A code that has been released is never given another meaning.
"""

from __future__ import annotations

from enum import StrEnum

from compiler.frozen import frozen


class Severity(StrEnum):
    """How much a finding stops."""

    ERROR = "error"
    WARNING = "warning"


@frozen(slots=True)
class Code:
    """A kind of finding."""

    name: str
    title: str
    severity: Severity = Severity.ERROR

    @property
    def anchor(self) -> str:
        """Where its page lies, relative to the repository."""
        return f"docs/diagnostics/{self.name}.md"


_WARNING = Severity.WARNING

# HR1xx: the text of a file
SQL_SYNTAX = Code("HR101", "SQL syntax error")
YAML_SYNTAX = Code("HR102", "YAML syntax error")
UNKNOWN_KEY = Code("HR103", "unknown key")
WRONG_VALUE = Code("HR104", "value of the wrong kind")
MISSING_KEY = Code("HR105", "required key is missing")
UNSUPPORTED_SYNTAX = Code("HR106", "syntax that headrace does not run")
UNDEFINED_VARIABLE = Code("HR107", "variable is not defined")
JINJA = Code("HR108", "general Jinja is not understood")
ENCODING = Code("HR109", "file is not UTF-8 text")
EMPTY_FILE = Code("HR110", "file defines nothing", _WARNING)
UNUSED_VARIABLE = Code("HR111", "variable that nothing uses", _WARNING)
CHECKS_NOT_RUN = Code("HR112", "tests of data that do not run", _WARNING)
LIKE_CONFLICT = Code("HR114", "LIKE takes over what is declared too")
UNKNOWN_CODE = Code("HR120", "unknown code of a diagnostic")
UNUSED_ALLOW = Code("HR121", "allow without effect", _WARNING)
ALLOWED_ERROR = Code("HR122", "an error cannot be allowed")
DIRECTIVE = Code("HR123", "comment for headrace is not understood")
OPTION_WITHOUT_EFFECT = Code("HR124", "option without effect", _WARNING)

# HR2xx: names and types
UNKNOWN_COLUMN = Code("HR201", "unknown column")
UNKNOWN_RELATION = Code("HR202", "unknown source, model or seed")
DUPLICATE_NAME = Code("HR203", "name defined twice")
CYCLE = Code("HR204", "models form a cycle")
UNKNOWN_FUNCTION = Code("HR205", "unknown function")
TYPE_MISMATCH = Code("HR206", "types do not fit")
AMBIGUOUS_COLUMN = Code("HR207", "ambiguous column")
DUPLICATE_COLUMN = Code("HR208", "two output columns of one name")
WRONG_ARGUMENTS = Code("HR209", "wrong number of arguments")
UNKNOWN_TYPE = Code("HR210", "unknown type")
UNKNOWN_CONNECTOR = Code("HR211", "unknown connector")
UNKNOWN_OPTION = Code("HR212", "unknown option")
UNION_COLUMNS = Code("HR213", "inputs of a union do not match")
NOT_GROUPED = Code("HR214", "column is neither grouped nor aggregated")
UNKNOWN_TARGET = Code("HR215", "unknown target")
NOTHING_SELECTED = Code("HR216", "selection matches nothing")
SINK_SCHEMA = Code("HR217", "columns do not match the sink")
NO_SINK = Code("HR218", "project has no sink")
UNUSED = Code("HR219", "nothing reads this", _WARNING)
SEED_CONTENT = Code("HR220", "seed does not fit its columns")
WRITE_TO_SOURCE = Code("HR221", "table is both read and written")
UNNAMED_COLUMN = Code("HR222", "output column has no name")
COLUMN_NAMES = Code("HR223", "another number of names than of columns")
UNKNOWN_METADATA = Code("HR224", "unknown metadata")
CONTRACT = Code("HR225", "columns do not keep their contract")
CONFLICTING_OPTIONS = Code("HR226", "options of one query contradict each other")
QUOTED_COLUMN = Code("HR227", "string that looks like a column", _WARNING)
FORGOTTEN_COMMA = Code("HR228", "alias that looks like a column", _WARNING)
IMPOSSIBLE_VALUE = Code("HR229", "value that cannot be converted")
FLINK_FUNCTION = Code("HR230", "function of Flink's that cannot run on Spark")
UNKNOWN_HINT = Code("HR231", "hint without effect", _WARNING)
FORMAT_COLUMNS = Code("HR232", "columns that the format cannot hold")

# HR3xx: streaming semantics
NO_WATERMARK = Code("HR301", "aggregation without a watermark")
WINDOW_TIME_COLUMN = Code("HR302", "window over a column that is not an event time")
WATERMARK_EXPRESSION = Code("HR303", "watermark is neither a column nor a column minus a constant")
WINDOW_SIZES = Code("HR304", "window sizes do not fit")
STREAM_ORDER = Code("HR305", "ORDER BY or LIMIT on a stream")
UNBOUNDED_STATE = Code("HR306", "state would grow without bound")
WINDOW_KEYS = Code("HR307", "window_start and window_end belong together")
NOT_YET_STREAMING = Code("HR308", "operation has no streaming form here")
WINDOW_ZONE = Code("HR309", "windows are aligned to UTC", _WARNING)
UNUSED_WATERMARK = Code("HR310", "watermark without effect", _WARNING)
SEVERAL_INPUTS = Code("HR311", "windows wait for several inputs", _WARNING)
STREAM_JOIN = Code("HR312", "join of two streams")
OUTER_SEED = Code("HR313", "outer join keeps the wrong side")
AGGREGATE_OF_AGGREGATE = Code("HR314", "aggregate function in the wrong place")
SOURCE_POLICY = Code("HR315", "policy that the source cannot follow")
CHANGES_WITHOUT_KEY = Code("HR316", "table of changes without a primary key")
GROUPING_SETS = Code("HR320", "grouping sets do not fit")
GROUP_WINDOW = Code("HR321", "window in GROUP BY and its functions do not fit")
WATERMARK_TWICE = Code("HR322", "watermark defined twice")
JOIN_BOUNDS = Code("HR325", "time bounds of a join of two streams")
WINDOW_JOIN = Code("HR327", "join of windows")
TEMPORAL_JOIN = Code("HR328", "join with a version that cannot be told")
LOOKUP_JOIN = Code("HR329", "table that cannot be looked up")
ROW_NUMBER_USE = Code("HR330", "ROW_NUMBER that is no Top-N")
WINDOW_FUNCTION = Code("HR331", "window function without a streaming form")
OVER_ORDER = Code("HR332", "OVER that is not in the order of an event time")
OVER_FRAME = Code("HR333", "OVER whose frame a stream cannot have")
OVER_STATE = Code("HR334", "OVER keeps something of every partition", _WARNING)
TOP_N_KEY = Code("HR335", "Top-N whose changes have no key")
VERSIONED_STATE = Code("HR340", "versions are kept for ever", _WARNING)
LOOKUP_NOT_PINNED = Code("HR341", "lookup that a replay may see otherwise", _WARNING)
LOOKUP_BELOW_STATE = Code("HR342", "state over a lookup join")
READ_BOTH_WAYS = Code("HR343", "source is streamed and looked up", _WARNING)
AGGREGATE_TAKEN_BACK = Code("HR344", "aggregate that cannot take rows back")
CHANGES_INPUT = Code("HR345", "operator cannot read changes")
CHANGES_KEY = Code("HR346", "key of the changes is lost")
CHANGELOG_FUNCTION = Code("HR347", "changelog function does not fit its input")
STATE_TTL = Code("HR348", "state_ttl cannot be kept")
GROUPS_OVER_STATE = Code("HR349", "groups without a window over other state")
PATTERN_SHAPE = Code("HR350", "pattern that a stream cannot match")
MATCH_ORDER = Code("HR351", "MATCH_RECOGNIZE without an order by event time")
PATTERN_VARIABLE = Code("HR352", "unknown variable of a pattern")
MATCH_EXPRESSION = Code("HR353", "expression that MATCH_RECOGNIZE cannot compute")
MATCH_SKIP = Code("HR354", "AFTER MATCH SKIP leads to the same match")
MATCH_SKIP_MISSING = Code("HR355", "AFTER MATCH SKIP is missing", _WARNING)
MATCH_UNBOUNDED = Code("HR356", "a pattern without WITHIN", _WARNING)
PYTHON_FUNCTION = Code("HR357", "Python function that cannot be read")
PROCESS_CALL = Code("HR358", "process function and its input do not fit")
FUNCTION_TARGET = Code("HR359", "function is not found")

# HR4xx: delivery
SAME_PATH = Code("HR401", "two writers on one path")
DELIVERY = Code("HR402", "delivery cannot be kept")
NONDETERMINISTIC = Code("HR403", "replay would give other rows")
FOREIGN_OUTPUT = Code("HR404", "path holds what headrace did not write")
OTHER_INCARNATION = Code("HR405", "output was written by state that is gone")
BAD_RECORD = Code("HR406", "a record cannot be read")
NULL_EVENT_TIME = Code("HR407", "a row has no event time")
PRIMARY_KEY = Code("HR408", "primary key and sink do not fit")
CHANGED_FILE = Code("HR409", "a file changed after it was read", _WARNING)
QUERY_FAILED = Code("HR410", "query failed while running")
LATE_ROWS = Code("HR415", "more late rows than allowed")
APPEND_SINK = Code("HR411", "sink only appends, and its query gives changes")
SINK_KEY = Code("HR412", "primary key is not the key of the query")
UNKNOWN_OPERATION = Code("HR413", "a row's operation is unknown")
TABLE_MISMATCH = Code("HR417", "table does not fit")
UNSTORABLE_VALUE = Code("HR418", "table does not take a row")
NO_TOPIC = Code("HR419", "topic does not exist")
FORGOTTEN_EPOCHS = Code("HR420", "broker has forgotten an epoch")
UNSENDABLE_ROW = Code("HR421", "topic does not take a row")
OUTPUT_GONE = Code("HR422", "output lacks what its state has written")

# HR5xx: state
STATE_INCOMPATIBLE = Code("HR501", "state was written by another shape of the query")
STATE_OF_OTHER_PROJECT = Code("HR502", "state belongs to another project")
STATE_LOCKED = Code("HR503", "another run holds the state")
STATE_CLOSED = Code("HR504", "state was closed")
STATE_BROKEN = Code("HR505", "state cannot be read")
PARALLELISM_FIXED = Code("HR506", "parallelism differs from the running state", _WARNING)

# HR6xx: environment
NO_JAVA = Code("HR601", "no usable Java")
NO_PACKAGES = Code("HR602", "packages could not be fetched")
JVM_FAILED = Code("HR603", "JVM did not start")
MISSING_ENVIRONMENT = Code("HR604", "environment variable is not set")
MISSING_PATH = Code("HR605", "path does not exist")
NOT_WRITABLE = Code("HR606", "folder is not writable")
NO_PROJECT = Code("HR607", "no project here")
CLEAR_TEXT_SECRET = Code("HR608", "secret in clear text", _WARNING)
REFUSED_BY_SPARK = Code("HR609", "Spark refuses a query")
UNREACHABLE = Code("HR610", "server cannot be reached")
NO_CLUSTER = Code("HR611", "cluster does not take the run")
EXECUTORS_LACK = Code("HR612", "executors lack what a run needs")
CANNOT_EJECT = Code("HR620", "operator cannot be ejected")

CODES: dict[str, Code] = {code.name: code for code in list(globals().values()) if isinstance(code, Code)}
