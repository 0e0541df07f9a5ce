"""The report of a validation in a real browser: heat maps by their pixels, links that light up, read-outs, themes, sizes."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Opened
from defective_robots import BROKEN, EVIL, changed_rocker
from examples import FOLDER

import urdf_gibbs as ug
from urdf_gibbs.lint.check import check
from urdf_gibbs.oracle.compare import validate
from urdf_gibbs.oracle.difference import random_states
from urdf_gibbs.oracle.report import Comparison, Matrices, Report
from urdf_gibbs.view.report import predicted_pattern, report_view

pytestmark = pytest.mark.filterwarnings("ignore::urdf_gibbs.UrdfWarning", "ignore::DeprecationWarning")

Open = Callable[[Path], Opened]
Array = np.ndarray[Any, Any]

WHITE, BLUE, ORANGE, PURPLE = np.array([[255, 255, 255], [0, 114, 178], [213, 94, 0], [138, 47, 106]], dtype=float)
OURS, THEIRS, DIFFERENCE, PREDICTED, NONZERO = range(5)


def written(path: Path, source: Any, base: str = "fixed", theme: str | None = None, **options: Any) -> tuple[Path, Report]:
    robot = ug.load(source, base)  # type: ignore[arg-type]
    report = validate(robot, options.pop("against", source), samples=options.pop("samples", 3), **options)
    return report_view(robot, report, check(source), theme=theme).save(path), report


def box(tab: Opened, number: int) -> tuple[float, float, float]:
    """Left, top and side of a heat map on the screen."""
    script = """(k) => { const map = urdfGibbs.report.maps[k].canvas; map.scrollIntoView({block: 'center'});
        const box = map.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; }"""
    left, top, width, height = tab.run(script, number)
    assert width == pytest.approx(height, abs=1)
    return left, top, width


def cells(tab: Opened, number: int, n: int) -> Array:
    """Colours (n, n, 3) near the corner of each cell, clear of lines and numbers."""
    left, top, side = box(tab, number)
    picture = tab.picture()
    at = (np.arange(n) + 0.16) * side / n
    return picture[np.round(top + at - 0.5).astype(int)[:, None], np.round(left + at - 0.5).astype(int)[None, :]]


def signed_colours(M: Array, largest: float) -> Array:
    part = np.log1p(np.abs(M) * 1e5 / largest) / np.log1p(1e5)
    end = np.where((M < 0)[..., None], BLUE, ORANGE)
    return WHITE + (end - WHITE) * part[..., None]


def size_colours(D: Array) -> Array:
    sizes = np.abs(D[D != 0.0])
    high = max(np.ceil(np.log10(sizes.max())), np.floor(np.log10(sizes.min())) + 1)
    low = np.floor(np.log10(max(sizes.min(), sizes.max() * 1e-12)))
    with np.errstate(divide="ignore"):
        part = np.where(D == 0.0, 0.0, 0.15 + 0.85 * np.clip((np.log10(np.abs(D)) - low) / (high - low), 0.0, 1.0))
    return WHITE + (PURPLE - WHITE) * part[..., None]


def hover(tab: Opened, number: int, row: int, column: int, n: int) -> str:
    left, top, side = box(tab, number)
    tab.page.mouse.move(left + (column + 0.5) * side / n, top + (row + 0.5) * side / n)
    tab.settled()
    return str(tab.run("document.getElementById('entry').innerText"))


# heat maps --------------------------------------------------------------------------------------------


def test_the_heat_maps_of_panda_have_the_colours_of_their_values(tmp_path: Path, open_page: Open) -> None:
    path, report = written(tmp_path / "panda.html", FOLDER / "panda_description/urdf/panda.urdf")
    tab = open_page(path)
    assert tab.complaints == [] and tab.outside == []
    assert tab.run("document.getElementById('verdict').textContent").lower().count("agrees with pinocchio") == 1
    assert not tab.page.locator("#selection").is_visible(), "nothing is selected: nothing covers the robot"
    assert report.matrices is not None
    M, reference = report.matrices.ours["compiled"], report.matrices.reference
    n = len(M)
    largest = max(np.abs(one).max() for one in (reference, *report.matrices.ours.values()))
    assert (M < 0).any() and (M > 0).any()
    np.testing.assert_allclose(cells(tab, OURS, n), signed_colours(M, largest), atol=4)
    np.testing.assert_allclose(cells(tab, THEIRS, n), signed_colours(reference, largest), atol=4)
    difference = M - reference
    assert (difference != 0).any()
    seen = cells(tab, DIFFERENCE, n)
    np.testing.assert_allclose(seen, size_colours(difference), atol=4)
    assert (seen[difference == 0] == 255).all() and (seen[difference != 0].min(axis=1) < 245).all()
    assert f"{np.abs(difference).max():.2e}".split("e")[0] in tab.run("document.getElementById('largest-difference').textContent")
    tab.page.select_option("#method", label="explicit")
    np.testing.assert_allclose(cells(tab, OURS, n), signed_colours(report.matrices.ours["explicit"], largest), atol=4)
    np.testing.assert_allclose(cells(tab, DIFFERENCE, n), size_colours(report.matrices.ours["explicit"] - reference), atol=4)
    assert tab.complaints == []


def test_what_the_branches_forbid_is_white_and_outlined(tmp_path: Path, open_page: Open) -> None:
    path, report = written(tmp_path / "branched.html", ug.model_path("branched12"))
    tab = open_page(path)
    robot = ug.load(ug.model_path("branched12"))
    predicted, n = predicted_pattern(robot), robot.nv
    assert (cells(tab, OURS, n)[~predicted] == 255).all()
    assert ((cells(tab, PREDICTED, n) < 250).any(axis=2) == predicted).all()
    assert report.matrices is not None
    dark = (cells(tab, NONZERO, n) < 60).all(axis=2)
    assert (dark == (np.abs(report.matrices.reference) > 1e-11)).all()
    left, top, side = box(tab, OURS)
    picture = tab.picture()
    i, j = next((i, j) for i, j in np.argwhere(~predicted & ~np.roll(predicted, -1, 0)) if predicted[i, j - 1] and j)
    edge, middle = left + j * side / n, int(top + (i + 0.5) * side / n)
    line = picture[middle, int(edge) - 2 : int(edge) + 3].min(axis=0)
    assert (line < 180).all()  # the border between what is allowed and what is not
    text = tab.run("document.getElementById('sparsity').textContent")
    assert f"{predicted.sum()} of {n * n}" in text and "none outside" in text


def test_the_read_out_has_the_names_and_all_digits(tmp_path: Path, open_page: Open) -> None:
    path, report = written(tmp_path / "branched.html", ug.model_path("branched12"))
    tab = open_page(path)
    assert report.matrices is not None
    names = ug.load(ug.model_path("branched12")).velocity_names
    for number, row, column in ((OURS, 2, 5), (THEIRS, 11, 0), (DIFFERENCE, 0, 11), (NONZERO, 5, 5)):
        text = hover(tab, number, row, column, 12)
        assert f"{names[row]} × {names[column]}" in text
        ours, theirs = report.matrices.ours["compiled"][row, column], report.matrices.reference[row, column]
        digits = [float(word.rstrip(",;")) for word in text.split() if word.rstrip(",;")[-1:].isdigit() and "." in word]
        assert ours in digits and theirs in digits
    assert "no branch holds both" in hover(tab, OURS, *np.argwhere(~predicted_pattern(ug.load(ug.model_path("branched12"))))[0], 12)
    tab.page.mouse.move(10, 10)
    tab.settled()
    assert "Point at an entry" in tab.run("document.getElementById('entry').innerText")


def test_an_entry_lights_the_links_of_its_row_and_column_also_by_keys(tmp_path: Path, open_page: Open) -> None:
    path, _ = written(tmp_path / "branched.html", ug.model_path("branched12"))
    tab = open_page(path)
    robot = ug.load(ug.model_path("branched12"))
    left, top, side = box(tab, THEIRS)
    assert not tab.run("document.body.dataset.lit || ''")
    tab.page.mouse.click(left + 5.5 * side / 12, top + 2.5 * side / 12)
    assert tab.run("document.body.dataset.lit").split("\n") == [robot.joints[2].child, robot.joints[5].child]
    assert tab.run("urdfGibbs.report.maps[0].marked") == [2, 5]
    tab.run("urdfGibbs.report.maps[0].canvas.focus(); urdfGibbs.report.point([1, 1])")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
        tab.page.keyboard.press(key)
    assert tab.run("document.body.dataset.lit").split("\n") == [robot.joints[2].child, robot.joints[3].child]


# findings ---------------------------------------------------------------------------------------------


def patches(tab: Opened, places: list[tuple[str, tuple[float, float, float]]]) -> list[Array]:
    """Colours about points of links on the screen."""
    script = """(places) => places.map(([link, p]) => { const m = urdfGibbs.stage.linkMatrix(link);
        return urdfGibbs.stage.onScreen([0, 1, 2].map((k) => m[4 * k] * p[0] + m[4 * k + 1] * p[1] + m[4 * k + 2] * p[2] + m[4 * k + 3])); })"""
    points = tab.run(script, [[link, list(point)] for link, point in places])
    picture = tab.picture()
    return [picture[int(y) - 2 : int(y) + 3, int(x) - 2 : int(x) + 3].reshape(-1, 3).mean(axis=0) for x, y in points]


def test_a_finding_lights_its_link_and_no_other(tmp_path: Path, open_page: Open) -> None:
    file = tmp_path / "broken.urdf"
    file.write_text(BROKEN)
    path, _ = written(tmp_path / "broken.html", file)
    tab = open_page(path)
    assert tab.complaints == [] and tab.outside == []
    tab.run("urdfGibbs.stage.apply([0, 0])")
    places = [("upper arm", (0.05, -0.05, 0.4)), ('the "wrist"', (0.2, -0.04, 0.04)), ("tool", (0.0, 0.0, 0.0))]
    before = patches(tab, places)
    assert tab.run("urdfGibbs.stage.lit.length") == 0

    def click(text: str) -> Any:
        return tab.page.locator("#findings li", has_text=text).first

    click("principal moments").click()
    upper = patches(tab, places)
    assert np.abs(upper[0] - before[0]).max() > 40
    assert np.abs(upper[1] - before[1]).max() < 3 and np.abs(upper[2] - before[2]).max() < 3
    assert tab.run("[...document.querySelectorAll('#findings li.chosen')].map((one) => one.textContent)")[0].count("principal moments") == 1
    assert "upper arm" in tab.page.locator("#selection").inner_text()
    own = ("principal moments", "a centre of mass", "solid ellipsoid", "length 2", "lower 1 above")  # the last two are about its joint
    marked = tab.page.locator("#findings li.concerned").all_inner_texts()
    assert len(marked) == len(own) and all(word in text for word, text in zip(own, marked, strict=True)), marked

    elbow = click('joint "the "elbow""')
    elbow.focus()
    elbow.press("Enter")
    wrist = patches(tab, places)
    assert np.abs(wrist[0] - before[0]).max() < 3 and np.abs(wrist[1] - before[1]).max() > 40

    click("a fixed joint that mimics").click()  # its link has no visual: a ball
    tool = patches(tab, places)
    assert np.abs(tool[2] - before[2]).max() > 40 and np.abs(tool[1] - before[1]).max() < 3
    click("a fixed joint that mimics").click()
    for now, then in zip(patches(tab, places), before, strict=True):
        assert np.abs(now - then).max() < 3

    odd = click("four numbers")
    assert odd.get_attribute("tabindex") is None
    odd.click()
    assert tab.run("document.body.dataset.lit") == "" and tab.complaints == []


# errors and table -------------------------------------------------------------------------------------


def test_dots_stand_where_their_errors_are_and_show_their_sample(tmp_path: Path, open_page: Open) -> None:
    path, report = written(tmp_path / "changed.html", changed_rocker(tmp_path), against=ug.model_path("rocker_arm"), samples=4)
    tab = open_page(path)
    assert "Disagrees with Pinocchio" in tab.run("document.getElementById('verdict').textContent")
    tab.run("document.querySelector('canvas.dots').scrollIntoView({block: 'center'})")
    dots = tab.run("urdfGibbs.report.dots.dots.map((d) => [d.outcome.quantity, d.outcome.method, d.sample, d.error, d.x, d.y])")
    errors = {(c.quantity, c.method): c.errors for c in report.comparisons}
    assert len(dots) == sum(np.isfinite(one).sum() for one in errors.values())
    sized = np.array([[np.log10(error), y] for *_, error, _, y in dots if error > 0])
    slope, start = np.polyfit(sized[:, 0], sized[:, 1], 1)
    np.testing.assert_allclose(start + slope * sized[:, 0], sized[:, 1], atol=0.01)
    assert slope < 0 and all(y > sized[:, 1].max() for *_, error, _, y in dots if error == 0)
    for quantity, method, sample, error, _, _ in dots:
        assert errors[quantity, method][sample] == error
    left, top = tab.run("(({left, top}) => [left, top])(document.querySelector('canvas.dots').getBoundingClientRect())")
    quantity, method, sample, error, x, y = next(dot for dot in dots if dot[:3] == ["mass matrix", "explicit", 2])
    tab.page.mouse.move(left + x, top + y)
    tab.settled()
    assert f"mass matrix, explicit, sample 2: relative error {error!r}" in tab.run("document.querySelector('#errors .readout').textContent")
    tab.page.mouse.click(left + x, top + y)
    np.testing.assert_array_equal(tab.run("Array.from(urdfGibbs.stage.q)"), random_states(ug.load(ug.model_path("rocker_arm")), 4, 0).q[2])
    picture = tab.picture()
    line = round(top + start + slope * -9)
    row = picture[line - 1 : line + 2, int(left) + 120 : int(left) + 560]
    assert (np.abs(row - [176, 74, 0]).max(axis=2) < 60).any(axis=0).mean() > 0.4  # dashed, in the colour of warnings
    table = tab.run("document.getElementById('table').textContent")
    assert "does not exist" in table and "✗" in table


# themes and sizes -------------------------------------------------------------------------------------


def test_the_theme_is_that_of_the_page_and_can_be_changed(tmp_path: Path, open_page: Open) -> None:
    path, _ = written(tmp_path / "dark.html", ug.model_path("branched12"), theme="dark")
    tab = open_page(path)
    outside = ~predicted_pattern(ug.load(ug.model_path("branched12")))
    assert (cells(tab, OURS, 12)[outside] < 40).all()
    tab.page.keyboard.press("t")
    assert (cells(tab, OURS, 12)[outside] == 255).all()
    tab.page.click("#larger")
    tab.settled()
    assert box(tab, OURS)[2] > 550 and (cells(tab, OURS, 12)[outside] == 255).all()
    assert tab.complaints == []


@pytest.mark.parametrize(
    "links",
    ['<link name="a"/>', '<link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'],
)
def test_nothing_and_one_degree_of_freedom(links: str, tmp_path: Path, open_page: Open) -> None:
    text = f'<robot name="small">{links}</robot>'
    path, _ = written(tmp_path / "small.html", text)
    tab = open_page(path)
    assert tab.complaints == [] and tab.outside == []
    words = tab.run("document.getElementById('matrices').textContent")
    assert ("Nothing moves" in words) == ("joint" not in links)
    if "joint" in links:
        assert (cells(tab, OURS, 1) == 255).all()  # no mass: zero


def test_a_matrix_of_250_rows_is_drawn_and_read(tmp_path: Path, open_page: Open) -> None:
    n = 250
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    links = "".join(f'<link name="l{k}">{inertial}</link>' for k in range(n + 1))
    joints = "".join(
        f'<joint name="j{k:03}" type="continuous"><parent link="l{k - 1 if k % 50 else 0}"/><child link="l{k + 1}"/></joint>'.replace(
            "l-1", "l0"
        )
        for k in range(n)
    )
    robot = ug.load(f'<robot name="large">{links}{joints}</robot>')
    rng = np.random.default_rng(0)
    M = rng.normal(size=(n, n)) * predicted_pattern(robot)
    noisy = M + 1e-15 * rng.normal(size=(n, n)) * predicted_pattern(robot)
    comparison = Comparison("compiled", "mass matrix", 1e-15, 0, True, errors=[1e-15])
    report = Report(robot.file, "fixed", n, n, 1, 0, comparisons=[comparison])
    report.matrices = Matrices(0, robot.neutral(), {"compiled": noisy}, M)
    tab = open_page(report_view(robot, report, []).save(tmp_path / "large.html"))
    assert tab.complaints == []
    assert tab.run("document.getElementById('report').querySelectorAll('*').length") < 300
    drawn = tab.run(
        """() => {
          const maps = urdfGibbs.report.maps;
          let drawn = 0;
          for (const map of maps) map.draw = () => { drawn += 1; };
          for (let k = 0; k < 50; k++) urdfGibbs.report.point([k, 2 * k]);
          for (const map of maps) delete map.draw;
          return drawn;
        }"""
    )
    assert drawn == 0  # pointing marks an entry of the finished image; 62,500 entries are not drawn again
    tab.page.click("#larger")
    tab.settled()
    assert str(noisy[120, 130]).rstrip("0")[:12] in hover(tab, OURS, 120, 130, n)
    seen = cells(tab, OURS, n)
    outside = ~predicted_pattern(robot)
    assert (seen[outside] == 255).all(axis=1).mean() > 0.95  # lines between blocks are drawn over some pixels


def test_more_entries_than_pixels_are_read_by_the_largest(tmp_path: Path, open_page: Open) -> None:
    path, _ = written(tmp_path / "planar.html", ug.model_path("planar3r"))
    tab = open_page(path)
    found = tab.run("""() => {
        const n = 2000, values = new Float64Array(n * n); values[1234 * n + 777] = -3;
        const map = new HeatMap("large", n, values, new SignedScale(3), null);
        document.querySelector(".maps").append(map.figure); map.draw();
        const context = map.base.getContext("2d"), side = map.base.width;
        const at = [Math.floor(777 * side / n), Math.floor(1234 * side / n)];
        return [side, Array.from(context.getImageData(at[0], at[1], 1, 1).data), Array.from(context.getImageData(at[0] + 2, at[1], 1, 1).data)];
    }""")
    assert found[0] < 2000 and found[1][:3] == BLUE.tolist() and found[2][:3] == [255, 255, 255]


def test_names_are_text_wherever_they_stand(tmp_path: Path, open_page: Open) -> None:
    name = escape(EVIL, quote=True)
    text = (
        f'<robot name="{name}"><link name="{name}"/><link name="b"/>'
        f'<joint name="{name}" type="revolute"><parent link="{name}"/><child link="b"/></joint></robot>'
    )
    path, report = written(tmp_path / "evil.html", text)
    assert any(EVIL in note for note in report.notes)
    tab = open_page(path)
    dialogs: list[str] = []
    tab.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    hover(tab, OURS, 0, 0, 1)
    for item in tab.page.locator("#findings li[tabindex]").all():
        item.click()
    tab.settled()
    assert tab.run("document.images.length") == 0 and dialogs == [] and tab.complaints == [] and tab.outside == []
    assert EVIL in tab.run("document.getElementById('findings').textContent")
    assert EVIL in tab.run("document.getElementById('notes').textContent")
