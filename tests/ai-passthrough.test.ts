// The pass-through API loses and changes no byte between provider and client: whole responses, streams, slow readers; and it
// ends upstream calls when a client disconnects.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type Berth, startBerth } from "./support/berth.ts";
import { completions, streams } from "./support/provider-responses.ts";
import { startUpstream } from "./support/upstream.ts";

/** Frames for each of the two hundred clients, a kilobyte each. */
const FRAMES = 400;
const numbered = Array.from({ length: FRAMES }, (_, n) => {
  const content = `${n} ${"x".repeat(1000)}`;
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
}).concat("data: [DONE]\n\n");

/** How the provider sends a response: whole with its length, in pieces, or frame by frame as fast as possible. */
type Manner = "whole" | "pieces" | "frames";

let provider: Bun.Server<undefined>;
let berth: Berth;

beforeAll(async () => {
  provider = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: answer });
  const env = { PROVIDER_3_BASE_URL: `http://127.0.0.1:${provider.port}/v1`, RATE_LIMITS: "off" };
  berth = await startBerth({ env });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await provider?.stop(true);
});

async function answer(request: Request): Promise<Response> {
  if (request.method === "GET") return Response.json({ object: "list", data: [{ id: "m" }] });
  const { user } = (await request.json()) as { user: string };
  const [manner, number] = user.split(" ");
  const n = Number(number);
  if (manner === "whole") return new Response(completions[n], { headers: { "content-type": "application/json" } });
  const frames = n < 0 ? numbered : (streams[n] ?? []);
  const bytes = Buffer.from(manner === "pieces" ? (completions[n] ?? "") : frames.join(""));
  return new Response(inPieces(bytes, manner === "pieces" ? 7 : 997), {
    headers: { "content-type": manner === "pieces" ? "application/json" : "text/event-stream" },
  });
}

/** Splits bytes without regard to frames and characters. */
async function* inPieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size);
    if (at % 50 === 0) await Promise.resolve();
  }
}

const bodyFor = (manner: Manner, n: number, more: object = {}) =>
  JSON.stringify({ model: "m", user: `${manner} ${n}`, messages: [{ role: "user", content: "Hello" }], ...more });

async function ask(manner: Manner, n: number, more?: object): Promise<Buffer> {
  const response = await fetch(`${berth.backend}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: bodyFor(manner, n, more),
  });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

describe("byte for byte", () => {
  const all = Array.from({ length: 200 }, (_, n) => n);

  test("two hundred whole responses with unknown fields, huge numbers and unusual characters", async () => {
    expect([completions.length, new Set(completions).size]).toEqual([200, 200]);
    const got = await Promise.all(all.map((n) => ask("whole", n)));
    for (const n of all) expect(got[n]?.equals(Buffer.from(completions[n] ?? ""))).toBe(true);
  });

  test("the same responses in pieces of seven bytes, without a length", async () => {
    const got = await Promise.all(all.map((n) => ask("pieces", n)));
    for (const n of all) expect(got[n]?.equals(Buffer.from(completions[n] ?? ""))).toBe(true);
  });

  test("two hundred streams, with the usage that the client requested", async () => {
    const more = { stream: true, stream_options: { include_usage: true } };
    const got = await Promise.all(all.map((n) => ask("frames", n, more)));
    for (const n of all) expect(got[n]?.toString()).toBe(streams[n]?.join(""));
  });

  test("two hundred streams without usage: only the frame that Berth itself requested is missing", async () => {
    const got = await Promise.all(all.map((n) => ask("frames", n, { stream: true })));
    for (const n of all) expect(got[n]?.toString()).toBe(streams[n]?.toSpliced(-2, 1).join(""));
  });
});

/** Reads a stream over a new socket, with a pause after each part; returns the decoded body. */
function readOver(pauseMs: number): Promise<string> {
  const { hostname, port } = new URL(berth.backend);
  const body = bodyFor("frames", -1, { stream: true });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: berth\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(head + body));
    socket.on("data", (part) => {
      parts.push(part);
      if (pauseMs === 0) return;
      socket.pause();
      setTimeout(() => socket.resume(), pauseMs);
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(unchunked(Buffer.concat(parts))));
  });
}

/** The body of a chunked response (RFC 9112 §7.1). */
function unchunked(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = bytes.indexOf("\r\n\r\n") + 4; at < bytes.length; ) {
    const line = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, line), 16);
    if (!(size > 0)) break;
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
  return Buffer.concat(parts).toString();
}

test("two hundred streams at once from a fast provider reach quick and slow readers in bounded memory", async () => {
  const before = memory();
  const expected = numbered.join("");
  const got = await Promise.all(Array.from({ length: 200 }, (_, n) => readOver((n % 4) * 5)));
  expect(got.filter((text) => text !== expected)).toHaveLength(0);
  // Without back pressure this would be several copies of 80 MB.
  expect(memory() - before).toBeLessThan(150 * 1024 * 1024);
});

/** Resident memory of the service in bytes (Linux). */
function memory(): number {
  const { stdout } = Bun.spawnSync(["grep", "VmRSS", `/proc/${berth.pid}/status`]);
  return Number(/\d+/.exec(stdout.toString())?.[0]) * 1024;
}

describe("a client that disconnects", () => {
  test.each([true, false])("ends the call upstream within 100 ms (stream: %p)", async (stream) => {
    await using upstream = await startUpstream();
    await using own = await startBerth({ env: { PROVIDER_3_BASE_URL: upstream.url, RATE_LIMITS: "off" } });
    upstream.script(stream ? { text: "word ".repeat(5_000), paceMs: 2 } : { hang: true });
    const took: number[] = [];
    for (let round = 0; round < 10; round++) {
      const leave = new AbortController();
      const pending = fetch(`${own.backend}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "fake-small", stream, messages: [{ role: "user", content: "Hello" }] }),
        signal: leave.signal,
      });
      if (stream) await (await pending).body?.getReader().read();
      else await upstream.waitFor(({ open }) => open === 1);
      const left = performance.now();
      leave.abort();
      await pending.catch(() => undefined);
      await upstream.waitFor(({ open }) => open === 0);
      took.push(performance.now() - left);
    }
    expect(own.running).toBe(true);
    expect(own.output().stderr).not.toContain('"level":"error"');
  });
});
