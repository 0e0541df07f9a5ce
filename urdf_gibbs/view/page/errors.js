// The error of every sample: one dot each on a log scale, a column for each quantity, a strip in it for each method.

class ErrorDots {
  constructor(report, onPick) {
    Object.assign(this, { report, onPick, dots: [], pointed: null });
    this.canvas = element("canvas", { class: "dots", role: "img", "aria-label": "relative errors of all samples on a log scale" });
    this.readout = element("p", { class: "readout" });
    this.rest();
    this.canvas.addEventListener("pointermove", (event) => this.point(this.nearest(event)));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.canvas.addEventListener("click", (event) => {
      const dot = this.nearest(event);
      if (dot) onPick(dot.sample);
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  legend() {
    const { methods, colours } = this.report;
    const list = element("p", { class: "hint legend" });
    methods.forEach((method, k) => list.append(element("span", {}, element("span", { class: "swatch", style: `background:${colours[k % 7]}` }), method)));
    return list;
  }

  rest() {
    const click = this.report.states ? " Click one: the robot stands as in that sample." : "";
    this.readout.textContent = `Each dot is one sample, from left to right. Point at one.${click}`;
  }

  range() {
    let low = 1e-16, high = this.report.tolerance;
    for (const { errors } of this.report.outcomes) {
      for (const error of errors.data) {
        if (!(error > 0) || error === Infinity) continue;
        low = Math.min(low, error);
        high = Math.max(high, error);
      }
    }
    return [Math.max(-40, Math.floor(Math.log10(low))), Math.ceil(Math.log10(high) + 0.2)];
  }

  draw() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    const context = fitted(this.canvas, width, height);
    if (!context) return;
    const { quantities, methods, outcomes, colours, tolerance } = this.report;
    const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue(name);
    const left = 40, right = 4, foot = 34, zero = height - foot - 9, top = 22;
    const [low, high] = this.range();
    const y = (error) => (error === 0 ? zero : error === Infinity ? 10 : zero - 12 - (Math.log10(error) - low) / (high - low) * (zero - 12 - top));
    const wide = (width - left - right) / Math.max(1, quantities.length);
    context.font = "10px system-ui, sans-serif";
    quantities.forEach((quantity, k) => {
      context.fillStyle = of("--soft");
      if (k % 2 === 0) context.fillRect(left + k * wide, 0, wide, height - foot);
      context.fillStyle = of("--dim");
      context.textAlign = "center";
      quantity.split(" ").slice(0, 3).forEach((word, line, words) => {
        const text = words.length === 3 && line === 0 ? `${word} ${words[1]}` : word; // "centre of" above "mass"
        if (words.length < 3 || line !== 1) context.fillText(text, left + (k + 0.5) * wide, height - foot + 13 + 12 * Math.min(line, 1), wide - 1);
      });
    });
    context.textAlign = "right";
    context.strokeStyle = of("--line");
    context.lineWidth = 1;
    const line = (at, label, dash = []) => {
      context.setLineDash(dash);
      context.beginPath();
      context.moveTo(left, Math.round(at) + 0.5);
      context.lineTo(width - right, Math.round(at) + 0.5);
      context.stroke();
      context.fillText(label, left - 4, at + 3.5);
    };
    context.fillStyle = of("--dim");
    const step = Math.max(2, Math.ceil((high - low) / 5));
    for (let decade = low; decade <= high; decade += step) if (Math.abs(decade - Math.log10(tolerance)) > 0.6) line(y(10 ** decade), `1e${decade}`);
    line(zero, "0");
    if (outcomes.some(({ errors }) => errors.data.includes(Infinity))) line(y(Infinity), "∞");
    context.strokeStyle = context.fillStyle = of("--warn");
    line(y(tolerance), `1e${Math.round(Math.log10(tolerance))}`, [5, 4]);
    context.setLineDash([]);
    context.textAlign = "left";
    context.fillText("tolerance", left + 4, y(tolerance) - 4);
    this.dots = [];
    for (const outcome of outcomes) {
      const column = quantities.indexOf(outcome.quantity);
      const mine = methods.filter((method) => outcomes.some((one) => one.method === method && one.quantity === outcome.quantity));
      const strip = (wide - 8) / mine.length, start = left + column * wide + 4 + mine.indexOf(outcome.method) * strip;
      const samples = outcome.errors.data.length;
      if (samples && outcome.agrees && outcome.errors.data.every(Number.isNaN)) {
        if (mine[0] !== outcome.method) continue;
        context.fillStyle = of("--dim");
        context.textAlign = "center";
        ["does not", "exist"].forEach((word, k) => context.fillText(word, left + (column + 0.5) * wide, zero - 34 + 12 * k, wide - 2));
        continue;
      }
      context.fillStyle = colours[methods.indexOf(outcome.method) % 7];
      outcome.errors.data.forEach((error, sample) => {
        if (Number.isNaN(error)) return;
        const dot = { outcome, sample, error, x: start + (sample + 0.5) / samples * strip, y: y(error) };
        this.dots.push(dot);
        context.globalAlpha = samples > 100 ? 0.4 : 0.85;
        context.beginPath();
        context.arc(dot.x, dot.y, error > tolerance && !outcome.agrees ? 3 : 1.8, 0, 7);
        context.fill();
      });
    }
    context.globalAlpha = 1;
    if (!this.pointed) return;
    context.strokeStyle = of("--text");
    context.beginPath();
    context.arc(this.pointed.x, this.pointed.y, 5, 0, 7);
    context.stroke();
  }

  nearest(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    let found = null, best = 12;
    for (const dot of this.dots) {
      const far = Math.hypot(dot.x - x, dot.y - y);
      if (far < best) [found, best] = [dot, far];
    }
    return found;
  }

  point(dot) {
    if (dot === this.pointed) return;
    this.pointed = dot;
    this.draw();
    if (!dot) this.rest();
    else this.readout.textContent = `${dot.outcome.quantity}, ${dot.outcome.method}, sample ${dot.sample}: relative error ${dot.error === Infinity ? "∞" : dot.error}`;
  }
}
