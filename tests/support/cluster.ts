// Several Berths as one cluster on real NATS servers, behind a load balancer that knows nothing of them.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "../../src/cluster/engine.ts";
import { openNatsEngine } from "../../src/cluster/nats/nats-engine.ts";
import type { CellEntry } from "../../src/cluster/ownership/cell-table.ts";
import { type Berth, startBerth } from "./berth.ts";
import { type Clock, createClock } from "./clock.ts";
import { eventually } from "./eventually.ts";
import { type Gate, openGate } from "./gate.ts";
import { freePorts, type Nats, startNats } from "./nats.ts";
import { temporaryDir } from "./process.ts";

export interface Cluster extends AsyncDisposable {
  readonly nats: Nats;
  readonly nodes: readonly Berth[];
  /** Origin of the load balancer, which asks the nodes in turn, and the next one if a node can't be reached. */
  readonly web: string;
  /** Runs a command beside a node that runs. */
  command: Berth["command"];
  /** The node that owns the cell (default: 0) and serves it, once one does. */
  owner(cell?: number): Promise<Berth>;
  status(): Promise<Status>;
  /** Starts another node, with an empty folder. */
  add(): Promise<Berth>;
  /** What the cluster keeps in NATS. */
  engine(): Promise<Engine>;
  /** Leaves a node out that has ended for good. */
  remove(node: Berth): void;
  /** What a node reaches the servers of NATS through, if the cluster was started with gates. */
  gatesOf(node: Berth): readonly Gate[];
  /** What the other nodes reach a node through, if the cluster was started with gates. */
  peerGateOf(node: Berth): Gate;
  /** What a node reaches the server of this variable through, if the variable is one of `outside`. */
  outsideGateOf(node: Berth, variable: string): Gate;
  /** By which a node goes, if the cluster was started with clocks. */
  clockOf(node: Berth): Clock;
  /** Until a node follows and has applied all that the log has. */
  followed(): Promise<void>;
}

/** As `berth cluster status --json` prints it. */
export interface Status {
  engine: string;
  nodes: { address: string; version: string; lease: string }[];
  cells: { cell: number; owner: string; standby: string | null; log: number; behind: number | null; state: string }[];
}

export interface ClusterOptions {
  nodes?: number;
  natsServers?: number;
  env?: Record<string, string>;
  /** Default: `dist/berth`, with the sparing settings of tests. */
  binary?: string;
  /** Nodes reach NATS and each other, and servers of NATS each other, through gates, which can be closed. */
  hasGates?: boolean;
  /** Of servers on this machine that nodes reach through gates: their URLs, by the variables that they are the values of. */
  outside?: Record<string, string>;
  /** Each server of NATS has a disk of its own with this many MiB. Needs root. */
  natsDiskMib?: number;
  /** A server of NATS can be replaced by a new one. */
  canReplaceNats?: boolean;
  /** Each node has a clock that can be set. Needs libfaketime. */
  hasClocks?: boolean;
}

export const CLUSTER_KEY = "a secret key of the cluster tests alone";

/** As the other nodes reach a node. */
export const addressOf = ({ env, backend }: Berth) => env.NODE_ADDRESS ?? backend;
/** As commands name a node. */
export const nameOf = (node: Berth) => new URL(addressOf(node)).host;

