// What all pages share: elements, numbers as text, packed arrays, canvases in the screen's pixels, light and dark.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function figures(x, digits = 4) {
  return Number.isFinite(x) ? String(Number(x.toPrecision(digits))) : "–";
}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflated(base64) {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

// Arrays packed by Python become {shape, data: Float64Array}, wherever they stand.
async function unpacked(value) {
  if (Array.isArray(value)) return value.length && typeof value[0] === "object" ? Promise.all(value.map(unpacked)) : value;
  if (value === null || typeof value !== "object") return value;
  if (value.deflated !== undefined) return { shape: value.shape, data: new Float64Array(await inflated(value.deflated)) };
  const entries = await Promise.all(Object.entries(value).map(async ([key, one]) => [key, await unpacked(one)]));
  return Object.fromEntries(entries);
}

// A number for a tick or a cell.
function brief(x) {
  if (x === 0) return "0";
  return Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5 ? x.toExponential(1).replace(".0e", "e").replace("e+", "e") : figures(x, 2);
}

function mixed(from, to, t) {
  return [0, 1, 2].map((k) => Math.round(from[k] + (to[k] - from[k]) * t));
}

// Sized to the place it has on the page, in the screen's own pixels; null where it has none.
// many: of thousands of small marks, which a processor draws faster than it tells a graphics card of them.
function fitted(canvas, width, height, many = false) {
  if (!width || !height) return null;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d", many ? { willReadFrequently: true } : undefined);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// Light or dark: as asked, else as the browser has it, until the button is pressed. Returns what the button does.
function themed(asked, changed) {
  const set = (dark) => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    changed(dark);
  };
  set(asked ? asked === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches);
  const flip = () => set(document.documentElement.dataset.theme !== "dark");
  document.getElementById("theme").addEventListener("click", flip);
  return flip;
}
