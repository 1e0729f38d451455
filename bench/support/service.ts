// What the benchmarks run against: the compiled binary, its baselines and its upstream, each a process of its own.

import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Berth, startBerth } from "../../tests/support/berth.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { bun, launch } from "../../tests/support/process.ts";

export const root = join(import.meta.dir, "../..");
export const binary = join(root, "dist/berth");

/** Known to the benchmarks, so that they can seal what they write into a database. */
export const SECRET_KEY = "a secret key of the benchmarks alone";

/** The model of the 0 ms upstream. */
export const MODEL = "provider_3:fake-small";

/** A program that listens; killed when its scope ends. */
export interface Program extends AsyncDisposable {
  /** Without a trailing slash, and without a path. */
  readonly origin: string;
  readonly pid: number;
}

/** Starts `bun <file> …` that prints `{ "url": … }` when it listens. */
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

/** A provider that answers at once, or with a frame every `pace` ms. */
export const startUpstream = (...args: string[]) => startProgram("tests/support/upstream.ts", ...args);

/** The service with that upstream as its local provider, and no limit of requests. */
export function startService(upstream: Program, env: Record<string, string> = {}, dir?: string): Promise<Berth> {
  const settings = { ...serviceEnv(upstream.origin), ...env };
  return startBerth({ binary, env: settings, ...(dir === undefined ? {} : { dir }) });
}

export const serviceEnv = (upstream: string): Record<string, string> => ({
  SECRET_KEY,
  RATE_LIMITS: "off",
  PROVIDER_3_BASE_URL: `${upstream}/v1`,
  MODEL_A: MODEL,
  MODEL_B: MODEL,
});

/** Somebody with a plan and agents, made through the API. */
export interface Owner {
  client: Client;
  userId: string;
  agentIds: string[];
  /** What a request in their name carries. */
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

/** One number from a service's database; read beside the service, or after it. */
export function count(dir: string, sql: string): number {
  const database = new Database(join(dir, "data/berth.db"), { readonly: true });
  try {
    return Number(database.query<{ n: number }, []>(`SELECT (${sql}) AS n`).get()?.n);
  } finally {
    database.close();
  }
}

/** Bytes of a process in memory (`/proc/PID/smaps_rollup`): all of it, and what is its own and not a file's. Linux only. */
export function memoryOf(pid: number): { rss: number; own: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const field = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, "m").exec(text)?.[1] ?? 0) * 1024;
  return { rss: field("Rss"), own: field("Anonymous") };
}

/** Milliseconds of processor time that a process has used, all its threads together (`/proc/PID/stat`). Linux only. */
export function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Milliseconds of processor time that the service and its baseline use while `work` runs: what a busy machine distorts least. */
export async function cpuDuring<T>(pids: readonly [number, number], work: () => Promise<T>) {
  const before = pids.map(cpuOf);
  const result = await work();
  const [service = 0, baseline = 0] = pids.map((pid, n) => cpuOf(pid) - (before[n] ?? 0));
  return { result, service, baseline };
}