export async function startCluster({
  nodes: count = 2,
  natsServers = 1,
  env = {},
  binary,
  hasGates = false,
  hasClocks = false,
  outside = {},
  natsDiskMib,
  canReplaceNats = false,
}: ClusterOptions = {}): Promise<Cluster> {
  await using undo = new AsyncDisposableStack();
  const nats = undo.use(
    await startNats(natsServers, {
      advertise: !hasGates,
      hasGates,
      canReplace: canReplaceNats,
      ...(natsDiskMib !== undefined && { diskMib: natsDiskMib }),
    }),
  );
  const nodes: Berth[] = [];
  const balancer = balance(() => nodes.filter(({ running }) => running).map(({ web }) => web));
  undo.defer(() => balancer.stop(true));
  const web = `http://127.0.0.1:${balancer.port}`;
  const gates = new Map<Berth, readonly Gate[]>();
  const peerGates = new Map<Berth, Gate>();
  const outsideGates = new Map<Berth, ReadonlyMap<string, Gate>>();
  const clocks = new Map<Berth, Clock>();
  const folder = hasClocks ? undo.adopt(temporaryDir("berth-clocks-"), (dir) => dir.remove()).path : "";
  const opened: Gate[] = [];
  undo.defer(() => {
    for (const gate of opened) gate.close();
  });
  async function gateTo(port: number): Promise<Gate> {
    const gate = await openGate(port);
    opened.push(gate);
    return gate;
  }
  async function add(): Promise<Berth> {
    const [port, backend] = await freePorts(2);
    const own = hasGates ? await Promise.all(nats.servers.map(({ port }) => gateTo(port))) : [];
    const peerGate = hasGates ? await gateTo(backend ?? 0) : undefined;
    const outer = new Map<string, Gate>();
    for (const [variable, url] of Object.entries(outside)) outer.set(variable, await gateTo(Number(new URL(url).port)));
    const clock = hasClocks ? createClock(mkdtempSync(join(folder, "node-")), new Date()) : undefined;
    const node = await startBerth({
      isEmpty: true,
      readyMs: 60_000,
      ...(binary !== undefined && { binary }),
      env: {
        PORT: String(port),
        BACKEND_PORT: String(backend),
        BASE_URL: web,
        SECRET_KEY: CLUSTER_KEY,
        CLUSTER_URL: hasGates ? `nats://${own.map((gate) => `127.0.0.1:${gate.port}`).join(",")}` : nats.url,
        NODE_ADDRESS: `http://127.0.0.1:${peerGate?.port ?? backend}`,
        ...clock?.env,
        ...env,
        ...Object.fromEntries(
          [...outer].map(([variable, { port }]) => [variable, through(outside[variable] ?? "", port)]),
        ),
      },
    });
    nodes.push(node);
    if (clock) clocks.set(node, clock);
    gates.set(node, own);
    if (peerGate) peerGates.set(node, peerGate);
    outsideGates.set(node, outer);
    return node;
  }
  undo.defer(async () => void (await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()))));
  for (let n = 0; n < count; n++) await add();

  const someNode = () => {
    const node = nodes.find(({ running }) => running);
    if (!node) throw new Error("No node runs.");
    return node;
  };
  const status = async (): Promise<Status> => {
    const node = someNode();
    const { stdout, stderr, exitCode } = await node.command("cluster", "status", "--json");
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  };
  let engine: Engine | undefined;
  undo.defer(async () => engine?.close());
  /** As the table of cells says; whether it is served, its metrics say, which are where the cell is. */
  const openEngine = async () => (engine ??= await openNatsEngine({ address: nats.address, name: "tests" }));
  async function ownerNow(cell: number): Promise<Berth | undefined> {
    const found = await (await (await openEngine()).table("cells")).find(String(cell));
    const { owner } = JSON.parse(found?.value ?? "{}") as Partial<CellEntry>;
    const node = nodes.find((one) => one.running && addressOf(one) === owner?.address);
    const signal = AbortSignal.timeout(1_000);
    const isServed = node && (await fetch(`${node.backend}/metrics?cell=${cell}`, { signal })).ok;
    return isServed ? node : undefined;
  }
  const ended = undo.move();
  return {
    nats,
    nodes,
    web,
    add,
    engine: openEngine,
    remove: (node) => void nodes.splice(nodes.indexOf(node), 1),
    command: (...args) => someNode().command(...args),
    gatesOf: (node) => gates.get(node) ?? [],
    peerGateOf(node) {
      const gate = peerGates.get(node);
      if (!gate) throw new Error("The cluster was started without gates.");
      return gate;
    },
    outsideGateOf(node, variable) {
      const gate = outsideGates.get(node)?.get(variable);
      if (!gate) throw new Error(`No gate is at ${variable}.`);
      return gate;
    },
    clockOf(node) {
      const clock = clocks.get(node);
      if (!clock) throw new Error("The cluster was started without clocks.");
      return clock;
    },
    status,
    owner: (cell = 0) =>
      eventually(() => ownerNow(cell), { timeoutMs: 30_000, everyMs: 50, what: `a node owns cell ${cell}` }),
    followed: async () =>
      void (await eventually(async () => (await status()).cells.every(({ behind }) => behind === 0), {
        timeoutMs: 60_000,
        what: "a node follows",
      })),
    [Symbol.asyncDispose]: () => ended[Symbol.asyncDispose](),
  };
}

/** The same URL at another port. */
const through = (url: string, port: number) => url.replace(`:${new URL(url).port}`, `:${port}`);

function balance(targets: () => string[]) {
  let turn = 0;
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 255,
    async fetch(request) {
      const body = request.body === null ? undefined : await request.arrayBuffer();
      const path = request.url.slice(request.url.indexOf("/", "http://".length));
      const origins = targets();
      turn++;
      for (let tries = 0; tries < origins.length; tries++) {
        const headers = new Headers(request.headers);
        try {
          const response = await fetch(`${origins[(turn + tries) % origins.length]}${path}`, {
            method: request.method,
            headers,
            ...(body && { body }),
            redirect: "manual",
            decompress: false,
            signal: request.signal,
          } as BunFetchRequestInit);
          return new Response(response.body, { status: response.status, headers: response.headers });
        } catch (error) {
          const code = error instanceof Error && "code" in error ? String(error.code) : "";
          if (!/refused/i.test(code)) break;
        }
      }
      return Response.json({ error: "No node took the request.", code: "BALANCER" }, { status: 502 });
    },
  });
}
