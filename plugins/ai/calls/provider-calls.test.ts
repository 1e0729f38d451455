// Tests the order, timeouts and retries of calls to candidates.

import { expect, test } from "bun:test";
import { AppError } from "../../../src/kernel/errors.ts";
import { createMetrics } from "../../../src/kernel/telemetry/metrics.ts";
import type { Candidate } from "../providers/candidates.ts";
import { createCircuitBreaker } from "../providers/circuit-breaker.ts";
import type { ProviderId } from "../providers/provider.ts";
import { builtInProviders, createProviderRegistry } from "../providers/registry.ts";
import { createProviderCalls, type ProviderCall } from "./provider-calls.ts";

const registry = createProviderRegistry(builtInProviders);
const candidate = (provider: ProviderId, local = false): Candidate => ({
  upstream: {
    provider,
    definition: registry.get(provider),
    label: provider,
    baseUrl: "",
    apiKey: undefined,
    demo: false,
    local,
    fetch,
  },
  modelId: "m",
  pricing: { input: 0, output: 0 },
});
const [one, five] = [candidate("provider_1"), candidate("provider_5")];

/** Calls to providers that answer with a given status or error, or never. */
function createFixture(answers: (number | Error | "never")[], { there = true, connectTimeout = 10_000 } = {}) {
  const asked: ProviderId[] = [];
  const metrics = createMetrics();
  metrics.stop();
  const breakers = new Map([one, five].map(({ upstream }) => [upstream, createCircuitBreaker()]));
  const health = {
    breakerOf: (upstream: Candidate["upstream"]) => breakers.get(upstream) ?? createCircuitBreaker(),
    isReachable: () => Promise.resolve(there),
  };
  const calls = createProviderCalls({ health, metrics, connectTimeout });
  const call = (candidates: Candidate[], more: Partial<ProviderCall<string>> = {}) =>
    calls.request({
      candidates,
      signal: new AbortController().signal,
      timeoutMs: 200,
      send({ upstream }, signal) {
        asked.push(upstream.provider);
        const answer = answers.shift();
        if (answer instanceof Error) return Promise.reject(answer);
        if (answer !== "never") return Promise.resolve(new Response("", { status: answer ?? 200 }));
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
      },
      async receive({ candidate, response, markEnded }) {
        markEnded();
        return `${candidate.upstream.provider} ${response.status}`;
      },
      ...more,
    });
  return { asked, call, breakers, metrics };
}

const refused = Object.assign(new TypeError("no"), { code: "ECONNREFUSED" });
const reset = Object.assign(new TypeError("no"), { code: "ECONNRESET" });
const failure = (code: string) => ({ status: 502, code });

test("only the first candidate is called if it responds", async () => {
  const { call, asked } = createFixture([200]);
  expect(await call([one, five])).toBe("provider_1 200");
  expect(asked).toEqual(["provider_1"]);
});

test.each([
  ["503", 503],
  ["408", 408],
  ["a refused connection", refused],
  ["a reset", reset],
])("after %s the next candidate is called once", async (_, answer) => {
  const { call, asked } = createFixture([answer]);
  expect(await call([one, five])).toBe("provider_5 200");
  expect(asked).toEqual(["provider_1", "provider_5"]);
});

test.each([400, 401, 404, 413, 422, 429])("%i is a response, and no other candidate is called", async (status) => {
  const { call, asked } = createFixture([status]);
  expect(await call([one, five])).toBe(`provider_1 ${status}`);
  expect(asked).toEqual(["provider_1"]);
});

test("a failure of the last candidate is passed to the receiver", async () => {
  const { call } = createFixture([500, 503]);
  expect(await call([one, five])).toBe("provider_5 503");
});

test("the last candidate is called again after a refused connection, and after no other failure", async () => {
  const again = createFixture([refused]);
  expect(await again.call([one])).toBe("provider_1 200");
  expect(again.asked).toHaveLength(2);
  const twice = createFixture([refused, refused]);
  await expect(twice.call([one])).rejects.toMatchObject(failure("PROVIDER_UNREACHABLE"));
  expect(twice.asked).toHaveLength(2);
  const once = createFixture([reset]);
  await expect(once.call([one])).rejects.toMatchObject(failure("PROVIDER_UNREACHABLE"));
  expect(once.asked).toHaveLength(1);
});

test("candidates share the timeout", async () => {
  const { call, asked } = createFixture(["never", "never"]);
  const began = performance.now();
  await expect(call([one, five])).rejects.toMatchObject(failure("PROVIDER_TIMEOUT"));
  expect(asked).toEqual(["provider_1", "provider_5"]);
  expect(performance.now() - began).toBeWithin(180, 5_000);
});

test("a call without a response is aborted early if the provider can't be reached", async () => {
  const gone = createFixture(["never"], { there: false, connectTimeout: 20 });
  await expect(gone.call([one], { timeoutMs: 60_000 })).rejects.toMatchObject(failure("PROVIDER_UNREACHABLE"));
  const busy = createFixture(["never"], { there: true, connectTimeout: 20 });
  await expect(busy.call([one])).rejects.toMatchObject(failure("PROVIDER_TIMEOUT"));
  // The operator's own server may answer one after the other.
  const local = createFixture(["never"], { there: false, connectTimeout: 20 });
  await expect(local.call([candidate("provider_3", true)])).rejects.toMatchObject(failure("PROVIDER_TIMEOUT"));
});

test("a candidate with an open circuit is skipped; if all are open, the error has the retry time", async () => {
  const { call, asked, breakers, metrics } = createFixture([]);
  for (let n = 0; n < 8; n++) breakers.get(one.upstream)?.recordResult("call", "failed");
  expect(await call([one, five])).toBe("provider_5 200");
  expect(asked).toEqual(["provider_5"]);
  const refusal = await call([one]).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ ...failure("PROVIDER_RESTING"), headers: { "retry-after": "5" } });
  expect(metrics.render()).toContain('berth_ai_calls_total{provider="provider_1",end="resting"} 2');
});

test("a client that leaves counts as no failure, and no other candidate is called", async () => {
  const { call, asked, breakers } = createFixture(Array(20).fill("never"));
  for (let n = 0; n < 20; n++) {
    const client = new AbortController();
    const answer = call([one, five], { signal: client.signal });
    client.abort();
    await expect(answer).rejects.toMatchObject({ status: 499, code: "CLIENT_GONE" });
  }
  expect(asked).toHaveLength(20);
  expect(breakers.get(one.upstream)?.state()).toBe("closed");
});

test("an error of the receiver is thrown, and counted by its kind", async () => {
  const { call, breakers } = createFixture([]);
  const receive = () => Promise.reject(new AppError(400, "PROVIDER_REFUSED", "No."));
  for (let n = 0; n < 10; n++) await expect(call([one, five], { receive })).rejects.toMatchObject({ status: 400 });
  expect(breakers.get(one.upstream)?.state()).toBe("closed");
  expect(await call([]).catch((error: unknown) => error)).toMatchObject({ status: 404, code: "NO_MODELS" });
});
