// Search without a server: browsers refuse workers of files, so the search runs in a hidden frame. The theme's own remedy comes from a CDN.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      this.inside = new Promise((ready) => {
        frame.onload = () => {
          const inside = frame.contentWindow;
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = inside.document.createElement("script");
          script.onload = () => ready(inside);
          script.src = url;
          inside.document.body.append(script);
        };
      });
      frame.hidden = true;
      frame.srcdoc = "<!doctype html><body></body>";
      document.body.append(frame);
    }
    postMessage(data) {
      this.inside.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
