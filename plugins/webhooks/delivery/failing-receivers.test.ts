// Tests retries of failing receivers, and that a failing receiver does not affect others.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DAY, HOUR, MINUTE } from "../../../src/kernel/util/time.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { type Receiver, startReceiver } from "../../../tests/support/receiver.ts";
import { startWebhookFixture, type WebhookFixture, type WebhookFixtureOptions } from "../support.test.ts";

let fixture: WebhookFixture;
let receiver: Receiver;

async function open(options: WebhookFixtureOptions = {}): Promise<void> {
  await fixture?.[Symbol.asyncDispose]();
  fixture = await startWebhookFixture(options);
}

beforeEach(async () => {
  receiver = startReceiver();
  await open();
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

describe("a receiver that fails", () => {
  test("gets ten attempts over three days, under one id, each with its own time and signature", async () => {
    receiver.answer(500);
    const { endpoint, secret } = await fixture.createEndpoint(receiver.url);
    await fixture.recordEvent("agent.created", "ada");
    const delays = [5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
    for (const [n, delay] of delays.entries()) {
      const at = fixture.clock.time;
      const one = await fixture.eventuallyDelivery(endpoint.id, {
        status: "pending",
        attempts: n + 1,
        lastStatus: 500,
      });
      const next = (one.nextAttemptAt ?? 0) - at;
      expect(next).toBeGreaterThanOrEqual(delay);
      expect(next).toBeLessThanOrEqual(delay * 1.1);
      fixture.advanceClock(delay - 1, endpoint.id);
      expect(receiver.received).toHaveLength(n + 1);
      fixture.advanceClock(delay * 0.1 + 1, endpoint.id);
      await receiver.take(n + 2);
    }
    await fixture.eventuallyDelivery(endpoint.id, {
      status: "failed",
      attempts: 10,
      lastError: "Answered 500.",
      nextAttemptAt: null,
    });
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-signature"])).size).toBe(10);
    expect(secret).not.toBe("");
    expect((await fixture.endpoints.find(endpoint.id))?.active).toBe(true);
  });

  test.each([
    ["redirects", () => Response.redirect("http://127.0.0.1:9/elsewhere", 307), { lastStatus: 307 }],
    ["refuses", () => new Response("secret words of the receiver", { status: 400 }), { lastStatus: 400 }],
  ])("that %s is tried again, and the body of its answer is not stored", async (_, behave, is) => {
    receiver.answer(() => behave());
    const { endpoint } = await fixture.createEndpoint(receiver.url);
    await fixture.recordEvent("agent.created", "ada");
    const one = await fixture.eventuallyDelivery(endpoint.id, { status: "pending", attempts: 1, ...is });
    expect(one.lastError).not.toContain("secret words");
    receiver.answer(200);
    fixture.advanceClock(6_000, endpoint.id);
    await fixture.eventuallyDelivery(endpoint.id, { status: "delivered", attempts: 2, lastStatus: 200 });
    expect(receiver.received).toHaveLength(2);
  });

  test("that hangs is aborted, and other receivers don't wait for it", async () => {
    await open({ timeoutMs: 300 });
    receiver.answer(({ path }) => (path === "/dead" ? "hang" : 204));
    const { endpoint } = await fixture.createEndpoint(`${receiver.url}/dead`);
    await fixture.createEndpoint(`${receiver.url}/alive`, { userId: "bob" });
    for (let n = 0; n < 20; n++) await fixture.recordEvent("agent.created", "ada");
    for (let n = 0; n < 20; n++) await fixture.recordEvent("agent.created", "bob");
    await receiver.take(20, ({ path }) => path === "/alive");
    expect(receiver.received.filter(({ path }) => path === "/dead").length).toBeLessThan(3);
    await eventually(async () => {
      const { rows } = await fixture.database.read(
        "SELECT last_error FROM webhook_deliveries WHERE attempts = 1 AND endpoint_id = ?",
        [endpoint.id],
      );
      return rows[0]?.last_error === "The address did not answer in time.";
    });
  });

  test("that is unreachable gets its deliveries once it is back", async () => {
    await receiver.kill();
    const { endpoint } = await fixture.createEndpoint(receiver.url);
    await fixture.recordEvent("agent.created", "ada");
    await fixture.eventuallyDelivery(endpoint.id, {
      status: "pending",
      attempts: 1,
      lastStatus: null,
      lastError: "The address can't be reached.",
    });
    receiver.restart();
    fixture.advanceClock(6_000, endpoint.id);
    await receiver.take(1);
  });

  test("that answers 410 is switched off, with the reason", async () => {
    receiver.answer(({ path }) => (path === "/other" ? 204 : 410));
    const { endpoint } = await fixture.createEndpoint(receiver.url);
    await fixture.recordEvent("agent.created", "ada");
    await fixture.eventuallyDelivery(endpoint.id, { status: "failed", lastStatus: 410 });
    await fixture.recordEvent("agent.created", "ada");
    await fixture.createEndpoint(`${receiver.url}/other`);
    await fixture.recordEvent("agent.created", "ada");
    await receiver.take(1, ({ path }) => path === "/other");
    expect(receiver.received.filter(({ path }) => path !== "/other")).toHaveLength(1);
    expect(await fixture.endpoints.find(endpoint.id)).toMatchObject({
      active: false,
      disabledReason: expect.stringContaining("410"),
    });
  });

  test.each([
    ["in seconds", () => "3600"],
    ["as a date", () => new Date(fixture.clock.time + HOUR).toUTCString()],
  ])("that sends Retry-After %s gets no event before that time", async (_, value) => {
    receiver.answer(() => new Response(null, { status: 429, headers: { "retry-after": value() } }));
    const { endpoint } = await fixture.createEndpoint(receiver.url);
    await fixture.recordEvent("agent.created", "ada", { n: 1 });
    const one = await fixture.eventuallyDelivery(endpoint.id, { status: "pending", attempts: 1, lastStatus: 429 });
    expect((one.nextAttemptAt ?? 0) - fixture.clock.time).toBeGreaterThan(HOUR - 1_001);
    receiver.answer(204);
    await fixture.recordEvent("agent.created", "ada", { n: 2 });
    await eventually(
      async () => (await fixture.deliveries.list(endpoint.id, { limit: 5, offset: 0 })).deliveries.length === 2,
    );
    fixture.advanceClock(HOUR / 2, endpoint.id);
    expect(receiver.received).toHaveLength(1);
    fixture.advanceClock(HOUR / 2, endpoint.id);
    await receiver.take(3);
  });

  test("that sends a Retry-After of a year is tried again after a day", async () => {
    receiver.answer(() => new Response(null, { status: 503, headers: { "retry-after": "31536000" } }));
    const { endpoint } = await fixture.createEndpoint(receiver.url);
    await fixture.recordEvent("agent.created", "ada");
    const { nextAttemptAt } = await fixture.eventuallyDelivery(endpoint.id, { attempts: 1 });
    expect((nextAttemptAt ?? 0) - fixture.clock.time).toBe(DAY);
  });

  test("that answers 200 with an endless body counts as successful", async () => {
    receiver.answer(() => new Response(new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(65_536)) })));
    const { endpoint } = await fixture.createEndpoint(receiver.url);
    await fixture.recordEvent("agent.created", "ada");
    await fixture.eventuallyDelivery(endpoint.id, { status: "delivered", lastStatus: 200 });
  });
});

