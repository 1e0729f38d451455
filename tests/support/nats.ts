// Starts nats-server with JetStream, one or a cluster of them, on free ports, for tests of clusters of Berth.
import {
  closeSync,
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
import type { NatsAddress } from "../../src/cluster/nats/nats-address.ts";
import { eventually } from "./eventually.ts";
import { type Child, launch, temporaryDir } from "./process.ts";

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
  /** Changes a byte in the middle of each file of messages, or cuts off its last part, once it has ended. Returns how many there were. */
  damage(how: "flip" | "cut"): number;
  signal(name: NodeJS.Signals): void;
  /** Bytes of memory that it has. */
  memory(): Promise<number>;
}

export interface Nats extends AsyncDisposable {
  /** For CLUSTER_URL. */
  readonly url: string;
  readonly address: NatsAddress;
  readonly servers: readonly NatsServer[];
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

/**
 * Starts this many servers, which know each other. Those that don't `advertise` tell clients nothing of the others.
 * `settings` are lines of their configuration.
 */
export async function startNats(count = 1, { advertise = true, settings = "" } = {}): Promise<Nats> {
  const dir = temporaryDir();
  const ports = await freePorts(count * 3);
  const [clients, routes, monitors] = [0, 1, 2].map((n) => ports.slice(n * count, (n + 1) * count)) as [
    number[],
    number[],
    number[],
  ];
  const servers = await Promise.all(
    clients.map(async (port, n) => {
      const folder = join(dir.path, `nats-${n}`);
      const config = `${folder}.conf`;
      const cluster = `cluster { name: "berth-tests", no_advertise: ${!advertise}, listen: "127.0.0.1:${routes[n]}", routes: [${routes.map((route) => `"nats://127.0.0.1:${route}"`).join(", ")}] }`;
      await writeFile(
        config,
        `server_name: "nats-${n}"\nlisten: "127.0.0.1:${port}"\nhttp: "127.0.0.1:${monitors[n]}"
jetstream { store_dir: "${folder}", sync_interval: "1s", max_mem: 256MB, max_file: 2GB }
${count > 1 ? cluster : ""}
${settings}`,
      );
      let child: Child | undefined;
      const server: NatsServer = {
        port,
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
        erase: () => rmSync(folder, { recursive: true, force: true }),
        damage(how) {
          const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
            (entry) => entry.isFile() && entry.name.endsWith(".blk"),
          );
          for (const { parentPath, name } of files) damageFile(join(parentPath, name), how);
          return files.length;
        },
        signal: (name) => child?.signal(name),
        async memory() {
          const { mem } = (await (await fetch(`http://127.0.0.1:${monitors[n]}/varz`)).json()) as { mem: number };
          return mem;
        },
      };
      return server;
    }),
  );
  await Promise.all(servers.map(({ start }) => start()));
  const addresses = clients.map((port) => `127.0.0.1:${port}`);
  return {
    url: `nats://${addresses.join(",")}`,
    address: { servers: addresses.map((address) => `nats://${address}`) },
    servers,
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map(({ kill }) => kill()));
      dir.remove();
    },
  };
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
