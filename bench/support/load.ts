// Generates load in a separate process: closed loops over keep-alive connections, with one open request on each.

import { bun } from "../../tests/support/process.ts";

export interface Ask {
  method: string;
  path: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
}

/** A target and its requests. Connection k of n repeats the requests k, k + n, k + 2n, …, from any of them on. */
export interface Stage {
  name: string;
  origin: string;
  connections: number;
  asks: Ask[];
  /** Duration of a round, in seconds. */
  seconds: number;
  /** Ends a round early after this many responses. */
  atMost?: number;
  /** Interval between the requests of a connection, in ms; longer if the response takes longer. */
  everyMs?: number;
  /** Processes whose processor time is measured in each round. Linux only. */
  pids?: readonly number[];
}

/** What one round of a stage gave. */
export interface RoundOutcome {
  /** Responses per second. */
  rate: number;
  /** Milliseconds, median. */
  p50: number;
  /** Processor time for a response, in ms: of all threads of each process of `pids`. */
  cpu: number[];
}

/** The result of a stage. Rates and times are medians over its rounds; the first round is a warm-up and counts only in `answers`. */
export interface Outcome {
  /** Number of responses in all rounds, including the warm-up. */
  answers: number;
  /** Number of responses by status, in all rounds. */
  statuses: Record<string, number>;
  /** Responses per second. */
  rate: number;
  /** Milliseconds from sending to the last byte. `max` is the largest of all counted rounds. */
  p50: number;
  p99: number;
  max: number;
  /** Without the warm-up. */
  rounds: RoundOutcome[];
}

export interface Plan {
  /** Run one after the other in each round, so that disturbances affect all of them. Each round begins with the next one. */
  stages: Stage[];
  /** Number of rounds, without the warm-up. */
  rounds: number;
}

/** For connections, and for answers that take long, in ms. */
const PATIENCE = 60_000;

/** Runs a plan. Throws if a connection breaks; the caller checks the statuses. */
export async function load(plan: Plan): Promise<Record<string, Outcome>> {
  const seconds = plan.stages.reduce((sum, stage) => sum + stage.seconds, 0) * (plan.rounds + 1);
  const timeout = seconds * 1000 + PATIENCE;
  const child = Bun.spawn([bun, `${import.meta.dir}/generator.ts`], {
    stdin: new Blob([JSON.stringify(plan)]),
    stdout: "pipe",
    stderr: "inherit",
    timeout,
  });
  const text = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error("The load generator failed, or did not end in time.");
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

/** One value of each round: `eachRound(outcomes, "berth", rateOf)`. Throws unless every answer had the status 200. */
export const eachRound = (
  outcomes: Record<string, Outcome>,
  name: string,
  of: (round: RoundOutcome) => number,
): number[] => allGood(outcomes, name).rounds.map(of);

export const rateOf = ({ rate }: RoundOutcome) => rate;
export const p50Of = ({ p50 }: RoundOutcome) => p50;
/** Processor time of the first process of the stage. */
export const cpuOfFirst = ({ cpu: [first = Number.NaN] }: RoundOutcome) => first;

/** Encodes a request as HTTP/1.1. */
export function wire({ method, path, headers = {}, body }: Ask, origin: string): Buffer {
  const content = body === undefined ? "" : JSON.stringify(body);
  const lines = Object.entries({ host: new URL(origin).host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  if (body !== undefined) lines.push("content-type: application/json", `content-length: ${Buffer.byteLength(content)}`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${content}`);
}
