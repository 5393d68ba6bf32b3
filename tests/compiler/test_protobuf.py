"""Topics of protobuf messages: columns beside the fields of their types, and what a plan embeds of these."""

from __future__ import annotations

import shutil
import subprocess
import sys
from base64 import b64decode
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from hypothesis import given, settings
from hypothesis import strategies as st
from protobuf_types import DESCRIPTORS, descriptor_set
from test_plans import PLANS

from compiler.analysis.protobuf import misfits
from compiler.compile import Compiled, compile_project
from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.render import render_all
from compiler.jobplan.model import Scan
from compiler.jobplan.protobuf import DescriptorProblem, message_type, needed_of
from compiler.plan import types as t
from compiler.plan.schema import Field
from compiler.project.load import load_project
from runtime.connectors.packages import runs_python

KAFKA = "'properties.bootstrap.servers' = 'kafka:9092'"
SALES = (
    "format = 'protobuf', 'protobuf.descriptor' = 'types/shop.desc', 'protobuf.message-name' = 'shop.Sale'"
)


def compile_sql(tmp_path: Path, sql: str, content: bytes = DESCRIPTORS) -> Compiled:
    root = tmp_path / "project"
    shutil.copytree(PLANS / "_base", root)
    (root / "types").mkdir()
    (root / "types" / "shop.desc").write_bytes(content)
    (root / "m.sql").write_text(sql)
    reporter = Reporter()
    project = load_project(root, reporter=reporter)
    assert project is not None, render_all(reporter.all())
    return compile_project(project, reporter)


def source(columns: str, options: str, connector: str = "kafka") -> str:
    return (
        f"CREATE SOURCE s ({columns}) WITH (connector = '{connector}', topic = 'in', {KAFKA}, {options});\n"
        "CREATE SINK o WITH (connector = 'filesystem', path = 'o', format = 'json') AS SELECT * FROM s;"
    )


def test_the_plan_needs_no_file(tmp_path: Path) -> None:
    key = "'key.format' = 'protobuf', 'key.protobuf.message-name' = 'shop.Key', 'key.fields' = 'id'"
    columns = "id BIGINT, note STRING, at TIMESTAMP(3), tags ARRAY<STRING>"
    compiled = compile_sql(tmp_path, source(columns, f"{SALES}, {key}"))
    assert compiled.plan is not None, render_all(compiled.diagnostics)
    (scan,) = (op for op in compiled.plan.queries[0].operators if isinstance(op, Scan))
    for prefix, name in (("", "shop.Sale"), ("key.", "shop.Key")):
        content = b64decode(str(scan.options[f"{prefix}protobuf.descriptor"]))
        message = message_type(content, name)
        assert needed_of(message) == content
        assert scan.options[f"{prefix}protobuf.message-name"] == name
        # Messages are read in Python, so its workers are made ready.
        assert runs_python(compiled.plan.queries)
        # Files that the type does not need are left out.
        assert [f.name for f in FileDescriptorSet.FromString(content).file][-1] == "shop.proto"


def test_a_key_alone_is_protobuf(tmp_path: Path) -> None:
    options = (
        "'key.format' = 'protobuf', 'value.format' = 'json', 'protobuf.descriptor' = 'types/shop.desc', "
        "'key.protobuf.message-name' = 'shop.Key'"
    )
    sql = source("id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED", options, "upsert-kafka")
    compiled = compile_sql(tmp_path, sql.replace("SELECT * FROM s", "SELECT COUNT(*) AS n FROM s"))
    found = [d for d in compiled.diagnostics if "protobuf" in d.message]
    assert found == []


@pytest.mark.parametrize(
    ("columns", "options", "problem"),
    [
        ("id BIGINT", "format = 'protobuf'", "HR104]: format `protobuf` needs protobuf.descriptor"),
        (
            "id BIGINT",
            "format = 'protobuf', 'protobuf.descriptor' = 'types/shop.desc'",
            "HR104]: format `protobuf` needs protobuf.message-name",
        ),
        ("id BIGINT", SALES.replace("shop.desc", "no.desc"), "HR605]: `types/no.desc` cannot be read"),
        ("id BIGINT", SALES.replace("types/shop.desc", "${env:F}"), "HR605]: `${env:F}` cannot be read"),
        ("id BIGINT", SALES.replace("shop.Sale", "shop.Sales"), "help: did you mean `shop.Sale`?"),
        (
            "id BIGINT",
            SALES.replace("'protobuf',", "'json',"),
            "HR104]: protobuf.descriptor is for the format",
        ),
        (
            "id BIGINT",
            f"{SALES}, 'key.protobuf.message-name' = 'shop.Key'",
            "HR104]: key.protobuf.message-name is for the format",
        ),
        ("no BIGINT", SALES, "HR232]: format `protobuf` of source `s` does not fit the columns of the value"),
        ("no BIGINT", SALES, "the schema has no field `no`; it has id, note, at, tags"),
        (
            "id INT",
            SALES,
            "column `id` is INT, its field is BIGINT: a value may be greater than INT can hold",
        ),
        ("at STRING", SALES, "column `at` is STRING, its field is TIMESTAMP"),
        ("tags STRING", SALES, "column `tags` is STRING, its field is ARRAY<STRING>"),
    ],
)
def test_what_does_not_fit_is_told(tmp_path: Path, columns: str, options: str, problem: str) -> None:
    compiled = compile_sql(tmp_path, source(columns, options))
    assert compiled.plan is None
    assert problem in render_all(compiled.diagnostics)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{}", "`types/shop.desc`: it is not what `protoc --descriptor_set_out` writes"),
        (b"", "it has no message type `shop.Sale`"),
        (
            FileDescriptorSet(file=FileDescriptorSet.FromString(DESCRIPTORS).file[3:]).SerializeToString(),
            "it lacks `google/protobuf/wrappers.proto`, which `shop.proto` imports",
        ),
        (
            descriptor_set(FileDescriptorProto(name="a.proto", dependency=["a.proto"])),
            "`a.proto` in it is broken",
        ),
    ],
)
def test_files_without_the_type(tmp_path: Path, content: bytes, problem: str) -> None:
    compiled = compile_sql(tmp_path, source("id BIGINT", SALES), content)
    assert problem in render_all(compiled.diagnostics)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(DESCRIPTORS)), st.binary(max_size=4)), min_size=1, max_size=3))
