// The stage: meshcat's viewer, the links' nodes, the camera, and what lights up when it is picked.



class Stage {
  constructor(data, commands) {
    this.data = data;
    this.robot = data.robot;
    this.alone = !data.motion && !(data.walls || []).length;
    const pane = document.getElementById("meshcat-pane");
    this.viewer = new MeshCat.Viewer(pane);
    const sized = this.viewer.set_3d_pane_size.bind(this.viewer);
    this.viewer.set_3d_pane_size = () => { // meshcat's own takes the whole window's height
      if (!pane.offsetWidth || !pane.offsetHeight) return; // in a frame that is not shown yet
      sized(pane.offsetWidth, pane.offsetHeight);
      if (this.views && !this.placed) this.views.reset();
      this.placed = Boolean(this.views);
    };
    this.viewer.gui.domElement.style.display = "none"; // our panel has what it offers
    this.lit = [];
    this.listeners = [];
    this.hidden = new Set(); // numbers of links that a person has switched off
    this.geometries = new Map();
    this.receive(commands);
    this.links = this.robot.links.map((link) => this.viewer.scene_tree.find(link.path.split("/").filter(Boolean).map(String)));
    this.meshes = this.drawn("visual"); // of the robot
    this.factor = 1; // of elastic deflections, in the drawing only
    this.skins = [];
    this.bendMore();
    this.viewer.set_3d_pane_size();
    this.placeScene();
    this.look = new Look(this);
    this.labelMissing();
    this.apply(this.robot.q.slice());
    this.ground = new Ground(this);
    this.look.follow();
    this.views = new Views(this);
    this.viewer.set_3d_pane_size();
    this.pickOnClick();
  }

  // Objects of meshcat's commands. A geometry that several objects share comes with the first of them only.
  receive(commands) {
    const own = this.viewer.handle_command.bind(this.viewer);
    this.viewer.handle_command = (command) => {
      if (command.type !== "set_object") return own(command);
      const { geometries, object } = command.object, uuid = object.geometry, shared = this.geometries.get(uuid);
      if (!geometries.length) command.object.geometries = [{ uuid, type: "BoxGeometry" }]; // a stand-in
      own(command);
      const node = this.viewer.scene_tree.find([...command.path.split("/").filter(Boolean), "<object>"]).object;
      if (shared) {
        node.geometry.dispose();
        node.geometry = shared;
      } else this.geometries.set(uuid, node.geometry);
      return undefined;
    };
    for (const command of commands) this.viewer.handle_command_bytearray(command);
    this.viewer.handle_command = own;
  }

  // The meshes of the robot below the nodes of this kind, "visual" or "collision".
  drawn(kind) {
    const found = [];
    this.links.forEach((link, i) => {
      for (const [name, child] of Object.entries(link.children)) {
        if (name.startsWith(kind + " ")) child.object.traverse((mesh) => { if (mesh.isMesh) found.push({ mesh, link: i, node: child.object }); });
      }
    });
    return found;
  }

  // q moves everything that hangs on it: links first, then what listens (overlays, sliders, read-outs).
  apply(q) {
    this.q = q;
    this.shape = exaggerated(this.robot, q, this.factor);
    this.frames = bodyFrames(this.robot, this.shape);
    this.robot.links.forEach((link, i) => {
      const m = multiply(frameOf(this.frames, link.body), link.placement);
      place(this.links[i].object, m);
    });
    for (const skin of this.skins) skin.bend(this.shape);
    for (const listener of this.listeners) listener(q, this.frames);
    this.followed();
    if (this.ground) this.look.follow();
    this.viewer.set_dirty();
  }

  // Shapes of elastic links that have come since.
  bendMore() {
    const known = new Set(this.skins.map((skin) => skin.data));
    for (const data of this.robot.skins) {
      const link = this.links[this.robot.links.findIndex((one) => one.name === this.robot.joints[data.joint].beam.link)];
      if (known.has(data) || !link.children[data.name]) continue;
      const skin = new Skin(this, data, link.children[data.name].object);
      if (this.shape) skin.bend(this.shape);
      this.skins.push(skin);
    }
  }

  // Shapes that stand for a robot without visuals: the camera, the ground and the light count with them.
  stand(meshes) {
    this.meshes = meshes;
    this.apply(this.q);
    this.views.reset();
  }

  exaggerate(factor) {
    this.factor = factor;
    this.apply(this.q);
  }

