// The report of a validation: verdict, mass matrices, errors, table, notes, and findings that light up their links.

const MOST_FINDINGS = 500; // rows of the list

class Report {
  constructor(stage, panel) {
    Object.assign(this, { stage, panel, report: stage.data.report, maps: [], items: [] });
    document.body.classList.add("report");
    stage.viewer.set_3d_pane_size(); // the panel is wider now
    stage.views.margin = 1.4; // what is selected stands in a corner of the picture
    stage.views.reset();
    this.box = element("div", { id: "report" });
    this.makeRoom();
    this.verdict();
    this.findings();
    this.matrices();
    this.errors();
    this.table();
    this.notes();
    this.beacons = new Beacons(stage);
    const light = stage.onLight, theme = panel.onTheme;
    stage.onLight = (names) => { if (light) light(names); this.lit(names); };
    panel.onTheme = (dark) => { if (theme) theme(dark); this.redraw(); };
  }

  // The report comes first; what moves and explains the robot is folded below it, what is selected stands beside the robot.
  makeRoom() {
    const controls = document.getElementById("sections");
    controls.before(this.box);
    const folded = element("details", { id: "controls" }, element("summary", {}, "Move and explain the robot"));
    controls.before(folded);
    folded.append(controls);
    const selection = document.getElementById("selection");
    if (selection) document.getElementById("stage").append(selection);
  }

  section(title, id, open = true) {
    const made = element("details", { id, open }, element("summary", {}, title));
    this.box.append(made);
    return made;
  }

  verdict() {
    const { agrees, verdict, summary, reference, samples, seed, base } = this.report;
    const titles = { agrees: `Agrees with ${reference}`, disagrees: `Disagrees with ${reference}`, "nothing to compare": "Nothing to compare" };
    const said = `${titles[verdict].toLowerCase()}: `;
    const told = summary.toLowerCase().startsWith(said) ? summary.slice(said.length) : summary;
    const lines = [told, `${samples} random states (seed ${seed}), ${base} base`];
    if (reference !== "Pinocchio") lines.push(`the reference is the method ${reference}, not Pinocchio: see the notes`);
    const text = element("div", {}, element("strong", {}, titles[verdict]), ...lines.map((line) => element("p", {}, line)));
    this.box.append(element("div", { id: "verdict", class: agrees ? "good" : "bad" }, element("span", { class: "mark", "aria-hidden": "true" }, agrees ? "✓" : "✗"), text));
  }

  // findings -----------------------------------------------------------------------------------

  findings() {
    const { findings } = this.report;
    const counts = ["error", "warning", "note"].map((severity) => [severity, findings.filter((one) => one.severity === severity).length]).filter(([, count]) => count);
    const words = counts.map(([severity, count]) => `${count} ${severity}${count === 1 ? "" : "s"}`).join(", ");
    const box = this.section(`Findings in the file: ${words || "none"}`, "findings", findings.length > 0);
    if (!findings.length) {
      box.append(element("p", { class: "hint" }, "The lint has nothing to say about this file."));
      return;
    }
    if (findings.some((one) => one.links.length)) box.append(element("p", { class: "hint" }, "Click a finding: its link lights up in the scene. Click a link: its findings are marked here."));
    const list = element("ul", { class: "findings" });
    for (const finding of findings.slice(0, MOST_FINDINGS)) list.append(this.finding(finding));
    box.append(list);
    if (findings.length > MOST_FINDINGS) box.append(element("p", { class: "hint" }, `and ${findings.length - MOST_FINDINGS} more: urdf-gibbs check lists all`));
  }

