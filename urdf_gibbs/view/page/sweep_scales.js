// Columns of a sweep as places on an axis and as colours.

const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]]; // viridis: even in lightness, for all eyes
const MARGIN = { left: 58, right: 10, top: 8, bottom: 34 };

// A colour for a share from 0 to 1, as CSS has it; what is not there has that of lines.
function shade(t) {
  if (!Number.isFinite(t)) return css("--line");
  const at = Math.min(1, Math.max(0, t)) * (STOPS.length - 1), k = Math.min(STOPS.length - 2, Math.floor(at));
  return `rgb(${mixed(STOPS[k], STOPS[k + 1], at - k).join()})`;
}

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A column with numbers, or with words, which stand at 0, 1, 2, ...; what is not there is NaN.
class Column {
  constructor({ name, unit, words, values, parameter }) {
    Object.assign(this, { name, unit, words, parameter, values: values.data });
    let low = Infinity, high = -Infinity;
    for (const x of this.values) {
      if (x < low) low = x;
      if (x > high) high = x;
    }
    this.empty = low > high;
    [this.low, this.high] = this.empty ? [0, 1] : [low, high];
    const seen = new Set();
    for (const x of parameter || words ? this.values : []) {
      if (Number.isFinite(x)) seen.add(x);
      if (seen.size > 60) break;
    }
    this.levels = seen.size && seen.size <= 60 ? [...seen].sort((a, b) => a - b) : null; // of a grid: each is a cell of its own
  }

  get title() {
    return this.unit ? `${this.name} [${this.unit}]` : this.name;
  }

  get varies() {
    return !this.empty && this.high > this.low;
  }

  // Where a value is between the ends, 0 to 1.
  part(x) {
    return this.varies ? (x - this.low) / (this.high - this.low) : 0.5;
  }

  text(x, digits = 6) {
    if (!Number.isFinite(x)) return "–";
    return this.words ? this.words[x] : figures(x, digits);
  }

  // Round numbers between the ends, or the words: [value, label].
  ticks(most = 6) {
    if (this.words) return this.words.map((word, k) => [k, word.length > 10 ? `${word.slice(0, 9)}…` : word]).filter((_, k) => k % Math.ceil(this.words.length / most) === 0);
    if (!this.varies) return [[this.low, figures(this.low, 5)]];
    const rough = (this.high - this.low) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((one) => one >= rough);
    const found = [];
    for (let k = Math.ceil(this.low / step - 1e-9); k * step <= this.high + 1e-9 * step; k++) found.push([k * step, figures(k * step, 5)]);
    return found;
  }

  // Edges of the cells that values are counted in; the cells of levels reach half way to the next.
  edges(most = 40) {
    if (this.levels && this.levels.length > 1) {
      const levels = this.levels, middle = levels.slice(1).map((x, k) => (x + levels[k]) / 2);
      return [levels[0] - (middle[0] - levels[0]), ...middle, levels.at(-1) + (levels.at(-1) - middle.at(-1))];
    }
    if (!this.varies) return [this.low - 0.5, this.low + 0.5];
    const count = Math.max(4, Math.min(most, Math.round(Math.sqrt(this.values.length) / 2)));
    return Array.from({ length: count + 1 }, (_, k) => this.low + (this.high - this.low) * k / count);
  }
}

// The cell that a value is in; -1 where it is in none.
function cellOf(edges, x) {
  if (!(x >= edges[0] && x <= edges.at(-1))) return -1;
  let low = 0, high = edges.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (x >= edges[middle]) low = middle;
    else high = middle;
  }
  return low;
}

// Two axes with ticks and names around a rectangle; x and y give places of values.
class Frame {
  constructor(canvas, across, up) {
    const width = canvas.clientWidth, height = canvas.clientHeight;
    this.context = fitted(canvas, width, height, true);
    if (!this.context) return;
    Object.assign(this, { width, height });
    this.box = [MARGIN.left, MARGIN.top, width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
    const [left, top, wide, tall] = this.box;
    const [x0, x1] = across.range, [y0, y1] = up.range;
    this.x = (value) => left + (value - x0) / (x1 - x0) * wide;
    this.y = (value) => top + tall - (value - y0) / (y1 - y0) * tall;
    const pen = this.context;
    pen.font = "11px system-ui, sans-serif";
    pen.strokeStyle = css("--line");
    pen.fillStyle = css("--dim");
    pen.strokeRect(left + 0.5, top + 0.5, wide - 1, tall - 1);
    pen.textAlign = "center";
    for (const [value, label] of across.column.ticks()) {
      pen.fillRect(this.x(value), top + tall, 1, 4);
      pen.fillText(label, this.x(value), top + tall + 15, 90);
    }
    pen.fillText(across.title ?? across.column.title, left + wide / 2, height - 4, wide);
    pen.textAlign = "right";
    for (const [value, label] of up.column.ticks()) {
      pen.fillRect(left - 4, this.y(value), 4, 1);
      pen.fillText(label, left - 6, this.y(value) + 4, left - 18);
    }
    pen.save();
    pen.translate(11, top + tall / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    pen.fillText(up.title ?? up.column.title, 0, 0, tall);
    pen.restore();
  }
}

// The ends of an axis: a little beyond the values, or the outer edges of cells.
function widened(column) {
  if (!column.varies) return { column, range: [column.low - 0.5, column.low + 0.5] };
  const beyond = 0.03 * (column.high - column.low);
  return { column, range: [column.low - beyond, column.high + beyond] };
}

function ofCells(column) {
  const edges = column.edges();
  return { column, range: [edges[0], edges.at(-1)], edges };
}
