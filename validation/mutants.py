"""Do the tests notice errors? ``make mutants``: plants small errors in the sources, one at a time, and runs the tests that concern them.

    python validation/mutants.py [--room contact] [--only WORDS] [--jobs 2] [--fresh]

The errors are data, tests/mutants/<room>.toml: the file, a text that occurs once in it, what takes its place, and what that breaks. An
error that a test notices is killed. The sources themselves are never touched: each worker has a copy of the tree. Where a
changed file is compiled into the driver, the driver of the copy is built again, as far as it is concerned (mutant_driver.py).

Every result is kept in validation/mutants.jsonl as soon as it is known, and used again until the mutated function changes, or the test
that has noticed the error, or, where none has, any of the test files. The test that has noticed an error before is asked first. A run of
all errors writes validation/mutants.md. The exit code is 1 where an error survives that is not expected to, or a room kills less than 85 %.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import lzma
import math
import os
import queue
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import tomllib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "mutants"
RESULTS = ROOT / "validation" / "mutants.jsonl"
SUMMARY = ROOT / "validation" / "mutants.md"
TEXTS = ROOT / "validation" / ".mutants_cache"  # of the driver's entries without errors, by the stamp of their sources
COPIED = ("urdf_gibbs", "tests", "models", "validation", "docs", "pyproject.toml", "README.md", "CHANGELOG.md", "Makefile", "LICENSE")
ENOUGH = 0.85  # of the errors of a room
KILLED, SURVIVED, INVALID = "killed", "survived", "invalid"
TOO_LONG = 1000  # no exit code of a process
OPTIONS = ("-xq", "--no-header", "--tb=line", "-pno:cacheprovider", "-pmutant_profile", "--hypothesis-seed=0", "-Wignore")
# What is imported once for all tests, and for all drivers: nothing of the tree, which changes.
TESTING = ("pytest", "hypothesis", "numpy", "scipy.integrate", "scipy.optimize", "scipy.spatial.transform", "pinocchio", "typer.testing")
COMPILING = ("numba", "numba.core.compiler", "numba.core.registry", "llvmlite.binding")
# The sources that are compiled into the driver (driver_code.sources), determined in the copy, whose sources may be changed.
BUILD_SETTINGS = "import json; from urdf_gibbs.engine.build_driver import ENVIRONMENT; print(json.dumps(ENVIRONMENT))"
DRIVER_SOURCES = (
    "from urdf_gibbs.engine import driver_code as d; print(d.stamp(), *[p.relative_to(d.PACKAGE).as_posix() for p in d.sources()])"
)
COMPILING_ALL = threading.Lock()


class DataError(Exception):
    """The list of errors does not fit the sources."""


@dataclass(frozen=True)
class Mutant:
    """One small error; ``file`` is below urdf_gibbs/, ``survives`` says why no test can notice it, empty where one must."""

    room: str
    file: str
    find: str
    replace: str
    breaks: str
    tests: tuple[str, ...]
    survives: str = ""

    @property
    def name(self) -> str:
        return f"{self.file}: {self.breaks}"

    def mutated(self, source: str) -> str:
        """The source with the error in it."""
        count = source.count(self.find)
        if count != 1:
            raise DataError(f"{self.name}: its text is found {count} times in the file, expected once: {self.find!r}")
        return source.replace(self.find, self.replace)


Waiting = queue.SimpleQueue[tuple[str, Mutant]]  # with the keys of their results


@dataclass
class Result:
    mutant: Mutant
    outcome: str
    seconds: float
    noticed: str  # the test that noticed it, or the problem


def read_mutants(folder: Path = DATA) -> list[Mutant]:
    """All errors of all rooms."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        for one in content["mutant"]:
            unknown = one.keys() - {"file", "find", "replace", "breaks", "survives"}
            if unknown:
                raise DataError(f"{path.name}: {one.get('breaks')!r} has {', '.join(sorted(unknown))}, which means nothing")
            if one["file"] not in content["tests"]:
                raise DataError(f"{path.name}: no tests are named for {one['file']}")
            found.append(Mutant(path.stem, tests=tuple(content["tests"][one["file"]]), **one))
    return found


