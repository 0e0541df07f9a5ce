// Names of links: beside the robot, each with a line to its link, none on another; or the one under the pointer.

const LINE = 17; // px from one name to the next
const ASIDE = 28; // px between the robot and the names
const REST = 80; // ms that the pointer rests before a name is looked up

function svg(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

class Labels {
  constructor(stage) {
    this.stage = stage;
    this.on = false;
    this.aside = 0; // px that the names take on either side
    this.holder = element("div", { id: "labels", "aria-hidden": "true" });
    this.lines = svg("svg", {});
    this.tip = element("div", { id: "tip", hidden: true });
    this.holder.append(this.lines);
    stage.viewer.dom_element.parentElement.append(this.holder, this.tip);
    const render = stage.viewer.render.bind(stage.viewer);
    stage.viewer.render = () => { // whatever moves the robot or the camera ends in a picture
      render();
      this.draw();
    };
    this.follow(stage.viewer.dom_element);
  }

  // The camera steps back where all of the robot is in sight and the names would cover it.
  show(on) {
    this.on = on;
    this.aside = 0;
    this.stage.settle(); // the last picture may be of another view
    this.draw();
    if (on && this.tight) this.stage.views.fit();
  }

  // Links at one place share a line of text: frames without a shape often stand where their parents do.
  groups() {
    const { stage } = this, found = new Map(), box = stage.viewer.renderer.domElement.getBoundingClientRect();
    stage.robot.links.forEach((link, i) => {
      if (stage.hidden.has(i)) return;
      const m = stage.frame(i), [x, y] = stage.projected([m[3], m[7], m[11]]).map((value, k) => value - (k ? box.top : box.left));
      if (!(x >= 0 && x <= box.width && y >= 0 && y <= box.height)) return;
      const key = `${Math.round(x / 3)} ${Math.round(y / 3)}`;
      if (!found.has(key)) found.set(key, { x, y, names: [] });
      found.get(key).names.push(link.name);
    });
    return [...found.values()];
  }

  draw() {
    if (!this.on) {
      if (this.holder.childElementCount > 1) this.holder.replaceChildren(this.lines);
      this.lines.replaceChildren();
      return;
    }
    const { width, height } = this.stage.viewer.renderer.domElement.getBoundingClientRect(), groups = this.groups(); // the holder may have no size yet
    const corners = this.stage.corners().map((p) => p.project(this.stage.viewer.camera)), before = corners.filter((p) => p.z < 1); // not behind the camera
    const across = before.length ? before.map((p) => 0.5 * width * (1 + p.x)) : [0, width];
    const whole = corners.every((p) => Math.max(Math.abs(p.x), Math.abs(p.y)) <= 1 && p.z < 1);
    const order = groups.map((group) => group.x).sort((one, other) => one - other), middle = order[order.length >> 1] || 0;
    const rows = Math.max(1, Math.floor((height - 60) / LINE)), made = [], columns = [];
    for (const left of [true, false]) {
      const own = groups.filter((group) => (group.x < middle) === left).sort((one, other) => one.y - other.y);
      const rest = own.splice(rows).flatMap((group) => group.names); // more than there is room for
      if (rest.length) own[rows - 1] = { ...own[rows - 1], names: [`and ${rest.length + own[rows - 1].names.length} more`] };
      spread(own, 44, height - 16);
      const labels = own.map(({ names, at }) => {
        const label = element("span", { title: names.join(", ") }, names[0] + (names.length > 1 ? ` +${names.length - 1}` : ""));
        label.style.top = `${at - LINE / 2}px`;
        return label;
      });
      made.push(...labels);
      columns.push({ left, own, labels });
    }
    this.holder.replaceChildren(this.lines, ...made);
    const widths = columns.map(({ labels }) => Math.max(0, ...labels.map((label) => label.offsetWidth))); // all at once: each look lays out the page
    const [least, most] = [Math.min(...across), Math.max(...across)], [room, other] = widths.map((one) => one + ASIDE + 8);
    this.aside = Math.max(room, other);
    this.tight = whole && (least < room || most > width - other);
    const paths = columns.flatMap(({ left, own, labels }, k) => {
      const edge = left ? Math.max(widths[k] + 8, least - ASIDE) : Math.min(width - widths[k] - 8, most + ASIDE);
      for (const label of labels) Object.assign(label.style, left ? { right: `${width - edge}px` } : { left: `${edge}px` });
      return own.map(({ x, y, at }) => svg("path", { d: `M ${edge + (left ? 2 : -2)} ${at} L ${edge + (left ? 12 : -12)} ${at} L ${x} ${y}` }));
    });
    this.lines.replaceChildren(...paths, ...groups.map(({ x, y }) => svg("circle", { cx: x, cy: y, r: 2.2 })));
  }

  // The name of the link under the pointer, when it rests and nothing is dragged.
  follow(pane) {
    let waiting = null;
    const away = () => {
      clearTimeout(waiting);
      this.tip.hidden = true;
    };
    pane.addEventListener("pointerleave", away);
    pane.addEventListener("pointermove", (event) => {
      away();
      if (event.buttons || event.pointerType === "touch") return;
      waiting = setTimeout(() => {
        const i = this.stage.linkAt(event), box = pane.getBoundingClientRect();
        if (i < 0) return;
        this.tip.textContent = this.stage.robot.links[i].name;
        this.tip.hidden = false;
        this.tip.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 14, box.width - this.tip.offsetWidth - 4))}px`;
        this.tip.style.top = `${Math.min(event.clientY - box.top + 12, box.height - this.tip.offsetHeight - 4)}px`;
      }, REST);
    });
  }
}

// Heights ``at`` near the y of these groups, in their order, at least a line apart and between two bounds where they fit.
function spread(groups, low, high) {
  let before = low - LINE / 2;
  for (const group of groups) {
    group.at = Math.max(group.y, before + LINE);
    before = group.at;
  }
  let after = high + LINE / 2;
  for (const group of [...groups].reverse()) {
    group.at = Math.min(group.at, after - LINE);
    after = group.at;
  }
}
