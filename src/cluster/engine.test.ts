// The contract of the port, kept by NATS with one server and with three, and by the log in memory that tests use.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { eventually } from "../../tests/support/eventually.ts";
import { openGate } from "../../tests/support/gate.ts";
import { type Nats, startNats } from "../../tests/support/nats.ts";
import { type Engine, EngineUnavailable, type LogEngine, Moved, type TableEntry } from "./engine.ts";
import { createEntryJoiner, openCellLog } from "./log/cell-log.ts";
import { createMemoryLog } from "./memory-engine.ts";
import { parseNatsAddress } from "./nats/nats-address.ts";
import { openNatsEngine } from "./nats/nats-engine.ts";
import { keepWatching } from "./ownership/keep-watching.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (content: Uint8Array | undefined) => content && new TextDecoder().decode(content);

describe.each([
  ["one server", 1],
  ["three servers", 3],
])("NATS, %s", (_, servers) => {
  let nats: Nats;
  let engine: Engine;
  let cells = 0;
  beforeAll(async () => {
    nats = await startNats(servers);
    engine = await openNatsEngine({ address: nats.address, name: "test" });
  });
  afterAll(async () => {
    await engine?.close();
    await nats?.[Symbol.asyncDispose]();
  });

  testLog(() => engine.log(cells++));

  test("tls:// is never spoken in clear", async () => {
    const servers = nats.address.servers.map((server) => server.replace("nats:", "tls:"));
    await expect(openNatsEngine({ address: { servers }, name: "test" })).rejects.toThrow("does not support 'tls'");
  });

  test("a table swaps an entry once for each revision, and shows entries and changes", async () => {
    const table = await engine.table("cells");
    await table.put("0", "berth-1");
    const stop = new AbortController();
    const seen: TableEntry[] = [];
    const watching = (async () => {
      for await (const entry of table.watch(stop.signal)) {
        seen.push(entry);
        if (seen.length === 4) stop.abort();
      }
    })();
    await eventually(() => seen.length === 1);
    const first = await table.swap("1", "a", 0);
    expect(first).toBeGreaterThan(0);
    expect(await table.swap("1", "b", 0)).toBeUndefined();
    await eventually(() => seen.length === 2);
    const second = await table.swap("1", "b", first ?? 0);
    expect(second).toBeGreaterThan(first ?? 0);
    expect(await table.swap("1", "c", first ?? 0)).toBeUndefined();
    await eventually(() => seen.length === 3);
    await table.remove("1");
    await watching;
    expect(seen.map(({ key, value }) => [key, value])).toEqual([
      ["0", "berth-1"],
      ["1", "a"],
      ["1", "b"],
      ["1", undefined],
    ]);
  });

  test("a part of a table has the entries whose keys begin with its name", async () => {
    const [whole, second, third] = await Promise.all([
      engine.table("processes"),
      engine.table("processes", "2."),
      engine.table("processes", "3."),
    ]);
    await second.put("a", "of 2");
    await third.put("a", "of 3");
    expect(await second.swap("a", "of 2 again", 0)).toBeUndefined();
    expect((await second.find("a"))?.value).toBe("of 2");
    expect(await third.find("b")).toBeUndefined();
    expect((await third.list()).map(({ key, value }) => [key, value])).toEqual([["a", "of 3"]]);
    expect((await whole.list()).map(({ key }) => key).toSorted()).toEqual(["2.a", "3.a"]);
    const stop = new AbortController();
    const seen: TableEntry[] = [];
    const watching = (async () => {
      for await (const entry of second.watch(stop.signal)) {
        seen.push(entry);
        if (seen.length === 2) stop.abort();
      }
    })();
    await eventually(() => seen.length === 1);
    await third.remove("a");
    await second.remove("a");
    await watching;
    expect(seen.map(({ key, value }) => [key, value])).toEqual([
      ["a", "of 2"],
      ["a", undefined],
    ]);
  });

  test("blobs are streams", async () => {
    const blobs = await engine.blobs("files");
    const content = crypto.getRandomValues(new Uint8Array(65_536));
    const parts = Array.from({ length: 20 }, () => content);
    await blobs.put("a/b.zip", new Blob(parts).stream());
    expect(await blobs.list()).toEqual([{ name: "a/b.zip", size: 20 * 65_536 }]);
    const found = await blobs.get("a/b.zip");
    expect(found && Buffer.concat(await Array.fromAsync(found)).equals(Buffer.concat(parts))).toBe(true);
    await blobs.remove("a/b.zip");
    expect(await blobs.get("a/b.zip")).toBeUndefined();
  });
});

describe("memory", () => {
  testLog(async () => createMemoryLog());
});

