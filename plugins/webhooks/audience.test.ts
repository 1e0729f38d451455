// Whose events an endpoint may have is asked again before each attempt: what somebody was when it happened does not count.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { type Receiver, startReceiver } from "../../tests/support/receiver.ts";
import { HOUR, MINUTE, openBench, someone } from "./support.test.ts";

type Bench = Awaited<ReturnType<typeof openBench>>;
let bench: Bench;
let receiver: Receiver;

async function open(env: Record<string, string> = {}): Promise<void> {
  await bench?.[Symbol.asyncDispose]();
  bench = await openBench({ env });
  bench.users.set("ada", someone("ada"));
  promote();
  bench.dispatcher.start();
}
beforeEach(async () => {
  receiver = startReceiver();
  await open();
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const promote = () => bench.users.set("root", someone("root", { isAdmin: true }));
const demote = () => bench.users.set("root", someone("root"));
const deliveries = (endpointId: string) => bench.deliveries.list(endpointId, { limit: 10, offset: 0 });
const all = (endpointId: string, is: object) =>
  eventually(async () => {
    const found = await deliveries(endpointId);
    expect(found.length).toBeGreaterThan(0);
    for (const one of found) expect(one).toMatchObject(is);
    return found;
  });
/** Root's, which gets everybody's events as long as root is an admin. */
const wide = async () => (await bench.endpoint(receiver.url, { userId: "root", wide: true })).endpoint.id;

describe("an admin who is none any more", () => {
  test("gets nothing of others that was on its way, and goes on with the own", async () => {
    receiver.answer(500);
    const id = await wide();
    await bench.happens("user.created", "ada", { email: "ada@example.com" });
    await bench.happens("user.updated", "root", { email: "root@example.com" });
    await receiver.take(2);
    await all(id, { status: "pending", attempts: 1 });
    receiver.forget();
    receiver.answer(204);
    demote();
    bench.clock.time += MINUTE;
    bench.sender.kick(id);
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
    await bench.happens("user.created", "ada", { email: "ada@example.com" });
    const [first] = await all(id, { status: "delivered" });
    receiver.forget();
    demote();
    await bench.endpoints.update(id, { url: `${receiver.url}/elsewhere` });
    await bench.deliveries.replay(id, first?.id ?? "", []);
    bench.sender.kick(id);
    await all(id, { status: "failed" });
    expect(receiver.received).toEqual([]);
  });

  test("and is one again gets them again", async () => {
    const id = await wide();
    await bench.happens("user.created", "ada");
    const [first] = await all(id, { status: "delivered" });
    demote();
    await bench.deliveries.replay(id, first?.id ?? "", []);
    bench.sender.kick(id);
    await all(id, { status: "failed" });
    promote();
    await bench.deliveries.replay(id, first?.id ?? "", []);
    bench.sender.kick(id);
    await all(id, { status: "delivered" });
    expect(receiver.received).toHaveLength(2);
  });
});

test("a disabled account gets nothing that was on its way, not even of its own", async () => {
  receiver.answer(503);
  const { endpoint } = await bench.endpoint(receiver.url);
  await bench.happens("agent.message", "ada", { text: "for Ada" });
  await all(endpoint.id, { status: "pending", attempts: 1 });
  bench.users.set("ada", someone("ada", { disabledAt: 1 }));
  bench.clock.time += HOUR;
  bench.sender.kick(endpoint.id);
  await all(endpoint.id, { status: "failed", attempts: 1 });
  expect(receiver.received).toHaveLength(1);
});

describe("an unverified address of ADMIN_EMAILS, where the service is on a machine of one's own", () => {
  const chief = "chief@example.com";
  beforeEach(() => open({ ADMIN_EMAILS: chief, BASE_URL: "http://localhost:3000" }));

  /** What of Ada's and of their own reaches somebody's wide endpoint. */
  async function reaches(wideAs: string | null, email: string) {
    bench.users.set("eve", someone("eve", { email }));
    await bench.endpoint(receiver.url, { userId: "eve", wide: true, wideAs });
    await bench.happens("user.created", "ada");
    await bench.happens("user.updated", "eve");
    await receiver.take(1, ({ message }) => message.type === "user.updated");
    await eventually(() => bench.sender.running() === 0);
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
