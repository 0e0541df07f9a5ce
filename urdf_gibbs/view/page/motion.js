// A recorded motion: play, pause, scrub, speed; impacts with their impulses, trails, and the energies in step.

const SPEEDS = [0.01, 0.03, 0.1, 0.3, 1, 2, 5];
const ENERGIES = [["kinetic", "#D55E00"], ["potential", "#009E73"], ["total", "#0072B2"]];
const FLEXIBLE_ENERGIES = [["kinetic", "#D55E00"], ["gravity", "#009E73"], ["strain", "#CC79A7"], ["total", "#0072B2"]];
const MODE_COLOURS = [0, 0x0072b2, 0x009e73, 0xcc79a7]; // by the number of a mode: free, held without friction, sticks, slips
const FLASH = 0.35; // seconds of the viewer's time for which an impulse stays in sight

class Motion {
  constructor(stage, overlays) {
    this.stage = stage;
    this.overlays = overlays;
    this.record = stage.data.motion;
    this.t = this.record.t.data;
    this.first = this.t[0];
    this.last = this.t[this.t.length - 1];
    this.time = this.first;
    this.playing = false;
    this.speed = 1;
    this.impacts = this.record.impacts;
    this.kinds = this.record.energies.strain ? FLEXIBLE_ENERGIES : ENERGIES;
    this.arrows();
    this.forces();
    this.trails();
    this.tracks = new Tracks(this);
  }

  attach(panel) {
    this.controls(panel);
    this.listed = this.impacts.length ? new ImpactList(this) : null;
    panel.onManual = () => this.pause();
    panel.onTheme = () => this.drawStrip();
    window.addEventListener("resize", () => { this.fit(); this.drawStrip(); });
    this.seek(this.first);
    this.drawStrip();
  }

  // states ---------------------------------------------------------------------------------------

