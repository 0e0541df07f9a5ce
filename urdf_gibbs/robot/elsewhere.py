"""What a path means that no file can be read from: the name of an installed robot, a URL, a folder; else a sentence that helps."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from urdf_gibbs.bundled import SeveralRobotsError, example_names, model_names, robot_path, similar
from urdf_gibbs.described import Described, NotHereError, described, described_names
from urdf_gibbs.errors import UnknownNameError
from urdf_gibbs.robot.findings import Findings
from urdf_gibbs.robot.meshes import MeshFolders

SUFFIXES = (".urdf", ".xacro", ".sdf", ".mjcf")  # of robots in a folder; .xml may be anything
LISTED, DEPTH, EXAMINED = 6, 3, 5000  # files shown; folders below the given one, and entries, that are searched
READABLE = "a readable URDF file, or XML text that starts with '<'"
WIDTH = 110  # characters of their names
OTHER_SYSTEMS = ("http", "https", "ftp", "s3", "gs", "git", "ssh", "git+https", "git+ssh")
MORE = "; with pip install example-robot-data there are panda, go2, talos and 70 others"


def find(source: str | bytes | os.PathLike[str], problem: OSError, package_dirs: tuple[str, ...]) -> Described | Findings:
    """The file that is meant, or findings that say why there is none."""
    name = os.fsdecode(source)
    findings = Findings(name)
    reason = problem.strerror or str(problem)
    scheme = name.partition("://")[0] if "://" in name else ""
    if scheme in ("package", "model", "file"):
        path = MeshFolders("", package_dirs).find(name)
        if path is not None:
            return Described(path, {})
        findings.error("unreadable", 0, "file", reason, "a file that exists (package folders: package_dirs= or --package-dir)")
    elif scheme in OTHER_SYSTEMS or name.startswith("git@"):
        expected = "a file of this machine: nothing is downloaded; fetch it, with its meshes beside it, and load that file"
        findings.error("unreadable", 0, "file", "a URL", expected)
    elif os.path.isdir(name) and not (isinstance(source, str) and len(example_names().get(name, ())) == 1):
        findings.error("unreadable", 0, "file", "a folder", _inside(Path(name)))
    elif problem.errno not in (errno.ENOENT, errno.EISDIR) or not name or isinstance(source, os.PathLike):
        findings.error("unreadable", 0, "file", reason, READABLE + _meant(name, []))
    else:
        try:
            return described(name) if name in described_names() else Described(robot_path(name), {})
        except NotHereError as told:
            findings.error("unreadable", 0, "name", f'"{name}"', str(told))
        except SeveralRobotsError as several:
            found = f'"{name}", the name of {len(several.known)} robots'
            findings.error("unreadable", 0, "name", found, f"one of {', '.join(several.known)}")
        except UnknownNameError:
            known = [*model_names(), *example_names(), *described_names()]
            more = "" if example_names() or _is_path(name) else MORE
            findings.error("unreadable", 0, "file", reason, f"{READABLE}, or the name of an installed robot{_meant(name, known)}{more}")
    return findings


def _is_path(name: str) -> bool:
    return os.path.basename(name) != name or name.endswith((*SUFFIXES, ".xml"))


def _meant(name: str, known: list[str]) -> str:
    """What could have been meant: files beside it, and names."""
    path = Path(name)
    try:
        beside = [str(path.with_name(one)) for one in similar(path.name, _files(path.parent))]
    except (OSError, ValueError):  # no such folder, or no possible name
        beside = []
    meant = list(dict.fromkeys(beside + similar(path.stem, known)))
    return f"; did you mean {' or '.join(meant[:4])}?" if meant else ""


def _files(folder: Path) -> list[str]:
    """Files of robots in a folder."""
    with os.scandir(folder) as entries:
        return [entry.name for entry, _ in zip(entries, range(EXAMINED), strict=False) if entry.name.endswith((*SUFFIXES, ".xml"))]


def _inside(folder: Path) -> str:
    """The robots in a folder, and in those below it."""
    found: list[str] = []
    seen = 0
    for place, below, names in os.walk(folder):
        below.sort()
        if len(Path(place).relative_to(folder).parts) >= DEPTH:
            below.clear()
        found += [os.path.relpath(os.path.join(place, name), folder) for name in sorted(names) if name.endswith(SUFFIXES)]
        seen += len(names)
        if seen > EXAMINED:
            break
    if not found:
        return "a file; no URDF, xacro, SDF or MJCF file is in this folder"
    found.sort(key=lambda name: (name.count(os.sep), name))
    shown = [name for k, name in enumerate(found[:LISTED]) if sum(map(len, found[: k + 1])) < WIDTH] or found[:1]
    more = f" and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    return f"one of the files in it: {', '.join(shown)}{more}"
