// Tests that an endpoint's access to events is checked before each attempt, by its owner's rights at that time.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { HOUR, MINUTE } from "../../../src/kernel/util/time.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { type Receiver, startReceiver } from "../../../tests/support/receiver.ts";
import { openWebhookFixture, testUser, type WebhookFixture } from "../support.test.ts";

let fixture: WebhookFixture;
let receiver: Receiver;

async function open(env: Record<string, string> = {}): Promise<void> {
  await fixture?.[Symbol.asyncDispose]();
  fixture = await openWebhookFixture({ env });
  fixture.users.set("ada", testUser("ada"));
  promote();
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

const promote = () => fixture.users.set("root", testUser("root", { isAdmin: true }));
const demote = () => fixture.users.set("root", testUser("root"));
const deliveries = async (endpointId: string) =>
  (await fixture.deliveries.list(endpointId, { limit: 10, offset: 0 })).deliveries;
/** Waits until all deliveries of an endpoint have these fields. */
const eventuallyAll = (endpointId: string, is: object) =>
  eventually(async () => {
    const found = await deliveries(endpointId);
    expect(found.length).toBeGreaterThan(0);
    for (const one of found) expect(one).toMatchObject(is);
    return found;
  });
/** Creates an endpoint of root's, which receives all users' events as long as root is an admin. */
const createAdminEndpoint = async () =>
  (await fixture.createEndpoint(receiver.url, { userId: "root", allEvents: true })).endpoint.id;

describe("a former admin", () => {
  test("receives no pending events of other users, and still the own ones", async () => {
    receiver.answer(500);
    const id = await createAdminEndpoint();
    await fixture.recordEvent("user.created", "ada", { email: "ada@example.com" });
    await fixture.recordEvent("user.updated", "root", { email: "root@example.com" });
    await receiver.take(2);
    await eventuallyAll(id, { status: "pending", attempts: 1 });
    receiver.clear();
    receiver.answer(204);
    demote();
    fixture.clock.time += MINUTE;
    fixture.sender.wake(id);
    await eventually(async () => (await deliveries(id)).every(({ status }) => status !== "pending"));
    expect((await deliveries(id)).map(({ type, status }) => [type, status])).toEqual([
      ["user.updated", "delivered"],
      ["user.created", "failed"],
    ]);
    expect(receiver.received.map(({ message }) => message.type)).toEqual(["user.updated"]);
    expect((await deliveries(id))[1]).toMatchObject({
      attempts: 1,
      lastError: expect.stringContaining("not for this webhook"),
    });
  });

  test("receives no replay of other users' events, also at a changed address", async () => {
    const id = await createAdminEndpoint();
    await fixture.recordEvent("user.created", "ada", { email: "ada@example.com" });
    const [first] = await eventuallyAll(id, { status: "delivered" });
    receiver.clear();
    demote();
    await fixture.endpoints.update(id, { url: `${receiver.url}/elsewhere` });
    await fixture.deliveries.replay(id, first?.id ?? "", []);
    fixture.sender.wake(id);
    await eventuallyAll(id, { status: "failed" });
    expect(receiver.received).toEqual([]);
  });

  test("who becomes an admin again receives them again", async () => {
    const id = await createAdminEndpoint();
    await fixture.recordEvent("user.created", "ada");
    const [first] = await eventuallyAll(id, { status: "delivered" });
    demote();
    await fixture.deliveries.replay(id, first?.id ?? "", []);
    fixture.sender.wake(id);
    await eventuallyAll(id, { status: "failed" });
    promote();
    await fixture.deliveries.replay(id, first?.id ?? "", []);
    fixture.sender.wake(id);
    await eventuallyAll(id, { status: "delivered" });
    expect(receiver.received).toHaveLength(2);
  });
});

test("a disabled account receives no pending events, not even its own", async () => {
  receiver.answer(503);
  const { endpoint } = await fixture.createEndpoint(receiver.url);
  await fixture.recordEvent("agent.message", "ada", { text: "for Ada" });
  await eventuallyAll(endpoint.id, { status: "pending", attempts: 1 });
  fixture.users.set("ada", testUser("ada", { disabledAt: 1 }));
  fixture.clock.time += HOUR;
  fixture.sender.wake(endpoint.id);
  await eventuallyAll(endpoint.id, { status: "failed", attempts: 1 });
  expect(receiver.received).toHaveLength(1);
});

describe("an unverified address of ADMIN_EMAILS, with the service on loopback", () => {
  const chief = "chief@example.com";
  beforeEach(() => open({ ADMIN_EMAILS: chief, BASE_URL: "http://localhost:3000" }));

  /** The types of Ada's and Eve's events that reach Eve's endpoint. */
  async function receivedTypes(allEventsByEmail: string | null, email: string) {
    fixture.users.set("eve", testUser("eve", { email }));
    await fixture.createEndpoint(receiver.url, { userId: "eve", allEvents: true, allEventsByEmail });
    await fixture.recordEvent("user.created", "ada");
    await fixture.recordEvent("user.updated", "eve");
    await receiver.take(1, ({ message }) => message.type === "user.updated");
    await eventually(() => fixture.sender.running() === 0);
    return receiver.received.map(({ message }) => message.type).sort();
  }

  test("counts for an endpoint that was created under it", async () => {
    expect(await receivedTypes(chief, chief)).toEqual(["user.created", "user.updated"]);
  });

  test("does not count for an endpoint of an admin by other means, who could just take the address later", async () => {
    expect(await receivedTypes(null, chief)).toEqual(["user.updated"]);
  });

  test("does not count once the owner has another address", async () => {
    expect(await receivedTypes(chief, "other@example.com")).toEqual(["user.updated"]);
  });

  test("does not count for an endpoint that was created under another address", async () => {
    expect(await receivedTypes("other@example.com", chief)).toEqual(["user.updated"]);
  });
});
