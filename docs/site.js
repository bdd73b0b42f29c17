/* A browser forbids workers to a page from a disk: run the script of the search in a frame. */
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "Search";
      document.body.append(frame);
      const inner = frame.contentWindow;
      inner.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      inner.importScripts = (...urls) =>
        urls.reduce((before, one) => before.then(() => this.load(one)), Promise.resolve());
      this.frame = frame;
      this.ready = this.load(url);
    }
    load(url) {
      return new Promise((done) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = url;
        script.onload = done;
        this.frame.contentDocument.body.append(script);
      });
    }
    postMessage(data) {
      this.ready.then(() =>
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })),
      );
    }
    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}

/* Wide tables can be scrolled with the keyboard. */
addEventListener("load", () => {
  for (const one of document.querySelectorAll(".md-typeset__scrollwrap")) one.tabIndex = 0;
});
