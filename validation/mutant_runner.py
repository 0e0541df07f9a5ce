"""A warm process for mutants.py: it has imported what tests import, but nothing of the tree, and runs every task in a fork of itself.

    python validation/mutant_runner.py MODULE ...     the modules to import beforehand

A line of its input is a task as JSON: ``arguments`` of pytest, or of Python where the first is a script, ``log``, the file for all
output, ``cpu`` [s], the limit of CPU time, and ``environment``. It answers with the number of the process, then with the exit code
and the CPU time of the process with all its children, each on a line.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import runpy
import signal
import sys
from contextlib import suppress
from typing import Any


def run(task: dict[str, Any]) -> int:
    """In the fork: do it and return the exit code."""
    log = os.open(task["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(task["environment"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (task["cpu"], task["cpu"] + 5))
    script, *arguments = task["arguments"]
    if script != "pytest":
        sys.argv = [script, *arguments]
        sys.path.insert(0, os.path.dirname(script))  # as Python does: own_tree.py is that of the script's tree
        runpy.run_path(script, run_name="__main__")
        return 0
    import pytest

    return int(pytest.main(arguments))


def answer(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main() -> None:
    for name in sys.argv[1:]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            code = 1
            try:
                code = run(json.loads(line))
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
                if isinstance(end.code, str):
                    print(end.code)
            except BaseException as problem:  # told as Python does at its end
                print(f"{type(problem).__name__}: {problem}")
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        with suppress(OSError):  # whichever of the two comes first
            os.setpgid(child, child)
        answer(child)
        _, status, usage = os.wait4(child, 0)
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        answer(code, round(usage.ru_utime + usage.ru_stime, 2))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # mutants.py ends us
    main()
