// The stage: meshcat's viewer, the links' nodes, the camera, and what lights up when it is picked.

const { THREE } = MeshCat;

class Stage {
  constructor(data, commands) {
    this.data = data;
    this.robot = data.robot;
    const pane = document.getElementById("meshcat-pane");
    this.viewer = new MeshCat.Viewer(pane);
    const sized = this.viewer.set_3d_pane_size.bind(this.viewer);
    this.viewer.set_3d_pane_size = () => sized(pane.offsetWidth, pane.offsetHeight); // meshcat's own takes the whole window's height
    this.viewer.gui.domElement.style.display = "none"; // our panel has what it offers
    this.lit = [];
    this.listeners = [];
    for (const command of commands) this.viewer.handle_command_bytearray(command);
    this.links = this.robot.links.map((link) => this.viewer.scene_tree.find(link.path.split("/").filter(Boolean).map(String)));
    this.factor = 1; // of elastic deflections, in the drawing only
    this.skins = this.robot.skins.map((skin) => new Skin(this, skin));
    this.viewer.set_3d_pane_size();
    this.placeCamera();
    this.labelMissing();
    this.apply(this.robot.q.slice());
    this.pickOnClick();
  }

  // q moves everything that hangs on it: links first, then what listens (overlays, sliders, read-outs).
  apply(q) {
    this.q = q;
    this.drawn = exaggerated(this.robot, q, this.factor);
    this.frames = bodyFrames(this.robot, this.drawn);
    this.robot.links.forEach((link, i) => {
      const m = multiply(frameOf(this.frames, link.body), link.placement);
      place(this.links[i].object, m);
    });
    for (const skin of this.skins) skin.bend(this.drawn);
    for (const listener of this.listeners) listener(q, this.frames);
    this.followed();
    this.viewer.set_dirty();
  }

  exaggerate(factor) {
    this.factor = factor;
    this.apply(this.q);
  }

  // The camera goes along with the centre of mass, where that is wanted.
  followed() {
    const centre = centreOfMass(this.robot, this.frames, this.drawn) || [0, 0, 0];
    const now = new THREE.Vector3(...centre).applyQuaternion(this.viewer.scene.quaternion);
    if (this.follow && this.centre) {
      const step = now.clone().sub(this.centre);
      this.viewer.camera.position.add(step);
      this.viewer.controls.target.add(step);
      this.viewer.controls.update();
    }
    this.centre = now;
  }

  onMove(listener) {
    this.listeners.push(listener);
    listener(this.q, this.frames);
  }

  linkMatrix(name) {
    const i = this.robot.links.findIndex((link) => link.name === name);
    this.links[i].object.updateMatrix();
    return new THREE.Matrix4().copy(this.links[i].object.matrix).transpose().toArray();
  }

  // Objects of our own, in world axes, beside those of the commands.
  add(object, parent) {
    (parent || this.viewer.scene_tree.find(["meshcat"]).object).add(object);
    return object;
  }

