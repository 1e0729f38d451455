// Tests reading bodies within limits of bytes and, for requests, of time.
import { afterAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { AppError } from "../errors.ts";
import { type BodyPace, readLimitedBody, readRequestBody } from "./limited-body.ts";

const LIMIT = 200_000;
const PACE: BodyPace = { periodMs: 100, bytesPerSecond: 1_000, totalMs: 60_000, largeBytesPerSecond: 1_000_000 };

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const pace = { ...PACE, ...JSON.parse(request.headers.get("x-pace") ?? "{}") };
    try {
      return new Response(String((await readRequestBody(request, LIMIT, pace))?.byteLength));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return new Response(`${error.status} ${error.code}`, { headers: error.headers });
    }
  },
});
afterAll(() => server.stop(true));

/** Sends a head and then pieces of a body, one every 20 ms until the other side closes. Returns what it answered. */
async function sendSlowly(head: string, pieces: Iterable<string>): Promise<string> {
  let answer = "";
  const socket: Socket = connect(server.port ?? 0, "127.0.0.1", () => socket.write(head));
  const rest = pieces[Symbol.iterator]();
  const timer = setInterval(() => {
    const { value, done } = rest.next();
    if (!done) socket.write(value);
  }, 20);
  socket.on("data", (data) => {
    answer += data;
    if (/\r\n\r\n\d+$/.test(answer)) socket.end();
  });
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.once("close", resolve));
  clearInterval(timer);
  return answer.split("\r\n\r\n")[1] ?? "";
}

const head = (length: number | "chunked", pace: Partial<BodyPace> = {}) =>
  `POST / HTTP/1.1\r\nHost: a\r\nX-Pace: ${JSON.stringify(pace)}\r\n${
    length === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`
  }\r\n\r\n`;
const times = (count: number, piece: string) => Array.from({ length: count }, () => piece);

describe("the body of a request", () => {
  test.each([50, 100_000, "chunked"] as const)("of %j bytes that stops or only drips is 408", async (length) => {
    const drip = length === "chunked" ? "1\r\nx\r\n" : "x";
    expect(await sendSlowly(head(length), [])).toBe("408 BODY_TIMEOUT");
    expect(await sendSlowly(head(length), times(2_000, drip).slice(0, length === 50 ? 49 : undefined))).toBe(
      "408 BODY_TIMEOUT",
    );
  });

  test("that keeps the least rate is read, however long it takes", async () => {
    const kilobyte = "x".repeat(1_000);
    expect(await sendSlowly(head(100_000), times(100, kilobyte))).toBe("100000");
    expect(await sendSlowly(head("chunked"), [...times(20, `3e8\r\n${kilobyte}\r\n`), "0\r\n\r\n"])).toBe("20000");
  });

  test("has an end of its time, which a larger limit extends", async () => {
    const pieces = times(200, "x".repeat(1_000));
    const short = { totalMs: 300, largeBytesPerSecond: 10_000_000 };
    expect(await sendSlowly(head(200_000, short), pieces)).toBe("408 BODY_TIMEOUT");
    expect(await sendSlowly(head(200_000, { totalMs: 300, largeBytesPerSecond: 10_000 }), pieces)).toBe("200000");
  });

  test("is undefined when it is too large, and empty when there is none", async () => {
    const send = async (body: string | ReadableStream | undefined) =>
      (await fetch(server.url, { method: "POST", body })).text();
    expect(await send("x".repeat(LIMIT))).toBe(String(LIMIT));
    expect(await send("x".repeat(LIMIT + 1))).toBe("undefined");
    expect(await send(streamOf("x".repeat(LIMIT), "x"))).toBe("undefined");
    expect(await send(undefined)).toBe("0");
  });
});

test("the body of a response is undefined when it is too large", async () => {
  expect((await readLimitedBody(new Response("abc"), 3))?.byteLength).toBe(3);
  expect(await readLimitedBody(new Response("abcd"), 3)).toBeUndefined();
  expect((await readLimitedBody(new Response(streamOf("a", "bc")), 3))?.byteLength).toBe(3);
  expect(await readLimitedBody(new Response(streamOf("a", "bcd")), 3)).toBeUndefined();
  expect(await readLimitedBody(new Response("abc", { headers: { "content-length": "4" } }), 3)).toBeUndefined();
});

const streamOf = (...texts: string[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