function testLog(open: () => Promise<LogEngine>) {
  test("a log takes a message only after the last one", async () => {
    const log = await open();
    expect(await log.bounds()).toMatchObject({ first: 1, last: 0 });
    expect(await log.append(0, bytes("one"))).toBe(1);
    expect(await log.append(1, bytes("two"))).toBe(2);
    await expect(log.append(1, bytes("late"))).rejects.toThrow(Moved);
    await expect(log.append(3, bytes("early"))).rejects.toThrow(Moved);
    expect(text(await log.read(2))).toBe("two");
    expect(await log.read(3)).toBeUndefined();
    expect(await log.bounds()).toMatchObject({ first: 1, last: 2 });
  });

  test("a log is followed from any message, and loses its beginning when it is trimmed", async () => {
    const log = await open();
    for (let n = 0; n < 20; n++) await log.append(n, bytes(`message ${n + 1}`));
    const stop = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      for await (const { number, bytes } of log.follow(17, stop.signal)) {
        seen.push(`${number} ${text(bytes)}`);
        if (seen.length === 4) stop.abort();
      }
    })();
    await log.append(20, bytes("message 21"));
    await following;
    expect(seen).toEqual([18, 19, 20, 21].map((n) => `${n} message ${n}`));
    await log.trim(15);
    expect(await log.bounds()).toMatchObject({ first: 16, last: 21 });
    expect(await log.read(15)).toBeUndefined();
  });

  test("a log that is trimmed beyond its end goes on behind that, and a trim that comes late deletes nothing", async () => {
    const log = await open();
    await log.append(0, bytes("one"));
    await log.trim(10);
    expect(await log.bounds()).toMatchObject({ first: 11, last: 10 });
    await expect(log.append(1, bytes("late"))).rejects.toThrow(Moved);
    expect(await log.append(10, bytes("eleven"))).toBe(11);
    await log.trim(10);
    await log.trim(5);
    expect(text(await log.read(11))).toBe("eleven");
    expect(await log.bounds()).toMatchObject({ first: 11, last: 11 });
  });

  test("of two who append at once, one succeeds", async () => {
    const log = await open();
    for (let n = 0; n < 10; n++) {
      const tries = await Promise.allSettled(["a", "b", "c"].map((name) => log.append(n, bytes(name))));
      expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    }
  });
}

describe("what is stored in NATS", () => {
  const CHUNK = 131_072;
  let nats: Nats;
  let engine: Engine;
  let manager: JetStreamManager;
  let connection: NatsConnection;
  beforeAll(async () => {
    nats = await startNats();
    engine = await openNatsEngine({ address: nats.address, name: "test" });
    connection = await connect({ servers: [...nats.address.servers] });
    manager = await jetstreamManager(connection);
  });
  afterAll(async () => {
    await connection?.close();
    await engine?.close();
    await nats?.[Symbol.asyncDispose]();
  });

  /** Messages that the only reader of a stream has still to be sent, once many other calls were answered. */
  async function unsent(stream: string): Promise<number> {
    for (let n = 0; n < 300; n++) await manager.streams.info(stream);
    const [reader] = await manager.consumers.list(stream).next();
    return reader?.num_pending ?? -1;
  }
  const content = (chunks: number) => new Uint8Array(chunks * CHUNK).fill(7);

  test("is read as fast as it is taken: a blob", async () => {
    const blobs = await engine.blobs("snapshots");
    const whole = content(200);
    await blobs.put("large", new Blob([whole]).stream());
    const reader = (await blobs.get("large"))?.getReader();
    const parts = [(await reader?.read())?.value ?? new Uint8Array()];
    expect(await unsent("OBJ_berth-snapshots")).toBeGreaterThan(150);
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) parts.push(next.value);
    expect(Buffer.concat(parts).equals(whole)).toBe(true);
    // It leaves no reader behind.
    await eventually(async () => (await manager.consumers.list("OBJ_berth-snapshots").next()).length === 0);
  });

  test("is read as fast as it is taken: a log", async () => {
    const log = await engine.log(7);
    for (let n = 0; n < 200; n++) await log.append(n, bytes(`message ${n}`));
    let seen = 0;
    for await (const { number } of log.follow(0, new AbortController().signal)) {
      seen = number;
      if (number === 1) expect(await unsent("berth-cell-7")).toBeGreaterThan(100);
      if (number === 200) break;
    }
    expect(seen).toBe(200);
  });

  test("is refused if it is not whole", async () => {
    const blobs = await engine.blobs("files");
    await blobs.put("damaged", new Blob([content(5)]).stream());
    const { state } = await manager.streams.info("OBJ_berth-files");
    await manager.streams.deleteMessage("OBJ_berth-files", state.first_seq + 2);
    const found = await blobs.get("damaged");
    await expect(Array.fromAsync(found ?? [])).rejects.toThrow("not whole");
  });

  test("is swept if its put was interrupted, and nothing else is", async () => {
    const blobs = await engine.blobs("files");
    await blobs.put("kept", new Blob([content(3)]).stream());
    await blobs.put("empty", new Blob([]).stream());
    await blobs.put("removed", new Blob([content(3)]).stream());
    await blobs.remove("removed");
    const sizeBefore = (await manager.streams.info("OBJ_berth-files")).state.bytes;
    // As a process leaves it that was killed in the middle.
    await jetstream(connection).publish("$O.berth-files.C.INTERRUPTED", content(1).subarray(0, 1_000));
    expect(await blobs.sweep()).toBe(0);
    expect(await blobs.sweep(0)).toBe(1);
    expect((await manager.streams.info("OBJ_berth-files")).state.bytes).toBe(sizeBefore);
    expect((await blobs.list()).map(({ name }) => name).toSorted()).toEqual(["damaged", "empty", "kept"]);
    expect(Buffer.concat(await Array.fromAsync((await blobs.get("kept")) ?? [])).equals(content(3))).toBe(true);
    expect(await Array.fromAsync((await blobs.get("empty")) ?? [bytes("none")])).toEqual([]);
    expect(await blobs.sweep(0)).toBe(0);
  });
});

