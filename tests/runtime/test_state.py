"""The state root: who may use it, and which plan may go on from it."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import plans
import pytest
from common import refused
from msgspec.structs import replace
from pyspark.sql import SparkSession

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan.model import (
    Branches,
    Filter,
    GroupMemory,
    Manifest,
    OutputColumn,
    Query,
    RegularJoin,
    Seed,
    State,
    Union,
)
from runtime.state.checkpoint import CLOSED_WATERMARK_MS, Checkpoint
from runtime.state.compatibility import check_parallelism, check_reads, check_state
from runtime.state.fence import jvm_fence
from runtime.state.plans import keep_plan, load_plan
from runtime.state.reads import stream_reads
from runtime.state.root import Current, StateRoot, read_manifest

REPOSITORY = Path(__file__).parents[2]


def test_manifest_and_memories_come_back(tmp_path: Path) -> None:
    assert read_manifest(tmp_path / "state") is None
    with StateRoot(tmp_path / "state", "shop") as root:
        assert root.manifest() == Manifest(1, "shop")
        group = GroupMemory("q1", ("out",), ("orders",), (), 2)
        root.write_manifest(Manifest(1, "shop", (group,), ("q0",)))
        assert root.current("q1") is None
        root.write_current("q1", Current("abc", closed=True))
        assert root.current("q1") == Current("abc", closed=True)
    assert read_manifest(tmp_path / "state") == Manifest(1, "shop", (group,), ("q0",))


def test_another_process_is_kept_out_until_this_one_ends(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from runtime.state.root import StateRoot\n"
        "with StateRoot(Path(sys.argv[1]), 'shop'):\n  print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "state")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(DiagnosticError) as error, StateRoot(tmp_path / "state", "shop"):
            pass
        assert refused(error).code.name == "HR503"
        assert f"process {holder.pid}" in refused(error).message
        holder.kill()
    # A kill leaves no lock behind, since the operating system holds it.
    with StateRoot(tmp_path / "state", "shop") as root:
        assert root.manifest().project == "shop"


def test_the_jvm_of_a_killed_run_is_waited_for(session: SparkSession, tmp_path: Path) -> None:
    code = (
        "import fcntl, sys; file = open(sys.argv[1], 'w'); fcntl.lockf(file, fcntl.LOCK_EX)\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "lock.jvm")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(DiagnosticError) as error, jvm_fence(session, tmp_path, wait_seconds=0.3):
            pass
        assert refused(error).code.name == "HR503"
        threading.Timer(0.3, other.kill).start()
        with jvm_fence(session, tmp_path):
            assert other.wait() != 0
    with jvm_fence(session, tmp_path):
        pass


def test_state_of_another_project(tmp_path: Path) -> None:
    with StateRoot(tmp_path, "shop") as root:
        root.write_manifest(Manifest(1, "shop"))
    with pytest.raises(DiagnosticError) as error, StateRoot(tmp_path, "other"):
        pass
    assert refused(error).code.name == "HR502"
    with StateRoot(tmp_path, "shop"):
        pass


def test_not_writable(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    with pytest.raises(DiagnosticError) as error, StateRoot(tmp_path / "state", "shop"):
        pass
    assert refused(error).code.name == "HR606"
    assert stat.S_ISREG((tmp_path / "state").stat().st_mode)


def test_a_lock_without_its_holder_is_let_go_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    root = StateRoot(tmp_path, "shop")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        with pytest.raises(DiagnosticError) as error:
            root.__enter__()
    assert refused(error).cause == "No space left on device"
    with StateRoot(tmp_path, "shop"):
        assert (tmp_path / "lock.pid").exists()


@pytest.mark.parametrize("text", ["", "{", '{"version": 99}', '{"version": 1}'])
def test_broken_manifest_is_told_and_kept(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(DiagnosticError) as error, StateRoot(tmp_path, "shop"):
        pass
    assert refused(error).code.name == "HR505"
    assert (tmp_path / "manifest.json").read_text() == text


def test_plan_is_kept_with_its_seeds(tmp_path: Path) -> None:
    content = b"k,name\nx,X\n"
    (tmp_path / "names.csv").write_bytes(content)
    seed = Seed("seed", "names", "names.csv", hashlib.sha256(content).hexdigest(), plans.ORDERS)
    plan = plans.plan(plans.query((plans.scan(), seed), "scan", (plans.sink("scan", plans.ORDERS),)))
    with StateRoot(tmp_path / "state", "shop") as root:
        sha256 = keep_plan(root, plan, tmp_path)
        (tmp_path / "names.csv").write_text("k,name\nx,changed\n")
        # It is all there: the changed file is not looked at again.
        assert keep_plan(root, plan, tmp_path) == sha256
        assert load_plan(root, sha256) == plan
        assert (root.plan_folder(sha256) / "seeds" / f"{seed.sha256}.csv").read_bytes() == content
        with pytest.raises(DiagnosticError) as changed:
            keep_plan(root, replace(plan, target="prod"), tmp_path)
        assert refused(changed).code.name == "HR220"
        (tmp_path / "names.csv").unlink()
        with pytest.raises(DiagnosticError) as missing:
            keep_plan(root, replace(plan, target="prod"), tmp_path)
        assert refused(missing).code.name == "HR605"
        (root.plan_folder(sha256) / "plan.json").write_text("{")
        with pytest.raises(DiagnosticError) as broken:
            load_plan(root, sha256)
        assert refused(broken).code.name == "HR505"


def memory(query: Query) -> GroupMemory:
    return GroupMemory(query.uid, ("out",), query.reads, query.state, query.parallelism)


def test_state_of_another_shape_is_refused_by_name() -> None:
    query = plans.sums_plan().queries[0]
    assert check_state(query, memory(query)) == []
    said = replace(
        query, state=tuple(replace(s, bound="other words", operator="renumbered") for s in query.state)
    )
    assert check_state(said, memory(query)) == []
    keys = replace(query, state=tuple(replace(s, keys=("window_end", "k")) for s in query.state))
    (finding,) = check_state(keys, memory(query))
    assert finding.code.name == "HR501"
    assert "aggregate agg had keys" in finding.message
    (other,) = check_state(replace(query, state=(plans.state(plans.sums(), "f2"),)), memory(query))
    assert "aggregate agg computes something else" in other.message
    (gone,) = check_state(replace(query, state=()), memory(query))
    assert "aggregate agg is gone" in gone.message


def test_source_read_under_another_name_is_refused() -> None:
    query = plans.copy_plan().queries[0]
    renamed = replace(query, operators=(replace(plans.scan(), read_name="orders_2"),))
    (finding,) = check_reads(renamed, query)
    assert finding.code.name == "HR501"
    added = replace(plans.scan(), read_name="orders_2")
    assert check_reads(replace(query, operators=(plans.scan(), added)), query) == []
    assert check_reads(query, query) == []


def test_reads_of_one_source_that_change_places_are_refused() -> None:
    """Each has come as far as what it was read for, which need not be equally far."""
    first, second = plans.scan(), replace(plans.scan(), id="scan2", uid="orders#2", read_name="orders_x23_2")
    kept, named = (
        Filter("kept", "m.filter", ("scan",), "v > 1"),
        Filter("named", "m.filter2", ("scan2",), "k IS NOT NULL"),
    )
    union = Union("union", "m.union", ("kept", "named"))
    query = replace(plans.copy_plan().queries[0], operators=(first, second, kept, named, union))
    other = (replace(kept, predicate=named.predicate), replace(named, predicate=kept.predicate))
    (finding,) = check_reads(replace(query, operators=(first, second, *other, union)), query)
    assert finding.code.name == "HR501"
    one = Branches("made", "m.branches", ("scan",), (), ("v",), {})
    (merged,) = check_reads(replace(query, operators=(first, one)), query)
    assert merged.code.name == "HR501"
    assert check_reads(replace(query, operators=(first, kept)), query) == []
    changed = replace(kept, predicate="v > 2")
    assert check_reads(replace(query, operators=(first, second, changed, named, union)), query) == []


def test_a_source_that_is_read_elsewhere_or_by_another_name_only(tmp_path: Path) -> None:
    query = plans.copy_plan().queries[0]
    named = replace(plans.scan(), uid="purchases", read_name="purchases")
    (finding,) = check_reads(replace(query, operators=(named,)), query)
    assert "reads source purchases as purchases, which its state knows as orders" in finding.message
    assert str(finding.fix).startswith("give the source uid = 'orders'")
    other = replace(plans.scan("elsewhere"), uid="purchases", read_name="purchases")
    assert check_reads(replace(query, operators=(other,)), query) == []
    with StateRoot(tmp_path, "shop") as root:
        root.write_current("q1", Current("abc", reads=("a", "b")))
        assert root.current("q1") == Current("abc", reads=("a", "b"))


def test_sides_of_a_join_that_change_places_are_refused() -> None:
    """Their columns may be alike, and then the state's shape is."""
    left, right = plans.scan(), replace(plans.scan("in2"), id="scan2", uid="orders2", read_name="orders2")
    output = (OutputColumn("k", None),)
    join = RegularJoin("join", "m.join", ("scan", "scan2"), "k = k_r", None, output)
    keeps = State("join", "m.join", "join", ("k",), "f1", "")
    query = replace(plans.copy_plan().queries[0], operators=(left, right, join), state=(keeps,))
    swapped = replace(join, inputs=("scan2", "scan"))
    (finding,) = check_reads(replace(query, operators=(left, right, swapped)), query)
    assert finding.message == "state of query q1 has another shape: the inputs of m.join have changed places"
    # The order in which sources are listed is none of it, nor is one that is added to a side.
    assert check_reads(replace(query, operators=(right, left, join)), query) == []
    third = replace(plans.scan("in3"), id="scan3", uid="orders3", read_name="orders3")
    more = Union("both", "m.both", ("scan3", "scan"))
    added = replace(join, inputs=("both", "scan2"))
    assert check_reads(replace(query, operators=(left, right, third, more, added)), query) == []