  finding(finding) {
    const item = element("li", { class: finding.severity, title: finding.code },
      element("span", { class: "severity" }, finding.severity), element("b", {}, finding.element), ` line ${finding.line}: found ${finding.value}, expected ${finding.expected}`);
    if (!finding.links.length) return item;
    item.tabIndex = 0;
    item.setAttribute("role", "button");
    const choose = () => {
      const again = item.classList.contains("chosen");
      this.stage.light(again ? [] : finding.links);
      for (const other of this.items) other.item.classList.toggle("chosen", other.item === item && !again);
    };
    item.addEventListener("click", choose);
    item.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      choose();
    });
    this.items.push({ item, links: finding.links });
    return item;
  }

  // What is lit in the scene is marked in the lists and in the matrices.
  lit(names) {
    this.beacons.show(names);
    for (const { item, links } of this.items) {
      item.classList.remove("chosen");
      item.classList.toggle("concerned", links.some((link) => names.includes(link)));
    }
    const marked = this.report.rows.map((row, k) => (names.includes(row.link) ? k : -1)).filter((k) => k >= 0);
    for (const map of this.maps) {
      map.marked = marked;
      map.refresh();
    }
  }

  // matrices -----------------------------------------------------------------------------------

  matrices() {
    const { matrices, rows, reference } = this.report;
    const n = rows.length;
    const box = this.section(`Mass matrix, ${n} × ${n}` + (matrices && n ? `, sample ${matrices.state}` : ""), "matrices");
    if (!matrices || !n) {
      box.append(element("p", { class: "hint" }, n ? "There is no matrix to show: see the notes." : "Nothing moves: M is empty."));
      return;
    }
    const { ours, predicted, nonzero, counts } = matrices;
    const theirs = matrices.reference.data;
    const blocks = predicted.data;
    const largest = Math.max(...[theirs, ...ours.map((one) => one.M.data)].map(largestOf));
    const signed = new SignedScale(largest);
    this.readout = element("p", { class: "readout", id: "entry" });
    const maps = element("div", { class: "maps" });
    const bars = [[element("canvas", { class: "scale" }), () => signed]];
    const reading = new HeatMap(reference, n, theirs, signed, blocks);
    reading.print = brief;
    if (ours.length) {
      const own = new HeatMap("ours", n, ours[0].M.data, signed, blocks);
      own.print = reading.print;
      const gap = new HeatMap("|difference|", n, theirs, new SizeScale(theirs), blocks);
      gap.print = (x) => Math.abs(x).toExponential(0);
      this.choice = element("select", { id: "method", "aria-label": "our method", onchange: () => this.choose(own, gap) }, ...ours.map((one, k) => element("option", { value: k }, one.method)));
      own.caption.replaceChildren(element("span", {}, "ours:"), this.choice);
      this.size = element("figcaption", { class: "hint", id: "largest-difference" });
      bars.push([element("canvas", { class: "scale" }), () => gap.scale]);
      own.figure.append(bars[0][0]);
      gap.figure.append(bars[1][0], this.size);
      this.maps.push(own, reading, gap);
      this.bars = bars;
      this.choose(own, gap);
    } else {
      reading.figure.append(bars[0][0]);
      this.maps.push(reading);
      this.bars = bars;
    }
    const can = new HeatMap("predicted by the branches", n, blocks, null, null);
    can.colour = (entry) => (blocks[entry] ? ends().can : ends().zero);
    const is = new HeatMap(`not zero (${reference})`, n, nonzero.data, null, blocks);
    is.colour = (entry) => (nonzero.data[entry] ? (blocks[entry] ? ends().is : ends().wrong) : ends().zero);
    this.maps.push(can, is);
    const outside = counts.outside ? `${counts.outside} outside!` : "none outside";
    const sentence = element("figcaption", { id: "sparsity", class: counts.outside ? "bad" : "good" },
      element("strong", {}, `${counts.predicted} of ${counts.entries}`), " entries can be other than zero: two joints couple only where some branch holds both. ",
      element("strong", {}, `${counts.nonzero}`), ` are (more than round-off); ${outside}.`);
    for (const map of this.maps) maps.append(map.figure);
    maps.append(element("figure", { class: "words" }, sentence));
    const larger = element("button", { id: "larger", "aria-pressed": "false" }, "larger");
    larger.addEventListener("click", () => {
      const on = maps.classList.toggle("large");
      larger.textContent = on ? "smaller" : "larger";
      larger.setAttribute("aria-pressed", String(on));
    });
    box.append(element("div", { class: "toolbar" }, this.readout, larger), maps);
    for (const [bar, scale] of this.bars) new ResizeObserver(() => drawScale(bar, scale())).observe(bar);
    for (const map of this.maps) this.follow(map);
    this.point(null);
  }

  choose(own, gap) {
    const { reference, ours } = this.report.matrices;
    this.chosen = ours[Number(this.choice.value)];
    const mine = this.chosen.M.data;
    const difference = mine.map((x, k) => x - reference.data[k]);
    const largest = largestOf(difference), share = largest / (largestOf(reference.data) || 1);
    own.set(mine, own.scale);
    gap.set(difference, new SizeScale(difference));
    this.size.textContent = largest === 0 ? "equal to the last bit" : `largest ${largest.toExponential(2)}: ${share.toExponential(1)} of the largest entry`;
    this.redrawBars();
    this.point(null);
  }

  follow(map) {
    const light = ([i, j]) => this.stage.light([...new Set([this.report.rows[i].link, this.report.rows[j].link])]);
    map.canvas.addEventListener("pointermove", (event) => this.point(map.entryAt(event)));
    map.canvas.addEventListener("pointerleave", () => this.point(null));
    map.canvas.addEventListener("click", (event) => light(map.entryAt(event)));
    map.canvas.addEventListener("blur", () => this.point(null));
    map.canvas.addEventListener("keydown", (event) => {
      const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      const at = map.pointer || [0, 0], last = this.report.rows.length - 1;
      if (steps[event.key]) this.point(at.map((x, k) => Math.min(last, Math.max(0, x + (map.pointer ? steps[event.key][k] : 0)))));
      else if (event.key === "Enter") light(at);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  // One entry in all maps, and its numbers with all their digits.
  point(at) {
    for (const map of this.maps) {
      map.pointer = at;
      map.refresh();
    }
    if (!this.readout) return;
    if (!at) {
      this.readout.replaceChildren("Point at an entry to read it; click it: the links of its row and column light up.");
      return;
    }
    const [i, j] = at, { rows, matrices, reference } = this.report, k = i * rows.length + j;
    const theirs = matrices.reference.data[k], mine = this.chosen && this.chosen.M.data[k];
    const branch = matrices.predicted.data[k] ? "" : " (no branch holds both: zero)";
    const lines = this.chosen ? [`${this.chosen.method} ${mine}, ${reference} ${theirs}`, `difference ${mine - theirs}${branch}`] : [`${reference} ${theirs}${branch}`];
    this.readout.replaceChildren(element("b", {}, `${rows[i].name} × ${rows[j].name}`), ...lines.map((line) => element("span", {}, line)));
  }

  // errors, table, notes -----------------------------------------------------------------------

  errors() {
    const report = this.report;
    if (!report.outcomes.some((one) => one.errors.data.length)) return;
    const box = this.section("Relative error of every sample", "errors");
    this.dots = new ErrorDots(report, (sample) => {
      if (!report.states) return;
      const nq = report.states.shape[1];
      this.panel.move(Array.from(report.states.data.slice(sample * nq, (sample + 1) * nq)));
    });
    box.append(this.dots.legend(), this.dots.canvas, this.dots.readout);
  }

  table() {
    const { quantities, methods, outcomes, tolerance } = this.report;
    if (!outcomes.length) return;
    const columns = methods.filter((method) => !["kinematics", "all"].includes(method));
    const box = this.section("Largest error by quantity and method", "table");
    const body = element("tbody");
    for (const quantity of quantities) {
      const row = element("tr", {}, element("th", { scope: "row" }, quantity));
      const own = outcomes.filter((one) => one.quantity === quantity);
      if (own.some((one) => columns.includes(one.method))) for (const method of columns) row.append(this.cell(own.find((one) => one.method === method), tolerance));
      else row.append(this.cell(own[0], tolerance, Math.max(1, columns.length)));
      body.append(row);
    }
    const head = element("tr", {}, element("th", {}, ""), ...columns.map((method) => element("th", { scope: "col" }, method)));
    box.append(element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), body)));
    for (const one of outcomes.filter((outcome) => !outcome.agrees && outcome.remark)) box.append(element("p", { class: "hint" }, `${one.quantity}, ${one.method}: ${one.remark}`));
    if (this.report.worst.call) {
      box.append(element("details", { class: "call" }, element("summary", {}, "The worst state as a line of Python"), element("pre", {}, this.report.worst.call)));
    }
  }

  cell(outcome, tolerance, span = 1) {
    if (!outcome) return element("td");
    if (outcome.errors.data.length && outcome.errors.data.every(Number.isNaN) && outcome.agrees) return element("td", { colspan: span }, "does not exist");
    const reach = outcome.error === null ? 1 : outcome.error > 0 ? Math.min(1, Math.max(0.02, 1 + (Math.log10(outcome.error) - Math.log10(tolerance)) / 9)) : 0;
    const bar = element("span", { class: "bar", style: `width:${(100 * reach / span).toFixed(1)}%` });
    return element("td", { class: outcome.agrees ? "good" : "bad", colspan: span, title: `${outcome.quantity}, ${outcome.method}: sample ${outcome.state}` }, bar, element("span", {}, `${outcome.agrees ? "" : "✗ "}${sized(outcome.error)}`));
  }

  notes() {
    const { notes } = this.report;
    if (!notes.length) return;
    const list = element("ul", { class: "notes" });
    for (const note of notes) list.append(element("li", {}, note));
    this.section(`Notes (${notes.length})`, "notes").append(list);
  }

  redraw() {
    for (const map of this.maps) map.draw();
    this.redrawBars();
    if (this.dots) this.dots.draw();
  }

  redrawBars() {
    for (const [bar, scale] of this.bars || []) drawScale(bar, scale());
  }
}

function sized(error) {
  return error === null ? "∞" : error === 0 ? "0" : error.toExponential(1);
}

function largestOf(values) {
  let largest = 0;
  for (const x of values) if (Math.abs(x) > largest) largest = Math.abs(x);
  return largest;
}
