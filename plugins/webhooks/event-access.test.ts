// Whose events an endpoint may have is asked again before each attempt: what somebody was when it happened does not count.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { type Receiver, startReceiver } from "../../tests/support/receiver.ts";
import { HOUR, MINUTE, openWebhookStand, testUser } from "./support.test.ts";

type WebhookStand = Awaited<ReturnType<typeof openWebhookStand>>;
let stand: WebhookStand;
let receiver: Receiver;

async function open(env: Record<string, string> = {}): Promise<void> {
  await stand?.[Symbol.asyncDispose]();
  stand = await openWebhookStand({ env });
  stand.users.set("ada", testUser("ada"));
  promote();
  stand.dispatcher.start();
}
beforeEach(async () => {
  receiver = startReceiver();
  await open();
});
afterEach(async () => {
  await stand[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const promote = () => stand.users.set("root", testUser("root", { isAdmin: true }));
const demote = () => stand.users.set("root", testUser("root"));
const deliveries = (endpointId: string) => stand.deliveries.list(endpointId, { limit: 10, offset: 0 });
const all = (endpointId: string, is: object) =>
  eventually(async () => {
    const found = await deliveries(endpointId);
    expect(found.length).toBeGreaterThan(0);
    for (const one of found) expect(one).toMatchObject(is);
    return found;
  });
/** Root's, which gets everybody's events as long as root is an admin. */
const wide = async () => (await stand.createEndpoint(receiver.url, { userId: "root", allEvents: true })).endpoint.id;

describe("an admin who is none any more", () => {
  test("gets nothing of others that was on its way, and goes on with the own", async () => {
    receiver.answer(500);
    const id = await wide();
    await stand.recordEvent("user.created", "ada", { email: "ada@example.com" });
    await stand.recordEvent("user.updated", "root", { email: "root@example.com" });
    await receiver.take(2);
    await all(id, { status: "pending", attempts: 1 });
    receiver.forget();
    receiver.answer(204);
    demote();
    stand.clock.time += MINUTE;
    stand.sender.wake(id);
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

  test("gets no old event of others again, whatever address it points to now", async () => {
    const id = await wide();
    await stand.recordEvent("user.created", "ada", { email: "ada@example.com" });
    const [first] = await all(id, { status: "delivered" });
    receiver.forget();
    demote();
    await stand.endpoints.update(id, { url: `${receiver.url}/elsewhere` });
    await stand.deliveries.replay(id, first?.id ?? "", []);
    stand.sender.wake(id);
    await all(id, { status: "failed" });
    expect(receiver.received).toEqual([]);
  });

  test("and is one again gets them again", async () => {
    const id = await wide();
    await stand.recordEvent("user.created", "ada");
    const [first] = await all(id, { status: "delivered" });
    demote();
    await stand.deliveries.replay(id, first?.id ?? "", []);
    stand.sender.wake(id);
    await all(id, { status: "failed" });
    promote();
    await stand.deliveries.replay(id, first?.id ?? "", []);
    stand.sender.wake(id);
    await all(id, { status: "delivered" });
    expect(receiver.received).toHaveLength(2);
  });
});

test("a disabled account gets nothing that was on its way, not even of its own", async () => {
  receiver.answer(503);
  const { endpoint } = await stand.createEndpoint(receiver.url);
  await stand.recordEvent("agent.message", "ada", { text: "for Ada" });
  await all(endpoint.id, { status: "pending", attempts: 1 });
  stand.users.set("ada", testUser("ada", { disabledAt: 1 }));
  stand.clock.time += HOUR;
  stand.sender.wake(endpoint.id);
  await all(endpoint.id, { status: "failed", attempts: 1 });
  expect(receiver.received).toHaveLength(1);
});

describe("an unverified address of ADMIN_EMAILS, where the service is on a machine of one's own", () => {
  const chief = "chief@example.com";
  beforeEach(() => open({ ADMIN_EMAILS: chief, BASE_URL: "http://localhost:3000" }));

  /** What of Ada's and of their own reaches somebody's wide endpoint. */
  async function reaches(allEventsByEmail: string | null, email: string) {
    stand.users.set("eve", testUser("eve", { email }));
    await stand.createEndpoint(receiver.url, { userId: "eve", allEvents: true, allEventsByEmail });
    await stand.recordEvent("user.created", "ada");
    await stand.recordEvent("user.updated", "eve");
    await receiver.take(1, ({ message }) => message.type === "user.updated");
    await eventually(() => stand.sender.running() === 0);
    return receiver.received.map(({ message }) => message.type).sort();
  }

  test("counts for an endpoint that was made under it, straight on that machine", async () => {
    expect(await reaches(chief, chief)).toEqual(["user.created", "user.updated"]);
  });

  test("not for one that was made wide otherwise: whoever was an admin once could just take the address", async () => {
    expect(await reaches(null, chief)).toEqual(["user.updated"]);
  });

  test("not once its owner has another address", async () => {
    expect(await reaches(chief, "other@example.com")).toEqual(["user.updated"]);
  });

  test("not for one that was made under another address", async () => {
    expect(await reaches("other@example.com", chief)).toEqual(["user.updated"]);
  });
});
