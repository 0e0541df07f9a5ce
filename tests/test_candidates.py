"""What could touch: which limits of mimic joints act beside those of the joint that they follow."""

from __future__ import annotations

import pytest
from urdf_text import joint, link, robot

from urdf_gibbs import Simulator, UrdfWarning, load


def fingers(lower: float, upper: float, multiplier: float, offset: float = 0.0) -> str:
    """Two slides; the second follows the first, which goes from 0 to 1, and has these limits of its own."""
    own = f'<limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/>'
    return robot(
        link("palm"),
        link("one"),
        link("two"),
        joint("first", "prismatic", "palm", "one", axis=(1, 0, 0), limit='<limit lower="0" upper="1" effort="1" velocity="1"/>'),
        joint(
            "second",
            "prismatic",
            "palm",
            "two",
            f'<mimic joint="first" multiplier="{multiplier}" offset="{offset}"/>',
            axis=(0, 1, 0),
            limit=own,
        ),
    )


MASTER = ["first|lower", "first|upper"]
BOTH = [*MASTER, "second|lower", "second|upper"]


@pytest.mark.parametrize(
    ("lower", "upper", "multiplier", "offset", "names"),
    [
        (0.0, 1.0, 1.0, 0.0, MASTER),  # the same again
        (-1.0, 0.0, -1.0, 0.0, MASTER),  # the same the other way round
        (-5.0, 5.0, 2.0, 0.0, MASTER),  # wider
        (0.5, 2.5, 2.0, 0.5, MASTER),  # the same through an offset
        (0.0, 1.0, 2.0, 0.0, BOTH),  # reached when the first is at a half
        (0.2, 1.0, 1.0, 0.0, BOTH),
    ],
)
def test_limits_of_a_mimic_joint_act_where_they_say_more_than_its_masters(
    lower: float, upper: float, multiplier: float, offset: float, names: list[str]
) -> None:
    simulator = Simulator(load(fingers(lower, upper, multiplier, offset)), joint_limits=True)
    assert list(simulator._facts.names) == names


def test_limits_that_leave_nothing_do_not_act_and_are_reported() -> None:
    with pytest.warns(UrdfWarning, match="'second', 3 to 4, leave 'first'"):
        simulator = Simulator(load(fingers(3.0, 4.0, 1.0)), joint_limits=True)
    assert list(simulator._facts.names) == MASTER
