// Starts nats-server with JetStream, one or a cluster of them, on free ports, for tests of clusters of Berth.
import {
  closeSync,
  cpSync,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { NatsAddress } from "../../src/cluster/nats/nats-address.ts";
import { eventually } from "./eventually.ts";
import { type Gate, openGate } from "./gate.ts";
import { type Child, launch, temporaryDir } from "./process.ts";
import { createSmallDisk, type SmallDisk } from "./small-disk.ts";

export interface NatsServer {
  readonly port: number;
  /** Of the process that was started last. */
  readonly pid: number;
  /** Ends the process; its data stay. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again over its data. */
  start(): Promise<void>;
  /** Deletes its data, once it has ended. */
  erase(): void;
  /** Copies its data, once it has ended. */
  keepData(): void;
  /** Puts the data of the last `keepData` in place of those that it has, once it has ended. */
  putDataBack(): void;
  /**
   * Ends it for good: a new server with another name and without data is at its port then, and NATS has forgotten the old one. For
   * servers that were started with `canReplace`.
   */
  replace(): Promise<void>;
  /** What it and the other servers reach each other through, if the servers were started with gates. */
  readonly routes: readonly Gate[];
  /** That its data are on, if the servers were started with disks of their own. */
  readonly disk: SmallDisk | undefined;
  /** Changes a byte in the middle of each file of messages, or cuts off its last part, once it has ended. Returns how many there were. */
  damage(how: "flip" | "cut"): number;
  signal(name: NodeJS.Signals): void;
  /** Bytes of memory that it has, and the number of clients that are connected to it. */
  figures(): Promise<{ mem: number; connections: number }>;
}

export interface Nats extends AsyncDisposable {
  /** For CLUSTER_URL. */
  readonly url: string;
  readonly address: NatsAddress;
  readonly servers: readonly NatsServer[];
  /** Until each stream has a copy on each server that lacks nothing. For servers that were started with `canReplace`. */
  copied(): Promise<void>;
}

/** Bytes that are cut off: some dozens of entries. */
const CUT_BYTES = 64 * 1024;

function damageFile(path: string, how: "flip" | "cut"): void {
  const { size } = statSync(path);
  const file = openSync(path, "r+");
  try {
    if (how === "cut") ftruncateSync(file, Math.max(0, size - CUT_BYTES));
    else if (size > 0) {
      const at = size >> 1;
      const byte = new Uint8Array(1);
      readSync(file, byte, 0, 1, at);
      writeSync(file, Uint8Array.of((byte[0] ?? 0) ^ 0xff), 0, 1, at);
    }
  } finally {
    closeSync(file);
  }
}

/** The path of nats-server: as the test command has put it into the packages' cache, because PATH's is too old then; or from PATH. */
export function natsBinary(): string {
  const folders = [join(import.meta.dir, "../../node_modules/.cache/nats"), ...(process.env.PATH ?? "").split(":")];
  const found = folders.map((folder) => join(folder, "nats-server")).find((path) => existsSync(path));
  if (found === undefined) throw new Error("nats-server is missing: npm test installs it as root on Debian.");
  return found;
}

interface NatsOptions {
  /** Whether servers tell clients of the others. */
  advertise?: boolean;
  /** Lines of the configuration of each. */
  settings?: string;
  /** Servers reach each other through gates, which can be closed. */
  hasGates?: boolean;
  /** Each has a disk of its own with this many MiB. Needs root. */
  diskMib?: number;
  /** They have a system account, which may tell them to forget one of them. */
  canReplace?: boolean;
}

const SYSTEM = { user: "system", pass: "system" };
const ACCOUNTS = `accounts {
  SYS { users: [{ user: "${SYSTEM.user}", password: "${SYSTEM.pass}" }] }
  APP { jetstream: enabled, users: [{ user: "app", password: "app" }] }
}
system_account: SYS
no_auth_user: app`;

/** Starts this many servers, which know each other. */
export async function startNats(
  count = 1,
  { advertise = true, settings = "", hasGates = false, diskMib, canReplace = false }: NatsOptions = {},
): Promise<Nats> {
  await using undo = new AsyncDisposableStack();
  const dir = undo.adopt(temporaryDir(), ({ remove }) => remove());
  const ports = await freePorts(count * 3);
  const [clients, routes, monitors] = [0, 1, 2].map((n) => ports.slice(n * count, (n + 1) * count)) as [
    number[],
    number[],
    number[],
  ];
  const gates = hasGates ? await routeGates(routes) : undefined;
  undo.defer(() => {
    for (const gate of gates?.values() ?? []) gate.close();
  });
  const disks: SmallDisk[] = [];
  if (diskMib !== undefined)
    for (const n of clients.keys()) disks.push(undo.use(await createSmallDisk(join(dir.path, `nats-${n}`), diskMib)));
  const servers = await Promise.all(
    clients.map(async (port, n) => {
      const folder = join(dir.path, `nats-${n}`);
      const config = `${folder}.conf`;
      const disk = disks[n];
      const [data, kept] = [join(folder, "data"), join(folder, "kept")];
      const others = routes.map((route, to) => gates?.get(`${n} ${to}`)?.port ?? route);
      let generation = 0;
      const name = () => (generation === 0 ? `nats-${n}` : `nats-${n}-${generation}`);
      const configure = () =>
        writeFile(
          config,
          `server_name: "${name()}"\nlisten: "127.0.0.1:${port}"\nhttp: "127.0.0.1:${monitors[n]}"
jetstream { store_dir: "${data}", sync_interval: "1s", max_mem: 256MB, max_file: 2GB }
${count > 1 ? clusterOf(routes[n] ?? 0, others, { advertise, hasGates }) : ""}
${canReplace ? ACCOUNTS : ""}
${settings}`,
        );
      await configure();
      let child: Child | undefined;
      const server: NatsServer = {
        port,
        disk,
        routes: [...(gates ?? [])].filter(([name]) => name.split(" ").includes(String(n))).map(([, gate]) => gate),
        get pid() {
          return child?.pid ?? 0;
        },
        async start() {
          child = launch({ command: [natsBinary(), "-c", config], env: {}, dir: dir.path });
          child.exited.catch(() => undefined);
          await eventually(
            async () => (await fetch(`http://127.0.0.1:${monitors[n]}/healthz?js-enabled-only=true`)).ok,
            {
              what: "nats-server is up",
              timeoutMs: 20_000,
            },
          );
        },
        async kill(signal = "SIGKILL") {
          child?.signal(signal);
          await child?.exited;
        },
        async replace() {
          const former = name();
          await server.kill();
          server.erase();
          generation++;
          await configure();
          await server.start();
          await forget(clients, former);
        },
        erase: () => rmSync(data, { recursive: true, force: true }),
        keepData() {
          rmSync(kept, { recursive: true, force: true });
          cpSync(data, kept, { recursive: true });
        },
        putDataBack() {
          server.erase();
          cpSync(kept, data, { recursive: true });
        },
        damage(how) {
          const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter(
            (entry) => entry.isFile() && entry.name.endsWith(".blk"),
          );
          for (const { parentPath, name } of files) damageFile(join(parentPath, name), how);
          return files.length;
        },
        signal: (name) => child?.signal(name),
        figures: async () =>
          (await (await fetch(`http://127.0.0.1:${monitors[n]}/varz`)).json()) as { mem: number; connections: number },
      };
      return server;
    }),
  );
  undo.defer(async () => void (await Promise.all(servers.map(({ kill }) => kill()))));
  await Promise.all(servers.map(({ start }) => start()));
  const addresses = clients.map((port) => `127.0.0.1:${port}`);
  const ended = undo.move();
  return {
    url: `nats://${addresses.join(",")}`,
    address: { servers: addresses.map((address) => `nats://${address}`) },
    servers,
    copied: () => untilCopied(clients, count),
    [Symbol.asyncDispose]: () => ended[Symbol.asyncDispose](),
  };
}

/** Tells NATS that a server is gone for good: streams get another copy in place of its own. */
async function forget(ports: readonly number[], name: string): Promise<void> {
  const connection = await connect({ servers: ports.map((port) => `127.0.0.1:${port}`), ...SYSTEM });
  try {
    // The servers answer once they have a leader that knows the new one.
    await eventually(
      async () => {
        const message = await connection.request("$JS.API.SERVER.REMOVE", JSON.stringify({ peer: name }));
        const { success, error } = message.json<{ success?: boolean; error?: { err_code: number } }>();
        return success === true || error?.err_code === NOT_A_MEMBER;
      },
      { timeoutMs: 30_000, everyMs: 500, what: `NATS forgets ${name}` },
    );
  } finally {
    await connection.close();
  }
}

const NOT_A_MEMBER = 10044;

async function untilCopied(ports: readonly number[], copies: number): Promise<void> {
  const connection = await connect({ servers: ports.map((port) => `127.0.0.1:${port}`) });
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false });
    await eventually(
      async () => {
        for await (const { cluster } of manager.streams.list()) {
          const current = cluster?.replicas?.filter(({ current, offline }) => current && !offline).length ?? 0;
          if (cluster?.leader === undefined || current < copies - 1) return false;
        }
        return true;
      },
      { timeoutMs: 60_000, everyMs: 500, what: "each stream has all of its copies" },
    );
  } finally {
    await connection.close();
  }
}

/** One for each pair of servers and each direction, by "FROM TO". */
async function routeGates(routes: readonly number[]): Promise<Map<string, Gate>> {
  const gates = new Map<string, Gate>();
  for (const from of routes.keys())
    for (const [to, route] of routes.entries()) if (to !== from) gates.set(`${from} ${to}`, await openGate(route));
  return gates;
}

function clusterOf(
  listen: number,
  others: readonly number[],
  { advertise, hasGates }: { advertise: boolean; hasGates: boolean },
): string {
  const routes = others.map((port) => `"nats://127.0.0.1:${port}"`).join(", ");
  // Servers tell each other this address. It takes no connection, so they reach each other through the gates alone.
  const address = hasGates ? `advertise: "127.0.0.1:1", ` : "";
  return `cluster { name: "berth-tests", ${address}no_advertise: ${!advertise}, listen: "127.0.0.1:${listen}", routes: [${routes}] }`;
}

/** Ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = createServer();
      await new Promise<void>((resolve) => socket.listen(0, "127.0.0.1", resolve));
      return socket;
    }),
  );
  const ports = sockets.map((socket) => {
    const address = socket.address();
    return typeof address === "object" && address ? address.port : 0;
  });
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.close(resolve))));
  return ports;
}
