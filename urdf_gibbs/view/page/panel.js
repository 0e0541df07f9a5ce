// The panel: switches for the overlays, a slider for each coordinate, what is selected, what is missing, and the keys.

function section(title, open = true, id = "") {
  const body = element("details", { open, id }, element("summary", {}, title));
  document.getElementById("sections").append(body);
  return body;
}

// A row of a list that acts on a click, and on Enter where it has the focus.
function choice(action, text) {
  return element("li", { tabindex: 0, role: "button", onclick: action, onkeydown: (event) => { if (event.key === "Enter") action(); } }, text);
}

const DEGREE = Math.PI / 180;
const FARTHEST = 5; // times the size of the scene: what a slider pushes a link
const DEFLECTIONS = [1, 2, 5, 10, 20, 50, 100]; // times what they are

class Panel {
  constructor(stage, overlays) {
    this.stage = stage;
    this.overlays = overlays;
    this.keys = new Map();
    this.views();
    this.inspector = new Inspector(stage, overlays);
    this.switches();
    this.missing();
    this.deflection();
    this.joints();
    this.theme();
    document.addEventListener("keydown", (event) => this.key(event));
  }

  // Where the camera stands; on the scene itself, where it is looked for.
  views() {
    const { views } = this.stage, bar = document.getElementById("views");
    const all = [["front", "1", () => views.along("front")], ["side", "2", () => views.along("side")], ["top", "3", () => views.along("top")],
      ["fit", "4", () => views.fit()], ["reset", "5", () => views.reset()]];
    for (const [name, key, action] of all) {
      const title = `${views.ways[name] ? `from the ${name}, again: from the other side` : name === "fit" ? "the robot fills the picture" : "as the page was opened"} (key ${key})`;
      bar.append(element("button", { id: `view-${name}`, title, onclick: action }, name));
      this.bind(key, name, action);
    }
  }

  switches() {
    const box = section("Show");
    const list = element("div", { class: "switches" });
    for (const [key, layer] of this.overlays.layers) {
      layer.box = element("input", { type: "checkbox", id: "show-" + key, onchange: () => this.overlays.show(key, layer.box.checked) });
      layer.box.checked = layer.on;
      list.append(element("label", { title: layer.help, for: "show-" + key }, layer.box, layer.label, element("kbd", {}, layer.shortcut.toUpperCase())));
      this.bind(layer.shortcut, layer.label, () => this.overlays.show(key, !layer.on));
    }
    box.append(list);
    const legend = element("p", { class: "hint" });
    const help = () => legend.replaceChildren(...[...this.overlays.layers.values()].filter((layer) => layer.on && layer.help).flatMap((layer) => [element("b", {}, layer.label), ": " + layer.help, element("br")]));
    for (const layer of this.overlays.layers.values()) layer.refresh = help;
    help();
    box.append(legend, this.branchLegend());
  }

  branchLegend() {
    const robot = this.stage.robot;
    const list = element("ul", { class: "branches" });
    robot.branches.forEach((text, i) => {
      const colour = robot.colours[i % robot.colours.length], band = BANDS[Math.floor(i / robot.colours.length) % BANDS.length];
      const paint = band === null ? colour : `repeating-linear-gradient(90deg, ${colour} 0 5px, ${band} 5px 8px)`;
      const swatch = element("span", { class: "swatch wide", style: `background: ${paint}` });
      const name = element("button", { class: "plain", title: `${text}; press to see it alone`, "aria-pressed": "false" }, swatch, `branch ${i + 1}: ${text.split(" ").pop()}`);
      name.addEventListener("click", () => {
        this.overlays.pickBranch(this.overlays.branch === i ? -1 : i);
        for (const one of list.querySelectorAll("button")) one.setAttribute("aria-pressed", String(one === name && this.overlays.branch === i));
      });
      list.append(element("li", {}, name));
    });
    const layer = this.overlays.layers.get("branches");
    if (!layer) return "";
    const previous = layer.refresh;
    layer.refresh = () => { previous(); list.hidden = !layer.on; };
    list.hidden = !layer.on;
    return list;
  }

