// Tests what `berth doctor` says of the engine of a cluster, with real servers of NATS, and one that says that it is old.
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { eventually } from "../../../tests/support/eventually.ts";
import { freePorts, natsBinary, startNats } from "../../../tests/support/nats.ts";
import { launch, temporaryDir } from "../../../tests/support/process.ts";
import { engineReport } from "./engine-report.ts";

let undo = new AsyncDisposableStack();
afterEach(async () => {
  await undo.disposeAsync();
  undo = new AsyncDisposableStack();
});

const at = (port: number | undefined) => ({ servers: [`nats://127.0.0.1:${port}`] });

/** A real server with this configuration; resolves once it takes connections. */
async function startServer(lines: string): Promise<number> {
  const [port = 0] = await freePorts(1);
  const folder = undo.adopt(temporaryDir(), (dir) => dir.remove()).path;
  writeFileSync(join(folder, "nats.conf"), `listen: "127.0.0.1:${port}"\n${lines}`);
  const child = launch({ command: [natsBinary(), "-c", join(folder, "nats.conf")], env: {}, dir: folder });
  undo.defer(async () => {
    child.signal("SIGKILL");
    await child.exited.catch(() => undefined);
  });
  await eventually(async () => !(await engineReport(at(port))).text.includes("can't be reached"));
  return port;
}

/** What any server of NATS says first, from one of this version. */
async function startOld(version: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write(`INFO ${JSON.stringify({ server_id: "OLD", version, proto: 1, max_payload: 1_048_576 })}\r\n`);
    socket.on("data", (bytes) => {
      if (bytes.includes("PING")) socket.write("PONG\r\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  undo.defer(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test("a server with JetStream can be used, with a hint that one alone may fail", async () => {
  const nats = undo.use(await startNats());
  const { isUsable, text } = await engineReport(nats.address);
  expect(isUsable).toBe(true);
  expect(text).toContain("The cluster's engine answers: nats 2.");
  expect(text).toContain("NATS has one server; with three, one may fail.");
});

test("a server without JetStream is refused, with the setting that it lacks", async () => {
  const { isUsable, text } = await engineReport(at(await startServer("")));
  expect(isUsable).toBe(false);
  expect(text).toBe("✗ NATS runs without JetStream. It needs jetstream { } in its configuration.\n");
});

test("a server that is older than 2.11 is refused", async () => {
  const { isUsable, text } = await engineReport(at(await startOld("2.10.29")));
  expect(isUsable).toBe(false);
  expect(text).toBe("✗ NATS 2.10.29 is too old: Berth needs 2.11 or newer.\n");
});

test("no server is named with what to check", async () => {
  const [port] = await freePorts(1);
  const { isUsable, text } = await engineReport(at(port));
  expect(isUsable).toBe(false);
  expect(text).toContain(`NATS can't be reached at nats://127.0.0.1:${port}`);
  expect(text).toContain("Check CLUSTER_URL.");
});
