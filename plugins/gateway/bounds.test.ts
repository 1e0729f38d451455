// Tests the limits of the gateway: sockets of one owner, frames of one socket, and clients that do not read.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { eventually } from "../../tests/support/eventually.ts";
import { type InteractionFixture, openInteractionFixture, openSocket } from "../interaction/support.test.ts";

let fixture: InteractionFixture;
let ada: Awaited<ReturnType<InteractionFixture["member"]>>;
let agentId: string;
const sockets: { close(): void }[] = [];
const OWN = "https://berth.example";

beforeAll(async () => {
  fixture = await openInteractionFixture();
  ada = await fixture.member();
  agentId = await fixture.provision(ada);
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.upstream.reset());
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.close();
  await fixture.upstream.waitFor(({ open }) => open === 0);
});

function open(path = agentId, cookie = ada.cookie) {
  const socket = openSocket(`${fixture.origin}/agent/${path}`, { cookie, origin: OWN });
  sockets.push(socket);
  return socket;
}

describe("limits", () => {
  test.each([
    ["pings", { type: "ping" }],
    ["invalid frames", "hello"],
  ])("a flood of %s is closed with 4429, and other sockets stay open", async (_, frame) => {
    const [flood, other] = [open(), open()];
    await Promise.all([flood.next("status"), other.next("status")]);
    for (let n = 0; n < 2_000; n++) flood.send(frame);
    expect(await flood.closed()).toBe(4429);
    expect(flood.frames.length).toBeLessThan(1_000);
    other.send({ type: "ping" });
    await other.next("pong");
  });

  test("messages count against the account's rate, not against the limit of frames", async () => {
    const socket = open();
    await socket.next("status");
    for (let n = 0; n < 595; n++) socket.send({ type: "ping" });
    for (let n = 0; n < 32; n++) {
      socket.send({ type: "chat", id: `${n}`, message: "Hello" });
      await socket.next("reply", `${n}`);
    }
  });

  test("an owner may have 200 sockets over all agents; the next is closed with 4429 until one of them closes", async () => {
    const eve = await fixture.member();
    const agentIds = [await fixture.provision(eve), await fixture.provision(eve)];
    const enter = (n: number) => open(agentIds[n % 2], eve.cookie);
    const inside = Array.from({ length: 200 }, (_, n) => enter(n));
    await Promise.all(inside.map((socket) => socket.next("status")));
    for (const n of [0, 1]) {
      const late = enter(n);
      expect(await late.closed()).toBe(4429);
      expect(late.frames).toEqual([]);
    }
    await open().next("status");
    inside[0]?.close();
    await eventually(async () => {
      const socket = enter(0);
      return (await Promise.race([socket.next("status").catch(() => undefined), socket.closed()])) !== 4429;
    });
  });
});

test("a client that sends but never reads is disconnected", async () => {
  const { hostname, port } = new URL(fixture.origin);
  const client = connect({ host: hostname, port: Number(port) });
  const gone = new Promise<void>((resolve) => {
    client.once("close", () => resolve());
    client.once("error", () => resolve());
  });
  client.write(
    [
      `GET /agent/${agentId} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      "Upgrade: websocket",
      "Connection: Upgrade",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      `Origin: ${OWN}`,
      `Cookie: ${ada.cookie}`,
      "\r\n",
    ].join("\r\n"),
  );
  await new Promise<void>((resolve) => client.once("data", () => resolve()));
  client.pause();
  // A masked text frame whose mask is zero (RFC 6455 §5.2), many times over: each is answered with an error.
  const text = Buffer.from("x".repeat(100));
  const frame = Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]);
  const burst = Buffer.concat(Array.from({ length: 1_000 }, () => frame));
  const inside = async () =>
    (await ada.get<{ stats: { pids: string } }>(`/api/agents/${agentId}/stats`)).body.stats.pids;
  await eventually(async () => (await inside()) === "1");
  // Other files have run in this process.
  const before = process.memoryUsage.rss();
  for (let n = 0; n < 200; n++) {
    if (!client.write(burst)) await Promise.race([new Promise((resolve) => client.once("drain", resolve)), gone]);
  }
  await eventually(async () => (await inside()) === "0");
  expect(process.memoryUsage.rss() - before).toBeLessThan(512 * 1024 * 1024);
  const other = open();
  await other.next("status");
  client.destroy();
});
