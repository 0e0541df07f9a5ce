// The drawings of a sweep: dots, cells, lines through all axes, histograms. Each is told the sweep, which knows what is chosen and kept.

class Scatter {
  constructor(sweep) {
    this.sweep = sweep;
    this.canvas = document.getElementById("scatter");
    this.canvas.addEventListener("pointermove", (event) => sweep.point(this.nearest(event)));
    this.canvas.addEventListener("pointerleave", () => sweep.point(-1));
    this.canvas.addEventListener("click", (event) => sweep.choose(this.nearest(event)));
    this.canvas.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) sweep.choose((sweep.chosen + step + sweep.count) % sweep.count);
    });
  }

  draw() {
    const { x, y, colour, kept, failed, count } = this.sweep;
    const frame = this.frame = new Frame(this.canvas, widened(x), widened(y));
    if (!frame.context) return;
    const size = count > 5000 ? 2.5 : count > 800 ? 4 : 6, pen = frame.context, warn = css("--warn"), none = css("--line");
    document.getElementById("scatter-title").textContent = `${y.title} over ${x.title}, one dot a run`;
    for (let k = 0; k < count; k++) {
      const px = frame.x(x.values[k]), py = frame.y(y.values[k]);
      if (!kept[k] || !Number.isFinite(px + py)) continue;
      const value = colour.values[k];
      pen.fillStyle = Number.isFinite(value) ? shade(colour.part(value)) : none;
      if (failed[k]) {
        pen.strokeStyle = warn;
        pen.beginPath();
        pen.moveTo(px - 4, py - 4);
        pen.lineTo(px + 4, py + 4);
        pen.moveTo(px - 4, py + 4);
        pen.lineTo(px + 4, py - 4);
        pen.stroke();
      } else pen.fillRect(px - size / 2, py - size / 2, size, size);
    }
    for (const [k, radius] of [[this.sweep.pointed, 6], [this.sweep.chosen, 9]]) {
      if (k < 0) continue;
      pen.strokeStyle = css("--text");
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.arc(frame.x(x.values[k]), frame.y(y.values[k]), radius, 0, 7);
      pen.stroke();
    }
  }

  nearest(event) {
    const { x, y, kept, count } = this.sweep, box = this.canvas.getBoundingClientRect();
    let found = -1, least = 20 ** 2; // px
    for (let k = 0; k < count; k++) {
      if (!kept[k]) continue;
      const square = (this.frame.x(x.values[k]) + box.left - event.clientX) ** 2 + (this.frame.y(y.values[k]) + box.top - event.clientY) ** 2;
      if (square < least) [found, least] = [k, square];
    }
    return found;
  }
}

const STATISTICS = {
  mean: (list) => list.reduce((sum, x) => sum + x, 0) / list.length,
  least: (list) => list.reduce((a, b) => Math.min(a, b)),
  greatest: (list) => list.reduce((a, b) => Math.max(a, b)),
  "how many": (list) => list.length,
};

class CellMap {
  constructor(sweep) {
    this.sweep = sweep;
    this.canvas = document.getElementById("map");
    this.canvas.addEventListener("pointermove", (event) => this.tell(event));
    this.canvas.addEventListener("pointerleave", () => this.title());
  }

  title(text = "") {
    const { x, y, colour, statistic } = this.sweep;
    document.getElementById("map-title").textContent = text || (statistic === "how many" ? "runs" : `${statistic} of ${colour.title}`) + ` over ${x.name} and ${y.name}`;
  }

  draw() {
    const { x, y, colour, kept, count, statistic } = this.sweep;
    const across = ofCells(x), up = ofCells(y), frame = this.frame = new Frame(this.canvas, across, up);
    if (!frame.context) return;
    this.title();
    this.across = across.edges;
    this.up = up.edges;
    const lists = new Map();
    for (let k = 0; k < count; k++) {
      const i = cellOf(this.across, x.values[k]), j = cellOf(this.up, y.values[k]);
      if (!kept[k] || i < 0 || j < 0 || !Number.isFinite(colour.values[k])) continue;
      const key = j * this.across.length + i;
      if (!lists.has(key)) lists.set(key, []);
      lists.get(key).push(colour.values[k]);
    }
    this.cells = new Map([...lists].map(([key, list]) => [key, [STATISTICS[statistic](list), list.length]]));
    const values = [...this.cells.values()].map(([value]) => value);
    this.range = statistic === "how many" ? [0, Math.max(1, ...values)] : [colour.low, colour.high];
    const pen = frame.context;
    pen.fillStyle = css("--soft");
    pen.fillRect(...frame.box);
    for (const [key, [value]] of this.cells) {
      const i = key % this.across.length, j = (key - i) / this.across.length;
      const left = frame.x(this.across[i]), right = frame.x(this.across[i + 1]), top = frame.y(this.up[j + 1]), low = frame.y(this.up[j]);
      const [from, to] = this.range;
      pen.fillStyle = shade(to > from ? (value - from) / (to - from) : 0.5);
      pen.fillRect(left, top, right - left + 0.3, low - top + 0.3);
    }
    this.scale();
  }

