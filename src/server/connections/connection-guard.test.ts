// Tests the limits on connections, with real connections of loopback addresses.
import { afterEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { eventually } from "../../../tests/support/eventually.ts";
import { createLog } from "../../kernel/telemetry/log.ts";
import { type ConnectionLimits, connectionLimits, guardConnections } from "./connection-guard.ts";
import { openDescriptors } from "./descriptors.ts";
import { bind, type Listener } from "./listener.ts";

const PLENTY = 1_000_000;
let listener: Listener;
let sockets: Socket[] = [];
let guard: { stop(): void } | undefined;
let warnings: string[] = [];

function start(limits: Partial<ConnectionLimits>, trustedProxies: string[] = []) {
  warnings = [];
  const log = createLog({ level: "warn", format: "json", write: (line) => warnings.push(line) });
  listener = bind("PORT", "127.0.0.1", 0, { head: 0, idle: 0, stream: 0 });
  listener.open({
    name: "web",
    fetch: () => Promise.resolve(new Response("fine")),
    handle: () => Promise.reject(new Error("not used")),
  });
  const all = { descriptors: PLENTY, reserve: 0, perAddress: PLENTY, ...limits };
  guard = guardConnections({ servers: [listener.server], limits: all, trustedProxies, log });
}

afterEach(async () => {
  guard?.stop();
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await listener.server.stop(true);
});

/** Opens connections from one loopback address, which send `text` and then nothing. */
async function open(count: number, localAddress: string, text = ""): Promise<Socket[]> {
  const made = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ port: listener.server.port ?? 0, host: "127.0.0.1", localAddress });
      sockets.push(socket);
      socket.on("error", () => undefined);
      socket.resume();
      await new Promise((resolve) => socket.once("connect", resolve));
      socket.write(text);
      return socket;
    }),
  );
  return made;
}
const openCount = (list: Socket[]) => list.filter(({ destroyed }) => !destroyed).length;
const isAlive = async () => expect((await fetch(listener.address, { keepalive: false })).status).toBe(200);

describe("connections of one address", () => {
  test.each([
    ["silent", ""],
    ["in the middle of a head", "GET / HTTP/1.1\r\nHo"],
    ["after a request", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"],
  ])("beyond the limit are closed (%s); others keep theirs", async (_, text) => {
    start({ perAddress: 20 });
    const [flood, other] = [await open(100, "127.0.0.2", text), await open(5, "127.0.0.3", text)];
    await eventually(() => openCount(flood) <= 20);
    expect([openCount(flood), openCount(other)]).toEqual([20, 5]);
    await isAlive();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("connections closed");
  });

  test("are not limited if it is a trusted proxy", async () => {
    start({ perAddress: 20 }, ["127.0.0.2"]);
    const [proxied, other] = [await open(60, "127.0.0.2"), await open(60, "127.0.0.3")];
    await eventually(() => openCount(other) <= 20);
    expect([openCount(proxied), openCount(other)]).toEqual([60, 20]);
  });
});

describe("the reserve", () => {
  const descriptorsLeft = (count: number) => ({ descriptors: openDescriptors(PLENTY).length + count, reserve: 40 });

  test("is kept free by idle connections first", async () => {
    start(descriptorsLeft(200));
    const silent = await open(30, "127.0.0.2");
    const idle = await open(100, "127.0.0.3", "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await eventually(() => openCount(idle) === 0);
    expect(openCount(silent)).toBe(30);
    await isAlive();
  });

  test("is then kept free by those who hold the most", async () => {
    start(descriptorsLeft(200));
    const [many, few] = [await open(120, "127.0.0.2"), await open(4, "127.0.0.3")];
    await eventually(() => openCount(many) < 120);
    expect(openCount(many)).toBeGreaterThan(4);
    expect(openCount(few)).toBe(4);
    await isAlive();
  });
});

test("the limits follow from that of the process; a backend alone serves few addresses", () => {
  const settings = { role: "all", connectionsPerAddress: undefined } as const;
  expect(connectionLimits(2048, settings)).toEqual({ descriptors: 2048, reserve: 128, perAddress: 512 });
  expect(connectionLimits(256, settings)).toEqual({ descriptors: 256, reserve: 32, perAddress: 64 });
  expect(connectionLimits(524_288, settings)).toMatchObject({ perAddress: 4096 });
  expect(connectionLimits(2048, { ...settings, connectionsPerAddress: 9 })).toMatchObject({ perAddress: 9 });
  expect(connectionLimits(2048, { ...settings, role: "backend" })).toMatchObject({ perAddress: 2048 });
});