def changed_functions(file: str, right: str, wrong: str) -> list[str]:
    """``module.function`` of the functions of a file that differ; * where something outside of functions does."""

    def parts(source: str) -> dict[str, str]:
        nodes = ast.parse(source).body
        found = {node.name: ast.unparse(node) for node in nodes if isinstance(node, ast.FunctionDef)}
        return {**found, "*": "\n".join(ast.unparse(node) for node in nodes if not isinstance(node, ast.FunctionDef))}

    before, after = parts(right), parts(wrong)
    module = ".".join(["urdf_gibbs", *Path(file).with_suffix("").parts]).removesuffix(".__init__")
    changed = [name for name in before | after if before.get(name) != after.get(name)]
    return ["*"] if "*" in changed else [f"{module}.{name}" for name in changed]


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def statements(source: str, decorators: bool) -> list[str]:
    """The statements of a file, functions and classes as one each; without comments and docstrings, and with decorators or not."""
    nodes = ast.parse(source)
    for node in ast.walk(nodes):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.decorator_list = node.decorator_list if decorators else []
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
    return [ast.unparse(node) for node in nodes.body]


def key_of(mutant: Mutant, root: Path = ROOT) -> str:
    """Of the error and of the function, class or other statement that it is planted in."""
    source = (root / "urdf_gibbs" / mutant.file).read_text(encoding="utf-8")
    wrong = statements(mutant.mutated(source), False)
    return digest(mutant.file, mutant.find, mutant.replace, *(text for text in statements(source, False) if text not in wrong))


def proof(mutant: Mutant, outcome: str, noticed: str, root: Path = ROOT) -> str:
    """What a result holds for as long as it is the same: the test that has noticed the error, or all files that have not."""
    texts = {name: (root / "tests" / name).read_text(encoding="utf-8") for name in mutant.tests}
    by = next((name for name in mutant.tests if outcome == KILLED and noticed.startswith(f"tests/{name}")), None)
    if by is None:
        return digest(*(part for item in texts.items() for part in item))
    test = re.search(r"::(\w+)", noticed)
    own = [text for text in statements(texts[by], True) if test and f"def {test[1]}(" in text]
    return digest(by, *(own or [texts[by]]))


def holds(mutant: Mutant, entry: dict[str, Any]) -> bool:
    """Whether a result that was kept can be used."""
    return entry["outcome"] != INVALID and entry["proof"] == proof(mutant, entry["outcome"], entry["noticed"])


class Kept:
    """Results on disk, one line each; the last line of a key counts."""

    def __init__(self, path: Path, fresh: bool = False) -> None:
        self.path, self.lines, self.lock = path, {}, threading.Lock()
        if path.exists() and not fresh:
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    entry = json.loads(line)
                except json.JSONDecodeError:  # of a write that was cut short
                    continue
                self.lines[entry["key"]] = entry
        elif fresh:
            path.unlink(missing_ok=True)

    def get(self, key: str) -> dict[str, Any] | None:
        return self.lines.get(key)

    def add(self, key: str, **entry: Any) -> None:
        with self.lock, self.path.open("a", encoding="utf-8") as file:
            self.lines[key] = {"key": key, **entry}
            file.write(json.dumps(self.lines[key]) + "\n")


class Runner:
    """A warm process (mutant_runner.py) in a folder."""

    def __init__(self, root: Path, environment: dict[str, str], modules: tuple[str, ...]) -> None:
        self.log = root / f"{modules[0]}.log"
        self.task = 0  # the process that works for us
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("mutant_runner.py")), *modules],
            cwd=root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, arguments: list[str], cpu: float, **environment: str) -> tuple[int, str, float]:
        """Exit code, TOO_LONG where that takes more CPU time than ``cpu`` [s] or hangs; all output; and the CPU time [s]."""
        task = {"arguments": arguments, "log": str(self.log), "cpu": math.ceil(cpu), "environment": environment}
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        self.task = int(self.process.stdout.readline())
        ended, _, _ = select.select([self.process.stdout], [], [], 20.0 * cpu)  # other work on the machine takes time, but not CPU time
        if not ended:
            self.stop()
        code, seconds = self.process.stdout.readline().split()
        self.task = 0
        output = self.log.read_text(encoding="utf-8", errors="replace")
        if not ended or int(code) == -signal.SIGXCPU:
            return TOO_LONG, f"after {cpu:.0f} s", float(seconds)
        return int(code), output, float(seconds)

    def stop(self) -> None:
        """End what is running, with everything that it has started."""
        if self.task:
            with suppress(ProcessLookupError):  # it has just ended by itself
                os.killpg(self.task, signal.SIGKILL)

    def close(self) -> None:
        self.stop()
        self.process.kill()
        self.process.wait()


