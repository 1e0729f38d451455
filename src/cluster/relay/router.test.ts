// Tests how a node sends requests on to the owner, over real sockets.
import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import { createConnection, createServer } from "node:net";
import { eventually } from "../../../tests/support/eventually.ts";
import { type RelayNode, type RelayNodeOptions, startRelayNode } from "../../../tests/support/relay-node.ts";
import { FORWARDING_HEADER } from "../../kernel/cells/forwarding.ts";
import { openEventStreams } from "../../kernel/http/sse-streams.ts";
import { createVault } from "../../kernel/security/vault.ts";
import { createRelayGrants, RELAY_HEADER } from "./grants.ts";
import { MOVED_HEADER } from "./relay.ts";

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});
const startNode = (options: RelayNodeOptions) => startRelayNode(stack, options);

describe("an answer that says it has moved", () => {
  test("is the answer if the owner's surface gave it: only a node can say so, and it is not asked again", async () => {
    const owner = startNode({
      answer: () => new Response("paid", { headers: { [MOVED_HEADER]: "1", "x-kept": "yes" } }),
    });
    const other = startNode({ owner: () => owner.address });
    const response = await fetch(`${other.address}/v1/chat/completions`, { method: "POST", body: "{}" });
    expect([response.status, await response.text(), response.headers.get("x-kept")]).toEqual([200, "paid", "yes"]);
    expect(response.headers.get(MOVED_HEADER)).toBeNull();
    expect(owner.served()).toBe(1);
  });

  test("is asked again at the next owner if the node said it: it has done nothing", async () => {
    const owner = startNode({ answer: () => new Response("done") });
    let current = "";
    const former = startNode({
      owner() {
        current = owner.address;
        return undefined;
      },
    });
    current = former.address;
    const other = startNode({ owner: () => current });
    const response = await fetch(`${other.address}/api/agents`, { method: "POST", body: "{}" });
    expect([response.status, await response.text()]).toEqual([200, "done"]);
    expect(owner.served()).toBe(1);
  });
});

test("what nodes tell each other is not taken from a client, whatever it sends", async () => {
  let seen: Headers | undefined;
  const owner = startNode({
    answer: (request) => {
      seen = request.headers;
      return new Response("done");
    },
  });
  const other = startNode({ owner: () => owner.address });
  for (const value of ["x", btoa('{"isPlaced":true}'), "%%%"]) {
    const response = await fetch(`${other.address}/api/agents`, { headers: { [FORWARDING_HEADER]: value } });
    expect([response.status, await response.text()]).toEqual([200, "done"]);
    expect(seen?.has(FORWARDING_HEADER)).toBe(false);
  }
});

test("a grant is for one cell, and a node sends on nothing that another one has sent", async () => {
  const owner = startNode({ answer: () => new Response("done") });
  const between = startNode({ owner: () => owner.address });
  const vault = createVault({ key: "the key of the cluster" });
  const grant = { surface: "web", cell: 0, clientAddress: "10.9.9.9" } as const;
  const header = createRelayGrants(vault).sign(grant, between.address, "GET /api/agents");
  const response = await fetch(`${between.address}/api/agents`, { headers: { [RELAY_HEADER]: header } });
  expect([response.status, response.headers.get(MOVED_HEADER)]).toEqual([503, "1"]);
  expect(owner.served()).toBe(0);
  const forged = `${Buffer.from(JSON.stringify({ ...grant, cell: 1 })).toString("base64url")}.${header.split(".")[1]}`;
  const refused = await fetch(`${between.address}/api/agents`, { headers: { [RELAY_HEADER]: forged } });
  expect(refused.status).toBe(403);
});

test("a request waits until the clock of its sender is known, as after it was set", async () => {
  let known: number | undefined;
  let asked = 0;
  const clocks = {
    self: "http://owner",
    clockOf() {
      asked++;
      return known;
    },
  };
  const owner = startNode({ answer: () => new Response("done"), clocks });
  const other = startNode({ owner: () => owner.address, clocks: { self: "http://other", clockOf: () => undefined } });
  const asking = fetch(`${other.address}/api/agents`, { method: "POST", body: "{}" });
  await eventually(() => asked >= 3);
  expect(owner.served()).toBe(0);
  known = Date.now();
  const response = await asking;
  expect([response.status, await response.text(), owner.served()]).toEqual([200, "done", 1]);
});

