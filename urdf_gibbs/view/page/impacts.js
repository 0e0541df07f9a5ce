// The list of impacts: what struck what and how hard. Of many the largest ones; all of them are one click away, and so is every contact.

const LARGEST = 12; // impacts of a longer list that are shown first

// The contacts of an impact, those that were struck before those that lasted and only carried, the largest first.
function ordered(impact) {
  return impact.points.map((_, i) => i).sort((i, j) => impact.held[i] - impact.held[j] || Math.abs(impact.impulses[j]) - Math.abs(impact.impulses[i]));
}

function blow(impact, i) {
  return `${impact.points[i]}${impact.walls[i] ? " on " + impact.walls[i] : ""} ${figures(impact.impulses[i])} ${impact.units[i]}`;
}

// The three largest in words, and how many more there are.
function blows(impact) {
  const order = ordered(impact), struck = order.filter((i) => !impact.held[i]), told = (struck.length ? struck : order).slice(0, 3);
  const more = Math.max(0, struck.length - 3) + impact.left_out, held = struck.length ? impact.held.filter(Boolean).length : Math.max(0, order.length - 3);
  return told.map((i) => blow(impact, i)).join(", ") + (more ? ` and ${more} more` : "") + (held ? ` (${held} held)` : "");
}

// The largest blow [N s]; of impacts at limits alone, theirs [N m s].
function strength(impact) {
  const of = (known) => Math.max(0, ...impact.impulses.map((x, i) => (impact.held[i] || Boolean(impact.positions[i]) !== known ? 0 : Math.abs(x))));
  return of(true) || of(false);
}

class ImpactList {
  constructor(motion) {
    this.motion = motion;
    this.impacts = motion.impacts;
    this.rows = new Map();
    this.all = this.impacts.length <= LARGEST;
    const box = section(`Impacts (${motion.count()})`, true, "impacts");
    if (!this.all) {
      this.button = element("button", { id: "all-impacts", onclick: () => { this.all = !this.all; this.fill(); } });
      box.append(element("div", { class: "buttons" }, this.button));
    }
    this.list = element("ul", { class: "findings" });
    this.table = element("table", { class: "contacts" });
    this.contacts = element("details", { id: "contacts" }, element("summary", {}, "All contacts of this impact"), this.table);
    box.append(this.list, this.contacts);
    this.contacts.hidden = true;
    this.fill();
  }

  fill() {
    let shown = this.impacts.map((_, i) => i);
    if (!this.all) shown = shown.sort((i, j) => strength(this.impacts[j]) - strength(this.impacts[i])).slice(0, LARGEST);
    const listed = shown.slice(0, 500);
    this.rows = new Map(listed.map((i) => [i, this.row(i)]));
    this.list.replaceChildren(...this.rows.values());
    if (shown.length > listed.length) this.list.append(element("li", {}, `and ${shown.length - listed.length} more: on the strip`));
    if (this.button) this.button.textContent = this.all ? `the ${LARGEST} largest` : `all ${this.impacts.length}, in order`;
    this.choose(this.motion.flash === undefined || this.motion.flash === null ? -1 : this.motion.flash);
  }

  row(i) {
    const impact = this.impacts[i];
    const made = choice(() => { this.motion.pause(); this.motion.seek(impact.t); }, `${impact.t.toFixed(4)} s: ${blows(impact)}`);
    made.classList.toggle("chosen", i === this.motion.flash);
    return made;
  }

  choose(index) {
    if (this.extra) this.extra.remove();
    for (const [i, row] of this.rows) row.classList.toggle("chosen", i === index);
    if (index >= 0 && !this.rows.has(index)) this.list.prepend((this.extra = this.row(index))); // none of the largest, but the one in sight
    this.bringIntoSight(this.rows.get(index) || (index >= 0 ? this.extra : null));
    this.contacts.hidden = index < 0;
    if (index < 0) return;
    const impact = this.impacts[index];
    const cells = (tag, ...texts) => element("tr", {}, ...texts.map((text) => element(tag, {}, text)));
    this.table.replaceChildren(cells("th", "contact", "wall or limit", "impulse", "speed before"), ...ordered(impact).map((i) => {
      const unit = impact.units[i] === "N s" ? "m/s" : "rad/s";
      return cells("td", impact.points[i], impact.walls[i], `${figures(impact.impulses[i])} ${impact.units[i]}`, impact.held[i] ? "held" : `${figures(-impact.speeds[i])} ${unit}`);
    }));
  }

  // Scrolls the list, and nothing else.
  bringIntoSight(row) {
    if (!row) return;
    const list = row.parentElement, box = list.getBoundingClientRect(), own = row.getBoundingClientRect();
    if (own.top < box.top) list.scrollTop -= box.top - own.top;
    if (own.bottom > box.bottom) list.scrollTop += own.bottom - box.bottom;
  }
}
