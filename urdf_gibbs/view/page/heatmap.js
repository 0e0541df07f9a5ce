// Heat maps of square matrices: canvases that share one pointer, so that the same entry is seen in all of them.

const SPAN = 1e5; // of the signed scale: below max / SPAN colour is proportional to the value, above to its logarithm
const ENDS = {
  light: { zero: [255, 255, 255], minus: [0, 114, 178], plus: [213, 94, 0], difference: [138, 47, 106], can: [196, 206, 218], is: [27, 31, 36], wrong: [213, 94, 0], line: "#5b646f" },
  dark: { zero: [16, 18, 21], minus: [86, 180, 233], plus: [240, 140, 60], difference: [240, 166, 210], can: [62, 70, 80], is: [232, 234, 237], wrong: [230, 159, 0], line: "#a3abb6" },
};

function ends() {
  return ENDS[document.documentElement.dataset.theme === "dark" ? "dark" : "light"];
}

// Blue for negative, orange for positive values: the logarithm of 1 + |x| / (max / SPAN), so that zero has a place of its own.
class SignedScale {
  constructor(max) {
    this.max = max;
  }

  part(x) {
    return this.max > 0 ? Math.sign(x) * Math.log1p(Math.abs(x) * SPAN / this.max) / Math.log1p(SPAN) : 0;
  }

  colour(x) {
    if (!Number.isFinite(x)) return ends().wrong;
    const t = this.part(x);
    return mixed(ends().zero, t < 0 ? ends().minus : ends().plus, Math.abs(t));
  }

  ticks() {
    const places = [-1, -1e-2, -1e-4, 0, 1e-4, 1e-2, 1].map((share) => share * this.max);
    return this.max > 0 ? places.map((x) => [0.5 + 0.5 * this.part(x), brief(x)]) : [[0.5, "0"]];
  }

  at(place) { // the value at a place of the colour bar in 0..1
    const t = 2 * place - 1;
    return Math.sign(t) * Math.expm1(Math.abs(t) * Math.log1p(SPAN)) * this.max / SPAN;
  }
}

// log10 |x| from the smallest to the largest |x| there is; zero keeps the colour of zero.
class SizeScale {
  constructor(values) {
    let low = Infinity, high = 0;
    for (const x of values) {
      const size = Math.abs(x);
      if (size > 0 && size < low) low = size;
      if (size > high) high = size;
    }
    this.max = high;
    this.low = high > 0 ? Math.floor(Math.log10(Math.max(low, high * 1e-12))) : 0;
    this.high = high > 0 && Number.isFinite(high) ? Math.max(Math.ceil(Math.log10(high)), this.low + 1) : this.low + 1;
  }

  part(x) {
    if (x === 0) return 0;
    return 0.15 + 0.85 * Math.min(1, Math.max(0, (Math.log10(Math.abs(x)) - this.low) / (this.high - this.low)));
  }

  colour(x) {
    return Number.isFinite(x) ? mixed(ends().zero, ends().difference, this.part(x)) : ends().wrong;
  }

  ticks() {
    if (!this.max) return [[0, "0"]];
    const ticks = [[0, "0"]];
    const step = Math.max(1, Math.ceil((this.high - this.low) / 4));
    for (let decade = this.low; decade <= this.high; decade += step) ticks.push([0.15 + 0.85 * (decade - this.low) / (this.high - this.low), `1e${decade}`]);
    return ticks;
  }

  at(place) {
    return place < 0.15 || !this.max ? 0 : 10 ** (this.low + (this.high - this.low) * (place - 0.15) / 0.85);
  }
}

function drawScale(canvas, scale) {
  const width = canvas.clientWidth, style = getComputedStyle(document.documentElement);
  const context = fitted(canvas, width, 28);
  if (!context) return;
  for (let x = 0; x < width; x++) {
    context.fillStyle = `rgb(${scale.colour(scale.at((x + 0.5) / width)).join()})`;
    context.fillRect(x, 0, 1, 10);
  }
  context.strokeStyle = style.getPropertyValue("--line");
  context.strokeRect(0.5, 0.5, width - 1, 9);
  context.fillStyle = style.getPropertyValue("--dim");
  context.font = "10px system-ui, sans-serif";
  const taken = []; // labels do not run into each other; the outer ones and zero come first
  const ticks = scale.ticks(), first = ([place, label], k) => (k === 0 || k === ticks.length - 1 || label === "0" ? 0 : 1);
  for (const [place, label] of [0, 1].flatMap((turn) => ticks.filter((tick, k) => first(tick, k) === turn))) {
    const wide = context.measureText(label).width;
    const left = Math.min(width - wide, Math.max(0, place * width - wide / 2));
    context.fillRect(Math.min(width - 1, Math.round(place * width)), 10, 1, 4);
    if (taken.some(([from, to]) => left < to + 5 && left + wide + 5 > from)) continue;
    context.fillText(label, left, 25);
    taken.push([left, left + wide]);
  }
}

