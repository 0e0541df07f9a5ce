"""The list of small errors that ``make mutants`` plants fits the sources, and what it makes of its results."""

from __future__ import annotations

import os
import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from mutants import (
    ENOUGH,
    INVALID,
    KILLED,
    ROOT,
    SUMMARY,
    SURVIVED,
    TOO_LONG,
    DataError,
    Kept,
    Mutant,
    Result,
    Runner,
    changed_functions,
    hints,
    key_of,
    page,
    proof,
    read_mutants,
    summary,
)

MUTANTS = read_mutants()
ROOMS = ("contact", "dynamics", "engine", "robot", "simulation")  # the core, with the most


def source(mutant: Mutant) -> str:
    return (ROOT / "urdf_gibbs" / mutant.file).read_text(encoding="utf-8")


def made(**changes: str) -> Mutant:
    fields = {"room": "a", "file": "a/b.py", "find": "1 + 2", "replace": "1 - 2", "breaks": "sums", "survives": ""}
    return Mutant(tests=("test_mutants.py",), **{**fields, **changes})


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_error_is_found_once_and_leaves_python(mutant: Mutant) -> None:
    changed = mutant.mutated(source(mutant))
    assert changed != source(mutant)
    compile(changed, mutant.file, "exec")
    assert mutant.file.startswith(f"{mutant.room}/")
    assert mutant.breaks.strip() == mutant.breaks and mutant.tests
    for name in mutant.tests:
        assert (ROOT / "tests" / name).is_file(), name


def test_there_are_enough_of_them_in_every_room() -> None:
    counts = Counter(mutant.room for mutant in MUTANTS)
    assert min(counts[room] for room in ROOMS) >= 30 and min(counts.values()) >= 6 and len(MUTANTS) >= 150
    assert len({mutant.name for mutant in MUTANTS}) == len({(m.file, m.find, m.replace) for m in MUTANTS}) == len(MUTANTS)
    for room in counts:  # those that cannot be killed leave room for the share that must be
        own = [mutant for mutant in MUTANTS if mutant.room == room]
        assert sum(not mutant.survives for mutant in own) / len(own) >= ENOUGH


def test_a_text_that_is_gone_or_occurs_twice_is_an_error_that_names_it() -> None:
    assert made().mutated("x = 1 + 2") == "x = 1 - 2"
    for text in ("x = 3", "x = 1 + 2 + (1 + 2)"):
        with pytest.raises(DataError, match=r"a/b\.py: sums: its text is found [02] times"):
            made().mutated(text)


@pytest.mark.parametrize(("line", "message"), [('file = "a/c.py"', "no tests are named for a/c.py"), ('fine = "x"', "has fine")])
def test_data_that_means_nothing_is_an_error(tmp_path: Path, line: str, message: str) -> None:
    given = {"file": 'file = "a/b.py"'} | {line.split()[0]: line}
    text = '[tests]\n"a/b.py" = ["t.py"]\n[[mutant]]\nfind = "1"\nreplace = "2"\nbreaks = "x"\n' + "\n".join(given.values())
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(DataError, match=message):
        read_mutants(tmp_path)


def test_the_summary_fails_where_an_error_survives_that_must_not_or_too_many_do() -> None:
    killed = [Result(made(breaks=str(i)), KILLED, 1.0, "a test") for i in range(17)]
    expected = [Result(made(breaks=f"e{i}", survives="it changes nothing"), SURVIVED, 1.0, "") for i in range(3)]
    lines, well = summary([*killed, *expected])
    assert well and "it changes nothing" in "\n".join(lines) and lines[1].split() == ["a", "20", "17", "3", "3", "85%"]
    assert not summary([*killed, *expected, Result(made(breaks="one more", survives="so"), SURVIVED, 1.0, "")])[1]  # 81 %
    lines, well = summary([*killed, Result(made(), SURVIVED, 1.0, "")])
    assert not well and "a test is missing" in lines[-1]
    lines, well = summary([*killed, Result(made(), INVALID, 1.0, "does not compile")])
    assert not well and "does not compile" in lines[-1]
    lines, well = summary([*killed, Result(made(survives="nothing sees it"), KILLED, 1.0, "a test")])
    assert well and "though it is said to survive" in lines[-1]


def test_results_are_kept_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    kept = Kept(path)
    kept.add("a", outcome=KILLED)
    kept.add("b", outcome=SURVIVED)
    kept.add("a", outcome=SURVIVED)
    path.write_text(path.read_text() + '{"key": "c", "outc')  # cut short by the end of the process
    again = Kept(path)
    assert again.get("c") is None
    assert [(again.get(key) or {})["outcome"] for key in "ab"] == [SURVIVED, SURVIVED]
    assert Kept(path, fresh=True).get("a") is None


