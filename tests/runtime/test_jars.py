"""Maven packages: fetched once, kept, and a clear error when they cannot be had."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runtime.spark import jars
from runtime.spark.errors import EnvironmentProblem
from runtime.spark.jars import PackagesUnavailable, artifact_of, resolve_packages
from runtime.spark.java import Java, find_java
from runtime.spark.launcher import spark_jars

DELTA = "io.delta:delta-spark_4.2_2.13:4.4.0"

# A resolver that looks nowhere: what a machine without a network sees, without waiting for one.
NO_NETWORK = """<ivysettings>
  <settings defaultResolver="none"/>
  <resolvers><filesystem name="none"><artifact pattern="{folder}/[artifact].[ext]"/></filesystem></resolvers>
</ivysettings>"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_delta_is_fetched_once(tmp_path: Path) -> None:
    found = resolve_packages(find_java(), [DELTA])
    names = [jar.name for jar in found]
    assert "io.delta_delta-spark_4.2_2.13-4.4.0.jar" in names
    assert "io.delta_delta-storage-4.4.0.jar" in names
    # Spark ships these already, and in versions that fit it.
    shipped = {artifact_of(jar.name) for jar in spark_jars()}
    assert not [name for name in names if artifact_of(name.partition("_")[2]) in shipped]
    # The second time not even a Java is needed.
    assert resolve_packages(Java(tmp_path, 17, "17", "system"), [DELTA]) == found


def test_failure_names_the_packages_and_the_cause(tmp_path: Path, cache: Path) -> None:
    settings = tmp_path / "ivysettings.xml"
    settings.write_text(NO_NETWORK.format(folder=tmp_path), encoding="utf-8")
    conf = {"spark.jars.ivySettings": str(settings), "spark.jars.ivy": str(tmp_path / "ivy")}
    with pytest.raises(PackagesUnavailable) as caught:
        resolve_packages(find_java(), ["com.example:nothing:1.0"], conf)
    assert caught.value.code == "HR602"
    assert caught.value.coordinates == ("com.example:nothing:1.0",)
    assert "com.example#nothing;1.0" in caught.value.cause
    assert not list((cache / "packages").glob("*/"))


def test_two_programs_fetch_at_once(tmp_path: Path) -> None:
    """Ivy's cache is one, and empty on a new machine; two resolutions at once break its files."""
    conf = {"spark.jars.ivy": str(tmp_path / "ivy")}
    java = find_java()
    asked = ([DELTA], [DELTA, "com.h2database:h2:2.4.240"])
    with ThreadPoolExecutor() as threads:
        found = list(threads.map(lambda packages: resolve_packages(java, packages, conf), asked))
    names = [{jar.name for jar in jars_of} for jars_of in found]
    assert "io.delta_delta-storage-4.4.0.jar" in names[0]
    assert names[1] - names[0] == {"com.h2database_h2-2.4.240.jar"}


def test_what_failed_is_tried_once_more(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = cache / "com.example_late-1.0.jar"
    answers: list[list[Path]] = [[jar]]

    def fetch(_: Java, coordinates: tuple[str, ...], __: object) -> list[Path]:
        if not jar.exists():
            cache.mkdir(parents=True, exist_ok=True)
            jar.touch()
            raise PackagesUnavailable(coordinates, "connection reset")
        return answers.pop()

    monkeypatch.setattr(jars, "_fetch", fetch)
    found = resolve_packages(Java(cache, 17, "17", "system"), ["com.example:late:1.0"])
    assert [path.name for path in found] == [jar.name]
    assert not answers


def test_error_survives_a_process_boundary() -> None:
    error = PackagesUnavailable(("a:b:1",), "no network")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, EnvironmentProblem)
    assert str(again) == str(error)


def test_interrupted_copy_leaves_nothing(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jars, "_fetch", lambda *_: [tmp_path / "com.example_gone-1.0.jar"])
    with pytest.raises(PackagesUnavailable, match="could not be written"):
        resolve_packages(Java(tmp_path, 17, "17", "system"), ["com.example:gone:1.0"])
    assert not [path for path in (cache / "packages").iterdir() if path.is_dir()]


def test_nothing_asked_nothing_done(tmp_path: Path) -> None:
    assert resolve_packages(Java(tmp_path, 17, "17", "system"), []) == ()


@pytest.mark.parametrize(
    ("jar", "artifact"),
    [
        ("delta-spark_4.2_2.13-4.4.0.jar", "delta-spark_4.2_2.13"),
        ("spark-sql-kafka-0-10_2.13-4.2.0.jar", "spark-sql-kafka-0-10_2.13"),
        ("zstd-jni-1.5.7-3.jar", "zstd-jni"),
        ("hive-exec-2.3.10-core.jar", "hive-exec"),
        ("json-20240303.jar", "json"),
        ("unversioned.jar", "unversioned"),
    ],
)
def test_artifact_of(jar: str, artifact: str) -> None:
    assert artifact_of(jar) == artifact
