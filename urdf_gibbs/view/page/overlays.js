// Overlays that can be switched: frames, joint axes, centres of mass, inertias, branches, contact points, names, walls.

const UNIT_SPHERE = new THREE.SphereGeometry(1, 24, 16);
const UNIT_BOX = new THREE.BoxGeometry(1, 1, 1);
const UNIT_ROD = new THREE.CylinderGeometry(1, 1, 1, 12); // along y, centred
const UNIT_CONE = new THREE.ConeGeometry(1, 1, 16);
const RINGS = 4; // of a rod
const BANDS = [null, "#ffffff", "#15181c", "#ff2fa0"]; // of the rings of branches beyond the number of colours
const RED = 0xd00000, YELLOW = 0xe69f00, BLUE = 0x0072b2, GREEN = 0x009e73;

// Of symbols: lit as the robot is, and with a glow that keeps their colours in the shade.
function material(colour, opacity = 1, options = {}) {
  const own = tint(colour);
  return inStudio(new THREE.MeshStandardMaterial({ color: own, emissive: own, emissiveIntensity: 0.4, roughness: 0.7, toneMapped: false, opacity, transparent: opacity < 1, depthWrite: opacity === 1, ...options }));
}

// Colours of ground in the light of a low sun, so that shallow relief shows.
function shaded(normals) {
  const sun = new THREE.Vector3(-0.75, -0.5, 0.43), colours = new Float32Array(normals.length);
  for (let i = 0; i < normals.length; i += 3) {
    const light = Math.min(1, 0.12 + 1.05 * Math.max(0, normals[i] * sun.x + normals[i + 1] * sun.y + normals[i + 2] * sun.z));
    const ground = tint(new THREE.Color(0.93 * light, 0.9 * light, 0.85 * light));
    colours.set([ground.r, ground.g, ground.b], i);
  }
  return colours;
}

// Drawn over what it is inside of; a renderOrder puts it behind everything else in the order of drawing.
const ON_TOP = { depthTest: false, transparent: true };

// An arrow from the origin along a direction.
function arrow(direction, length, radius, colour, options = {}) {
  const group = new THREE.Group();
  const rod = new THREE.Mesh(UNIT_ROD, material(colour, 1, options));
  const head = new THREE.Mesh(UNIT_CONE, rod.material);
  if (options === ON_TOP) rod.renderOrder = head.renderOrder = 7;
  const tip = Math.min(5 * radius, 0.5 * length);
  rod.scale.set(radius, length - tip, radius);
  rod.position.y = 0.5 * (length - tip);
  head.scale.set(2.4 * radius, tip, 2.4 * radius);
  head.position.y = length - 0.5 * tip;
  group.add(rod, head);
  group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), new THREE.Vector3(...direction).normalize());
  return group;
}

// White about an arrow that is drawn on top: it stands out from a robot of its own colour.
function haloed(made) {
  const paint = new THREE.MeshBasicMaterial({ color: 0xffffff, toneMapped: false, ...ON_TOP });
  for (const part of [...made.children]) {
    const halo = new THREE.Mesh(part.geometry, paint);
    halo.position.copy(part.position);
    halo.scale.set(1.7, 1.06, 1.7).multiply(part.scale);
    halo.renderOrder = 6; // behind the arrow itself
    made.add(halo);
  }
  return made;
}

// A rod between two points: solid, or in dashes for virtual links. Rings, where a colour is given for them, tell branches of one colour apart.
function segment(radius, colour, dashed, options, count = dashed ? 9 : 1, rings = null) {
  const group = new THREE.Group();
  const own = material(colour, dashed ? 0.55 : 1, options);
  const piece = (length, middle, wide, painted) => {
    const made = new THREE.Mesh(UNIT_ROD, painted);
    if (options === ON_TOP) made.renderOrder = 4;
    made.scale.set(wide, length, wide);
    made.position.y = middle;
    group.add(made);
  };
  for (let i = 0; i < count; i++) piece(dashed ? 0.6 / count : 1, (i + 0.5) / count - 0.5, 1, own);
  if (rings !== null) {
    const paint = material(rings, dashed ? 0.55 : 1, options);
    for (let i = 0; i < RINGS; i++) piece(0.35 / RINGS, (i + 0.5) / RINGS - 0.5, 1.15, paint);
  }
  group.userData.radius = radius;
  return group;
}

function span(object, a, b) {
  const from = new THREE.Vector3(...a), along = new THREE.Vector3(...b).sub(from), length = along.length();
  object.visible = length > 1e-9;
  if (!object.visible) return;
  const r = object.userData.radius;
  object.position.copy(from).addScaledVector(along, 0.5);
  object.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.divideScalar(length));
  object.scale.set(r, length, r);
}

