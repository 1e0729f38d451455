// Tests deliveries: their format, secrets and rotations, replays, restarts, and switching endpoints off and on.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { deleteInBatches } from "../../../src/kernel/retention/deletion.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { isSignedWith, type Receiver, startReceiver, verify } from "../../../tests/support/receiver.ts";
import { startWebhookFixture, type WebhookFixture, type WebhookFixtureOptions } from "../support.test.ts";
import { deliveriesKind } from "./deliveries-retention.ts";

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

test("sends a message of Standard Webhooks: id, time, signature, and the recorded event", async () => {
  const { endpoint, secret } = await fixture.createEndpoint(`${receiver.url}/hook?from=berth`);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const data = { id: "a1", name: 'Häfen \u2028 "quoted"', nested: { z: 1, a: [null] } };
  await fixture.recordEvent("agent.created", "ada", data);
  const [one] = await receiver.take(1);
  if (!one) throw new Error("Nothing came.");
  expect(verify(one, secret)).toEqual({
    type: "agent.created",
    timestamp: new Date(fixture.clock.time).toISOString(),
    data,
  });
  const [event] = await fixture.events.since(0);
  expect(one.id).toBe(event?.id ?? "");
  expect(one.headers).toMatchObject({
    "content-type": "application/json",
    "webhook-timestamp": String(Math.floor(fixture.clock.time / 1000)),
  });
  expect(one.headers["user-agent"]).toMatch(/^Berth\//);
  expect(() => verify({ ...one, body: one.body.replace("a1", "a2") }, secret)).toThrow();
  await fixture.eventuallyDelivery(endpoint.id, {
    status: "delivered",
    attempts: 1,
    lastStatus: 204,
    lastError: null,
    nextAttemptAt: null,
  });
});

test("stores a secret only sealed, and not in the rows of deliveries", async () => {
  const { secret } = await fixture.createEndpoint(receiver.url);
  await fixture.recordEvent("agent.created", "ada");
  await receiver.take(1);
  const { rows } = await fixture.database.read("SELECT * FROM webhook_endpoints, webhook_deliveries");
  expect(JSON.stringify(rows)).not.toContain(secret.slice(6));
});

test("never connects to an address in a private network, whether it was one at the registration or not", async () => {
  await open({ allow: [] });
  const { endpoint } = await fixture.createEndpoint(receiver.url);
  const named = await fixture.createEndpoint(receiver.url.replace("127.0.0.1", "localhost"));
  await fixture.recordEvent("agent.created", "ada");
  for (const { id } of [endpoint, named.endpoint]) {
    const one = await fixture.eventuallyDelivery(id, { status: "pending", attempts: 1, lastStatus: null });
    expect(one.lastError).toStartWith("This address is not allowed");
  }
  expect(receiver.received).toEqual([]);
});

test("previous secrets sign for 24 hours after a rotation, also after several", async () => {
  const { endpoint, secret: first } = await fixture.createEndpoint(receiver.url);
  const second = (await fixture.endpoints.rotateSecret(endpoint.id)) ?? "";
  const third = (await fixture.endpoints.rotateSecret(endpoint.id)) ?? "";
  await fixture.recordEvent("agent.created", "ada");
  const [before] = await receiver.take(1);
  expect([first, second, third].map((secret) => before && isSignedWith(before, secret))).toEqual([true, true, true]);
  expect(before?.headers["webhook-signature"]?.split(" ")).toHaveLength(3);
  fixture.clock.time += DAY + 1;
  await fixture.recordEvent("agent.created", "ada");
  const after = (await receiver.take(2))[1];
  expect(after?.headers["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  expect(await fixture.endpoints.rotateSecret("nobody's")).toBeUndefined();
});

test("concurrent rotations lose no secret", async () => {
  const { endpoint, secret } = await fixture.createEndpoint(receiver.url);
  const rotated = await Promise.all([1, 2].map(() => fixture.endpoints.rotateSecret(endpoint.id)));
  await fixture.recordEvent("agent.created", "ada");
  const [one] = await receiver.take(1);
  expect([secret, ...rotated].map((each) => one && isSignedWith(one, each ?? ""))).toEqual([true, true, true]);
});

test("a replay sends the same message again, in spite of an earlier Retry-After", async () => {
  receiver.answer(() => new Response(null, { status: 429, headers: { "retry-after": "3600" } }));
  const { endpoint } = await fixture.createEndpoint(receiver.url);
  await fixture.recordEvent("agent.created", "ada");
  const { id } = await fixture.eventuallyDelivery(endpoint.id, { attempts: 1 });
  receiver.answer(204);
  expect(await fixture.deliveries.replay(endpoint.id, id, [])).toBe(true);
  fixture.sender.wake(endpoint.id, true);
  await fixture.eventuallyDelivery(endpoint.id, { status: "delivered", attempts: 1 });
  const [one, two] = await receiver.take(2);
  expect(two?.id).toBe(one?.id ?? "");
  expect(two?.body).toBe(one?.body ?? "");
  expect(await fixture.deliveries.replay("another", id, [])).toBe(false);
});

test("a delivery that a dead process had claimed is sent by the next one", async () => {
  receiver.answer("hang");
  const { endpoint } = await fixture.createEndpoint(receiver.url);
  await fixture.recordEvent("agent.created", "ada");
  await receiver.take(1);
  const next = fixture.startProcess();
  receiver.answer(204);
  next.sender.wake(endpoint.id);
  await fixture.deliveries.releaseAllClaims();
  next.sender.wake(endpoint.id);
  const [one, two] = await receiver.take(2);
  expect(two?.id).toBe(one?.id ?? "");
});

test("a stop aborts a hanging attempt, which does not count", async () => {
  receiver.answer("hang");
  const { endpoint } = await fixture.createEndpoint(receiver.url);
  await fixture.recordEvent("agent.created", "ada");
  await receiver.take(1);
  await fixture.dispatcher.stop();
  await fixture.sender.stop();
  const { rows } = await fixture.database.read("SELECT status, attempts, claimed_until FROM webhook_deliveries");
  expect(rows.map((row) => ({ ...row }))).toMatchObject([{ status: "pending", attempts: 0, claimed_until: null }]);
  receiver.answer(204);
  fixture.startProcess().sender.wake(endpoint.id);
  await receiver.take(2);
});

test("an endpoint that is switched off gets nothing; switched on again, it gets later events", async () => {
  const { endpoint } = await fixture.createEndpoint(receiver.url);
  await fixture.endpoints.update(endpoint.id, { active: false });
  await fixture.recordEvent("agent.created", "ada", { n: 1 });
  expect(await fixture.endpoints.update(endpoint.id, { active: true })).toMatchObject({
    active: true,
    disabledReason: null,
  });
  await fixture.recordEvent("agent.created", "ada", { n: 2 });
  const [one] = await receiver.take(1);
  expect(one?.message.data).toEqual({ n: 2 });
});

test("the first endpoint gets later events, not those recorded while there was none", async () => {
  const { endpoint } = await fixture.createEndpoint(receiver.url);
  await fixture.endpoints.remove(endpoint.id);
  for (let n = 0; n < 5; n++) await fixture.recordEvent("agent.message", "ada", { n });
  await fixture.createEndpoint(receiver.url);
  await fixture.recordEvent("agent.message", "ada", { n: 5 });
  const [one] = await receiver.take(1);
  expect(one?.message.data).toEqual({ n: 5 });
});

test("delivers a thousand events recorded at once, each once", async () => {
  await fixture.createEndpoint(receiver.url);
  const records = Array.from({ length: 1_000 }, (_, n) =>
    fixture.events.recordStatement("agent.message", { userId: "ada", data: { n } }),
  );
  await fixture.database.write(records);
  await receiver.take(1_000, undefined, 20_000);
  await eventually(() => fixture.sender.running() === 0);
  expect(new Set(receiver.received.map(({ message }) => message.data.n)).size).toBe(1_000);
  expect(receiver.received).toHaveLength(1_000);
});

test("deliveries are kept for 30 days", async () => {
  const { endpoint } = await fixture.createEndpoint(receiver.url);
  await fixture.recordEvent("agent.created", "ada");
  await fixture.eventuallyDelivery(endpoint.id, { status: "delivered" });
  fixture.clock.time += 29 * DAY;
  const { steps } = deliveriesKind(fixture.database, 30 * DAY);
  await deleteInBatches(steps, fixture.clock.time - 30 * DAY);
  await fixture.eventuallyDelivery(endpoint.id, { status: "delivered" });
  fixture.clock.time += 2 * DAY;
  await deleteInBatches(steps, fixture.clock.time - 30 * DAY);
  expect((await fixture.deliveries.list(endpoint.id, { limit: 5, offset: 0 })).deliveries).toEqual([]);
});

test("on a database server each event is dispatched once", async () => {
  await open({ server: true });
  await fixture.createEndpoint(receiver.url);
  for (let n = 0; n < 20; n++) await fixture.recordEvent("agent.created", "ada", { n });
  await receiver.take(20, undefined, 15_000);
  await eventually(() => fixture.sender.running() === 0);
  expect(receiver.received).toHaveLength(20);
});