class HeatMap {
  // values: Float64Array (n * n); blocks: the same with 1 where the branches allow an entry, drawn as outlines.
  constructor(title, n, values, scale, blocks) {
    Object.assign(this, { n, values, scale, blocks, marked: [], pointer: null });
    this.canvas = element("canvas", { class: "map", tabindex: 0, role: "img", "aria-label": title });
    this.caption = element("figcaption", {}, title);
    this.figure = element("figure", {}, this.caption, this.canvas);
    this.base = document.createElement("canvas");
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  set(values, scale) {
    this.values = values;
    this.scale = scale;
    this.draw();
  }

  // The entry that stands for a pixel: its own, or the largest of those that share it.
  entries(pixels) {
    const n = this.n;
    return Array.from({ length: pixels }, (_, p) => {
      const first = Math.min(n - 1, Math.floor((p + (n > pixels ? 0 : 0.5)) * n / pixels));
      return [first, n > pixels ? Math.max(first + 1, Math.min(n, Math.ceil((p + 1) * n / pixels))) : first + 1];
    });
  }

  largest([top, bottom], [left, right]) {
    let found = top * this.n + left;
    if (bottom - top === 1 && right - left === 1) return found;
    for (let i = top; i < bottom; i++) {
      for (let j = left; j < right; j++) {
        const at = i * this.n + j;
        if (!(Math.abs(this.values[at]) <= Math.abs(this.values[found]))) found = at;
      }
    }
    return found;
  }

  draw() {
    const side = this.canvas.clientWidth;
    if (!side || !this.n) return;
    const context = fitted(this.base, side, side);
    const pixels = this.base.width;
    const image = context.createImageData(pixels, pixels);
    const spans = this.entries(pixels), colours = new Map();
    for (let y = 0, at = 0; y < pixels; y++) {
      for (let x = 0; x < pixels; x++, at += 4) {
        const entry = this.largest(spans[y], spans[x]);
        let rgb = colours.get(entry);
        if (!rgb) colours.set(entry, rgb = this.colour(entry));
        image.data[at] = rgb[0];
        image.data[at + 1] = rgb[1];
        image.data[at + 2] = rgb[2];
        image.data[at + 3] = 255;
      }
    }
    context.putImageData(image, 0, 0);
    this.side = side;
    this.cell = side / this.n;
    this.lines(context);
    if (this.cell >= 24 && this.print) this.numbers(context);
    this.refresh();
  }

  colour(entry) {
    return this.scale.colour(this.values[entry]);
  }

  // Outlines where what the branches allow meets what they do not.
  lines(context) {
    const { n, cell, blocks } = this;
    if (n > 1 && cell >= 10) {
      context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--line");
      context.lineWidth = 0.5;
      context.beginPath();
      for (let k = 1; k < n; k++) {
        context.moveTo(k * cell, 0);
        context.lineTo(k * cell, this.side);
        context.moveTo(0, k * cell);
        context.lineTo(this.side, k * cell);
      }
      context.stroke();
    }
    if (!blocks || cell < 1) return;
    context.strokeStyle = ends().line;
    context.lineWidth = cell >= 3 ? 1 : 0.5;
    context.beginPath();
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const here = blocks[i * n + j];
        if (j + 1 < n && here !== blocks[i * n + j + 1]) {
          context.moveTo((j + 1) * cell, i * cell);
          context.lineTo((j + 1) * cell, (i + 1) * cell);
        }
        if (i + 1 < n && here !== blocks[(i + 1) * n + j]) {
          context.moveTo(j * cell, (i + 1) * cell);
          context.lineTo((j + 1) * cell, (i + 1) * cell);
        }
      }
    }
    context.stroke();
  }

  // The values in their cells, where all of them fit.
  numbers(context) {
    const texts = Array.from(this.values, (x) => (x === 0 ? "" : this.print(x)));
    context.font = "10px system-ui, sans-serif";
    const widest = Math.max(...texts.map((text) => context.measureText(text).width));
    const size = Math.min(13, 10 * (this.cell - 5) / widest);
    if (size < 8) return;
    context.font = `${size}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    texts.forEach((text, k) => {
      const [r, g, b] = this.colour(k);
      context.fillStyle = 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#111" : "#fff";
      context.fillText(text, (k % this.n + 0.5) * this.cell, (Math.floor(k / this.n) + 0.5) * this.cell);
    });
  }

  // The finished image with the marks of what is pointed at and of what is lit.
  refresh() {
    if (!this.side) return;
    const context = fitted(this.canvas, this.side, this.side);
    if (!context) return;
    context.drawImage(this.base, 0, 0, this.side, this.side);
    context.strokeStyle = `rgb(${ends().is.join()})`;
    context.lineWidth = 1.5;
    const wide = Math.max(this.cell, 1);
    for (const k of this.marked) {
      context.strokeRect(0.75, k * this.cell, this.side - 1.5, wide);
      context.strokeRect(k * this.cell, 0.75, wide, this.side - 1.5);
    }
    if (!this.pointer) return;
    const [i, j] = this.pointer;
    context.strokeStyle = ends().line;
    context.lineWidth = 1;
    const x = (j + 0.5) * this.cell, y = (i + 0.5) * this.cell, gap = Math.max(wide / 2, 4);
    context.beginPath();
    for (const [from, to] of [[[0, y], [x - gap, y]], [[x + gap, y], [this.side, y]], [[x, 0], [x, y - gap]], [[x, y + gap], [x, this.side]]]) {
      context.moveTo(...from);
      context.lineTo(...to);
    }
    context.strokeRect(x - gap, y - gap, 2 * gap, 2 * gap);
    context.stroke();
  }

  // Row and column below the pointer.
  entryAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const index = (at, size) => Math.min(this.n - 1, Math.max(0, Math.floor(at * this.n / size)));
    const row = index(event.clientY - box.top, box.height), column = index(event.clientX - box.left, box.width);
    if (this.n <= this.base.width) return [row, column];
    const ratio = this.base.width / box.width, spans = this.entries(this.base.width);
    const span = (at) => spans[Math.min(spans.length - 1, Math.max(0, Math.floor(at * ratio)))];
    const found = this.largest(span(event.clientY - box.top), span(event.clientX - box.left));
    return [Math.floor(found / this.n), found % this.n];
  }
}