  // The last frame at or before a time.
  frameBefore(time) {
    let low = 0, high = this.t.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.t[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  configuration(time) {
    const nq = this.stage.robot.nq, q = this.record.q.data, k = this.frameBefore(time);
    const own = Array.from(q.subarray(k * nq, (k + 1) * nq));
    if (k + 1 >= this.t.length || time <= this.t[k]) return own;
    const s = (time - this.t[k]) / (this.t[k + 1] - this.t[k]);
    for (let i = 0; i < nq; i++) own[i] += s * (q[(k + 1) * nq + i] - own[i]);
    return own; // quaternions are made unit where they are used
  }

  seek(time) {
    this.time = Math.min(this.last, Math.max(this.first, time));
    this.stage.apply(this.configuration(this.time));
    this.moveWalls();
    this.showForces();
    this.showArrows();
    this.drawTrails();
    this.tracks.draw(this.frameBefore(this.time));
    this.scrubber.value = this.time;
    this.clock.textContent = `t = ${this.time.toFixed(4)} s`;
    this.drawCursor();
  }

  // time -----------------------------------------------------------------------------------------

  play() {
    if (this.time >= this.last) this.seek(this.first);
    cancelAnimationFrame(this.tick);
    this.playing = true;
    this.playButton.textContent = "❚❚ pause";
    let before = performance.now();
    const step = (now) => {
      if (!this.playing) return;
      this.seek(this.time + this.speed * (now - before) / 1000);
      before = now;
      if (this.time >= this.last) this.pause();
      else this.tick = requestAnimationFrame(step);
    };
    this.tick = requestAnimationFrame(step);
  }

  pause() {
    this.playing = false;
    this.playButton.textContent = "▶ play";
    this.showArrows();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  jump(direction) {
    this.pause();
    const times = this.impacts.map((impact) => impact.t);
    const next = direction > 0 ? times.find((t) => t > this.time + 1e-12) : times.filter((t) => t < this.time - 1e-12).pop();
    if (next !== undefined) this.seek(next);
  }

  nudge(direction) {
    this.pause();
    const k = this.frameBefore(this.time);
    this.seek(this.t[Math.min(this.t.length - 1, Math.max(0, direction > 0 ? k + 1 : this.time > this.t[k] ? k : k - 1))]);
  }

  // impacts, trails, walls -----------------------------------------------------------------------

  arrows() {
    const layer = this.overlays.layer("impulses", "Impulses", "m", true, "at an impact, as long as the impulse is large, with the part of friction");
    let largest = 1e-300; // of the arrows: the limit of a joint has none, and another unit
    for (const impact of this.impacts) impact.impulses.forEach((_, i) => { if (impact.positions[i]) largest = Math.max(largest, Math.hypot(...this.impulse(impact, i))); });
    this.longest = 0.35 * this.stage.data.camera.robot_size;
    this.shortest = 0.03 * this.stage.data.camera.robot_size; // still seen as an arrow
    this.scale = this.longest / largest;
    this.holder = this.stage.add(new THREE.Group());
    this.holder.name = "impulses";
    if (this.impacts.length) layer.objects.push(this.holder);
    else this.overlays.layers.delete("impulses");
    this.flash = null;
  }

  // What a contact of an impact gives [N s], along the normal and by friction.
  impulse(impact, i) {
    return impact.normals[i].map((x, k) => impact.impulses[i] * x + (impact.tangential ? impact.tangential[i][k] : 0));
  }

  // Forces of lasting contacts: a colour for each mode.
  forces() {
    this.carried = this.record.forces || [];
    this.forceHolder = this.stage.add(new THREE.Group());
    this.forceHolder.name = "forces";
    if (!this.carried.length) return;
    const help = "of lasting contacts, as long as the force is large, up to a bound: green sticks, purple slips, blue without friction or on soil";
    this.overlays.layer("forces", "Contact forces", "o", true, help).objects.push(this.forceHolder);
    const sizes = []; // the largest force of each frame in which something is carried
    for (let k = 0; k < this.t.length; k++) {
      const largest = Math.max(...this.carried.map((one) => Math.hypot(...one.force.data.subarray(3 * k, 3 * k + 3))));
      if (largest > 0) sizes.push(largest);
    }
    const usual = sizes.sort((a, b) => a - b)[sizes.length >> 1] || 1; // a landing may carry many times as much for a moment
    this.forceScale = 0.5 * this.longest / usual;
  }

  showForces() {
    if (!this.carried.length) return;
    const k = this.frameBefore(this.time), radius = 0.006 * this.stage.data.camera.robot_size;
    this.forceHolder.clear();
    for (const one of this.carried) {
      const force = Array.from(one.force.data.subarray(3 * k, 3 * k + 3)), size = Math.hypot(...force), mode = one.mode.data[k];
      if (!mode || !(this.forceScale * size > 4 * radius)) continue; // shorter than its head
      const made = arrow(force.map((x) => x / size), Math.min(this.longest, this.forceScale * size), radius, MODE_COLOURS[mode], ON_TOP);
      made.position.set(...one.place.data.subarray(3 * k, 3 * k + 3));
      made.userData = { contact: one.name, force: size, mode };
      this.forceHolder.add(made);
    }
  }

  // The impact that is in sight now: the one at this time, while playing also one that has just been.
  current() {
    const slack = 1e-9 * Math.max(1, this.last - this.first);
    const reach = this.playing ? FLASH * this.speed : slack;
    let found = -1;
    for (let i = 0; i < this.impacts.length && this.impacts[i].t <= this.time + slack; i++) if (this.time - this.impacts[i].t <= reach) found = i;
    return found;
  }

  showArrows() {
    const index = this.current();
    if (index === this.flash) return;
    this.flash = index;
    this.holder.clear();
    document.body.dataset.impact = index;
    if (this.listed) this.listed.choose(index);
    if (index < 0) {
      this.impactText.textContent = "";
      return;
    }
    const impact = this.impacts[index];
    const radius = 0.008 * this.stage.data.camera.robot_size;
    impact.points.forEach((point, i) => {
      if (!impact.positions[i] || !impact.impulses[i]) return;
      const vector = this.impulse(impact, i), size = Math.hypot(...vector);
      const length = Math.max(this.shortest, this.scale * size);
      const made = haloed(arrow(vector.map((x) => x / size), length, radius, 0xd55e00, ON_TOP)); // it points into the body that is struck
      made.position.set(...impact.positions[i]);
      made.userData = { point, impulse: impact.impulses[i] };
      this.holder.add(made);
    });
    this.impactText.textContent = `impact ${index + 1} of ${this.count()}: ${blows(impact)}`;
    this.stage.viewer.set_dirty();
  }

  // How many there are; of a run with very many, how many of them are shown.
  count() {
    const all = this.record.all_impacts;
    return all > this.impacts.length ? `${this.impacts.length} shown, ${all} in all` : `${all}`;
  }

  trails() {
    const layer = this.overlays.layer("trails", "Trails", "r", true, "ways of points so far: " + this.record.trails.map((trail) => trail.name).join(", "));
    this.lines = this.record.trails.map((trail, i) => {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.Float32BufferAttribute(trail.positions.data, 3));
      const colour = this.stage.robot.colours[i % this.stage.robot.colours.length];
      const line = this.stage.add(new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: tint(colour), toneMapped: false })));
      line.frustumCulled = false;
      layer.objects.push(line);
      return line;
    });
    if (!this.lines.length) this.overlays.layers.delete("trails");
  }

  drawTrails() {
    const count = this.frameBefore(this.time) + 1;
    for (const line of this.lines) line.geometry.setDrawRange(0, count);
  }

  moveWalls() {
    for (const wall of this.stage.data.walls || []) {
      if (!wall.displacement) continue;
      const d = wall.displacement.data, k = this.frameBefore(this.time), n = Math.min(k + 1, this.t.length - 1);
      const s = n > k ? (this.time - this.t[k]) / (this.t[n] - this.t[k]) : 0;
      wall.group.position.set(...[0, 1, 2].map((i) => d[3 * k + i] + s * (d[3 * n + i] - d[3 * k + i])));
    }
  }

  // the bar --------------------------------------------------------------------------------------

  controls(panel) {
    const bar = document.getElementById("timeline");
    bar.hidden = false;
    this.playButton = element("button", { id: "play", onclick: () => this.toggle() }, "▶ play");
    this.clock = element("span", { id: "clock" });
    this.impactText = document.getElementById("note");
    const speed = element("select", { id: "speed", "aria-label": "speed", onchange: () => { this.speed = Number(speed.value); } },
      ...SPEEDS.map((one) => element("option", { value: one, selected: one === 1 }, `${one} ×`)));
    const legend = element("span", { class: "legend" }, ...this.kinds.map(([name, colour]) => element("span", {}, element("span", { class: "swatch", style: `background:${colour}` }), name)), "energy [J]");
    this.scrubber = element("input", { type: "range", id: "time", min: this.first, max: this.last, step: "any", "aria-label": "time [s]", oninput: () => { this.pause(); this.seek(Number(this.scrubber.value)); } });
    this.canvas = element("canvas", { id: "strip", title: "energies over time; ticks are impacts" });
    const jumps = [element("button", { id: "previous-impact", title: "impact before", onclick: () => this.jump(-1) }, "◀ impact"), element("button", { id: "next-impact", title: "next impact", onclick: () => this.jump(1) }, "impact ▶")];
    bar.append(element("div", { class: "bar" }, this.playButton, ...(this.impacts.length ? jumps : []), speed, this.clock, legend), this.canvas, this.scrubber);
    const drag = (event) => { this.pause(); this.seek(this.timeAt(event)); };
    this.canvas.addEventListener("pointerdown", (event) => { this.canvas.setPointerCapture(event.pointerId); drag(event); });
    this.canvas.addEventListener("pointermove", (event) => { if (event.buttons) drag(event); });
    panel.bind(" ", "play or pause", () => this.toggle());
    panel.bind("ArrowRight", "next frame", () => this.nudge(1));
    panel.bind("ArrowLeft", "frame before", () => this.nudge(-1));
    if (this.impacts.length) {
      panel.bind("ArrowDown", "next impact", () => this.jump(1));
      panel.bind("ArrowUp", "impact before", () => this.jump(-1));
    }
    this.fit();
  }

  // The scene ends where the bar begins, however the window is cut.
  fit() {
    const bar = document.getElementById("timeline").getBoundingClientRect();
    document.getElementById("stage").style.bottom = Math.max(0, window.innerHeight - bar.top) + "px";
    this.stage.viewer.set_3d_pane_size();
  }

  timeAt(event) {
    const box = this.canvas.getBoundingClientRect();
    return this.first + (this.last - this.first) * Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  }

  drawStrip() {
    const canvas = this.canvas, ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    this.still = null;
    if (!width || !height) return; // in a frame that is not shown yet
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.scale(ratio, ratio);
    const series = this.record.energies, t = series.t.data;
    const style = getComputedStyle(document.documentElement);
    let low = Infinity, high = -Infinity;
    for (const [name] of this.kinds) for (const value of series[name].data) if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
    const room = high - low > 0 ? high - low : 1;
    const x = (time) => (time - this.first) / Math.max(this.last - this.first, 1e-300) * width;
    const y = (value) => height - 6 - (value - low) / room * (height - 12);
    context.strokeStyle = style.getPropertyValue("--line");
    context.font = "10px system-ui, sans-serif";
    for (const value of [low, high]) {
      context.beginPath();
      context.moveTo(0, y(value));
      context.lineTo(width, y(value));
      context.stroke();
    }
    context.strokeStyle = style.getPropertyValue("--warn");
    context.globalAlpha = Math.min(0.8, Math.max(0.02, 0.15 * width / this.impacts.length)); // thousands leave the curves in sight
    for (const impact of this.impacts) {
      context.beginPath();
      context.moveTo(x(impact.t), 0);
      context.lineTo(x(impact.t), height);
      context.stroke();
    }
    context.globalAlpha = 1;
    context.lineWidth = 1.6;
    for (const [name, colour] of this.kinds) {
      context.strokeStyle = colour;
      context.beginPath();
      series[name].data.forEach((value, i) => context.lineTo(x(t[i]), y(value)));
      context.stroke();
    }
    for (const [value, down] of [[high, 10], [low, -3]]) { // over the curves, which often run along an end
      const text = `${figures(value, 3)} J`;
      context.globalAlpha = 0.8;
      context.fillStyle = style.getPropertyValue("--back");
      context.fillRect(0, y(value) + down - 9, context.measureText(text).width + 5, 11);
      context.globalAlpha = 1;
      context.fillStyle = style.getPropertyValue("--dim");
      context.fillText(text, 2, y(value) + down);
    }
    this.still = context.getImageData(0, 0, canvas.width, canvas.height);
    this.drawCursor();
  }

  drawCursor() {
    if (!this.still) return;
    const context = this.canvas.getContext("2d");
    context.putImageData(this.still, 0, 0);
    const at = (this.time - this.first) / Math.max(this.last - this.first, 1e-300) * this.canvas.clientWidth;
    context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--text");
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(at, 0);
    context.lineTo(at, this.canvas.clientHeight);
    context.stroke();
  }
}
