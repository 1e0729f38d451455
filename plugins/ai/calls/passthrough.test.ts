// Tests the timeouts and the memory use of the pass-through.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { loadConfig } from "../../../src/kernel/config/config.ts";
import { createMetrics } from "../../../src/kernel/telemetry/metrics.ts";
import { silent } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { startUpstream, type Upstream } from "../../../tests/support/upstream.ts";
import { demoFetch } from "../demo/demo-provider.ts";
import type { Candidate } from "../providers/candidates.ts";
import type { ProviderId } from "../providers/provider.ts";
import { createProviderHealth } from "../providers/provider-health.ts";
import { createProviders } from "../providers/providers.ts";
import { builtInProviders, createProviderRegistry } from "../providers/registry.ts";
import { providerSettings } from "../settings.ts";
import { createPassthrough, type SettledCall } from "./passthrough.ts";
import { createProviderCalls } from "./provider-calls.ts";

/** A separate gateway with a time limit in milliseconds. */
function passthroughWith(timeouts: { streamTimeout?: number; wholeTimeout?: number; idleTimeout?: number } = {}) {
  const metrics = createMetrics();
  metrics.stop();
  const settings = loadConfig({}, { cwd: "/" }).of(providerSettings);
  const { ollamaUrl } = settings;
  const providers = createProviders({ settings, demo: demoFetch, log: silent, ollamaUrl });
  const health = createProviderHealth({ providers, metrics, log: silent });
  return createPassthrough({ registry, calls: createProviderCalls({ health, metrics }), log: silent, ...timeouts });
}

let slow: Upstream;
let quick: Upstream;
beforeEach(async () => {
  slow = await startUpstream();
  quick = await startUpstream();
});
afterEach(async () => {
  await slow.stop();
  await quick.stop();
});

const registry = createProviderRegistry(builtInProviders);
const candidate = (provider: ProviderId, baseUrl: string): Candidate => ({
  upstream: {
    provider,
    definition: registry.get(provider),
    label: provider,
    baseUrl,
    apiKey: undefined,
    demo: false,
    local: false,
    fetch,
  },
  modelId: "m",
  pricing: { input: 0, output: 0 },
});

function call(gateway: ReturnType<typeof createPassthrough>, stream: boolean, signal = new AbortController().signal) {
  const body = { model: "m", messages: [{ role: "user", content: "Hello" }], stream };
  const ended: SettledCall[] = [];
  const candidates = [candidate("provider_1", slow.url), candidate("provider_2", quick.url)];
  const text = JSON.stringify(body);
  const answer = gateway.chat({ text, body, candidates, signal, onSettled: (usage) => void ended.push(usage) });
  return { answer, ended };
}

test.each([true, false])(
  "the next candidate is called if a provider does not begin in time (stream: %p)",
  async (stream) => {
    slow.script({ hang: true });
    const { answer, ended } = call(passthroughWith({ streamTimeout: 100, wholeTimeout: 100 }), stream);
    const response = await answer;
    expect(response.headers.get("x-berth-model")).toBe("provider_2:m");
    expect(await response.text()).toContain("echo");
    await eventually(() => slow.open === 0);
    expect(ended).toMatchObject([{ usage: { estimated: false }, candidate: { modelId: "m" } }]);
  },
);

test("a stream that stalls is aborted, and neither retried nor completed", async () => {
  slow.script({ pieces: ["one ", "two "], hangAfter: 2 });
  const { answer, ended } = call(passthroughWith({ idleTimeout: 50 }), true);
  const response = await answer;
  expect(await response.text().catch(() => "broken off")).toBe("broken off");
  expect(quick.chats).toHaveLength(0);
  expect(ended).toMatchObject([{ usage: { estimated: true } }]);
});

test("no other candidate is called after the client has gone", async () => {
  slow.script({ hang: true });
  const client = new AbortController();
  const { answer, ended } = call(passthroughWith(), false, client.signal);
  await slow.waitFor(({ open }) => open === 1);
  client.abort();
  await expect(answer).rejects.toMatchObject({ status: 499 });
  expect([quick.chats.length, ended.length]).toEqual([0, 0]);
  await eventually(() => slow.open === 0);
});

test("a response with broken JSON is passed on unchanged", async () => {
  slow.script({ broken: "json" });
  const { answer, ended } = call(passthroughWith(), false);
  const text = await (await answer).text();
  expect(() => JSON.parse(text)).toThrow();
  expect(ended).toMatchObject([{ usage: { estimated: true } }]);
});

test("a client that does not read stops the provider by backpressure", async () => {
  const part = new Uint8Array(64 * 1024).fill(97);
  let made = 0;
  const flood = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        new ReadableStream<Uint8Array>({
          async pull(controller) {
            made += part.length;
            controller.enqueue(part);
            await Promise.resolve();
            if (made >= 512 * 1024 * 1024) controller.close();
          },
        }),
      ),
  });
  const gateway = passthroughWith();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ signal }) =>
      gateway.chat({
        text: "{}",
        body: { model: "m", stream: true },
        candidates: [candidate("provider_1", `http://127.0.0.1:${flood.port}`)],
        signal,
        onSettled: () => undefined,
      }),
  });
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(server.port),
    socket: {
      open: (opened) => void opened.write("GET / HTTP/1.1\r\nhost: berth\r\n\r\n"),
      data: (opened) => opened.pause(),
    },
  });
  let before = -1;
  const stalled = await eventually(
    () => {
      const still = made > 0 && made === before;
      before = made;
      return still && made;
    },
    { everyMs: 200 },
  );
  expect(stalled).toBeLessThan(64 * 1024 * 1024);
  socket.terminate();
  await server.stop(true);
  await flood.stop(true);
});
