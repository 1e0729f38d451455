// Starts the processes that the benchmarks measure: the compiled binary, its baselines and its upstream.

import { Database } from "bun:sqlite";
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
