// Poses by a button: where the page started, zero, the middle of the limits, random ones; and q as Python has it.

const FREE = 180; // degrees to either side where a joint has no limits

class Poses {
  constructor(panel, box) {
    this.panel = panel;
    this.stage = panel.stage;
    const { q, neutral } = this.stage.robot;
    const ways = [["start", "7", "as the page was opened", () => q.slice()], ["zero", "0", "all joints to zero", () => neutral.slice()],
      ["mid", "8", "the middle of all limits", () => this.within(() => 0.5, true)], ["random", "9", "random joints, the base stays", () => this.within(Math.random)]];
    this.text = element("input", { id: "q-text", readonly: true, "aria-label": "q as a Python list", onfocus: () => this.text.select() });
    const copy = element("button", { id: "copy-q", onclick: () => this.copy() }, "copy q");
    box.append(element("div", { class: "buttons" }, ...ways.map(([name, , , make]) => element("button", { id: `${name}-pose`, onclick: () => panel.move(make()) }, name)), copy), this.text);
    for (const [, key, label, make] of ways) panel.bind(key, label, () => panel.move(make()));
    panel.bind("q", "copy q", () => this.copy());
    this.button = copy;
    this.stage.onMove((now) => { this.text.value = `[${Array.from(now).join(", ")}]`; });
  }

  // Each joint where a share in 0..1 of its slider is, or of all its limits; a free base and links that bend stay as they are.
  within(share, all = false) {
    const q = this.stage.q.slice();
    for (const joint of this.stage.robot.joints) {
      if (joint.master || joint.type === "floating" || joint.type === "planar" || joint.type === "elastic") continue;
      for (const part of this.panel.parts(joint)) {
        const [low, high] = part.limits ? (all ? part.limits : [part.low, part.high]) : part.unit === "°" ? [-FREE, FREE] : [0, 0];
        part.set(q, (low + share() * (high - low)) * part.factor);
      }
    }
    return q;
  }

  async copy() {
    let done = false;
    try {
      await navigator.clipboard.writeText(this.text.value);
      done = true;
    } catch { // pages inside others are not allowed to
      this.text.focus();
      done = document.execCommand("copy");
    }
    this.button.textContent = done ? "copied" : "copy it from below";
    setTimeout(() => { this.button.textContent = "copy q"; }, 1500);
  }
}
