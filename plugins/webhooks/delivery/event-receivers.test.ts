// Tests which endpoints receive an event, by owners, admins' rights and deletions.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { isSignedWith, type Receiver, startReceiver } from "../../../tests/support/receiver.ts";
import { insertUser } from "../../../tests/support/records.ts";
import { operatorEndpointStatements } from "../endpoints/operator-endpoint.ts";
import { startWebhookFixture, testUser, type WebhookFixture, type WebhookFixtureOptions } from "../support.test.ts";

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
      receiver.clear();
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
    await insertUser(fixture.database, { id: "ada", email: "ada@example.com" });
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
    await fixture.eventuallyDelivery(endpoint.id, { status: "pending", attempts: 1 });
    fixture.advanceClock(6_000, endpoint.id);
    await receiver.take(2, ({ path }) => path === "/ada");
    await eventually(async () => (await fixture.endpoints.find(endpoint.id)) === undefined);
    expect(receiver.received.some(({ path }) => path === "/bob")).toBe(false);
    expect((await fixture.endpoints.list("bob")).length + (await fixture.endpoints.list("root")).length).toBe(2);
  });

  test("of a deletion don't include the user's endpoint for other types, which is removed at once", async () => {
    await insertUser(fixture.database, { id: "ada", email: "ada@example.com" });
    const { endpoint } = await fixture.createEndpoint(receiver.url, { types: ["agent.message"] });
    await fixture.database.write([
      { sql: "DELETE FROM users WHERE id = 'ada'", args: [] },
      fixture.events.recordStatement("user.deleted", { userId: "ada", data: { id: "ada" } }),
    ]);
    await eventually(async () => (await fixture.endpoints.find(endpoint.id)) === undefined);
    expect(receiver.received).toEqual([]);
  });
});
