// Load from a process of its own: closed loops over keep-alive connections, one request at a time on each.

import { bun } from "../../tests/support/process.ts";

export interface Ask {
  method: string;
  path: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
}

/** One target, and what it is asked. Connection k of n sends the requests k, k + n, k + 2n, … over and over. */
export interface Stage {
  name: string;
  origin: string;
  connections: number;
  asks: Ask[];
  /** How long a round takes, in seconds. */
  seconds: number;
  /** Ends a round early, after so many answers. */
  atMost?: number;
  /** Each connection begins a request every so many ms, or as soon as it has its answer where that is later. */
  everyMs?: number;
}

/** What came of one stage. Rates and times are medians over its rounds; the first round warms up and counts only in `answers`. */
export interface Outcome {
  /** All rounds, the warm-up too. */
  answers: number;
  /** Answers by status, all rounds. */
  statuses: Record<string, number>;
  /** Answers a second. */
  rate: number;
  /** Milliseconds from sending to the last byte. `max` is the worst of all rounds that count. */
  p50: number;
  p99: number;
  max: number;
}

export interface Plan {
  /** Run one after the other in each round, so that what disturbs one disturbs the others too. */
  stages: Stage[];
  /** Beside the warm-up. */
  rounds: number;
}

/** Runs a plan to its end. Throws when a connection broke; statuses are the caller's to judge. */
export async function load(plan: Plan): Promise<Record<string, Outcome>> {
  const child = Bun.spawn([bun, `${import.meta.dir}/generator.ts`], {
    stdin: new Blob([JSON.stringify(plan)]),
    stdout: "pipe",
    stderr: "inherit",
    timeout: 90_000,
  });
  const text = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error("The load generator failed, or did not end within 90 s.");
  return JSON.parse(text) as Record<string, Outcome>;
}

/** The outcome of one stage; throws unless every answer had the status 200. */
export function allGood(outcomes: Record<string, Outcome>, name: string): Outcome {
  const outcome = outcomes[name];
  if (!outcome) throw new Error(`There is no stage ${name}.`);
  const wrong = Object.entries(outcome.statuses).filter(([status]) => status !== "200");
  if (wrong.length > 0) throw new Error(`${name}: not every answer was 200: ${JSON.stringify(outcome.statuses)}`);
  return outcome;
}

/** A request as it goes over the wire. */
export function wire({ method, path, headers = {}, body }: Ask, origin: string): Buffer {
  const content = body === undefined ? "" : JSON.stringify(body);
  const lines = Object.entries({ host: new URL(origin).host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  if (body !== undefined) lines.push("content-type: application/json", `content-length: ${Buffer.byteLength(content)}`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${content}`);
}
