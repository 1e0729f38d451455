// Tests how connections are shared, bounded, closed when idle, and left alone after failures.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { rejectionOf } from "../../../tests/support/rejection.ts";
import type { Connection } from "./connection.ts";
import { type ConnectionKey, type Connections, createConnections } from "./connections.ts";

let now = 0;
let opened: string[] = [];
let closed: string[] = [];
let pool: Connections;
beforeEach(() => {
  [now, opened, closed] = [1_000_000, [], []];
  pool = createConnections({ total: 3, processes: 1, idleMs: 60_000, sweepMs: 1 }, () => now);
});

afterEach(() => pool.closeAll());

const keyOf = (name: string, but: Partial<ConnectionKey> = {}): ConnectionKey => ({
  ...{ agentId: "agent", name, digest: "d", isProcess: false },
  ...but,
});
/** Only its end is looked at. */
const connection = (name: string): Connection => ({
  client: Object.create(null),
  close: async () => void closed.push(name),
});
const use = (name: string, work: () => Promise<unknown> = async () => name, but: Partial<ConnectionKey> = {}) =>
  pool.use(
    keyOf(name, but),
    async () => {
      opened.push(name);
      return connection(name);
    },
    work,
  );
const failing = (name: string) =>
  pool.use(
    keyOf(name),
    () => Promise.reject(new Error("no harbour")),
    async () => name,
  );

describe("a connection", () => {
  test("is opened once for calls at the same time, and again for another address or agent", async () => {
    await Promise.all([use("a"), use("a"), use("a")]);
    await use("a");
    expect(opened).toEqual(["a"]);
    await use("a", undefined, { digest: "other" });
    await use("a", undefined, { agentId: "another" });
    expect([opened, pool.count("agent")]).toEqual([["a", "a", "a"], 2]);
  });

  test("is closed when it was idle, not while a call runs", async () => {
    const call = Promise.withResolvers<void>();
    const running = use("busy", () => call.promise);
    await use("idle");
    now += 60_001;
    await eventually(() => closed.includes("idle"));
    expect(closed).toEqual(["idle"]);
    call.resolve();
    await running;
    now += 60_001;
    await eventually(() => closed.includes("busy"));
  });

  test("makes room by closing the one that was idle longest; if none is, the call is refused", async () => {
    for (const name of ["a", "b", "c"]) {
      await use(name);
      now++;
    }
    await use("a");
    now++;
    await use("d");
    expect(closed).toEqual(["b"]);
    const call = Promise.withResolvers<void>();
    const running = ["a", "c", "d"].map((name) => use(name, () => call.promise));
    expect(await rejectionOf(use("e"))).toMatchObject({ status: 503, code: "MCP_UNREACHABLE" });
    call.resolve();
    await Promise.all(running);
  });

  test("to a process is bounded more narrowly", async () => {
    await use("p", undefined, { isProcess: true });
    await use("h");
    await use("q", undefined, { isProcess: true });
    expect(closed).toEqual(["p"]);
  });
});

describe("a server that fails", () => {
  test("is left alone for a time that grows, and tried at once when it is asked for", async () => {
    const waits: number[] = [];
    for (let failure = 0; failure < 8; failure++) {
      expect(await rejectionOf(failing("a"))).toMatchObject({ message: "no harbour" });
      const refused = await rejectionOf(failing("a"));
      waits.push(Number(/in (\d+) s/.exec(refused.message)?.[1]));
      now += waits.at(-1) ?? 0;
      now += (waits.at(-1) ?? 0) * 1_000;
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
    await rejectionOf(failing("a"));
    await pool.use(
      keyOf("a"),
      async () => connection("a"),
      async () => "ok",
      true,
    );
    expect(await use("a")).toBe("a");
  });

  test("in a call keeps its connection, unless the call says that it does not answer", async () => {
    await rejectionOf(use("a", () => Promise.reject(new Error("refused"))));
    await use("a");
    expect(opened).toEqual(["a"]);
    let used: Connection | undefined;
    await pool.use(
      keyOf("a"),
      () => Promise.reject(new Error("not needed")),
      async (connection) => {
        used = connection;
      },
    );
    await pool.drop(keyOf("a"), connection("replaced"), "silent");
    await use("a");
    await pool.drop(keyOf("a"), used ?? connection("none"), "silent");
    expect([closed, opened]).toEqual([["a"], ["a"]]);
    expect(await rejectionOf(use("a"))).toMatchObject({ code: "MCP_UNREACHABLE" });
  });
});

test("connections that are not wanted any more are closed", async () => {
  await use("a");
  await use("b");
  await use("b", undefined, { agentId: "another" });
  await pool.retain("agent", ({ name }) => name === "a");
  expect([closed, pool.count("agent"), pool.count("another")]).toEqual([["b"], 1, 1]);
});

test("all connections of an agent are closed with it, and all at the end", async () => {
  await use("a");
  await use("b", undefined, { agentId: "another" });
  await pool.close("agent");
  expect(closed).toEqual(["a"]);
  await pool.closeAll();
  expect(closed).toEqual(["a", "b"]);
});