  scale() {
    const canvas = document.getElementById("scale"), width = canvas.clientWidth, pen = fitted(canvas, width, 30);
    if (!pen) return;
    const { colour, statistic } = this.sweep;
    for (let x = 0; x < width; x++) {
      pen.fillStyle = shade(x / width);
      pen.fillRect(x, 0, 1, 12);
    }
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = css("--dim");
    const [low, high] = this.range, words = statistic !== "how many" && colour.words;
    for (const [text, at, align] of [[words ? words[0] : figures(low, 5), 0, "left"], [statistic === "how many" ? "runs" : colour.title, width / 2, "center"], [words ? words.at(-1) : figures(high, 5), width, "right"]]) {
      pen.textAlign = align;
      pen.fillText(text, at, 25, width / 3);
    }
  }

  tell(event) {
    const box = this.canvas.getBoundingClientRect(), [left, top, wide, tall] = this.frame.box;
    const part = [(event.clientX - box.left - left) / wide, 1 - (event.clientY - box.top - top) / tall];
    const at = (edges, share) => edges[0] + share * (edges.at(-1) - edges[0]);
    const i = cellOf(this.across, at(this.across, part[0])), j = cellOf(this.up, at(this.up, part[1]));
    const found = i >= 0 && j >= 0 && this.cells.get(j * this.across.length + i);
    if (!found) return this.title();
    const { x, y, colour, statistic } = this.sweep, between = (edges, k) => `${figures(edges[k], 4)} to ${figures(edges[k + 1], 4)}`;
    const where = (column, edges, k) => `${column.name} ${column.levels && column.levels.length > 1 ? column.text(column.levels[k], 4) : between(edges, k)}`;
    return this.title(`${where(x, this.across, i)}, ${where(y, this.up, j)}: ${statistic === "how many" ? "" : `${statistic} ${figures(found[0], 5)} of `}${found[1]} run${found[1] === 1 ? "" : "s"}${statistic === "how many" ? "" : `, ${colour.name}`}`);
  }
}

const TOP = 46; // px above the axes, for two rows of names and the greatest values

// Parallel coordinates: an axis for each column that differs between runs; a range of an axis keeps the runs that are in it.
class Lines {
  constructor(sweep) {
    this.sweep = sweep;
    this.columns = sweep.columns.filter((one) => one.varies && one.name !== "run");
    this.ranges = new Map(); // column -> [low, high] in parts
    this.canvas = document.getElementById("lines");
    this.canvas.addEventListener("pointerdown", (event) => this.begin(event));
    this.canvas.addEventListener("pointermove", (event) => this.drag(event));
    this.canvas.addEventListener("pointerup", () => this.end());
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    const k = Math.round((event.clientX - box.left - 40) / this.step), share = 1 - (event.clientY - box.top - TOP) / this.tall;
    return [this.columns[Math.max(0, Math.min(this.columns.length - 1, k))], Math.max(0, Math.min(1, share))];
  }

  begin(event) {
    if (!this.columns.length) return;
    const [column, share] = this.place(event);
    this.held = [column, share, share];
    this.canvas.setPointerCapture(event.pointerId);
  }

  drag(event) {
    if (!this.held) return;
    this.held[2] = this.place(event)[1];
    const [column, from, to] = this.held;
    if (Math.abs(to - from) > 0.01) this.ranges.set(column, [Math.min(from, to), Math.max(from, to)]);
    this.draw();
  }

  end() {
    if (!this.held) return;
    const [column, from, to] = this.held;
    if (Math.abs(to - from) <= 0.01) this.ranges.delete(column);
    this.held = null;
    this.sweep.keep(this.ranges);
  }