def test_offsets_are_in_the_order_of_the_plan() -> None:
    """Spark has no names for them: a source with an idle timeout has one more, that of its control files."""
    first, second = plans.scan(), replace(plans.scan(), id="scan2", uid="orders2", read_name="orders2")
    marked = plans.watermark(idle_timeout_ms=1000), replace(plans.watermark("scan2"), id="wm2")
    union = Union("union", "m.union", ("wm", "wm2"))
    query = replace(plans.copy_plan().queries[0], operators=(second, first, *marked, union), trunk="union")
    assert stream_reads(query) == [("orders", first), ("orders_idle", None), ("orders2", second)]


def test_parallelism_of_the_state_stays() -> None:
    query = replace(plans.sums_plan().queries[0], parallelism=8)
    (finding,) = check_parallelism(query, 2)
    assert (finding.code.name, finding.is_error) == ("HR506", False)
    assert check_parallelism(query, None) == []
    assert check_parallelism(plans.copy_plan().queries[0], 7) == []


def offsets(checkpoint: Checkpoint, epoch: int, watermark: int) -> None:
    folder = checkpoint.path / "offsets"
    folder.mkdir(parents=True, exist_ok=True)
    metadata = {"batchWatermarkMs": watermark, "conf": {"spark.sql.shuffle.partitions": "3"}}
    (folder / str(epoch)).write_text(f'v1\n{json.dumps(metadata)}\n{{"logOffset":{epoch}}}')