test("a reliable endpoint does not wait for hanging ones, however many", async () => {
  receiver.answer(({ path }) => (path === "/dead" ? "hang" : 204));
  await fixture.createEndpoint(`${receiver.url}/alive`);
  await fixture.recordEvent("agent.created", "ada");
  await receiver.take(1);
  for (let n = 0; n < 80; n++) await fixture.createEndpoint(`${receiver.url}/dead`, { userId: `user-${n}` });
  for (let n = 0; n < 80; n++) await fixture.recordEvent("agent.created", `user-${n}`);
  await receiver.take(64, ({ path }) => path === "/dead");
  await fixture.recordEvent("agent.created", "ada");
  await receiver.take(2, ({ path }) => path === "/alive");
  expect(receiver.received.filter(({ path }) => path === "/dead")).toHaveLength(64);
});

test("an endpoint with more than 50,000 pending deliveries is switched off, with the reason", async () => {
  receiver.answer("hang");
  const { endpoint } = await fixture.createEndpoint(receiver.url);
  await fixture.database.write([
    {
      sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
        INSERT INTO webhook_deliveries (id, endpoint_id, event_seq, event_id, type, next_attempt_at, created_at)
        SELECT 'old-' || i, ?, -i, 'e', 'agent.message', 9e15, 0 FROM n`,
      args: [endpoint.id],
    },
  ]);
  const records = Array.from({ length: 5_000 }, () =>
    fixture.events.recordStatement("agent.message", { userId: "ada", data: {} }),
  );
  await fixture.database.write(records);
  await eventually(async () => (await fixture.endpoints.find(endpoint.id))?.active === false);
  expect((await fixture.endpoints.find(endpoint.id))?.disabledReason).toContain("50000 events");
  expect(await fixture.deliveries.endpointsWithPending()).toEqual([]);
});
