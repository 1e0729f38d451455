// Measures 200 paced streams at once: the time to the first frame, and whether every frame arrives.

import { type Benchmark, median, ms } from "./support/figures.ts";
import { startBare, startService, startUpstream } from "./support/service.ts";
import { readStreams, type Streams } from "./support/streams.ts";

const STREAMS = 200;
const FRAMES = 50;
const PACE_MS = 20;
const ROUNDS = 3;

const body = { model: "provider_3:fake-small", stream: true, messages: [{ role: "user", content: "Hello there" }] };

export const sse: Benchmark = {
  name: "sse",
  summary: "200 paced streams at once through /api/ai/chat",
  async run() {
    await using upstream = await startUpstream("--pace", String(PACE_MS), "--chunks", String(FRAMES));
    const address = `${upstream.origin}/v1/chat/completions`;
    await using proxy = await startBare("proxy", address);
    await using berth = await startService(upstream);

    const expected = await fetch(address, { method: "POST", body: JSON.stringify({ ...body, model: "fake-small" }) });
    const text = await expected.text();
    const frames = framesOf(text);
    const found: { proxy: Streams[]; berth: Streams[] } = { proxy: [], berth: [] };
    let lost = 0;
    const check = (streams: Streams) => {
      for (const { text: got, count } of streams.bodies) if (got !== text) lost += count * missing(frames, got);
    };
    for (let round = 0; round <= ROUNDS; round++) {
      const plain = await readStreams(proxy.origin, { method: "POST", path: "/", body }, STREAMS);
      const ours = await readStreams(berth.backend, { method: "POST", path: "/api/ai/chat", body }, STREAMS);
      check(ours);
      // The first round is a warm-up, but must be complete, too.
      if (round > 0) {
        found.proxy.push(plain);
        found.berth.push(ours);
      }
    }
    const p99 = (of: Streams[]) => median(of.map((streams) => streams.p99));
    const ratio = p99(found.berth) / p99(found.proxy);
    const sent = STREAMS * (ROUNDS + 1) * frames.length;
    return [
      {
        what: `p99 to the first token, ${STREAMS} streams opened at once`,
        ratio,
        figure: ms(p99(found.berth)),
        baseline: `${ms(p99(found.proxy))} bare proxy`,
        goal: "≤ 3×",
        met: ratio <= 3,
      },
      {
        what: "frames lost or changed",
        figure: `${lost} of ${sent.toLocaleString("en")}`,
        baseline: "byte for byte the upstream's",
        goal: "0",
        met: lost === 0,
      },
    ];
  },
};

const framesOf = (text: string) => text.split("\n\n").filter((frame) => frame !== "");

/** Number of missing frames; at least one, since the texts differ. */
function missing(frames: string[], got: string): number {
  const received = new Set(framesOf(got));
  return Math.max(1, frames.filter((frame) => !received.has(frame)).length);
}