test("an engine that is away says so, and goes on when it is back", async () => {
  await using nats = await startNats();
  const engine = await openNatsEngine({ address: nats.address, name: "test" });
  const log = await engine.log(0);
  await log.append(0, bytes("before"));
  const [server] = nats.servers;
  await server?.kill();
  await expect(log.append(1, bytes("lost"))).rejects.toThrow(EngineUnavailable);
  await server?.start();
  const { promise, resolve } = Promise.withResolvers<number>();
  const retry = async (): Promise<void> =>
    log
      .append(1, bytes("after"))
      .then(resolve, (error) => (error instanceof EngineUnavailable ? retry() : Promise.reject(error)));
  await retry();
  expect(await promise).toBe(2);
  await engine.close();
});

test("a connection that NATS ends again and again because it got no sign-in in time goes on once the network does", async () => {
  const settings = `authorization { user: "berth", password: "secret", timeout: 0.2 }`;
  await using nats = await startNats(1, { settings });
  const [server] = nats.servers;
  if (!server) throw new Error("There is no server.");
  const gate = await openGate(server.port);
  const address = { servers: [`nats://127.0.0.1:${gate.port}`], user: "berth", pass: "secret" };
  const engine = await openNatsEngine({ address, name: "test" });
  const table = await engine.table("nodes");
  const connections = async () => (await server.figures()).connections;
  const put = () =>
    table.put("0", "x").then(
      () => true,
      () => false,
    );
  for (let cut = 1; cut <= 3; cut++) {
    gate.hold("all");
    gate.reset();
    await eventually(async () => (await connections()) === 1, { what: "it tries again" });
    await eventually(async () => (await connections()) === 0, { what: "NATS has waited for its sign-in" });
    gate.open();
    await eventually(put, { timeoutMs: 15_000, what: `it is back after cut ${cut}` });
  }
  await engine.close();
  gate.close();
});

test("a server that takes nothing any more, with much on its way to it, is left for another one", async () => {
  await using nats = await startNats(3, { advertise: false });
  const gates = await Promise.all(nats.servers.map(({ port }) => openGate(port)));
  const servers = gates.map(({ port }) => `nats://127.0.0.1:${port}`);
  const engine = await openNatsEngine({ address: { servers }, name: "test" });
  const table = await engine.table("nodes");
  const put = () =>
    table.put("0", "x").then(
      () => true,
      () => false,
    );
  expect(await put()).toBe(true);
  const connections = await Promise.all(nats.servers.map(async (server) => (await server.figures()).connections));
  gates[connections.findIndex((count) => count > 0)]?.hold("all");
  // More than the buffers of the sockets take.
  const large = "x".repeat(900_000);
  const sending = Array.from({ length: 60 }, (_, n) => table.put(`large-${n}`, large).catch(() => undefined));
  await eventually(async () => !(await put()), { what: "the server is silent" });
  await eventually(put, { timeoutMs: 20_000, everyMs: 250, what: "another server is found" });
  await engine.close();
  for (const gate of gates) gate.close();
  await Promise.all(sending);
});

