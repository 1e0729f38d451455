// Starts the processes that the benchmarks measure: the compiled binary, its baselines and its upstream.

import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Berth, type BerthOptions, startBerth } from "../../tests/support/berth.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { bun, launch } from "../../tests/support/process.ts";

export const root = join(import.meta.dir, "../..");
export const binary = join(root, "dist/berth");

/** The root key, which seeding needs to encrypt values for the database. */
export const SECRET_KEY = "a secret key of the benchmarks alone";

/** The model of the 0 ms upstream. */
export const MODEL = "provider_3:fake-small";

/** A listening program; disposal kills it. */
export interface Program extends AsyncDisposable {
  /** Without a path and a trailing slash. */
  readonly origin: string;
  readonly pid: number;
}

/** Starts `bun <file> …`, which prints `{ "url": … }` when it listens. */
export async function startProgram(file: string, ...args: string[]): Promise<Program> {
  const child = launch({ command: [bun, join(root, file), ...args], env: {}, dir: root });
  const { url } = JSON.parse(await child.ready()) as { url: string };
  return {
    origin: new URL(url).origin,
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.signal("SIGKILL");
      await child.exited;
    },
  };
}

export const startBare = (...args: string[]) => startProgram("bench/support/bare.ts", ...args);

/** Starts a model provider that replies at once, or with a frame every `--pace` ms. */
export const startUpstream = (...args: string[]) => startProgram("tests/support/upstream.ts", ...args);

/** Starts the service with this upstream as its local provider, without rate limits. */
export function startService(upstream: Program, { env = {}, ...options }: BerthOptions = {}): Promise<Berth> {
  return startBerth({ binary, ...options, env: { ...serviceEnv(upstream.origin), ...env } });
}

export const serviceEnv = (upstream: string): Record<string, string> => ({
  SECRET_KEY,
  RATE_LIMITS: "off",
  PROVIDER_3_BASE_URL: `${upstream}/v1`,
  MODEL_A: MODEL,
  MODEL_B: MODEL,
});

/** A user with a plan and agents, created through the API. */
export interface Owner {
  client: Client;
  userId: string;
  agentIds: string[];
  /** The headers of the user's requests. */
  headers: Record<string, string>;
}

export async function ownerOf(berth: Berth, agents: number): Promise<Owner> {
  const client = createClient(berth);
  const userId = await client.join();
  await client.grant("enterprise");
  const agentIds: string[] = [];
  for (let n = 0; n < agents; n++) {
    const { status, body, text } = await client.post<{ agent: { id: string } }>("/api/agents/provision", {
      name: `Agent ${n}`,
    });
    if (status !== 201) throw new Error(`No agent: ${status} ${text}`);
    agentIds.push(body.agent.id);
  }
  return { client, userId, agentIds, headers: { cookie: client.cookie } };
}

/** Reads one number from a service's database; the service may run. */
export function count(dir: string, sql: string): number {
  const database = new Database(join(dir, "data/berth.db"), { readonly: true });
  try {
    return Number(database.query<{ n: number }, []>(`SELECT (${sql}) AS n`).get()?.n);
  } finally {
    database.close();
  }
}

/** Resident memory of a process in bytes (`/proc/PID/smaps_rollup`): all, and the part that is not backed by files. Linux only. */
export function memoryOf(pid: number): { rss: number; own: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const field = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, "m").exec(text)?.[1] ?? 0) * 1024;
  return { rss: field("Rss"), own: field("Anonymous") };
}

/** Processor time of all threads of a process, in ms (`/proc/PID/stat`). Linux only. */
export function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Processor time in ms of the service and its baseline during `work`: the figure that a busy machine distorts least. */
export async function cpuDuring<T>(pids: readonly [number, number], work: () => Promise<T>) {
  const before = pids.map(cpuOf);
  const result = await work();
  const [service = 0, baseline = 0] = pids.map((pid, n) => cpuOf(pid) - (before[n] ?? 0));
  return { result, service, baseline };
}