  placeCamera() {
    const { position, target, up, size, robot_size } = this.data.camera;
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(...up), new THREE.Vector3(0, 1, 0));
    this.viewer.scene.quaternion.copy(turn); // meshcat's camera is at home where y is up
    const frame = new THREE.Matrix4().makeRotationFromQuaternion(turn.clone().invert());
    this.viewer.set_transform(["Cameras", "default", "rotated"], frame.toArray());
    const camera = this.viewer.camera;
    camera.near = Math.min(size, 2 * robot_size) / 200; // a small robot that goes far can be looked at closely
    camera.far = size * 200;
    camera.fov = 45;
    camera.position.copy(new THREE.Vector3(...position).applyQuaternion(turn));
    this.viewer.controls.target.copy(new THREE.Vector3(...target).applyQuaternion(turn));
    this.viewer.controls.update();
    const grid = this.viewer.scene_tree.find(["Grid"]).object;
    grid.scale.setScalar(this.data.camera.grid);
    place(this.viewer.scene_tree.find(["Axes"]).object, IDENTITY, size / 5);
    const lights = this.viewer.scene_tree.find(["Lights"]).object;
    lights.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...up));
    lights.scale.setScalar(size);
    lights.traverse((light) => {
      if (light.isPointLight) Object.assign(light, { distance: 0, intensity: 0.3 });
      if (light.isAmbientLight) light.intensity = 0.45;
      if (light.isDirectionalLight) light.intensity = 0.25;
    });
  }

  // Where a point of the world is on the screen [px], for labels and for tests.
  onScreen(point) {
    this.viewer.scene.updateMatrixWorld(true);
    const camera = this.viewer.camera;
    camera.updateMatrixWorld(true);
    const p = new THREE.Vector3(...point).applyMatrix4(this.viewer.scene.matrixWorld).project(camera);
    const box = this.viewer.renderer.domElement.getBoundingClientRect();
    return [box.left + (0.5 + 0.5 * p.x) * box.width, box.top + (0.5 - 0.5 * p.y) * box.height];
  }

  labelMissing() {
    for (const missing of this.robot.missing) {
      const i = this.robot.links.findIndex((link) => link.name === missing.link);
      const node = this.links[i].children["visual " + missing.visual];
      const name = missing.filename.split("/").pop();
      const label = textSprite(name, this.data.camera.size * 0.018);
      node.object.add(label);
    }
  }

  light(names) {
    for (const [material, emissive] of this.lit) material.emissive.setHex(emissive);
    this.lit = [];
    this.robot.links.forEach((link, i) => {
      if (!names.includes(link.name)) return;
      this.links[i].object.traverse((object) => {
        if (object.isMesh && object.material && object.material.emissive) {
          this.lit.push([object.material, object.material.emissive.getHex()]);
          object.material.emissive.setHex(0xb04a00);
        }
      });
    });
    document.body.dataset.lit = names.join("\n");
    this.viewer.set_dirty();
    if (this.onLight) this.onLight(names);
  }

  pickOnClick() {
    const pane = this.viewer.dom_element; // not the canvas: meshcat's controls capture the pointer for this one
    let start = null;
    pane.addEventListener("pointerdown", (event) => { start = [event.clientX, event.clientY]; });
    pane.addEventListener("pointerup", (event) => {
      if (!start || Math.hypot(event.clientX - start[0], event.clientY - start[1]) > 4) return;
      const box = pane.getBoundingClientRect();
      const at = new THREE.Vector2(2 * (event.clientX - box.left) / box.width - 1, 1 - 2 * (event.clientY - box.top) / box.height);
      const ray = new THREE.Raycaster();
      ray.setFromCamera(at, this.viewer.camera);
      const hits = ray.intersectObjects(this.links.map((link) => link.object), true).filter((hit) => shown(hit.object) && hit.object.isMesh);
      if (!hits.length) return this.light([]);
      let object = hits[0].object;
      let i = -1;
      while (object && i < 0) {
        i = this.links.findIndex((link) => link.object === object);
        object = object.parent;
      }
      if (i >= 0) this.light([this.robot.links[i].name]);
    });
  }

  background(dark) {
    const top = dark ? [0.11, 0.12, 0.14] : [0.97, 0.98, 1.0];
    const bottom = dark ? [0.05, 0.05, 0.06] : [0.86, 0.89, 0.93];
    this.viewer.set_property(["Background"], "top_color", top);
    this.viewer.set_property(["Background"], "bottom_color", bottom);
    const grid = this.viewer.scene_tree.find(["Grid", "<object>"]).object;
    if (grid.material) {
      grid.material.vertexColors = false;
      grid.material.color.set(dark ? 0x3a3f47 : 0xc3cad3);
      grid.material.needsUpdate = true;
    }
    this.viewer.set_dirty();
  }
}

// Put a three.js object at a frame of 16 numbers, optionally scaled.
function place(object, m, scale) {
  const matrix = new THREE.Matrix4().fromArray(m).transpose();
  matrix.decompose(object.position, object.quaternion, object.scale);
  if (scale !== undefined) object.scale.setScalar(scale);
}

function shown(object) {
  for (let o = object; o; o = o.parent) if (!o.visible) return false;
  return true;
}

function textSprite(text, height, colour = "#7a2e00") {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  const font = "600 44px system-ui, sans-serif";
  context.font = font;
  canvas.width = Math.min(2048, Math.ceil(context.measureText(text).width) + 32);
  canvas.height = 64;
  context.font = font;
  context.fillStyle = "rgba(255,255,255,0.88)";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = colour;
  context.textBaseline = "middle";
  context.fillText(text, 16, 34);
  const texture = new THREE.CanvasTexture(canvas);
  texture.minFilter = THREE.LinearFilter;
  const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map: texture, depthTest: false }));
  sprite.scale.set(height * canvas.width / canvas.height, height, 1);
  sprite.renderOrder = 10;
  sprite.userData.text = text;
  return sprite;
}
