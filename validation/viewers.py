"""Panda and Go2 from the same place: in our page, in Drake's Meshcat (which meldis is, too) and in viser, all at their own settings.

pip install drake viser yourdfpy
python validation/viewers.py [PICTURE]      (needs Chromium and example-robot-data; a minute)

Drake reads the files without their collision shapes: it refuses STL there.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
import warnings
from io import BytesIO
from pathlib import Path
from typing import Any

import own_tree  # noqa: F401
from chromium import MISSING, READY, chromium, launched
from PIL import Image

import urdf_gibbs as ug
from urdf_gibbs.bundled import example_robots

PICTURE = Path(__file__).parents[1] / "docs" / "pages" / "figures" / "view_beside.png"
ROBOTS = {"panda_description/urdf/panda.urdf": "panda_link0", "go2_description/urdf/go2.urdf": "base"}
PACKAGE = "example-robot-data"  # of the meshes' names: package://example-robot-data/robots/...
WIDE, HIGH, PANEL = 560, 520, 360
FOV = 45.0  # degrees, from top to bottom: our page's
PATIENCE = 5_000  # ms without a change: the others do not say when they are drawn, and viser fades in
SCENE_ALONE = "* { visibility: hidden !important } #meshcat-pane, canvas.scene { visibility: visible !important }"
MARKED = "() => { for (const one of document.querySelectorAll('canvas')) one.classList.toggle('scene', one.clientWidth > 300); }"
PLACES = """() => { const { viewer, ground } = urdfGibbs.stage, back = viewer.scene.quaternion.clone().invert();
    const places = [viewer.camera.position, viewer.controls.target].map((p) => p.clone().applyQuaternion(back).toArray());
    return [...places, ground.level]; }"""


def main(picture: Path) -> None:
    path = chromium()
    if path is None:
        sys.exit(MISSING)
    warnings.simplefilter("ignore", ug.UrdfWarning)
    rows = []
    with tempfile.TemporaryDirectory() as folder, launched(path) as browser:
        for number, (name, root) in enumerate(ROBOTS.items()):
            file, page = example_robots()[name], Path(folder) / f"{number}.html"
            ug.load(file).view(theme="light").save(page)
            tab = browser.new_page(viewport={"width": WIDE + PANEL, "height": HIGH})
            tab.goto(page.as_uri())
            tab.wait_for_function(READY)
            camera, target, floor = tab.evaluate(PLACES)
            row = [taken(tab)]
            meshcat = drake(file, root, camera, target)
            server = viser(file, camera, target, floor, 8090 + number)
            pages = {"our page": page.read_text(), "Drake's": meshcat.StaticHtml(), "viser's": server.get_scene_serializer().as_html()}
            print(f"{name}:", ", ".join(f"{whose} {len(text.encode()) / 1e6:.1f} MB" for whose, text in pages.items()))
            for address in (meshcat.web_url(), f"http://localhost:{8090 + number}"):
                tab = browser.new_page(viewport={"width": WIDE, "height": HIGH})
                tab.goto(address)
                tab.wait_for_timeout(PATIENCE)
                row.append(taken(tab))
            server.stop()
            rows.append(row)
    sheet = Image.new("RGB", (3 * WIDE, len(rows) * HIGH))
    for y, row in enumerate(rows):
        for x, image in enumerate(row):
            sheet.paste(image.crop((0, 0, WIDE, HIGH)), (x * WIDE, y * HIGH))
    sheet.resize((1260, 390 * len(rows)), Image.Resampling.LANCZOS).quantize(256, dither=Image.Dither.NONE).save(picture, optimize=True)
    print(picture)


def taken(tab: Any) -> Image.Image:
    """What stays on the screen of the scene alone."""
    tab.add_style_tag(content=SCENE_ALONE)
    before, now = b"", b"none"
    while before != now:
        tab.evaluate(MARKED)
        tab.wait_for_timeout(PATIENCE)
        before, now = now, tab.screenshot()
    return Image.open(BytesIO(now)).convert("RGB")


def packages(file: Path) -> Path:
    return next(folder for folder in file.parents if folder.name == PACKAGE)


def drake(file: Path, root: str, camera: list[float], target: list[float]) -> Any:
    from pydrake.geometry import StartMeshcat
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
    from pydrake.systems.framework import DiagramBuilder
    from pydrake.visualization import AddDefaultVisualization

    meshcat, builder = StartMeshcat(), DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
    parser = Parser(plant)
    parser.package_map().Add(PACKAGE, str(packages(file)))
    parser.AddModelsFromString(re.sub(r"<collision.*?</collision>", "", file.read_text(), flags=re.DOTALL), "urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root))
    plant.Finalize()
    AddDefaultVisualization(builder, meshcat)
    diagram = builder.Build()
    diagram.ForcedPublish(diagram.CreateDefaultContext())
    meshcat.SetCameraPose(camera, target)
    meshcat.SetProperty("/Cameras/default/rotated/<object>", "fov", FOV)
    return meshcat


def viser(file: Path, camera: list[float], target: list[float], floor: float, port: int) -> Any:
    import numpy as np
    import yourdfpy
    from viser import ViserServer
    from viser.extras import ViserUrdf

    server = ViserServer(port=port, verbose=False)
    start = f"package://{PACKAGE}/"
    urdf = yourdfpy.URDF.load(str(file), filename_handler=lambda fname: str(packages(file) / fname.removeprefix(start)))
    ViserUrdf(server, urdf).update_cfg(np.zeros(len(urdf.actuated_joint_names)))
    server.scene.add_grid("/grid", position=(0.0, 0.0, floor), shadow_opacity=0.3)
    server.initial_camera.position, server.initial_camera.look_at = tuple(camera), tuple(target)
    server.initial_camera.fov = float(np.radians(FOV))
    time.sleep(1.0)
    return server


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