describe("a grant is refused", () => {
  const grants = createRelayGrants(createVault({ key: "the key of the cluster" }));
  const grant = { surface: "web", cell: 0, clientAddress: "10.9.9.9" } as const;
  const start = () => startNode({ answer: () => new Response("done") });
  const ask = async ({ address }: RelayNode, header: string, path = "/api/agents", method = "GET") =>
    (await fetch(`${address}${path}`, { method, headers: { [RELAY_HEADER]: header } })).status;

  test("after half a minute", async () => {
    const owner = start();
    const header = grants.sign(grant, owner.address, "GET /api/agents");
    try {
      setSystemTime(Date.now() + 29_000);
      expect(await ask(owner, header)).toBe(200);
      setSystemTime(Date.now() + 1_500);
      // A new one may be valid.
      expect(await ask(owner, header)).toBe(503);
    } finally {
      setSystemTime();
    }
    expect(owner.served()).toBe(1);
  });

  test("by another node than the one that it is for", async () => {
    const owner = start();
    const header = grants.sign(grant, start().address, "GET /api/agents");
    expect(await ask(owner, header)).toBe(403);
    expect(owner.served()).toBe(0);
  });

  test.each([
    ["path", "/api/settings", "GET"],
    ["query", "/api/agents?all=1", "GET"],
    ["method", "/api/agents", "DELETE"],
  ])("with another %s", async (_, path, method) => {
    const owner = start();
    const header = grants.sign(grant, owner.address, "GET /api/agents");
    expect(await ask(owner, header, path, method)).toBe(403);
    expect(owner.served()).toBe(0);
  });

  test("with the key of another service", async () => {
    const owner = start();
    const foreign = createRelayGrants(createVault({ key: "the key of another cluster" }));
    expect(await ask(owner, foreign.sign(grant, owner.address, "GET /api/agents"))).toBe(403);
    expect(owner.served()).toBe(0);
  });
});

test("a call is taken with the body that its grant is for, and once", async () => {
  const owner = startNode({
    answer: () => new Response("done"),
    call: async (_, body) => new Response(`called ${body}`),
  });
  const grants = createRelayGrants(createVault({ key: "the key of the cluster" }));
  const sign = (body: string) =>
    grants.sign({ surface: "call", cell: 0, clientAddress: "" }, owner.address, "POST /cluster/call", { body });
  const ask = async (header: string, body: string) => {
    const headers = { [RELAY_HEADER]: header };
    const response = await fetch(`${owner.address}/cluster/call`, { method: "POST", headers, body });
    return response.ok ? response.text() : response.status;
  };
  const header = sign("find");
  expect(await ask(header, "find")).toBe("called find");
  expect(await ask(header, "find")).toBe(403);
  expect(await ask(sign("find"), "command")).toBe(403);
});

test("frames of a WebSocket arrive as they were sent in both directions, binary ones of any size among them", async () => {
  const echo = Bun.serve<undefined>({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) => (server.upgrade(request, { data: undefined }) ? undefined : new Response("no socket")),
    websocket: { message: (socket, data) => void socket.send(data) },
  });
  stack.defer(() => echo.stop(true));
  const other = startNode({ owner: () => `http://127.0.0.1:${echo.port}` });
  const socket = new WebSocket(`${other.address.replace("http", "ws")}/ws`);
  socket.binaryType = "arraybuffer";
  const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const large = crypto.getRandomValues(new Uint8Array(65_536));
  const sent = ["text", everyByte, "", new Uint8Array(0), "ü€😀", large, "end"];
  const received: (string | Uint8Array)[] = [];
  const all = new Promise<void>((resolve) => {
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      received.push(typeof data === "string" ? data : new Uint8Array(data));
      if (received.length === sent.length) resolve();
    };
  });
  socket.onopen = () => {
    for (const data of sent) socket.send(data);
  };
  await all;
  expect(received).toEqual(sent);
  socket.close();
});

