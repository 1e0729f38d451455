// The export of the audit log: each entry in order, at least once, to a file, a syslog server or a webhook, also after failures.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { createMetrics } from "../../../src/kernel/telemetry/metrics.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import type { AuditTarget } from "../settings.ts";
import { type AuditExport, startAuditExport } from "./audit-export.ts";

let server: TestServer;
let running: AuditExport | undefined;
beforeEach(async () => {
  server = await openServer();
  await server.kernel.audit.start();
});
afterEach(async () => {
  await running?.stop();
  await server?.[Symbol.asyncDispose]();
});

const record = (action: string, name = "ada@example.com") =>
  server.kernel.database.write([server.kernel.audit.record({ action, target: { kind: "user", id: "u1", name } })]);
function start(target: AuditTarget, token?: string): void {
  running = startAuditExport({ ...server.kernel, metrics: createMetrics() }, target, token);
}
/** Waits until the expectation holds. */
const until = (expectation: () => void) =>
  eventually(() => {
    expectation();
    return true;
  });
const actionsOf = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { action: string }).action);

test("a file gets a line of JSON for each entry, also for those of before the start and of a pause", async () => {
  const path = join(server.dir, "audit.jsonl");
  const target = { kind: "file", path, name: `file:${path}` } as const;
  const lines = () => (existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []);
  await record("user.one");
  start(target);
  await record("user.two");
  await until(() => expect(actionsOf(lines())).toEqual(["user.one", "user.two"]));
  await running?.stop();
  await record("user.three");
  start(target);
  await until(() => expect(actionsOf(lines())).toEqual(["user.one", "user.two", "user.three"]));
  expect(JSON.parse(lines()[2] ?? "")).toEqual({
    seq: 3,
    id: expect.any(String),
    at: expect.stringMatching(/^\d{4}-.+Z$/),
    actor: { kind: "service", id: null, name: "" },
    action: "user.three",
    target: { kind: "user", id: "u1", name: "ada@example.com" },
    details: {},
    address: null,
    requestId: null,
    mac: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a folder that is missing is an outage with its reason, until it is there", async () => {
  const folder = join(server.dir, "later");
  await record("user.one");
  start({ kind: "file", path: join(folder, "audit.jsonl"), name: "file:later" });
  await until(() => expect([...server.kernel.outages.current.values()]).toHaveLength(1));
  expect([...server.kernel.outages.current.values()][0]).toMatchObject({
    of: "audit_export",
    reason: expect.stringContaining("ENOENT"),
  });
  mkdirSync(folder);
  await until(() => expect([...server.kernel.outages.current.values()]).toEqual([]));
  expect(actionsOf(readFileSync(join(folder, "audit.jsonl"), "utf8").trim().split("\n"))).toEqual(["user.one"]);
});

test("a webhook gets them again until it has accepted them", async () => {
  const bodies: string[] = [];
  const tokens: (string | null)[] = [];
  let status = 503;
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      bodies.push(await request.text());
      tokens.push(request.headers.get("authorization"));
      return new Response(null, { status });
    },
  });
  try {
    await record("user.one");
    start({ kind: "webhook", url: receiver.url.href, name: receiver.url.href }, "shared");
    await until(() => expect(bodies).toHaveLength(1));
    status = 204;
    await record("user.two");
    await until(() => expect(bodies.length).toBeGreaterThan(1));
    expect(actionsOf((bodies.at(-1) ?? "").trim().split("\n"))).toEqual(["user.one", "user.two"]);
    expect(new Set(tokens)).toEqual(new Set(["Bearer shared"]));
  } finally {
    await receiver.stop(true);
  }
});

/** The grammar of RFC 5424, section 6: header, structured data, message. */
const SYSLOG =
  /^<(?<pri>0|[1-9]\d{0,2})>(?<version>[1-9]\d{0,2}) (?<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)) (?<host>[\x21-\x7e]{1,255}) (?<app>[\x21-\x7e]{1,48}) (?<process>[\x21-\x7e]{1,128}) (?<id>[\x21-\x7e]{1,32}) (?<data>-|(?:\[[^\]]+\])+) (?<text>.+)$/s;