  missing() {
    const missing = this.stage.robot.missing;
    const notes = this.stage.data.notes || [];
    if (!missing.length && !notes.length) return;
    const box = section(`${missing.length ? "Not drawn as the file says" : "Notes on the drawing"} (${missing.length + notes.length})`, true, "missing");
    const list = element("ul", { class: "findings" });
    for (const one of missing) {
      const text = `${one.link}, line ${one.line}: ${one.filename}: ${one.reason}`;
      list.append(choice(() => this.stage.light([one.link]), text));
    }
    for (const note of notes) list.append(element("li", {}, note));
    box.append(list);
  }

  // Small deflections can be drawn larger; only the drawing changes.
  deflection() {
    if (!this.stage.robot.joints.some((joint) => joint.beam)) return;
    const box = section("Elastic links", true, "elastic");
    const text = element("span", { class: "value" }), hint = element("p", { class: "hint" });
    const range = element("input", { type: "range", id: "deflection", min: 0, max: DEFLECTIONS.length - 1, step: 1, value: 0, "aria-label": "deflection, times" });
    const change = () => {
      const factor = DEFLECTIONS[Number(range.value)];
      text.textContent = `${factor} ×`;
      hint.textContent = factor === 1 ? "" : "in the drawing only: walls, trails, impulses and numbers stay as they are";
      this.stage.exaggerate(factor);
    };
    range.addEventListener("input", change);
    box.append(element("div", { class: "joint" }, element("span", { class: "name" }, "deflection"), range, text), hint);
    change();
  }

  joints() {
    const robot = this.stage.robot;
    if (!robot.joints.length) return;
    const box = section(`Joints (${robot.nq} coordinates)`, !this.stage.data.motion, "joints");
    this.poses = new Poses(this, box);
    for (const joint of robot.joints) {
      if (joint.master) box.append(this.follower(joint));
      else for (const part of this.parts(joint)) box.append(this.slider(joint, part));
    }
  }

  // The numbers of a joint that a person moves: unit, range, and the way from and to q.
  parts(joint) {
    const i = joint.iq, reach = this.stage.data.camera.size;
    const digits = decimals(this.stage.data.camera.robot_size, 3);
    const turn = (k, name = joint.name) => ({ name, unit: "°", factor: DEGREE, low: -180, high: 180, get: (q) => q[i + k], set: (q, x) => { q[i + k] = x; } });
    const slide = (k, name = joint.name) => ({ name, unit: "m", factor: 1, digits, step: 10 ** (1 - digits), low: -reach, high: reach, get: (q) => q[i + k], set: (q, x) => { q[i + k] = x; } });
    if (joint.type === "floating") {
      const rpy = ["roll", "pitch", "yaw"].map((name, k) => ({
        name: `${joint.name} ${name}`, unit: "°", factor: DEGREE, low: k === 1 ? -90 : -180, high: k === 1 ? 90 : 180,
        get: (q) => rpyOfQuaternion(q[i + 3], q[i + 4], q[i + 5], q[i + 6])[k],
        set: (q, x) => {
          const angles = rpyOfQuaternion(q[i + 3], q[i + 4], q[i + 5], q[i + 6]);
          angles[k] = x;
          quaternionOfRpy(...angles).forEach((value, n) => { q[i + 3 + n] = value; });
        },
      }));
      return [...["x", "y", "z"].map((name, k) => slide(k, `${joint.name} ${name}`)), ...rpy];
    }
    if (joint.type === "planar") return [slide(0, `${joint.name} x`), slide(1, `${joint.name} y`), turn(2, `${joint.name} angle`)];
    if (joint.type === "elastic") {
      return joint.beam.names.map((own, k) => {
        const name = `${joint.name}.${own}`;
        if (joint.beam.units[k] === "rad") return { ...turn(k, name), low: -60, high: 60, digits: 3 };
        const most = (own.startsWith("x") ? 0.05 : 0.2) * joint.beam.length;
        return { ...slide(k, name), low: -most, high: most, digits: 5, step: 0.001 };
      });
    }
    const part = joint.type === "prismatic" ? slide(0) : turn(0);
    if (joint.lower !== null && joint.upper !== null && joint.lower <= joint.upper && joint.type !== "continuous") {
      part.limits = [joint.lower / part.factor, joint.upper / part.factor];
      const most = part.unit === "°" ? 360 : FARTHEST * reach; // some files say 100 turns or 100 m: a slider of that length is of no use
      const within = [Math.max(part.limits[0], -most), Math.min(part.limits[1], most)];
      const [low, high] = within[0] < within[1] ? within : part.limits;
      if (low < high) Object.assign(part, { low, high });
    }
    return [part];
  }

