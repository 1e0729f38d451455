// Two hundred sign-ins at the same moment: each gets the right response, and other requests stay fast.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { PASSWORD } from "./support/accounts.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";

const SIGN_INS = 200;
const WRONG = 10;
const IDLE_SAMPLES = 4_000;
const ROUNDS = 3;

let berth: Berth;
let people: Client[];
beforeAll(async () => {
  // The sign-in limits are the default ones; only the general limit is off for the samples of this test.
  berth = await startBerth({ isAsShipped: true, env: { RATE_LIMITS: '{"default":"100000000/m"}' } });
  people = Array.from({ length: 5 }, () => createClient(berth));
  await Promise.all(people.map((client) => client.signUp()));
});
afterAll(() => berth?.[Symbol.asyncDispose]());

/** Latencies of `/healthz` in milliseconds, one request after the other while `go` returns true. */
async function sample(go: (count: number) => boolean): Promise<number[]> {
  const times: number[] = [];
  while (go(times.length)) {
    const since = performance.now();
    const answer = await fetch(`${berth.web}/healthz`);
    await answer.text();
    times.push(performance.now() - since);
    if (answer.status !== 200) throw new Error(`healthz: ${answer.status}`);
  }
  return times;
}

const p99 = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;

/** Sends all sign-ins at once, some with a wrong password; returns the latencies of `/healthz` meanwhile. */
async function storm(): Promise<number[]> {
  let under = SIGN_INS;
  const pending = Array.from({ length: SIGN_INS }, async (_, n) => {
    const each = SIGN_INS / WRONG;
    const wrong = n % each === 0;
    // Wrong passwords are spread over accounts, so that no account's limit is reached.
    const person = people[Math.floor(n / each) % people.length]?.account;
    const body = { email: person?.email, password: wrong ? `guess ${n}` : PASSWORD };
    const answer = await createClient(berth).post("/api/auth/callback/credentials", body);
    under--;
    return { wrong, answer, email: person?.email };
  });
  const times = await sample(() => under > 0);
  const answers = await Promise.all(pending);
  const cookies = new Set<string>();
  for (const { wrong, answer, email } of answers) {
    expect({ wrong, status: answer.status }).toEqual({ wrong, status: wrong ? 401 : 200 });
    if (wrong) expect(answer.body).toMatchObject({ code: "BAD_CREDENTIALS" });
    else expect(answer.body).toMatchObject({ ok: true, user: { email } });
    for (const cookie of answer.headers.getSetCookie()) cookies.add(cookie);
  }
  expect(cookies.size).toBe(SIGN_INS - WRONG);
  return times;
}

test("200 sign-ins at once all get a response, and the p99 of /healthz stays within three times its idle value", async () => {
  await sample((count) => count < IDLE_SAMPLES);
  // Other processes on this machine may disturb one round, but hardly three.
  const found: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const idle = await sample((count) => count < IDLE_SAMPLES);
    const busy = await storm();
    expect(busy.length).toBeGreaterThan(1_000);
    idle.push(...(await sample((count) => count < IDLE_SAMPLES)));
    const [calm, loud] = [p99(idle), p99(busy)];
    if (loud <= 3 * calm) return;
    found.push(`${loud.toFixed(2)} ms, ${calm.toFixed(2)} ms idle`);
    // Wrong passwords count for a quarter of an hour, so each round raises the limit.
    await berth.restart({ env: { RATE_LIMITS: `{"default":"100000000/m","sign-in-ip":"${30 + round}/m"}` } });
  }
  throw new Error(`Three times of three: ${found.join("; ")}`);
});
