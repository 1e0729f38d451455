// Tests that events are delivered at least once, signed, under one id, and that a failing receiver does not affect others.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DAY, HOUR, MINUTE } from "../../../src/kernel/util/time.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { isSignedWith, type Receiver, startReceiver, verify } from "../../../tests/support/receiver.ts";
import { operatorEndpointStatements } from "../endpoints/operator-endpoint.ts";
import { openWebhookFixture, testUser } from "../support.test.ts";

type WebhookFixture = Awaited<ReturnType<typeof openWebhookFixture>>;
let fixture: WebhookFixture;
let receiver: Receiver;

async function open(options: Parameters<typeof openWebhookFixture>[0] = {}): Promise<void> {
  await fixture?.[Symbol.asyncDispose]();
  fixture = await openWebhookFixture(options);
  for (const id of ["ada", "bob"]) fixture.users.set(id, testUser(id));
  fixture.users.set("root", testUser("root", { isAdmin: true }));
  fixture.dispatcher.start();
}

beforeEach(async () => {
  receiver = startReceiver();
  await open();
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

/** Waits until the newest delivery of an endpoint has these fields. */
const eventuallyDelivery = (endpointId: string, is: object) =>
  eventually(async () => {
    const [one] = await fixture.deliveries.list(endpointId, { limit: 10, offset: 0 });
    expect(one).toMatchObject(is);
    return one;
  });

/** Advances the clock and wakes the endpoint's lane. */
function advanceClock(ms: number, endpointId: string): void {
  fixture.clock.time += ms;
  fixture.sender.wake(endpointId);
}

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
  await eventuallyDelivery(endpoint.id, {
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

describe("the receivers of an event", () => {
  test("are its user's endpoints, those of admins, and the operator's", async () => {
    await fixture[Symbol.asyncDispose]();
    await open({ env: { WEBHOOK_URL: `${receiver.url}/operator`, WEBHOOK_SECRET: "whsec_b3BlcmF0b3Igc2VjcmV0" } });
    await fixture.database.write(operatorEndpointStatements(fixture.config, fixture.clock.time));
    await fixture.createEndpoint(`${receiver.url}/ada`);
    await fixture.createEndpoint(`${receiver.url}/bob`, { userId: "bob", types: ["user.*"] });
    await fixture.createEndpoint(`${receiver.url}/root`, { userId: "root", allEvents: true });
    await fixture.createEndpoint(`${receiver.url}/no-admin`, { userId: "bob", allEvents: true, types: ["agent.*"] });
    await fixture.recordEvent("agent.created", "ada");
    await fixture.recordEvent("user.updated", "bob");
    await fixture.recordEvent("agent.created", "bob");
    await fixture.recordEvent("channel.state", null);
    await receiver.take(4, ({ path }) => path === "/operator");
    await receiver.take(4, ({ path }) => path === "/root");
    await eventually(() => fixture.sender.running() === 0);
    const byPath = Map.groupBy(receiver.received, ({ path }) => path);
    const typesAt = (path: string) =>
      byPath
        .get(path)
        ?.map(({ message }) => message.type)
        .sort();
    expect(typesAt("/ada")).toEqual(["agent.created"]);
    expect(typesAt("/bob")).toEqual(["user.updated"]);
    expect(typesAt("/no-admin")).toEqual(["agent.created"]);
    expect(receiver.received).toHaveLength(11);
    const operators = byPath.get("/operator") ?? [];
    expect(operators.every((one) => isSignedWith(one, "whsec_b3BlcmF0b3Igc2VjcmV0"))).toBe(true);
    const { rows } = await fixture.database.read("SELECT * FROM webhook_endpoints WHERE user_id IS NULL");
    expect(JSON.stringify(rows)).not.toContain(receiver.url);
  });

  test("don't include endpoints created later, nor those of a disabled account", async () => {
    await fixture.recordEvent("agent.created", "ada", { n: 1 });
    await fixture.createEndpoint(receiver.url);
    await fixture.createEndpoint(receiver.url, { userId: "bob" });
    fixture.users.set("bob", testUser("bob", { disabledAt: 1 }));
    await fixture.recordEvent("agent.created", "bob", { n: 2 });
    await fixture.recordEvent("agent.created", "ada", { n: 3 });
    const [one] = await receiver.take(1);
    expect(one?.message.data).toEqual({ n: 3 });
    await eventually(() => fixture.sender.running() === 0);
    expect(receiver.received).toHaveLength(1);
  });

  test("include an owner by ADMIN_EMAILS whose address is verified, or where the service runs on loopback", async () => {
    for (const [baseUrl, emailVerified, isAdmin] of [
      ["https://berth.example.com", false, false],
      ["https://berth.example.com", true, true],
      ["http://localhost:3000", false, true],
    ] as const) {
      await open({ env: { ADMIN_EMAILS: "chief@example.com", BASE_URL: baseUrl } });
      receiver.forget();
      fixture.users.set("chief", testUser("chief", { emailVerified }));
      await fixture.createEndpoint(receiver.url, {
        userId: "chief",
        allEvents: true,
        allEventsByEmail: "chief@example.com",
      });
      await fixture.recordEvent("agent.created", "ada");
      await fixture.recordEvent("agent.created", "chief");
      await receiver.take(isAdmin ? 2 : 1);
      await eventually(() => fixture.sender.running() === 0);
      expect(receiver.received).toHaveLength(isAdmin ? 2 : 1);
    }
  });

  test("of a deletion are the user's own endpoint, which is then removed, and admins' endpoints", async () => {
    await fixture.database.write([
      {
        sql: `INSERT INTO users (id, email, name, referral_code, created_at, updated_at) VALUES ('ada', 'ada@example.com', 'Ada', 'r', 0, 0)`,
        args: [],
      },
    ]);
    receiver.answer((_, before) => (before === 0 ? 500 : 204));
    const { endpoint } = await fixture.createEndpoint(`${receiver.url}/ada`);
    await fixture.createEndpoint(`${receiver.url}/bob`, { userId: "bob" });
    await fixture.createEndpoint(`${receiver.url}/root`, { userId: "root", allEvents: true });
    fixture.users.delete("ada");
    await fixture.database.write([
      { sql: "DELETE FROM users WHERE id = 'ada'", args: [] },
      fixture.events.recordStatement("user.deleted", { userId: "ada", data: { id: "ada" } }),
    ]);
    await receiver.take(2);
    await eventuallyDelivery(endpoint.id, { status: "pending", attempts: 1 });
    advanceClock(6_000, endpoint.id);
    await receiver.take(2, ({ path }) => path === "/ada");
    await eventually(async () => (await fixture.endpoints.find(endpoint.id)) === undefined);
    expect(receiver.received.some(({ path }) => path === "/bob")).toBe(false);
    expect((await fixture.endpoints.list("bob")).length + (await fixture.endpoints.list("root")).length).toBe(2);
  });

  test("of a deletion don't include the user's endpoint for other types, which is removed at once", async () => {
    await fixture.database.write([
      {
        sql: `INSERT INTO users (id, email, name, referral_code, created_at, updated_at) VALUES ('ada', 'ada@example.com', 'Ada', 'r', 0, 0)`,
        args: [],
      },
    ]);
    const { endpoint } = await fixture.createEndpoint(receiver.url, { types: ["agent.message"] });
    await fixture.database.write([
      { sql: "DELETE FROM users WHERE id = 'ada'", args: [] },
      fixture.events.recordStatement("user.deleted", { userId: "ada", data: { id: "ada" } }),
    ]);
    await eventually(async () => (await fixture.endpoints.find(endpoint.id)) === undefined);
    expect(receiver.received).toEqual([]);
  });
});

describe("a receiver that fails", () => {
  test("gets ten attempts over three days, under one id, each with its own time and signature", async () => {
    receiver.answer(500);
    const { endpoint, secret } = await fixture.createEndpoint(receiver.url);
    await fixture.recordEvent("agent.created", "ada");
    const delays = [5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
    for (const [n, delay] of delays.entries()) {
      const at = fixture.clock.time;
      const one = await eventuallyDelivery(endpoint.id, { status: "pending", attempts: n + 1, lastStatus: 500 });
      const next = (one.nextAttemptAt ?? 0) - at;
      expect(next).toBeGreaterThanOrEqual(delay);
      expect(next).toBeLessThanOrEqual(delay * 1.1);
      advanceClock(delay - 1, endpoint.id);
      expect(receiver.received).toHaveLength(n + 1);
      advanceClock(delay * 0.1 + 1, endpoint.id);
      await receiver.take(n + 2);
    }
    await eventuallyDelivery(endpoint.id, {
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
    const one = await eventuallyDelivery(endpoint.id, { status: "pending", attempts: 1, ...is });
    expect(one.lastError).not.toContain("secret words");
    receiver.answer(200);
    advanceClock(6_000, endpoint.id);
    await eventuallyDelivery(endpoint.id, { status: "delivered", attempts: 2, lastStatus: 200 });
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
    await eventuallyDelivery(endpoint.id, {
      status: "pending",
      attempts: 1,
      lastStatus: null,
      lastError: "The address can't be reached.",
    });
    receiver.revive();
    advanceClock(6_000, endpoint.id);
    await receiver.take(1);
  });

  test("that answers 410 is switched off, with the reason", async () => {
    receiver.answer(({ path }) => (path === "/other" ? 204 : 410));
    const { endpoint } = await fixture.createEndpoint(receiver.url);
    await fixture.recordEvent("agent.created", "ada");
    await eventuallyDelivery(endpoint.id, { status: "failed", lastStatus: 410 });
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
    const one = await eventuallyDelivery(endpoint.id, { status: "pending", attempts: 1, lastStatus: 429 });
    expect((one.nextAttemptAt ?? 0) - fixture.clock.time).toBeGreaterThan(HOUR - 1_001);
    receiver.answer(204);
    await fixture.recordEvent("agent.created", "ada", { n: 2 });
    await eventually(async () => (await fixture.deliveries.list(endpoint.id, { limit: 5, offset: 0 })).length === 2);
    advanceClock(HOUR / 2, endpoint.id);
    expect(receiver.received).toHaveLength(1);
    advanceClock(HOUR / 2, endpoint.id);
    await receiver.take(3);
  });

  test("that sends a Retry-After of a year is tried again after a day", async () => {
    receiver.answer(() => new Response(null, { status: 503, headers: { "retry-after": "31536000" } }));
    const { endpoint } = await fixture.createEndpoint(receiver.url);
    await fixture.recordEvent("agent.created", "ada");
    const { nextAttemptAt } = await eventuallyDelivery(endpoint.id, { attempts: 1 });
    expect((nextAttemptAt ?? 0) - fixture.clock.time).toBe(DAY);
  });

  test("that answers 200 with an endless body counts as successful", async () => {
    receiver.answer(() => new Response(new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(65_536)) })));
    const { endpoint } = await fixture.createEndpoint(receiver.url);
    await fixture.recordEvent("agent.created", "ada");
    await eventuallyDelivery(endpoint.id, { status: "delivered", lastStatus: 200 });
  });
});

test("never connects to an address in a private network, whether it was one at the registration or not", async () => {
  await open({ allow: [] });
  const { endpoint } = await fixture.createEndpoint(receiver.url);
  const named = await fixture.createEndpoint(receiver.url.replace("127.0.0.1", "localhost"));
  await fixture.recordEvent("agent.created", "ada");
  for (const { id } of [endpoint, named.endpoint]) {
    const one = await eventuallyDelivery(id, { status: "pending", attempts: 1, lastStatus: null });
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
  const { id } = await eventuallyDelivery(endpoint.id, { attempts: 1 });
  receiver.answer(204);
  expect(await fixture.deliveries.replay(endpoint.id, id, [])).toBe(true);
  fixture.sender.wake(endpoint.id, true);
  await eventuallyDelivery(endpoint.id, { status: "delivered", attempts: 1 });
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
}, 20_000);

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
}, 30_000);

test("deliveries are kept for 30 days", async () => {
  const { endpoint } = await fixture.createEndpoint(receiver.url);
  await fixture.recordEvent("agent.created", "ada");
  await eventuallyDelivery(endpoint.id, { status: "delivered" });
  fixture.clock.time += 29 * DAY;
  await fixture.deliveries.prune();
  await eventuallyDelivery(endpoint.id, { status: "delivered" });
  fixture.clock.time += 2 * DAY;
  await fixture.deliveries.prune();
  expect(await fixture.deliveries.list(endpoint.id, { limit: 5, offset: 0 })).toEqual([]);
});

test("two processes on one database server dispatch each event once and send each delivery once", async () => {
  await open({ server: true });
  const other = fixture.startProcess();
  other.dispatcher.start();
  await fixture.createEndpoint(receiver.url);
  for (let n = 0; n < 20; n++) await fixture.recordEvent("agent.created", "ada", { n });
  await receiver.take(20, undefined, 15_000);
  await eventually(() => fixture.sender.running() + other.sender.running() === 0);
  expect(receiver.received).toHaveLength(20);
}, 40_000);