test("a watch and a log that NATS sends nothing any more, without a word, begin anew within seconds", async () => {
  await using nats = await startNats();
  const engine = await openNatsEngine({ address: nats.address, name: "test" });
  const [table, log] = [await engine.table("cells"), await engine.log(0)];
  const stop = new AbortController();
  const watched: string[] = [];
  const followed: number[] = [];
  const watching = keepWatching({
    table,
    signal: stop.signal,
    onEntry: ({ value }) => void watched.push(String(value)),
    onError: () => undefined,
    retryMs: 50,
  });
  const following = (async () => {
    while (!stop.signal.aborted)
      for await (const { number } of log.follow(followed.at(-1) ?? 0, stop.signal)) followed.push(number);
  })();
  await table.put("0", "before");
  await log.append(0, bytes("before"));
  await eventually(() => watched.includes("before") && followed.includes(1));
  // As after a network that was silent: the server's side of both is gone.
  const connection = await connect({ servers: [...nats.address.servers] });
  const manager = await jetstreamManager(connection);
  for (const stream of ["KV_berth-cells", "berth-cell-0"]) {
    for await (const { name } of manager.consumers.list(stream)) await manager.consumers.delete(stream, name);
  }
  await connection.close();
  await table.put("0", "after");
  await log.append(1, bytes("after"));
  await eventually(() => watched.includes("after") && followed.includes(2), { timeoutMs: 12_000 });
  stop.abort();
  await Promise.all([watching, following]);
  await engine.close();
});

test("servers that tell of no other hold as many copies as CLUSTER_URL lists servers", async () => {
  await using nats = await startNats(3, { advertise: false });
  const engine = await openNatsEngine({ address: nats.address, name: "quiet" });
  expect(engine.describe()).toEndWith("R3");
  const log = await engine.log(0);
  await nats.servers[0]?.kill();
  await eventually(async () => (await log.bounds()).last === 0, { timeoutMs: 15_000 });
  await engine.close();
});

test("a server that is split off from the others, but answers, is left for one that can write", async () => {
  await using nats = await startNats(3, { advertise: false, hasGates: true });
  const engine = await openNatsEngine({ address: nats.address, name: "split" });
  const table = await engine.table("nodes");
  const serverNow = async () => {
    for (const server of nats.servers) if ((await server.figures()).connections > 0) return server;
    return undefined;
  };
  const alone = await serverNow();
  for (const gate of alone?.routes ?? []) gate.hold("all");
  const renew = () =>
    table.put("0", "x").then(
      () => true,
      () => false,
    );
  await eventually(async () => !(await renew()), { what: "the server can't write any more" });
  await eventually(renew, { timeoutMs: 15_000, everyMs: 500, what: "another server is found" });
  expect(await serverNow()).not.toBe(alone);
  for (const gate of alone?.routes ?? []) gate.open();
  await engine.close();
});

test("entries are written in parts that the server takes, and one that takes almost nothing is refused", async () => {
  await using small = await startNats(1, { settings: "max_payload: 128KB" });
  const engine = await openNatsEngine({ address: small.address, name: "test" });
  const log = await engine.log(0);
  const entry = crypto.getRandomValues(new Uint8Array(65_536)).toHex().repeat(4);
  const stop = new AbortController();
  const place = await openCellLog(log, 0, stop.signal).append(bytes(entry));
  const join = createEntryJoiner();
  const entries: string[] = [];
  for await (const message of log.follow(0, stop.signal)) {
    const whole = join(message);
    if (whole) entries.push(String(text(whole.bytes)));
    if (message.number === place.number) break;
  }
  expect(entries).toEqual([entry]);
  await engine.close();
  await using tiny = await startNats(1, { settings: "max_payload: 32KB" });
  await expect(openNatsEngine({ address: tiny.address, name: "test" })).rejects.toThrow(
    "max_payload is 32768 bytes; Berth needs 65536 or more, and 1 MiB is the default",
  );
});

describe("CLUSTER_URL", () => {
  test("names servers, with credentials", () => {
    expect(parseNatsAddress("nats://10.0.0.1,10.0.0.2:5000")).toEqual({
      servers: ["nats://10.0.0.1", "nats://10.0.0.2:5000"],
    });
    expect(parseNatsAddress("tls://ada:p%40ss@nats.example.com:4222")).toEqual({
      servers: ["tls://nats.example.com:4222"],
      user: "ada",
      pass: "p@ss",
    });
  });
  test.each(["", "10.0.0.1", "http://10.0.0.1", "nats://", "nats://a b", "nats://a,,b", "nats://a:port"])(
    "%j is refused",
    (url) => expect(parseNatsAddress(url)).toBeUndefined(),
  );
});