def test_checkpoint_tells_its_epochs_and_when_it_was_closed(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    assert (checkpoint.last_begun, checkpoint.in_flight, checkpoint.closed_at) == (-1, False, None)
    minted = checkpoint.incarnation()
    assert Checkpoint(tmp_path / "checkpoint").incarnation() == minted
    offsets(checkpoint, 0, 0)
    assert (checkpoint.in_flight, checkpoint.closed_at, checkpoint.state_partitions) == (True, None, 3)
    (checkpoint.path / "commits").mkdir()
    (checkpoint.path / "commits" / "0").write_text("v1\n{}")
    assert not checkpoint.in_flight
    checkpoint.begin_close()
    assert (checkpoint.last_begun, checkpoint.in_flight, checkpoint.closed_at) == (1, True, 1)
    lines = (checkpoint.path / "offsets" / "1").read_text().split("\n")
    assert lines[2] == '{"logOffset":0}'
    # An epoch after it, which was refused, does not move the end.
    offsets(checkpoint, 2, CLOSED_WATERMARK_MS)
    assert checkpoint.closed_at == 1


def test_offsets_of_the_read_stand_before_those_of_the_times_that_move_it_on(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    for epoch, idle in enumerate(("-", '{"logOffset":7}')):
        offsets(checkpoint, epoch, 0)
        with (checkpoint.path / "offsets" / str(epoch)).open("a") as file:
            file.write(f"\n{idle}")
    assert checkpoint.offsets(0) == (None, '{"logOffset":0}')
    assert checkpoint.offsets(1) == ('{"logOffset":0}', '{"logOffset":1}')
    with (checkpoint.path / "offsets" / "1").open("a") as file:
        file.write("\n-")
    with pytest.raises(DiagnosticError) as error:
        checkpoint.offsets(1)
    assert refused(error).code.name == "HR505"


def ends_of(checkpoint: Checkpoint, epoch: int, *reads: str) -> dict[str, int | None]:
    ends = checkpoint.ends(epoch, reads)
    return {name: json.loads(end)["logOffset"] if end is not None else None for name, end in ends.items()}


def test_reads_in_another_order_keep_their_offsets(tmp_path: Path) -> None:
    """Spark knows them by their place, and looks at the last two entries."""
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    checkpoint.arrange((), ("a",))
    for epoch in range(3):
        offsets(checkpoint, epoch, 0)
        with (checkpoint.path / "offsets" / str(epoch)).open("a") as file:
            file.write("\n-" if epoch == 0 else f'\n{{"logOffset":{epoch + 10}}}')
    assert ends_of(checkpoint, 0, "a", "b") == {"a": 0, "b": None}
    oldest = (checkpoint.path / "offsets" / "0").read_text()
    # One that is new, and, after a kill in the middle, once more.
    for _ in range(2):
        checkpoint.arrange(("a", "b"), ("c", "b", "a"))
        assert (checkpoint.path / "offsets" / "2").read_text().split("\n")[2:] == [
            "-",
            '{"logOffset":12}',
            '{"logOffset":2}',
        ]
        assert ends_of(checkpoint, 1, "a", "b") == {"c": None, "b": 11, "a": 1}
    assert checkpoint.state_partitions == 3
    assert (checkpoint.path / "offsets" / "0").read_text() == oldest
    # One that is gone goes on where it was when it is back, and so does one that a killed run has taken away.
    (checkpoint.path / "commits").mkdir()
    (checkpoint.path / "commits" / "2").write_text("v1\n{}")
    checkpoint.arrange(("a", "b"), ("c", "a"))
    checkpoint.arrange(("c", "a"), ("a", "b"))
    assert ends_of(checkpoint, 2) == {"a": 2, "b": 12}
    # In an epoch that is not done it has read nothing.
    offsets(checkpoint, 3, 0)
    with (checkpoint.path / "offsets" / "3").open("a") as file:
        file.write('\n{"logOffset":13}')
    newest = checkpoint.path / "offsets" / "3"
    begun = newest.read_text()
    checkpoint.arrange(("a", "b"), ("a",))
    # Killed when only the one before it had been rewritten.
    newest.write_text(begun)
    checkpoint.arrange(("a", "b"), ("a",))
    checkpoint.arrange(("a",), ("a", "b"))
    assert ends_of(checkpoint, 3) == {"a": 3, "b": 12}
    # What an epoch without input takes over has its names; an entry that Spark has written is by the plan.
    checkpoint.begin_empty(5)
    offsets(checkpoint, 5, 5)
    assert (ends_of(checkpoint, 4), ends_of(checkpoint, 5, "z")) == ({"a": 3, "b": 12}, {"z": 5})
    with pytest.raises(DiagnosticError) as other:
        checkpoint.ends(5, ("y", "z"))
    assert refused(other).code.name == "HR505"


def test_broken_checkpoint_is_told_and_kept(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    checkpoint.incarnation()
    offsets(checkpoint, 0, 0)
    (checkpoint.path / "offsets" / "0").write_text("v1\n")
    with pytest.raises(DiagnosticError) as damaged:
        _ = checkpoint.closed_at
    assert refused(damaged).code.name == "HR505"
    (checkpoint.path / "metadata").unlink()
    with pytest.raises(DiagnosticError) as lost:
        checkpoint.incarnation()
    assert refused(lost).code.name == "HR505"
    assert (checkpoint.path / "offsets" / "0").exists()


def test_forgetting_a_query_is_one_step(tmp_path: Path) -> None:
    with StateRoot(tmp_path, "shop") as root:
        root.checkpoint("q1").incarnation()
        root.forget("q1")
        assert not root.query_folder("q1").exists()
        assert list((tmp_path / "queries").iterdir()) == []
        root.forget("q1")
    shutil.rmtree(tmp_path)