class Tree:
    """A copy of the tree to plant errors in; deleted in the end."""

    def __init__(self) -> None:
        self.given_up = False  # processes that end from now on were stopped by us: their results do not count
        self.folder = tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True)
        self.root = Path(self.folder.name)
        ignored = shutil.ignore_patterns("__pycache__", "site", ".*_cache", "mutants.jsonl")
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, self.root / name, ignore=ignored)
            elif source.exists():
                shutil.copy(source, self.root / name)
        self.driver = self.root / "urdf_gibbs" / "engine" / "driver.ll.xz"
        self.cpu = 0.0  # s, of all that was run here
        search = os.pathsep.join([str(self.root), str(self.root / "validation")])
        common = {**os.environ, "PYTHONPATH": search, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
        self.testing = Runner(self.root, {**common, "URDF_GIBBS_CACHE": str(self.root / "cache")}, TESTING)
        # The settings of build_driver.py, which it would else start a process with.
        built = subprocess.run([sys.executable, "-c", BUILD_SETTINGS], env=common, capture_output=True, text=True, check=True)
        self.compiling = Runner(self.root, {**common, **json.loads(built.stdout)}, COMPILING)
        listed = subprocess.run([sys.executable, "-c", DRIVER_SOURCES], env=common, capture_output=True, text=True, check=True)
        (self.root / "validation" / "mutant_right.ll").write_bytes(lzma.decompress(self.driver.read_bytes()))
        stamp, *compiled = listed.stdout.split()
        self.texts, self.compiled = TEXTS / stamp, set(compiled)

    def _run(self, runner: Runner, arguments: list[str], cpu: float, **environment: str) -> tuple[int, str]:
        code, output, seconds = runner.run(arguments, cpu, **environment)
        self.cpu += seconds
        return code, output

    def stop(self) -> None:
        """End what is running in the copy."""
        self.testing.stop()
        self.compiling.stop()

    def close(self) -> None:
        self.given_up = True
        self.testing.close()
        self.compiling.close()
        self.folder.cleanup()

    def run_tests(self, tests: tuple[str, ...], cpu: float, cache: str = "cache") -> tuple[str, str]:
        """Whether the tests notice something, and which one."""
        arguments = ["pytest", *OPTIONS, *(f"tests/{name}" for name in tests)]
        code, output = self._run(self.testing, arguments, cpu, URDF_GIBBS_CACHE=str(self.root / cache))
        if code == TOO_LONG:
            return KILLED, f"no end {output}"
        found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", output, flags=re.MULTILINE)
        if code == 0:
            return SURVIVED, ""
        if code == -signal.SIGSEGV or code == -signal.SIGABRT:
            return KILLED, f"a crash, signal {-code}"
        if not found:  # ended from outside, no such test, or none at all
            return INVALID, f"exit code {code}: {output[-300:]}"
        return KILLED, found[1]

    def plant(self, mutant: Mutant, cpu: float, before: str = "") -> tuple[str, str]:
        """Outcome of one error; the test that has noticed it ``before`` is asked first."""
        path = self.root / "urdf_gibbs" / mutant.file
        right, shipped = path.read_text(encoding="utf-8"), self.driver.read_bytes()
        wrong = mutant.mutated(right)
        try:
            compile(wrong, str(path), "exec")
        except SyntaxError as problem:
            return INVALID, f"no Python: {problem}"
        own_cache = mutant.file in ("engine/objects.py", "engine/driver_code.py")
        try:
            if mutant.file in self.compiled:
                with COMPILING_ALL:  # by one worker, for all
                    problem = "" if self.texts.exists() else self._drive("keep")
                if problem:
                    return INVALID, f"the driver without errors does not compile: {problem}"
            self._write(path, wrong)
            if mutant.file in self.compiled:
                problem = self._drive("build", *changed_functions(mutant.file, right, wrong))
                if problem:
                    return INVALID, f"does not compile: {problem}"
            cache = "own" if own_cache else "cache"
            if before:
                outcome, noticed = self.run_tests((before,), cpu, cache)
                if outcome == KILLED:
                    return outcome, noticed
            return self.run_tests(mutant.tests, cpu, cache)
        finally:
            self._write(path, right)
            self.driver.write_bytes(shipped)
            (self.root / "validation" / "mutant_part.json").unlink(missing_ok=True)
            shutil.rmtree(self.root / "own", ignore_errors=True)

    def _drive(self, *task: str) -> str:
        """Build the copy's driver; returns the problem, or an empty text."""
        code, output = self._run(self.compiling, [str(self.root / "validation" / "mutant_driver.py"), str(self.texts), *task], 300.0)
        return output.strip().splitlines()[-1][:200] if code else ""

    @staticmethod
    def _write(path: Path, text: str) -> None:
        """Remove Python's bytecode: it is invalidated by time in seconds and size only, and both may stay the same."""
        path.write_text(text, encoding="utf-8")
        for old in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            old.unlink()


@dataclass
class Run:
    """All that is to be done, and what has come out so far."""

    mutants: list[Mutant]
    kept: Kept
    results: list[Result] = field(default_factory=list)
    hints: dict[str, str] = field(default_factory=dict)  # by the names of errors: the test that has noticed it before
    lock: threading.Lock = field(default_factory=threading.Lock)

    def baseline(self, tree: Tree, mutants: list[Mutant]) -> dict[tuple[str, ...], float]:
        """CPU seconds that the tests of these errors take without an error, in which they must pass; else nothing can be said."""
        package = digest(*(p.read_text(encoding="utf-8") for p in sorted((ROOT / "urdf_gibbs").rglob("*.py"))))
        seconds = {}
        for name in sorted({name for mutant in mutants for name in mutant.tests}):
            key = digest("baseline", package, name, (ROOT / "tests" / name).read_text(encoding="utf-8"))
            entry = self.kept.get(key)
            if entry is None:
                before = tree.cpu
                outcome, what = tree.run_tests((name,), 600.0)
                if outcome != SURVIVED:
                    raise DataError(f"tests/{name} does not pass without an error: {what}")
                entry = {"seconds": round(tree.cpu - before, 2)}
                self.kept.add(key, **entry)
                print(f"passes without an error {entry['seconds']:6.1f} s  {name}", flush=True)
            seconds[name] = float(entry["seconds"])
        return {tests: sum(seconds[name] for name in tests) for tests in {mutant.tests for mutant in mutants}}

    def take(self, result: Result, known: bool = False) -> None:
        with self.lock:
            self.results.append(result)
            count = f"[{len(self.results):3d}/{len(self.mutants)}]"
            what = {KILLED: f"by {result.noticed}", SURVIVED: result.mutant.survives or "NOT EXPECTED"}.get(result.outcome, result.noticed)
            kept = "  kept" if known else f"{result.seconds:5.0f}s"
            print(f"{count} {result.mutant.room:10s} {result.outcome:8s} {kept}  {result.mutant.name}\n{'':32s}{what}", flush=True)

    def work(self, waiting: Waiting, seconds: dict[tuple[str, ...], float], tree: Tree) -> None:
        while True:
            try:
                key, mutant = waiting.get_nowait()
            except queue.Empty:
                return
            before = tree.cpu
            outcome, noticed = tree.plant(mutant, 20.0 + 3.0 * seconds[mutant.tests], self.hints.get(mutant.name, ""))
            took = tree.cpu - before
            if tree.given_up:
                return
            why = proof(mutant, outcome, noticed, tree.root)
            self.kept.add(key, outcome=outcome, noticed=noticed, proof=why, seconds=round(took, 1), mutant=mutant.name)
            self.take(Result(mutant, outcome, took, noticed))


def summary(results: list[Result]) -> tuple[list[str], bool]:
    """Lines for people, and whether all is well."""
    lines, well = [], True
    rooms = sorted({result.mutant.room for result in results})
    lines.append(f"{'room':12s}{'errors':>8s}{'killed':>8s}{'survived':>10s}{'expected':>10s}{'killed':>9s}")
    for room in rooms:
        own = [result for result in results if result.mutant.room == room]
        killed = sum(result.outcome == KILLED for result in own)
        left = [result for result in own if result.outcome == SURVIVED]
        expected = sum(bool(result.mutant.survives) for result in left)
        share = killed / len(own)
        lines.append(f"{room:12s}{len(own):8d}{killed:8d}{len(left):10d}{expected:10d}{100 * share:8.0f}%")
        well = well and share >= ENOUGH and expected == len(left)
    for result in results:
        if result.outcome == SURVIVED:
            lines.append(f"survived  {result.mutant.name}\n          {result.mutant.survives or 'not expected: a test is missing'}")
        elif result.outcome == INVALID:
            lines.append(f"invalid   {result.mutant.name}\n          {result.noticed}")
            well = False
        elif result.mutant.survives:
            lines.append(f"noticed   {result.mutant.name}\n          by {result.noticed}, though it is said to survive")
    return lines, well


def hints(kept: Kept, path: Path = SUMMARY) -> dict[str, str]:
    """The test that has noticed an error the last time, by the error's name: from the summary, and from results that are newer."""
    known = {}
    if path.exists():
        known = dict(re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", path.read_text(encoding="utf-8"), flags=re.MULTILINE))
    for entry in kept.lines.values():
        if entry.get("outcome") == KILLED and entry["noticed"].startswith("tests/"):
            known[entry["mutant"]] = entry["noticed"].removeprefix("tests/")
    return known


def page(results: list[Result]) -> str:
    """The summary that is kept with the sources, validation/mutants.md."""
    table, _ = summary(results)
    rooms = [line.split() for line in table[1 : 1 + len({result.mutant.room for result in results})]]
    lines = [
        "# Planted errors",
        "",
        "Written by `make mutants`: small errors in the sources, each planted alone, and whether a test turns red.",
        "",
        "| room | errors | killed | survived | killed |",
        "|---|---|---|---|---|",
        *(f"| {room} | {errors} | {killed} | {left} | {share} |" for room, errors, killed, left, _, share in rooms),
        "",
        "## Those that no test notices",
        "",
    ]
    lines += [f"- `{r.mutant.name}`: {r.mutant.survives or 'not expected'}" for r in results if r.outcome == SURVIVED]
    lines += ["", "## Those that one does", "", "| error | the first test that noticed it |", "|---|---|"]
    killed = [(r.mutant.name, r.noticed.removeprefix("tests/")) for r in results if r.outcome == KILLED]
    return "\n".join([*lines, *(f"| `{name}` | `{noticed}` |" for name, noticed in sorted(killed))]) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--room", action="append", help="only this room; may be given several times")
    parser.add_argument("--only", action="append", help="only errors whose file or description has this in it; may be given several times")
    parser.add_argument("--jobs", type=int, default=1, help="workers, each with a copy of the tree")
    parser.add_argument("--fresh", action="store_true", help="forget all results")
    parser.add_argument("--list", action="store_true", help="name the errors and what is known of them; run nothing")
    given = parser.parse_args(arguments)
    mutants = [m for m in read_mutants() if not given.room or m.room in given.room]
    mutants = [m for m in mutants if not given.only or any(words in m.name for words in given.only)]
    for mutant in mutants:  # before anything is run
        mutant.mutated((ROOT / "urdf_gibbs" / mutant.file).read_text(encoding="utf-8"))
    kept = Kept(RESULTS, given.fresh)
    run = Run(mutants, kept, hints=hints(kept))
    left: list[tuple[str, Mutant]] = []
    for mutant in mutants:
        key = key_of(mutant)  # now, with the sources that are copied in a moment
        entry = kept.get(key)
        if entry is not None and holds(mutant, entry):
            run.take(Result(mutant, entry["outcome"], entry["seconds"], entry["noticed"]), known=True)
        else:
            left.append((key, mutant))
    if left and not given.list:
        _in_parallel(run, left, max(1, min(given.jobs, len(left))))
    lines, well = summary(run.results)
    print("\n".join(lines))
    if not given.room and not given.only and len(run.results) == len(mutants):
        order = {mutant.name: number for number, mutant in enumerate(mutants)}
        SUMMARY.write_text(page(sorted(run.results, key=lambda result: order[result.mutant.name])), encoding="utf-8")
    return 0 if well and len(run.results) == len(mutants) else 1


def _in_parallel(run: Run, left: list[tuple[str, Mutant]], jobs: int) -> None:
    """All that is left; a worker that fails ends the others after their present error."""
    waiting: Waiting = queue.SimpleQueue()
    for one in left:
        waiting.put(one)
    trees = [Tree() for _ in range(jobs)]
    problems: list[BaseException] = []

    def work(tree: Tree) -> None:
        try:
            run.work(waiting, seconds, tree)
        except BaseException as problem:
            problems.append(problem)
            while not waiting.empty():
                waiting.get_nowait()

    try:
        seconds = run.baseline(trees[0], [mutant for _, mutant in left])
        threads = [threading.Thread(target=work, args=(tree,), daemon=True) for tree in trees]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        print(f"{sum(tree.cpu for tree in trees) / 60.0:.1f} minutes of CPU time")
        for tree in trees:
            tree.close()
    if problems:
        raise problems[0]


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):  # the first is ignored by what a shell starts in the background
        signal.signal(number, signal.default_int_handler)
    try:
        sys.exit(main())
    except DataError as problem:
        sys.exit(f"error: {problem}")
    except KeyboardInterrupt:
        sys.exit("interrupted; what is known is kept, the same command goes on from there")
