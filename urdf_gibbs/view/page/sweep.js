// A sweep: what is chosen, kept and pointed at; the drawings ask it. document.body.dataset.state = "ready" when all is drawn.

class Sweep {
  constructor(data) {
    this.data = data;
    this.columns = data.columns.map((one) => new Column(one));
    this.count = data.runs.data.length;
    this.failed = data.failed.data;
    this.kept = new Array(this.count).fill(true);
    Object.assign(this, { pointed: -1, chosen: -1, statistic: "mean" });
    this.choices();
    this.drawings = [new Scatter(this), new CellMap(this), new Lines(this), new Histograms(this)];
    this.failures();
    themed(data.theme, () => this.draw());
    new ResizeObserver(() => this.draw()).observe(document.querySelector("main"));
  }

  choices() {
    const parameters = this.columns.filter((one) => one.parameter && one.varies), results = this.columns.filter((one) => !one.parameter && one.varies && one.name !== "run" && one.name !== "time");
    const all = [...parameters, ...results], first = { x: parameters[0] ?? all[0], y: parameters[1] ?? results[0], colour: (parameters[1] ? results[0] : results[1]) ?? results[0] };
    for (const [name, wanted] of Object.entries(first)) {
      this[name] = wanted ?? this.columns[0];
      const select = document.getElementById(name);
      select.append(...this.columns.map((column, k) => element("option", { value: k, selected: column === this[name] }, column.name)));
      select.addEventListener("change", () => { this[name] = this.columns[select.value]; this.draw(); });
    }
    const select = document.getElementById("statistic");
    select.append(...Object.keys(STATISTICS).map((name) => element("option", { value: name }, name)));
    select.addEventListener("change", () => { this.statistic = select.value; this.draw(); });
    this.told();
  }

  told() {
    const kept = this.kept.reduce((sum, one) => sum + one, 0);
    document.getElementById("kept").textContent = kept < this.count ? `${kept} of ${this.count} runs kept` : `${this.count} runs`;
  }

  draw() {
    if (this.drawings) for (const drawing of this.drawings) drawing.draw();
  }

  // Keep the runs in these ranges of columns.
  keep(ranges) {
    for (let k = 0; k < this.count; k++) this.kept[k] = [...ranges].every(([column, [low, high]]) => column.part(column.values[k]) >= low && column.part(column.values[k]) <= high);
    this.told();
    this.draw();
  }

  point(k) {
    if (k === this.pointed) return;
    this.pointed = k;
    this.drawings[0].draw();
  }

  choose(k) {
    if (k < 0) return;
    this.chosen = k;
    const run = this.data.runs.data[k], error = this.data.errors[run];
    const entries = this.columns.filter((one) => one.name !== "run").map((column) => element("div", {}, element("dt", { title: column.title }, column.title), element("dd", {}, column.text(column.values[k], 8))));
    const parts = [element("h2", {}, `Run ${run}`), element("dl", {}, ...entries)];
    if (this.failed[k]) parts.push(element("p", { class: "error" }, error ?? "failed"));
    const command = this.data.command.replace("{run}", run);
    if (this.data.live) parts.push(element("iframe", { src: `run/${run}`, title: `run ${run} in 3-D` }), element("p", {}, element("a", { href: `run/${run}`, target: "_blank" }, "in a tab of its own")));
    else parts.push(element("p", { class: "hint" }, "Run again, bit by bit, and played in 3-D by"), element("pre", { id: "command" }, command), " ", element("button", { type: "button", onclick: () => navigator.clipboard?.writeText(command) }, "copy"));
    document.getElementById("run").replaceChildren(...parts);
    this.draw();
  }

  failures() {
    const places = new Map([...this.data.runs.data].map((run, k) => [run, k])), errors = Object.entries(this.data.errors);
    if (!errors.length) return;
    const rows = errors.map(([run, error]) => element("li", { tabindex: 0, role: "button", onclick: () => this.choose(places.get(Number(run)) ?? -1) }, `${run}: ${error}`));
    document.getElementById("failures").append(element("h2", {}, `Not complete (${this.data.failures}${errors.length < this.data.failures ? `, the first ${errors.length}` : ""})`), element("ul", {}, ...rows));
  }
}

async function start() {
  const data = await unpacked(JSON.parse(document.getElementById("page-data").textContent));
  document.getElementById("note").textContent = data.notes.join(" ");
  window.urdfGibbs = { data, sweep: new Sweep(data) };
  requestAnimationFrame(() => requestAnimationFrame(() => { document.body.dataset.state = "ready"; }));
}

start().catch((problem) => {
  document.body.dataset.state = "failed";
  document.getElementById("note").textContent = `This page could not be drawn: ${problem.message}`;
  console.error(problem);
});