test("streams of events that are passed on are counted, and end when the machine does; a reply is brought to its end", async () => {
  const senders: ReadableStreamDefaultController[] = [];
  const owner = startNode({
    answer() {
      const body = new ReadableStream({
        start(controller) {
          senders.push(controller);
          controller.enqueue(Buffer.from("data: 1\n\n"));
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  const other = startNode({ owner: () => owner.address });
  const before = openEventStreams();
  const feed = (await fetch(`${other.address}/api/events`)).body?.getReader();
  const reply = (await fetch(`${other.address}/api/chat`, { method: "POST", body: "{}" })).body?.getReader();
  for (const reader of [feed, reply]) expect((await reader?.read())?.done).toBe(false);
  expect(openEventStreams()).toBe(before + 1);
  other.router.endStreams();
  expect((await feed?.read())?.done).toBe(true);
  expect(openEventStreams()).toBe(before);
  senders[1]?.enqueue(Buffer.from("data: 2\n\n"));
  expect(Buffer.from((await reply?.read())?.value ?? []).toString()).toBe("data: 2\n\n");
  senders[1]?.close();
  expect((await reply?.read())?.done).toBe(true);
  // One whose reader comes back meanwhile ends, too.
  const late = (await fetch(`${other.address}/api/events`)).body?.getReader();
  expect((await late?.read())?.done).toBe(true);
});

test("an answer that its client does not read stops at the owner, and ends there when the client goes", async () => {
  const MIB = 1024 * 1024;
  const chunk = new Uint8Array(MIB / 4);
  let made = 0;
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
  const owner = startNode({
    answer: () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            made += chunk.length;
            controller.enqueue(chunk);
            await new Promise(setImmediate);
          },
          cancel,
        }),
      ),
  });
  const other = startNode({ owner: () => owner.address });
  const client = createConnection({ host: "127.0.0.1", port: Number(new URL(other.address).port) });
  client.pause();
  client.write("GET /large HTTP/1.1\r\nhost: berth.example\r\n\r\n");
  let before = 0;
  // Until nothing more is made for a while.
  await eventually(
    () => {
      const isStill = made > 0 && made === before;
      before = made;
      return isStill;
    },
    { everyMs: 200, timeoutMs: 5_000, what: "the owner waits" },
  );
  expect(made).toBeLessThan(64 * MIB);
  client.destroy();
  await cancelled;
});

describe("an owner that is silent", () => {
  /** A node that was stopped, or whose machine has lost its power: it takes a request and says nothing. */
  function startSilent(): { address: string; asked: Promise<void> } {
    const asked = Promise.withResolvers<void>();
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch() {
        asked.resolve();
        return new Promise<Response>(() => undefined);
      },
    });
    stack.defer(() => server.stop(true));
    return { address: `http://127.0.0.1:${server.port}`, asked: asked.promise };
  }

  test("holds no request once another node owns the cell: what only reads is asked again there", async () => {
    const silent = startSilent();
    const owner = startNode({ answer: () => new Response("done") });
    let current = silent.address;
    const other = startNode({ owner: () => current });
    const response = fetch(`${other.address}/api/agents`);
    await silent.asked;
    current = owner.address;
    expect(await (await response).text()).toBe("done");
  });

  test("holds no write either, whose client is told that it may have been done", async () => {
    const silent = startSilent();
    const owner = startNode({ answer: () => new Response("done") });
    let current = silent.address;
    const other = startNode({ owner: () => current });
    const response = fetch(`${other.address}/api/agents`, { method: "POST", body: "{}" });
    await silent.asked;
    current = owner.address;
    expect((await response).status).toBe(502);
    expect(owner.served()).toBe(0);
  });

  test("holds no reader of events, and no WebSocket: they end once another node owns the cell", async () => {
    const begun = Bun.serve<undefined>({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request, server) {
        if (server.upgrade(request, { data: undefined })) return undefined;
        const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("data: 1\n\n")) });
        return new Response(body, { headers: { "content-type": "text/event-stream" } });
      },
      websocket: { open: (socket) => void socket.send("hello"), message: () => undefined },
    });
    stack.defer(() => begun.stop(true));
    const silent = `http://127.0.0.1:${begun.port}`;
    const owner = startNode({ answer: () => new Response("done") });
    let current = silent;
    const other = startNode({ owner: () => current });
    const reader = (await fetch(`${other.address}/api/events`)).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("data: 1\n\n");
    const socket = new WebSocket(`${other.address.replace("http", "ws")}/ws`);
    await new Promise((resolve) => socket.addEventListener("message", resolve));
    const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
    current = owner.address;
    const rest = await reader?.read().then(
      ({ done }) => done,
      () => true,
    );
    expect(rest).toBe(true);
    expect(await closed).toBe(1012);
  });

  /** Sends the beginning of a body of this type, and what is pushed. */
  function startSlow(type: string): { address: string; push(text: string): void } {
    const body = Promise.withResolvers<ReadableStreamDefaultController>();
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch: () =>
        new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(Buffer.from("begun"));
              body.resolve(controller);
            },
          }),
          { headers: { "content-type": type } },
        ),
    });
    stack.defer(() => server.stop(true));
    return {
      address: `http://127.0.0.1:${server.port}`,
      push: (text) => void body.promise.then((controller) => controller.enqueue(Buffer.from(text))),
    };
  }

  test("holds no download or streamed speech: it breaks off once another node owns the cell and nothing comes for a while", async () => {
    const slow = startSlow("audio/mpeg");
    const owner = startNode({ answer: () => new Response("done") });
    let current = slow.address;
    const other = startNode({ owner: () => current, quietMs: 1_000 });
    const reader = (await fetch(`${other.address}/v1/audio/speech`)).body?.getReader();
    const next = async () => Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(await next()).toBe("begun");
    current = owner.address;
    // One that still comes is brought to its end, as when the owner has given the cell up in good order.
    const began = performance.now();
    for (let part = 0; performance.now() - began < 1_800; part++) {
      slow.push(`${part}`);
      expect(await next()).toBe(`${part}`);
    }
    await expect(next()).rejects.toThrow();
  });

  test("holds no short response either whose headers have come", async () => {
    const asked = Promise.withResolvers<void>();
    const halfway = createServer((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf");
        asked.resolve();
      });
      socket.on("error", () => undefined);
    });
    await new Promise<void>((resolve) => halfway.listen(0, "127.0.0.1", resolve));
    stack.defer(() => void halfway.close());
    const owner = startNode({ answer: () => new Response("done") });
    let current = `http://127.0.0.1:${(halfway.address() as { port: number }).port}`;
    const other = startNode({ owner: () => current });
    const response = fetch(`${other.address}/api/agents`);
    await asked.promise;
    current = owner.address;
    expect(await (await response).text()).toBe("done");
  });
});