def test_the_test_that_noticed_an_error_before_is_known_from_the_summary_and_from_newer_results(tmp_path: Path) -> None:
    first, second, left = (made(breaks=words) for words in ("sums", "differences", "nothing"))
    results = [Result(first, KILLED, 1.0, "tests/test_a.py::test_it[1-x]"), Result(second, KILLED, 1.0, "tests/test_b.py::test_b")]
    results.append(Result(replace(left, survives="it changes nothing"), SURVIVED, 1.0, ""))
    text = page(results)
    assert "| a | 3 | 2 | 1 | 67% |" in text and "- `a/b.py: nothing`: it changes nothing" in text
    (tmp_path / "mutants.md").write_text(text)
    kept = Kept(tmp_path / "kept.jsonl")
    assert hints(kept, tmp_path / "mutants.md") == {first.name: "test_a.py::test_it[1-x]", second.name: "test_b.py::test_b"}
    kept.add("k", outcome=KILLED, noticed="tests/test_c.py::test_c", mutant=second.name)
    kept.add("l", outcome=KILLED, noticed="no end after 60 s", mutant=first.name)
    assert hints(kept, tmp_path / "mutants.md") == {first.name: "test_a.py::test_it[1-x]", second.name: "test_c.py::test_c"}


@pytest.mark.skipif(not SUMMARY.exists(), reason="make mutants has not run yet")
def test_the_summary_names_errors_that_there_are() -> None:
    known = {mutant.name for mutant in MUTANTS}
    assert set(hints(Kept(Path("no results")))) <= known


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_warm_process_tells_exit_codes_output_and_work_without_end(tmp_path: Path) -> None:
    script = tmp_path / "task.py"
    script.write_text(
        "import os, sys\nprint('json' in sys.modules, os.environ['WORD'], flush=True)\n"
        "if sys.argv[1] == 'end': sys.exit(3)\nif sys.argv[1] == 'crash': os.abort()\nwhile sys.argv[1] == 'on': pass\n"
    )
    runner = Runner(tmp_path, dict(os.environ), ("json",))
    try:
        for argument, code in (("end", 3), ("crash", -signal.SIGABRT), ("nothing", 0)):
            found, output, _ = runner.run([str(script), argument], 120.0, WORD=argument)
            assert (found, output.split()[:2]) == (code, ["True", argument])
        assert runner.run([str(script), "on"], 1.0, WORD="")[0] == TOO_LONG
    finally:
        runner.close()


def test_a_result_holds_until_the_function_or_the_tests_that_prove_it_change(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "urdf_gibbs" / "a").mkdir(parents=True)
    file = tmp_path / "urdf_gibbs" / "a" / "b.py"

    def key(source: str, **changes: str) -> str:
        file.write_text(source)
        return key_of(made(**changes), tmp_path)

    first = key("def f(x):\n    return 1 + 2\ny = 3")
    same = (
        "@g\ndef f(x):\n    'Sum.'\n    return 1 + 2\ny = 3",
        "def f(x):\n    return 1 + 2  # sum\ny = 4",
    )  # words, and what is elsewhere
    assert {key(source) for source in same} == {first}
    assert len({first, key("def f(x):\n    return x * (1 + 2)\ny = 3"), key("def f(x):\n    return 1 + 2\ny = 3", replace="0")}) == 3

    mutant = replace(made(), tests=("test_a.py", "test_b.py"))

    def proofs(first: str, second: str = "def test_it(): pass") -> list[str]:
        (tmp_path / "tests" / "test_a.py").write_text(first)
        (tmp_path / "tests" / "test_b.py").write_text(second)
        noticed = {KILLED: "tests/test_b.py::test_it", SURVIVED: ""}
        return [proof(mutant, outcome, by, tmp_path) for outcome, by in (*noticed.items(), (KILLED, "no end after 60 s"))]

    (by_b, by_none, no_end), (again, other, longer) = proofs("1"), proofs("2")
    assert by_b == again and by_none != other and no_end != longer
    assert proofs("1", "def test_it(): pass\ndef test_more(): pass")[0] == by_b
    assert proofs("1", "def test_it(): assert 1")[0] != by_b and proofs("1", "@twice\ndef test_it(): pass")[0] != by_b


@pytest.mark.parametrize(
    ("wrong", "changed"),
    [
        ("A = 1\ndef f(): return A\ndef g(): return 3", ["urdf_gibbs.a.b.g"]),
        ("A = 1\ndef f():\n    return A\ndef g(): return 2", []),  # the same in other lines
        ("A = 2\ndef f(): return A\ndef g(): return 2", ["*"]),
        ("A = 1\ndef f(): return A", ["urdf_gibbs.a.b.g"]),
    ],
)
def test_which_functions_an_error_changes(wrong: str, changed: list[str]) -> None:
    assert changed_functions("a/b.py", "A = 1\ndef f(): return A\ndef g(): return 2", wrong) == changed
