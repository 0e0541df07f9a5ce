// What is selected: its mass, inertia and limits; where a frame stands, live; and which links are in sight.

function row(name, value, unit = "") {
  return element("tr", {}, element("th", {}, name), element("td", {}, value + (unit && " " + unit)));
}

function vectorText(values, digits = 4) {
  return values.map((x) => figures(Math.abs(x) < 1e-12 ? 0 : x, digits)).join(", ");
}

// Decimals of metres that tell a ten thousandth of a robot of this size.
function decimals(size, least) {
  return Math.min(12, Math.max(least, least - 1 - Math.floor(Math.log10(size))));
}

class Inspector {
  constructor(stage, overlays) {
    this.stage = stage;
    this.overlays = overlays;
    this.links = stage.robot.links;
    this.selection();
    this.frame();
    this.visibility();
  }

  // the selected link -----------------------------------------------------------------------------

  selection() {
    const box = this.facts = section("Selected link", true, "selection");
    this.text = element("div", { class: "facts" });
    box.append(this.text);
    this.nothing();
    this.stage.onLight = (names) => {
      const i = this.links.findIndex((one) => one.name === names[0]);
      this.selected = i;
      if (i < 0) this.nothing();
      else {
        this.tell(i);
        this.choose(i);
      }
      for (const [k, name] of this.names.entries()) name.classList.toggle("chosen", k === i);
    };
  }

  nothing() {
    this.facts.classList.add("empty");
    this.text.replaceChildren(element("p", { class: "hint" }, "Click a link, or its name in the list of links."));
  }

  tell(i) {
    this.facts.classList.remove("empty");
    const link = this.links[i], joint = link.joint >= 0 ? this.stage.robot.joints[link.joint] : null;
    const moved = joint ? `moved by ${joint.name} (${joint.type})` : link.body < 0 ? "fixed to the world" : "fixed to its parent";
    const table = element("table", {}), notes = [];
    if (link.mass !== undefined) {
      table.append(row("mass", figures(link.mass), "kg"), row("centre of mass", vectorText(link.com, 3), "m"));
    } else if (!joint || joint.type !== "elastic") notes.push("no <inertial>");
    if (link.inertia) table.append(row("principal moments", vectorText(link.inertia.moments), "kg m²"));
    if (joint && joint.type !== "floating" && joint.type !== "planar" && joint.type !== "elastic") table.append(...this.limits(joint));
    if (link.elastic !== undefined) {
      const { length, names } = this.stage.robot.joints[link.elastic].beam;
      notes.push(`elastic: ${figures(length)} m long, ${names.join(", ")}; mass and inertia are the straight beam's`);
    }
    if (link.inertia && link.inertia.problem) notes.push(`not physical: ${link.inertia.problem}`);
    const hide = element("button", { id: "hide-link", onclick: () => this.overlays.hide([i], !this.stage.hidden.has(i)) }, this.stage.hidden.has(i) ? "show this link" : "hide this link");
    this.text.replaceChildren(element("p", {}, element("b", {}, link.name), ` (line ${link.line})`, element("br"), moved), table, ...notes.map((note) => element("p", { class: "hint" }, note)), hide);
  }

  // What the file does not limit is left out.
  limits(joint) {
    const slides = joint.type === "prismatic", unit = slides ? "m" : "°", factor = slides ? 1 : DEGREE;
    const end = (value) => (value === null ? "–" : figures(value / factor));
    const free = joint.type === "continuous" || (joint.lower === null && joint.upper === null);
    const rows = [row("limits", free ? "none" : `${end(joint.lower)} … ${end(joint.upper)} ${unit}`)];
    if (joint.velocity !== null) rows.push(row("velocity", `${figures(joint.velocity / factor)} ${slides ? "m/s" : "°/s"}`));
    if (joint.effort !== null) rows.push(row("effort", `${figures(joint.effort)} ${slides ? "N" : "N m"}`));
    return rows;
  }

  // a frame ---------------------------------------------------------------------------------------

  frame() {
    const box = section("Pose of a frame", false, "frame");
    const names = () => this.links.map((link, i) => element("option", { value: i }, link.name));
    this.chosen = element("select", { id: "frame-of", "aria-label": "frame", onchange: () => this.pose() }, ...names());
    this.base = element("select", { id: "frame-in", "aria-label": "relative to", onchange: () => this.pose() }, element("option", { value: -1 }, "the world"), ...names());
    this.values = element("table", { id: "pose" });
    box.append(element("div", { class: "facts" }, element("p", { class: "pair" }, this.chosen, " in ", this.base), this.values));
    box.addEventListener("toggle", () => this.pose());
    this.open = box;
    this.triad = this.stage.add(new THREE.Group());
    this.triad.add(...this.overlays.frame(1.6, ON_TOP));
    this.stage.onMove(() => this.pose());
  }

  choose(i) {
    this.chosen.value = i;
    this.pose();
  }

  // Of the chosen frame relative to the other, in double precision.
  pose() {
    const open = this.open.open;
    this.triad.visible = open;
    const own = this.stage.frame(Number(this.chosen.value)), base = Number(this.base.value);
    place(this.triad, own);
    if (!open) return this.stage.viewer.set_dirty();
    const m = base < 0 ? own : multiply(inverse(this.stage.frame(base)), own), q = quaternionOf(m), rpy = rpyOfQuaternion(...q);
    this.found = { position: [m[3], m[7], m[11]], rpy, quaternion: q };
    this.values.replaceChildren(
      row("position", this.found.position.map((x) => x.toFixed(decimals(this.stage.data.camera.robot_size, 4))).join(", "), "m"),
      row("roll, pitch, yaw", rpy.map((x) => (x / DEGREE).toFixed(2)).join(", "), "°"),
      row("", rpy.map((x) => x.toFixed(4)).join(", "), "rad"),
      row("quaternion xyzw", q.map((x) => x.toFixed(5)).join(", ")));
    return this.stage.viewer.set_dirty();
  }

  // links in sight --------------------------------------------------------------------------------

  visibility() {
    const box = section(`Links (${this.links.length})`, false, "links");
    const list = element("ul", { class: "links" }), all = this.links.map((_, i) => i);
    const search = element("input", { type: "search", placeholder: "find a link", "aria-label": "find a link", oninput: () => rows.forEach((one, i) => { one.hidden = !this.links[i].name.toLowerCase().includes(search.value.toLowerCase()); }) });
    this.names = [];
    this.boxes = this.links.map((link, i) => element("input", { type: "checkbox", checked: true, "data-link": link.name, "aria-label": `show ${link.name}`, onchange: () => this.overlays.hide([i], !this.boxes[i].checked) }));
    const rows = this.links.map((link, i) => {
      const name = element("button", { class: "plain", title: link.visuals ? "" : "without a visual", onclick: () => this.stage.light([link.name]) }, link.name);
      this.names.push(name);
      return element("li", { class: link.visuals ? "" : "bare" }, this.boxes[i], name);
    });
    list.append(...rows);
    const only = () => this.overlays.hide(all.filter((i) => i !== this.selected), true);
    box.append(element("div", { class: "buttons" },
      element("button", { id: "show-all", onclick: () => this.overlays.hide(all, false) }, "show all"),
      element("button", { id: "show-only", onclick: () => { if (this.selected >= 0) { this.overlays.hide(all, false); only(); } } }, "only the selected"), search), list);
    this.overlays.onHide = () => {
      this.boxes.forEach((one, i) => { one.checked = !this.stage.hidden.has(i); });
      if (this.selected >= 0) this.tell(this.selected);
    };
  }
}