  draw() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight, pen = fitted(this.canvas, width, height, true);
    if (!pen || !this.columns.length) return;
    const { colour, kept, count } = this.sweep;
    this.step = (width - 80) / Math.max(1, this.columns.length - 1);
    this.tall = height - TOP - 20;
    const at = (column, x) => TOP + this.tall * (1 - column.part(x));
    const order = [...Array(count).keys()].filter((k) => kept[k]);
    pen.globalAlpha = Math.max(0.04, Math.min(0.8, 60 / Math.max(1, order.length)));
    const stride = Math.max(1, Math.ceil(order.length / 1500)); // more lines than that are one area
    for (let n = 0; n < order.length; n += stride) this.line(pen, order[n], at, shade(colour.part(colour.values[order[n]])));
    pen.globalAlpha = 1;
    if (this.sweep.chosen >= 0) {
      pen.lineWidth = 2.5;
      this.line(pen, this.sweep.chosen, at, css("--text"));
      pen.lineWidth = 1;
    }
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "center";
    this.columns.forEach((column, k) => {
      const x = 40 + k * this.step, range = this.ranges.get(column);
      pen.fillStyle = css("--dim");
      pen.fillRect(x - 0.5, TOP, 1, this.tall);
      if (range) {
        pen.fillStyle = css("--accent");
        pen.fillRect(x - 3, TOP + this.tall * (1 - range[1]), 6, this.tall * (range[1] - range[0]));
      }
      pen.fillStyle = css("--text");
      pen.fillText(column.name, x, k % 2 ? 12 : 26, Math.max(60, 1.9 * this.step));
      pen.fillStyle = css("--dim");
      pen.fillText(column.text(column.high, 4), x, TOP - 4, this.step);
      pen.fillText(column.text(column.low, 4), x, height - 6, this.step);
    });
  }

  line(pen, k, at, colour) {
    pen.strokeStyle = colour;
    pen.beginPath();
    let down = false;
    this.columns.forEach((column, n) => {
      const y = at(column, column.values[k]);
      if (!Number.isFinite(y)) down = false; // a gap where there is no value
      else if (down) pen.lineTo(40 + n * this.step, y);
      else {
        pen.moveTo(40 + n * this.step, y);
        down = true;
      }
    });
    pen.stroke();
  }
}

class Histograms {
  constructor(sweep) {
    this.sweep = sweep;
    const holder = document.getElementById("histograms");
    this.drawn = sweep.columns.filter((one) => one.varies && one.name !== "run").map((column) => {
      const canvas = element("canvas", { role: "img", "aria-label": `histogram of ${column.name}` });
      holder.append(element("figure", {}, element("figcaption", {}, column.title), canvas));
      return { column, canvas };
    });
  }

  counts(column) {
    const edges = column.edges(30), counts = new Array(edges.length - 1).fill(0);
    for (let k = 0; k < this.sweep.count; k++) {
      const cell = this.sweep.kept[k] ? cellOf(edges, column.values[k]) : -1;
      if (cell >= 0) counts[cell]++;
    }
    return { edges, counts };
  }

  draw() {
    for (const { column, canvas } of this.drawn) {
      const width = canvas.clientWidth, height = canvas.clientHeight, pen = fitted(canvas, width, height);
      if (!pen) continue;
      const { edges, counts } = this.counts(column), most = Math.max(1, ...counts), span = edges.at(-1) - edges[0];
      const x = (value) => (value - edges[0]) / span * (width - 2) + 1, tall = height - 18;
      counts.forEach((count, k) => {
        pen.fillStyle = css("--accent");
        const bar = count / most * (tall - 12);
        pen.fillRect(x(edges[k]) + 0.5, tall - bar, Math.max(1, x(edges[k + 1]) - x(edges[k]) - 1), bar);
      });
      pen.fillStyle = css("--dim");
      pen.font = "10px system-ui, sans-serif";
      pen.fillRect(0, tall, width, 1);
      pen.textAlign = "left";
      pen.fillText(column.text(column.low, 4), 1, height - 4);
      pen.fillText(`${most}`, 1, 9);
      pen.textAlign = "right";
      pen.fillText(column.text(column.high, 4), width - 1, height - 4);
      if (this.sweep.chosen >= 0 && Number.isFinite(column.values[this.sweep.chosen])) {
        pen.fillStyle = css("--warn");
        pen.fillRect(x(column.values[this.sweep.chosen]) - 1, 12, 2, tall - 12);
      }
    }
  }
}
