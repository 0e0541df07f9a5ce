// Start: read the data, build the stage, and say when everything is drawn (document.body.dataset.state = "ready").

function commandsOf(buffer) {
  const view = new DataView(buffer);
  const commands = [];
  for (let at = 0; at < buffer.byteLength;) {
    const length = view.getUint32(at, true);
    commands.push(new Uint8Array(buffer.slice(at + 4, at + 4 + length))); // own buffer: typed arrays inside need their alignment
    at += 4 + length;
  }
  return commands;
}

async function start() {
  const data = await unpacked(JSON.parse(document.getElementById("page-data").textContent));
  const commands = commandsOf(await inflated(document.getElementById("page-scene").textContent));
  const stage = new Stage(data, commands);
  const overlays = new Overlays(stage);
  const motion = data.motion ? new Motion(stage, overlays) : null;
  const panel = new Panel(stage, overlays);
  if (motion) motion.attach(panel);
  const report = data.report ? new Report(stage, panel) : null;
  const socket = data.live ? listen(stage) : null;
  window.urdfGibbs = { data, stage, overlays, panel, motion, report, socket };
  requestAnimationFrame(() => requestAnimationFrame(() => { document.body.dataset.state = "ready"; }));
}

// A page served by Python follows what Python sends: {q: [...]}.
function listen(stage) {
  const socket = new WebSocket(`ws://${location.host}/live`);
  socket.onmessage = (message) => {
    const sent = JSON.parse(message.data);
    if (sent.q) stage.apply(sent.q);
  };
  socket.onclose = () => { document.getElementById("note").textContent = "The Python process has ended; the page goes on by itself."; };
  return socket;
}

start().catch((problem) => {
  document.body.dataset.state = "failed";
  document.getElementById("note").textContent = `This page could not be drawn: ${problem.message}`;
  console.error(problem);
});
