// Asks /healthz every 5 ms from a thread of its own, so that the bench's work doesn't delay the requests.

/** Starts with an origin; each later message ends a phase, which is answered with the longest answer in ms since then. */
declare const self: Worker;

const EVERY_MS = 5;
let origin = "";
let longest = 0;
let sentAt = 0;

async function probe(): Promise<void> {
  for (;;) {
    sentAt = performance.now();
    await (await fetch(`${origin}/healthz`)).text();
    longest = Math.max(longest, performance.now() - sentAt);
    await Bun.sleep(EVERY_MS);
  }
}

self.onmessage = ({ data }: MessageEvent<{ origin: string } | "phase">) => {
  if (data !== "phase") {
    origin = data.origin;
    void probe();
    return;
  }
  self.postMessage(longest);
  longest = 0;
};