def test_whatever_the_file_holds(edits: list[tuple[int, bytes]]) -> None:
    content = DESCRIPTORS
    for at, other in edits:
        content = content[:at] + other + content[at + len(other) :]
    try:
        message = message_type(content, "shop.Order")
    except DescriptorProblem:
        return
    list(misfits(message, {"a": Field("a", t.INT)}, written=True))
    assert needed_of(message_type(needed_of(message), "shop.Order")) == needed_of(message)


SPAN = t.Struct((t.StructField("seconds", t.BIGINT), t.StructField("nanos", t.INT)))
INT_OR_NULL = t.StructField("count", t.INT)


@pytest.mark.parametrize(
    ("name", "type_", "written", "problem"),
    [
        ("a_uint32", t.BIGINT, False, None),
        ("a_uint32", t.INT, False, None),
        ("a_uint64", t.BIGINT, False, None),
        ("a_uint64", t.Decimal(20, 0), False, None),
        ("a_uint64", t.Decimal(19, 0), False, "20 digits before the point"),
        ("a_int32", t.TINYINT, False, None),
        ("a_int64", t.TINYINT, False, "greater than TINYINT"),
        ("a_float", t.DOUBLE, False, None),
        ("a_double", t.FLOAT, False, "FLOAT does not hold every DOUBLE"),
        ("kind", t.STRING, False, None),
        ("kind", t.INT, False, "STRING is not converted to INT"),
        ("at", t.Timestamp(3), False, None),
        ("took", t.DAY_TIME, False, None),
        ("took", SPAN, False, None),
        ("took", t.BIGINT, False, "INTERVAL DAY TO SECOND is not converted"),
        ("w_uint64", t.Decimal(20, 0), False, None),
        ("r_bool", t.Array(t.BOOLEAN, False), False, None),
        ("m_int", t.Map(t.STRING, t.INT, False), False, None),
        ("m_int", t.Map(t.INT, t.INT), False, "a key: STRING is not converted to INT"),
        # Of a nested message a column asks for what it needs, however deep messages hold themselves.
        ("item", t.Struct((INT_OR_NULL,)), False, None),
        ("item", t.Struct((t.StructField("x", t.INT),)), False, "its fields are sku, count, at, kind, not x"),
        (
            "parent",
            t.Struct((t.StructField("parent", t.Struct((t.StructField("one", t.STRING),))),)),
            False,
            None,
        ),
        ("parent", t.STRING, False, "parent: message shop.Order"),
        # Written are fields of one type, where a NULL is another value than the default.
        ("a_int32", t.TINYINT, True, None),
        ("a_int64", t.INT, True, "they must be of one type"),
        ("a_uint32", t.INT, True, None),
        ("o_int32", t.INT, True, None),
        ("item", t.Struct((INT_OR_NULL,)), True, None),
        ("r_int32", t.Array(t.INT, True), True, None),
        ("at", t.Timestamp(0), True, None),
    ],
)
def test_types_of_columns_and_fields(
    name: str, type_: t.DataType, written: bool, problem: str | None
) -> None:
    message = message_type(DESCRIPTORS, "shop.Order")
    found = list(misfits(message, {name: Field(name, type_, nullable=False)}, written))
    assert (len(found) == 1 and problem in found[0]) if problem else not found


def test_null_is_written_only_where_a_message_can_be_without() -> None:
    message = message_type(DESCRIPTORS, "shop.Order")
    wrong = {"a_int32": t.INT, "kind": t.STRING, "r_int32": t.Array(t.INT), "m_int": t.Map(t.STRING, t.INT)}
    right = {"o_int32": t.INT, "one": t.STRING, "at": t.TIMESTAMP, "w_int32": t.INT}
    fields = {name: Field(name, type_) for name, type_ in (wrong | right).items()}
    found = list(misfits(message, fields, written=True))
    assert found == [f"column `{name}` may be NULL, its field may not" for name in wrong]
    old = message_type(DESCRIPTORS, "old.Old")
    note = {"note": Field("note", t.STRING)}
    assert list(misfits(old, note, written=True)) == [
        "no column gives the field `id` a value, and it must have one"
    ]
    assert list(misfits(old, note, written=False)) == []


def test_who_does_not_use_it_does_not_import_it(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from compiler.project.load import load_project; "
        "from compiler.compile import compile_project; from compiler.diagnostics.diagnostic import Reporter; "
        "reporter = Reporter(); project = load_project(Path(sys.argv[1]), reporter=reporter); "
        "compile_project(project, reporter); print('google.protobuf' in sys.modules)"
    )
    compile_sql(tmp_path, source("id BIGINT", "format = 'json'"))
    command = [sys.executable, "-c", program, str(tmp_path / "project")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "False"
