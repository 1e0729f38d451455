// Responses do not reveal whether an address has an account: not by status, body or headers, and not by their duration.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { seeded } from "./support/eventually.ts";
import { expectRefusal } from "./support/refusal.ts";

const SAMPLES = 200;
const WARM_UP = 20;
const known = `known-${crypto.randomUUID()}@example.com`;
const unknown = `other-${crypto.randomUUID()}@example.com`;

let berth: Berth;
let client: Client;
beforeAll(async () => {
  berth = await startBerth({ isAsShipped: true, env: { RATE_LIMITS: "off" } });
  client = createClient(berth);
  await client.signUp({ email: known });
});
afterAll(() => berth?.[Symbol.asyncDispose]());

interface Ask {
  status: number;
  text: string;
  headers: Headers;
}

/** Responses and durations (ms) for known and unknown addresses, requested one after the other in random order. */
async function sample(ask: (email: string) => Promise<Ask>, count = SAMPLES) {
  const { shuffle, seed } = seeded();
  const times = { known: [] as number[], unknown: [] as number[] };
  const answers = { known: new Set<string>(), unknown: new Set<string>() };
  for (let n = 0; n < count; n++) {
    for (const who of shuffle(["known", "unknown"] as const)) {
      const since = performance.now();
      const answer = await ask(who === "known" ? known : unknown);
      times[who].push(performance.now() - since);
      answers[who].add(described(answer));
    }
  }
  return { times, answers, seed };
}

/** A response without its request id and date. */
function described({ status, text, headers }: Ask): string {
  const shownHeaders = [...headers].filter(([name]) => name !== "x-request-id" && name !== "date").sort();
  return JSON.stringify([status, text, shownHeaders]);
}

const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;

/** The largest distance between two distribution functions (Kolmogorov and Smirnov). */
function distance(a: readonly number[], b: readonly number[]): number {
  const below = (times: readonly number[], at: number) => times.filter((time) => time <= at).length / times.length;
  return Math.max(...[...a, ...b].map((at) => Math.abs(below(a, at) - below(b, at))));
}

/** The distance that equal distributions exceed less than once in 10,000 times: √(−ln(0.0001 / 2) / 2) · √(2 / n). */
const farApart = (n: number) => Math.sqrt(-Math.log(0.0001 / 2) / n);

/** Describes the difference between two samples; undefined if there is none. */
function tellsApart(a: readonly number[], b: readonly number[]): string | undefined {
  const [one, other] = [median(a), median(b)];
  const ratio = Math.max(one, other) / Math.min(one, other);
  if (ratio > 1.08) return `medians of ${one.toFixed(2)} and ${other.toFixed(2)} ms`;
  const far = distance(a, b);
  return far > farApart(a.length) ? `distributions ${far.toFixed(3)} apart` : undefined;
}

test("the comparison finds a difference of a tenth, and none between two halves of one sample", () => {
  const { next } = seeded(7);
  const around = (middle: number) => Array.from({ length: SAMPLES }, () => middle * (0.8 + 0.4 * next()));
  expect(tellsApart(around(10), around(10))).toBeUndefined();
  for (const middle of [11, 9, 12, 8]) expect(tellsApart(around(10), around(middle))).toBeString();
  const sometimesSlow = around(10).map((time, n) => (n % 3 === 0 ? time * 2 : time));
  expect(tellsApart(around(10), sometimesSlow)).toBeString();
});

const asks: [string, number, (email: string) => Promise<Ask>][] = [
  ["a forgotten password", 200, (email) => client.post("/api/auth/forgot-password", { email })],
  [
    "a sign-in with a wrong password",
    401,
    (email) => client.post("/api/auth/callback/credentials", { email, password: "not the right one" }),
  ],
];

describe.each(asks)("%s", (_, status, ask) => {
  test("returns the same response with and without an account", async () => {
    const { answers } = await sample(ask, WARM_UP);
    expect(answers.known.size).toBe(1);
    expect(answers.known).toEqual(answers.unknown);
    const answer = await ask(known);
    if (status === 200) expect(answer.status).toBe(200);
    else expectRefusal({ ...answer, body: answer.text }, status, "BAD_CREDENTIALS");
    for (const email of [known, unknown]) expect((await ask(email)).text).not.toContain(email);
  });

  test("takes the same time with and without an account", async () => {
    // Other processes on this machine may disturb one round, but hardly three in the same direction; a real difference stays.
    const found: string[] = [];
    const slower = new Set<"known" | "unknown">();
    for (let round = 0; round < 3; round++) {
      const { times, seed } = await sample(ask);
      const difference = tellsApart(times.known, times.unknown);
      if (difference === undefined) return;
      found.push(`${difference} (seed ${seed})`);
      slower.add(median(times.known) > median(times.unknown) ? "known" : "unknown");
      if (slower.size > 1) return;
    }
    throw new Error(`Three times of three a difference: ${found.join("; ")}`);
  });
});