  // The camera goes along with the centre of mass, where that is wanted.
  followed() {
    const centre = centreOfMass(this.robot, this.frames, this.shape) || [0, 0, 0];
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

  // The frame of a link in the world, 16 numbers row by row, in double precision.
  frame(i) {
    return multiply(frameOf(this.frames, this.robot.links[i].body), this.robot.links[i].placement);
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

  // meshcat's camera is at home where y is up.
  placeScene() {
    const { position, target, up, size, robot_size } = this.data.camera;
    this.up = new THREE.Vector3(...up);
    this.home = new THREE.Vector3(...position).sub(new THREE.Vector3(...target)).normalize();
    const turn = new THREE.Quaternion().setFromUnitVectors(this.up, new THREE.Vector3(0, 1, 0));
    this.viewer.scene.quaternion.copy(turn);
    const frame = new THREE.Matrix4().makeRotationFromQuaternion(turn.clone().invert());
    this.viewer.set_transform(["Cameras", "default", "rotated"], frame.toArray());
    const camera = this.viewer.camera;
    camera.near = Math.min(size, 2 * robot_size) / 200; // a small robot that goes far can be looked at closely
    camera.far = size * 200;
    camera.fov = 45;
    place(this.viewer.scene_tree.find(["Axes"]).object, IDENTITY, size / 5);
  }

  // Boxes about the meshes that are in sight, as corners in the axes of the camera at home; where there are none, the joints.
  corners() {
    this.viewer.scene.updateMatrixWorld(true);
    const corners = [], seen = this.meshes.filter(({ mesh }) => shown(mesh));
    for (const { mesh } of seen.length ? seen : this.meshes) {
      const { min, max } = boxOf(mesh.geometry);
      for (let i = 0; i < 8; i++) corners.push(new THREE.Vector3(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z).applyMatrix4(mesh.matrixWorld));
    }
    return this.robot.stick || !corners.length ? [...corners, ...this.skeleton().map((p) => new THREE.Vector3(...p).applyQuaternion(this.viewer.scene.quaternion))] : corners;
  }

  // Points of the stick figure in the world: joints, tips, and along elastic links.
  skeleton() {
    return this.robot.skeleton.places.map(([body, point, joint, phi]) => {
      const moved = phi ? combined(amplitudes(this.robot.joints[joint], this.shape), phi) : [0, 0, 0];
      return transformed(frameOf(this.frames, body), point.map((x, i) => x + moved[i]));
    });
  }

  // The least height along a direction of the world that anything drawn of the robot has. Boxes tell which meshes are worth a closer look.
  lowest(direction) {
    this.viewer.scene.updateMatrixWorld(true);
    const d = direction.clone().applyQuaternion(this.viewer.scene.quaternion), row = [];
    const points = this.robot.stick || !this.meshes.length ? this.skeleton() : [];
    let low = Math.min(Infinity, ...points.map((p) => direction.dot(new THREE.Vector3(...p))));
    for (const { mesh } of this.meshes) {
      const e = mesh.matrixWorld.elements, [a, b, c, h] = [0, 4, 8, 12].map((k) => e[k] * d.x + e[k + 1] * d.y + e[k + 2] * d.z);
      const { min, max } = boxOf(mesh.geometry);
      row.push({ least: h + Math.min(a * min.x, a * max.x) + Math.min(b * min.y, b * max.y) + Math.min(c * min.z, c * max.z), a, b, c, h, mesh });
    }
    for (const { least, a, b, c, h, mesh } of row.sort((one, other) => one.least - other.least)) {
      if (least >= low) break;
      const { array } = mesh.geometry.attributes.position;
      for (let i = 0; i < array.length; i += 3) low = Math.min(low, h + a * array[i] + b * array[i + 1] + c * array[i + 2]);
    }
    return Number.isFinite(low) ? low : 0;
  }

  // Where a point of the world is on the screen [px], for labels and for tests.
  onScreen(point) {
    this.settle();
    return this.projected(point);
  }

  // What was moved since the last picture stands where it will be in the next.
  settle() {
    this.viewer.scene.updateMatrixWorld(true);
    this.viewer.camera.updateMatrixWorld(true);
  }

  // The same in the last picture.
  projected(point) {
    const { camera } = this.viewer;
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
    for (const [material, own, glow] of this.lit) material.color.copy(own), material.emissive.copy(glow);
    this.lit = [];
    for (const { mesh, link } of this.meshes) {
      if (!names.includes(this.robot.links[link].name)) continue;
      this.lit.push([mesh.material, mesh.material.color.clone(), mesh.material.emissive.clone()]);
      mesh.material.color.lerp(tint(0xff8c2e), 0.85); // black parts light up too
      mesh.material.emissive.copy(tint(0x70300a));
    }
    document.body.dataset.lit = names.join("\n");
    this.viewer.set_dirty();
    if (this.onLight) this.onLight(names);
  }

  // The number of the link under the pointer, -1 for none.
  linkAt(event) {
    const box = this.viewer.dom_element.getBoundingClientRect();
    const at = new THREE.Vector2(2 * (event.clientX - box.left) / box.width - 1, 1 - 2 * (event.clientY - box.top) / box.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.viewer.camera);
    const hit = ray.intersectObjects(this.links.map((link) => link.object), true).find((one) => shown(one.object) && one.object.isMesh);
    for (let object = hit && hit.object; object; object = object.parent) {
      const i = this.links.findIndex((link) => link.object === object);
      if (i >= 0) return i;
    }
    return -1;
  }

  pickOnClick() {
    const pane = this.viewer.dom_element; // not the canvas: meshcat's controls capture the pointer for this one
    let start = null;
    pane.addEventListener("pointerdown", (event) => { start = [event.clientX, event.clientY]; });
    pane.addEventListener("pointerup", (event) => {
      if (!start || Math.hypot(event.clientX - start[0], event.clientY - start[1]) > 4) return;
      const i = this.linkAt(event);
      this.light(i >= 0 ? [this.robot.links[i].name] : []);
    });
  }

  background(dark) {
    this.ground.colours(dark);
    this.viewer.set_dirty();
  }
}

function boxOf(geometry) {
  if (!geometry.boundingBox) geometry.computeBoundingBox();
  return geometry.boundingBox;
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
  texture.encoding = THREE.sRGBEncoding;
  const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map: texture, depthTest: false, toneMapped: false }));
  sprite.scale.set(height * canvas.width / canvas.height, height, 1);
  sprite.renderOrder = 10;
  sprite.userData.text = text;
  return sprite;
}
