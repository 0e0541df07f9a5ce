"""``check`` names mistakes that people make, planted into real robots, and leaves most robots as they come in peace."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from examples import FILES, FOLDER, ROBOTS
from planted_mistakes import MISTAKES, Mistake, planted, source

import urdf_gibbs as ug

SHARE = FOLDER.parents[1]
QUIET = [  # of those without a warning the ones that are read fast
    *("go2_description/urdf/go2.urdf", "anymal_b_simple_description/robots/anymal.urdf", "kinova_description/robots/kinova.urdf"),
    *("solo_description/robots/solo12.urdf", "xarm_description/urdf/xarm7.urdf", "hyq_description/robots/hyq_no_sensors.urdf"),
]


@cache
def before(robot: str) -> set[tuple[str, str]]:
    return {(finding.code, finding.element) for finding in ug.check(source(robot), [SHARE])}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.what.replace(" ", "-"))
def test_a_planted_mistake_is_named(mistake: Mistake) -> None:
    """A finding that the file did not have before names the link or joint; none of them is missed."""
    new = [finding for finding in ug.check(planted(mistake), [SHARE]) if (finding.code, finding.element) not in before(mistake.robot)]
    assert [str(finding) for finding in new if mistake.name in str(finding)], [str(finding) for finding in new]


@pytest.mark.parametrize("file", QUIET, ids=lambda file: Path(file).stem)
def test_robots_of_the_collection_have_no_warnings(file: str) -> None:
    assert [str(finding) for finding in ug.check(ROBOTS[file]) if finding.severity != "note"] == []


@pytest.mark.nightly
def test_half_of_the_collection_has_no_warnings() -> None:
    """42 of 69; what is warned of in the others is told on the page of each code, and was looked at."""
    clean = [file for file in FILES if all(finding.severity == "note" for finding in ug.check(ROBOTS[file]))]
    assert len(clean) >= 0.5 * len(FILES), clean
    assert set(QUIET) <= set(clean)


def test_the_first_link_of_the_panda_weighs_as_a_solid_of_1_68_m() -> None:
    """I = 0.70337, 0.70661, 0.009117 kg m2 for 4.970684 kg: along z the mean square distance is (Ixx + Iyy - Izz) / 2m, (0.3753 m)^2,
    and that of a solid ellipsoid of length L is L^2 / 20."""
    (found,) = [one for one in ug.check(ROBOTS["panda_description/urdf/panda.urdf"]) if 'link "panda_link1"' in one.element]
    assert found.code == "inertia-too-large" and found.severity == "warning"
    length = (20.0 * (0.70337 + 0.70661 - 0.009117) / (2.0 * 4.970684)) ** 0.5
    assert f"{length:.3g} m" in found.value and "1.68 m" in found.value