class Overlays {
  constructor(stage) {
    stage.overlays = this;
    this.stage = stage;
    this.size = stage.data.camera.robot_size;
    this.layers = new Map(); // key -> {label, objects, on, key}
    const robot = stage.robot;
    this.layer("visuals", "Links", "v", true, "the visuals of the URDF");
    this.nodes("visuals", stage.meshes);
    this.seeThrough();
    this.collisions(robot);
    this.perLink("frames", "Link frames", "f", false, () => this.frame(), "x red, y green, z blue");
    this.perLink("axes", "Joint axes", "a", false, (link) => this.axis(link), "moving joints: the arrow turns or slides");
    this.perLink("com", "Centres of mass", "c", false, (link) => this.com(link), "yellow: each link; blue: the whole");
    this.total(robot);
    const straight = robot.joints.some((joint) => joint.beam) ? ", of elastic links when straight; red: no body has it" : "; red: no body has it";
    this.perLink("ellipsoids", "Inertia ellipsoids", "i", false, (link) => this.inertia(link, true), "uniform ellipsoid of the same inertia" + straight);
    this.perLink("boxes", "Inertia boxes", "x", false, (link) => this.inertia(link, false), "uniform box of the same inertia" + straight);
    this.branches(robot);
    this.points(stage.data.points || []);
    this.labels = new Labels(stage);
    this.layer("names", "Link names", "n", false, "rest the pointer on a link for its name alone").apply = (on) => this.labels.show(on);
    this.walls(stage.data.walls || []);
    if (stage.data.motion && stage.robot.mass > 0) {
      this.layer("follow", "Camera follows", "l", false, "the camera goes along with the centre of mass").apply = (on) => { stage.follow = on; };
    }
    this.layer("grid", "Grid, world frame", "g", true, "");
    this.layers.get("grid").objects.push(stage.ground.lines, stage.viewer.scene_tree.find(["Axes"]).object);
    this.layer("shadows", "Shadows", "d", stage.look.shadowed, "").apply = (on) => stage.look.shadows(on);
    for (const [key, layer] of [...this.layers]) {
      if (!layer.objects.length && !layer.apply) this.layers.delete(key);
      else this.show(key, layer.on);
    }
  }

  layer(key, label, shortcut, on, help) {
    const layer = { label, shortcut, on, help, objects: [] };
    this.layers.set(key, layer);
    return layer;
  }

  perLink(key, label, shortcut, on, make, help) {
    const layer = this.layer(key, label, shortcut, on, help);
    this.stage.robot.links.forEach((link, i) => {
      for (const object of make(link) || []) {
        this.stage.add(object, this.stage.links[i].object);
        object.userData.link = i;
        layer.objects.push(object);
      }
    });
  }

  show(key, on) {
    const layer = this.layers.get(key);
    if (!layer) return;
    layer.on = on;
    if (layer.apply) layer.apply(on);
    for (const object of layer.objects) object.visible = on && !this.stage.hidden.has(object.userData.link);
    if (layer.box) layer.box.checked = on;
    if (layer.refresh) layer.refresh();
    this.stage.look.changed();
  }

  // Links with everything that is drawn of them, or without.
  hide(links, hidden) {
    for (const i of links) {
      if (hidden) this.stage.hidden.add(i);
      else this.stage.hidden.delete(i);
    }
    for (const [key, layer] of this.layers) if (layer.objects.some((object) => object.userData.link !== undefined)) this.show(key, layer.on);
    this.labels.draw();
    if (this.onHide) this.onHide();
  }

  nodes(key, meshes) {
    const layer = this.layers.get(key);
    for (const { node, link } of meshes) {
      node.userData.link = link;
      if (!layer.objects.includes(node)) layer.objects.push(node);
    }
  }

  // Drawn when they are first asked for: most pages are opened for other things.
  collisions(robot) {
    const count = robot.links.reduce((sum, link) => sum + link.collisions, 0);
    if (!count) return;
    const layer = this.layer("collisions", "Collision shapes", "h", robot.stick, // better than a stick figure alone
      `${count}, as the URDF has them; simulations touch with contact points`);
    layer.apply = (on) => {
      if (!on || layer.asked) return;
      layer.asked = inflated(document.getElementById("page-later").textContent).then((buffer) => {
        this.stage.receive(commandsOf(buffer));
        const meshes = this.stage.drawn("collision");
        this.nodes("collisions", meshes);
        this.stage.look.glaze(meshes);
        this.stage.bendMore();
        if (robot.stick) this.stage.stand(meshes);
        this.show("collisions", layer.on);
        document.body.dataset.collisions = meshes.length;
      });
    };
  }

