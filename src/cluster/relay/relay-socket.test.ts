// Tests what becomes of requests for a WebSocket that the owner does not take.
import { afterEach, describe, expect, test } from "bun:test";
import { createConnection } from "node:net";
import { eventually } from "../../../tests/support/eventually.ts";
import { type RelayNodeOptions, startRelayNode } from "../../../tests/support/relay-node.ts";

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});
const startNode = (options: RelayNodeOptions) => startRelayNode(stack, options);

/** The headers of a handshake, without its key unless it is whole. */
const handshake = (isWhole = true) => ({
  connection: "Upgrade",
  upgrade: "websocket",
  ...(isWhole && { "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" }),
});

const lines = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");

describe("a request for a WebSocket that the owner answers otherwise", () => {
  test.each([
    ["no such path", 404],
    ["too many requests", 429],
    ["the service is full", 503],
  ])("gets this answer at once: %s", async (text, status) => {
    const owner = startNode({
      answer: (request) =>
        new Response(`${text}: ${request.headers.get("upgrade")}`, { status, headers: { "retry-after": "7" } }),
    });
    const other = startNode({ owner: () => owner.address });
    const response = await fetch(`${other.address}/nowhere`, { headers: handshake() });
    expect([response.status, await response.text()]).toEqual([status, `${text}: websocket`]);
    expect(response.headers.get("retry-after")).toBe("7");
    // The handshake, and the same once more for its answer, which a WebSocket does not show.
    expect(owner.served()).toBe(2);
  });

  test("is asked again if the answer is that the cell has moved: nothing was done", async () => {
    const owner = startNode({ answer: () => new Response("no"), accept: () => true });
    let current = "";
    let asked = 0;
    const former = startNode({
      owner() {
        if (++asked > 3) current = owner.address;
        return undefined;
      },
    });
    current = former.address;
    const other = startNode({ owner: () => current });
    const socket = new WebSocket(`${other.address.replace("http", "ws")}/ws`);
    const said = await new Promise((resolve) => socket.addEventListener("message", ({ data }) => resolve(data)));
    expect(said).toBe("hello");
    socket.close();
  });

  test("becomes a WebSocket if it is taken the second time", async () => {
    let asked = 0;
    const owner = startNode({
      answer: () => new Response("wait", { status: 503 }),
      accept: () => ++asked > 1,
    });
    const other = startNode({ owner: () => owner.address });
    const socket = new WebSocket(`${other.address.replace("http", "ws")}/ws`);
    const said = await new Promise((resolve) => socket.addEventListener("message", ({ data }) => resolve(data)));
    expect(said).toBe("hello");
    socket.close();
  });
});

test("a handshake that is not whole is refused, and the owner is asked once", async () => {
  const owner = startNode({ answer: () => new Response("no"), accept: () => true });
  const other = startNode({ owner: () => owner.address });
  const response = await fetch(`${other.address}/ws`, { headers: handshake(false) });
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, "UPGRADE_FAILED"]);
  expect(owner.served()).toBe(1);
});

test("a write is no request for a WebSocket, whatever its headers say", async () => {
  const owner = startNode({ answer: async (request) => new Response(`${request.method} ${await request.text()}`) });
  const other = startNode({ owner: () => owner.address });
  const response = await fetch(`${other.address}/api/agents`, { method: "POST", headers: handshake(), body: "{}" });
  expect(await response.text()).toBe("POST {}");
  expect(owner.served()).toBe(1);
});

test("a client that does not read what the owner sends loses its WebSocket before much waits for it", async () => {
  const MIB = 1024 * 1024;
  const frame = Buffer.alloc(MIB / 4);
  let sent = 0;
  const { promise: closed, resolve: close } = Promise.withResolvers<number>();
  let isClosed = false;
  const owner = startNode({
    answer: () => new Response("no"),
    accept: () => true,
    session: {
      open(socket) {
        const flood = () => {
          if (isClosed) return;
          if (socket.getBufferedAmount() < MIB) {
            socket.send(frame);
            sent += frame.length;
          }
          setImmediate(flood);
        };
        flood();
      },
      message: () => undefined,
      close(_, code) {
        isClosed = true;
        close(code);
      },
    },
  });
  const other = startNode({ owner: () => owner.address });
  const client = createConnection({ host: "127.0.0.1", port: Number(new URL(other.address).port) });
  client.pause();
  client.write(`GET /ws HTTP/1.1\r\nhost: berth.example\r\n${lines(handshake())}\r\n`);
  // Too slow (RFC 6455's registry: try again later).
  expect(await closed).toBe(1013);
  // What the relay holds, and what both connections' buffers take.
  expect(sent).toBeLessThan(64 * MIB);
  client.destroy();
});

test("a client that has gone while its owner was away is not waited for", async () => {
  let asked = 0;
  const other = startNode({
    owner() {
      asked++;
      return undefined;
    },
  });
  const client = createConnection({ host: "127.0.0.1", port: Number(new URL(other.address).port) });
  client.write(`GET /ws HTTP/1.1\r\nhost: berth.example\r\n${lines(handshake())}\r\n`);
  await eventually(() => asked > 3);
  client.destroy();
  let before = -1;
  await eventually(
    () => {
      const isStill = before === asked;
      before = asked;
      return isStill;
    },
    { everyMs: 50, timeoutMs: 1_900 },
  );
});