/** What a syslog server understands of a message; undefined if the grammar does not allow it. */
function parseSyslog(message: string) {
  const fields = SYSLOG.exec(message)?.groups;
  if (!fields) return undefined;
  const { pri, version, at = "", host, app, process: id, id: messageId, text = "" } = fields;
  const entry = JSON.parse(text) as { action: string; at: string };
  const isOwnTime = entry.at === at;
  const where = { version, host, app, id, isOwnTime };
  return {
    facility: Math.floor(Number(pri) / 8),
    severity: Number(pri) % 8,
    messageId,
    action: entry.action,
    ...where,
  };
}
/** As it should be: facility "log audit", severity "notice". */
const entryOf = (action: string) => ({
  ...{ facility: 13, severity: 5, messageId: action, action },
  ...{ version: "1", host: hostname(), app: "berth", id: String(process.pid), isOwnTime: true },
});

test("a syslog server gets messages of RFC 5424 over TCP, with their lengths", async () => {
  let received = "";
  const syslog = createServer((socket) => {
    socket.on("data", (data) => {
      received += data;
    });
  });
  syslog.listen(0, "127.0.0.1");
  await once(syslog, "listening");
  const { port } = syslog.address() as AddressInfo;
  try {
    await record("user.one");
    await record("user.two", "Zoë–ü");
    start({ kind: "syslog", protocol: "tcp", host: "127.0.0.1", port, name: "tcp" });
    await until(() => expect(received).toContain("ü"));
    const messages: string[] = [];
    for (let rest = Buffer.from(received); rest.length > 0; ) {
      const space = rest.indexOf(" ");
      const end = space + 1 + Number(rest.subarray(0, space));
      messages.push(rest.subarray(space + 1, end).toString());
      rest = rest.subarray(end);
    }
    expect(messages.map(parseSyslog)).toEqual([entryOf("user.one"), entryOf("user.two")]);
    expect(messages[1]).toContain("Zoë–ü");
  } finally {
    syslog.close();
  }
});

test("an entry that is too long for a datagram is shortened, keeps its hash, and holds up no later one", async () => {
  const messages: string[] = [];
  const socket = createSocket("udp4").on("message", (message) => void messages.push(message.toString()));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  try {
    const { audit, database } = server.kernel;
    const target = { kind: "user", id: "u1", name: `Zoë${"ü".repeat(70_000)}` };
    await record("user.one");
    await database.write([audit.record({ action: "user.two", target, details: { text: "x".repeat(70_000) } })]);
    await record("user.three");
    start({ kind: "syslog", protocol: "udp", host: "127.0.0.1", port: socket.address().port, name: "udp" });
    await until(() => expect(messages).toHaveLength(3));
    expect(messages.map(parseSyslog)).toEqual([entryOf("user.one"), entryOf("user.two"), entryOf("user.three")]);
    expect(JSON.parse(messages[1]?.slice(messages[1].indexOf("{")) ?? "")).toMatchObject({
      seq: 2,
      target: { kind: "user", id: "u1", name: expect.stringMatching(/^Zoëü{253}$/) },
      details: {},
      mac: expect.stringMatching(/^[\w-]{43}$/),
      shortenedFrom: expect.any(Number),
    });
    expect([...server.kernel.outages.current.values()]).toEqual([]);
  } finally {
    socket.close();
  }
});

test("a syslog server gets a datagram each over UDP", async () => {
  const messages: string[] = [];
  const socket = createSocket("udp4").on("message", (message) => void messages.push(message.toString()));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  try {
    await record("user.one");
    await record("user.two");
    start({ kind: "syslog", protocol: "udp", host: "127.0.0.1", port: socket.address().port, name: "udp" });
    await until(() => expect(messages).toHaveLength(2));
    expect(messages.map(parseSyslog)).toEqual([entryOf("user.one"), entryOf("user.two")]);
  } finally {
    socket.close();
  }
});