  // Links as glass: what is inside them comes to light.
  seeThrough() {
    const materials = new Map();
    for (const object of this.layers.get("visuals").objects) {
      object.traverse((one) => { if (one.isMesh) materials.set(one.material, { transparent: one.material.transparent, opacity: one.material.opacity }); });
    }
    if (!materials.size) return;
    const layer = this.layer("glass", "See-through links", "s", false, "");
    layer.apply = (on) => {
      for (const [material, own] of materials) {
        Object.assign(material, on ? { transparent: true, depthWrite: false } : { ...own, depthWrite: true }, { defines: { STANDARD: "", ...(on ? { GLASS: "" } : {}) }, needsUpdate: true });
      }
    };
  }

  frame(times = 1, options = {}) {
    const l = 0.07 * times * this.size, r = 0.0018 * times * this.size;
    return [[[1, 0, 0], 0xd62728], [[0, 1, 0], 0x2ca02c], [[0, 0, 1], 0x1f77b4]].map(([d, colour]) => arrow(d, l, r, colour, options));
  }

  axis(link) {
    if (link.joint < 0) return [];
    const joint = this.stage.robot.joints[link.joint];
    if (joint.type === "floating" || joint.type === "elastic") return [];
    const l = 0.14 * this.size, r = 0.003 * this.size;
    const shaft = arrow(joint.axis, l, r, YELLOW);
    const mark = joint.type === "prismatic" ? new THREE.Mesh(UNIT_BOX, material(YELLOW)) : new THREE.Mesh(new THREE.TorusGeometry(1, 0.18, 10, 32), material(YELLOW));
    if (joint.type === "prismatic") mark.scale.setScalar(5 * r);
    else mark.scale.setScalar(7 * r);
    const turn = new THREE.Group();
    turn.add(mark);
    turn.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...joint.axis));
    return [shaft, turn];
  }

  com(link) {
    if (!link.mass) return [];
    const ball = new THREE.Mesh(UNIT_SPHERE, material(YELLOW, 1, ON_TOP));
    ball.renderOrder = 5;
    ball.scale.setScalar(0.009 * this.size);
    ball.position.set(...link.com);
    if (link.elastic !== undefined) {
      const joint = this.stage.robot.joints[link.elastic], { root, axes } = joint.beam;
      this.stage.onMove(() => { // from the body's axes to the link's
        const c = beamCentre(joint, this.stage.shape).map((x, i) => x - root[i]);
        ball.position.set(...[0, 1, 2].map((k) => axes[k] * c[0] + axes[3 + k] * c[1] + axes[6 + k] * c[2]));
      });
    }
    return [ball];
  }

  total(robot) {
    const ball = this.stage.add(new THREE.Mesh(UNIT_SPHERE, material(BLUE, 1, ON_TOP)));
    ball.renderOrder = 6;
    ball.scale.setScalar(0.018 * this.size);
    const has = robot.mass > 0;
    if (has) this.layers.get("com").objects.push(ball);
    else ball.visible = false;
    this.stage.onMove((q, frames) => {
      const centre = has && centreOfMass(robot, frames, this.stage.shape);
      if (centre) ball.position.set(...centre);
    });
    this.totalCom = ball;
  }

  inertia(link, round) {
    const inertia = link.inertia;
    if (!inertia) return [];
    const bad = Boolean(inertia.problem);
    const body = new THREE.Mesh(round ? UNIT_SPHERE : UNIT_BOX, material(bad ? RED : GREEN, bad ? 0.75 : 0.45));
    const holder = new THREE.Group();
    const a = inertia.axes;
    place(holder, [a[0], a[1], a[2], link.com[0], a[3], a[4], a[5], link.com[1], a[6], a[7], a[8], link.com[2], 0, 0, 0, 1]);
    body.scale.set(...(round ? inertia.semi : inertia.edges));
    body.userData.problem = inertia.problem;
    holder.add(body);
    return [holder];
  }

  branches(robot) {
    const layer = this.layer("branches", "Branches", "b", robot.stick, "each in its colour; dashed: virtual links, whose mass another branch carries");
    const radius = 0.008 * this.size;
    const { edges } = robot.skeleton;
    const options = robot.stick ? {} : ON_TOP; // links enclose the lines between their joints
    const rods = edges.map(([branch, virtual, , , elastic]) => {
      const colour = robot.colours[branch % robot.colours.length];
      const band = BANDS[Math.floor(branch / robot.colours.length) % BANDS.length];
      const rod = segment(virtual ? 1.6 * radius : radius, colour, virtual, options, virtual && !elastic ? 9 : 1, band); // pieces of a beam are short
      rod.userData.branch = branch;
      const holder = new THREE.Group(); // its visibility is the layer's, the rod's own that of a length
      holder.add(rod);
      layer.objects.push(this.stage.add(holder));
      return rod;
    });
    const joints = robot.joints.map((joint) => {
      const ball = this.stage.add(new THREE.Mesh(UNIT_SPHERE, material(0x555a61, 1, options)));
      if (options === ON_TOP) ball.renderOrder = 4;
      ball.scale.setScalar(1.5 * radius);
      layer.objects.push(ball);
      return ball;
    });
    this.stage.onMove((q, frames) => {
      const at = this.stage.skeleton();
      edges.forEach(([, , a, b], i) => span(rods[i], at[a], at[b]));
      joints.forEach((ball, i) => ball.position.set(frames[i][3], frames[i][7], frames[i][11]));
    });
  }

  points(points) {
    const layer = this.layer("points", "Contact points", "p", Boolean(this.stage.data.motion), "what can touch a wall");
    const balls = points.map((point) => {
      const radius = Math.max(point.radius, 0.006 * this.size);
      const hidden = !(point.radius > 0) && !this.stage.robot.stick; // a joint's origin, inside its links
      const ball = this.stage.add(new THREE.Mesh(UNIT_SPHERE, material(0xcc79a7, point.radius > 0 ? 0.45 : 1, hidden ? ON_TOP : {})));
      if (hidden) ball.renderOrder = 4;
      ball.scale.setScalar(radius);
      ball.userData.name = point.name;
      layer.objects.push(ball);
      return ball;
    });
    this.stage.onMove((q, frames) => points.forEach((point, i) => balls[i].position.set(...transformed(frameOf(frames, point.body), point.position))));
  }

  // One branch alone stands out, -1: none.
  pickBranch(number) {
    this.branch = number;
    for (const holder of this.layers.get("branches").objects) {
      holder.traverse((object) => {
        if (!object.isMesh) return;
        const branch = object.parent.userData.branch, own = object.material.userData;
        if (own.opacity === undefined) Object.assign(own, { opacity: object.material.opacity, transparent: object.material.transparent });
        const faint = number >= 0 && branch !== number;
        Object.assign(object.material, { opacity: faint ? 0.08 : own.opacity, transparent: faint || own.transparent, needsUpdate: true });
      });
    }
    this.stage.viewer.set_dirty();
  }

  walls(walls) {
    const layer = this.layer("walls", "Walls", "w", true, "");
    for (const wall of walls) {
      const group = this.stage.add(new THREE.Group());
      group.name = "wall " + wall.name;
      if (wall.surface) {
        const geometry = new THREE.BufferGeometry();
        geometry.setAttribute("position", new THREE.Float32BufferAttribute(wall.surface.vertices.data, 3));
        geometry.setAttribute("normal", new THREE.Float32BufferAttribute(wall.surface.normals.data, 3));
        geometry.setIndex([...wall.surface.faces.data]);
        if (wall.ground) geometry.setAttribute("color", new THREE.Float32BufferAttribute(shaded(wall.surface.normals.data), 3));
        const look = wall.ground ? new THREE.MeshBasicMaterial({ vertexColors: true, toneMapped: false, side: THREE.DoubleSide }) : material(0x56b4e9, 0.16, { side: THREE.DoubleSide });
        group.add(new THREE.Mesh(geometry, look));
        if (wall.ground) { // lit once and for all: only shadows are still to fall on it
          const shade = new THREE.Mesh(geometry, new THREE.ShadowMaterial({ opacity: 0.4, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -1 }));
          shade.receiveShadow = true;
          group.add(shade);
        }
      }
      if (wall.lines) {
        const geometry = new THREE.BufferGeometry();
        geometry.setAttribute("position", new THREE.Float32BufferAttribute(wall.lines.data, 3));
        group.add(new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: tint(BLUE), toneMapped: false, transparent: true, opacity: wall.ground ? 0.15 : 0.8 })));
      }
      if (wall.points) {
        const geometry = new THREE.BufferGeometry();
        geometry.setAttribute("position", new THREE.Float32BufferAttribute(wall.points.data, 3));
        group.add(new THREE.Points(geometry, new THREE.PointsMaterial({ color: tint(BLUE), toneMapped: false, size: 0.01 * this.size })));
      }
      wall.group = group;
      layer.objects.push(group);
    }
  }
}