  slider(joint, part) {
    const range = element("input", { type: "range", min: part.low, max: part.high, step: "any", "data-joint": part.name, "aria-label": part.name });
    const number = element("input", { type: "number", step: part.step || 1, "aria-label": `${part.name} [${part.unit}]` });
    const limits = part.limits ? `${figures(part.limits[0])} … ${figures(part.limits[1])} ${part.unit}` : `no limits [${part.unit}]`;
    const row = element("div", { class: "joint", "data-row": part.name },
      element("span", { class: "name", title: `${joint.name}, ${joint.type}`, onclick: () => this.stage.light([joint.child]) }, part.name),
      range, number, element("span", { class: "unit" }, part.unit), element("span", { class: "limits" }, limits));
    const change = (value) => {
      if (!Number.isFinite(value)) return;
      const q = this.stage.q.slice();
      part.set(q, value * part.factor);
      this.move(q);
    };
    range.addEventListener("input", () => change(Number(range.value)));
    number.addEventListener("change", () => change(Number(number.value)));
    this.stage.onMove((q) => {
      const value = part.get(q) / part.factor;
      range.value = value;
      if (document.activeElement !== number) number.value = value.toFixed(part.digits || 1);
      row.classList.toggle("outside", Boolean(part.limits) && (value < part.limits[0] - 1e-9 || value > part.limits[1] + 1e-9));
    });
    return row;
  }

  follower(joint) {
    const scale = joint.type === "prismatic" ? 1 : DEGREE, unit = joint.type === "prismatic" ? "m" : "°";
    const value = element("span", { class: "value" });
    this.stage.onMove((q) => { value.textContent = `${((joint.ratio * q[joint.iq] + joint.offset) / scale).toFixed(unit === "m" ? 3 : 1)} ${unit}`; });
    return element("div", { class: "joint follower" }, element("span", { class: "name" }, joint.name), value, element("span", { class: "limits" }, `follows ${joint.master}`));
  }

  move(q) {
    if (this.onManual) this.onManual();
    this.stage.apply(q);
  }

  theme() {
    const flip = themed(this.stage.data.theme, (dark) => {
      this.stage.background(dark);
      if (this.onTheme) this.onTheme(dark);
    });
    this.bind("t", "light or dark", flip);
  }

  bind(key, label, action) {
    this.keys.set(key, { label, action });
    const text = [...this.keys].filter(([k]) => !this.isLayer(k)).flatMap(([k, one]) => [element("kbd", {}, k === " " ? "space" : k.replace("Arrow", "").toUpperCase()), ` ${one.label}  `]);
    document.getElementById("keys").replaceChildren("drag: turn · right drag: shift · wheel: zoom · click: select", element("br"), ...text);
  }

  isLayer(key) {
    return [...this.overlays.layers.values()].some((layer) => layer.shortcut === key);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input[type=number], select, textarea")) return;
    if (event.target.matches("[type=checkbox]:focus-visible, summary:focus-visible") && event.key === " ") return; // a click leaves the key to the page
    if (event.target.matches("input[type=range], button") && (event.key.startsWith("Arrow") || event.key === " ")) return;
    const bound = this.keys.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
    if (!bound) return;
    event.preventDefault();
    bound.action();
  }
}
