// Tests that polling bots stay connected independently, with visible states, through failures of platform and process.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { type ChannelsFixture, openChannelsFixture } from "../support.test.ts";

let fixture: ChannelsFixture;
let next = 2_000;
beforeAll(async () => {
  fixture = await openChannelsFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function connected() {
  const token = `${++next}:secret-part-of-the-token-${next}`;
  const bot = fixture.telegram.addBot(token);
  const id = await fixture.provision();
  await fixture.connect(id, token, { ownerId: 42 });
  await fixture.telegram.waitFor(() => bot.polling);
  return { id, token, bot };
}

const states = async (agentId: string) =>
  (
    await fixture.rows("SELECT data FROM events WHERE agent_id = ? AND type = 'channel.state' ORDER BY seq", agentId)
  ).map(({ data }) => (JSON.parse(String(data)) as { state: string }).state);

test("a failing platform is retried, and messages of that time are answered", async () => {
  const { id, bot } = await connected();
  fixture.telegram.fail("getUpdates", { status: 502 }, { botId: bot.id });
  bot.userSays(42, "wakes the poll");
  expect(await fixture.inState(id, "backing_off")).toMatchObject({ lastError: expect.stringContaining("Telegram") });
  expect(await fixture.inState(id, "connected")).toMatchObject({ lastError: expect.stringContaining("Telegram") });
  await fixture.telegram.waitFor(() => bot.sent(42).length === 1);
  expect(await states(id)).toEqual(["connected", "backing_off", "connected"]);
  expect(await fixture.logs(id)).toContainEqual(expect.stringContaining("will be tried again"));
});

test("a revoked token stops its bot for good, and no other", async () => {
  const [gone, other] = [await connected(), await connected()];
  fixture.telegram.revoke(gone.token);
  expect(await fixture.inState(gone.id, "failed")).toMatchObject({
    lastError: expect.stringContaining("token"),
    nextTryAt: null,
  });
  expect(await fixture.channel(other.id)).toMatchObject({ state: "connected" });
  expect(await states(gone.id)).toEqual(["connected", "failed"]);
  expect(await fixture.logs(gone.id)).toContainEqual(expect.stringContaining("given up"));
  // A new token connects it again.
  const token = `${gone.bot.id}:another-secret-part`;
  fixture.telegram.addBot(token);
  expect((await fixture.connect(gone.id, token)).body).toMatchObject({ state: "connected" });
});

test("a refused token is not used again, not even for waiting replies", async () => {
  const { id, token, bot } = await connected();
  fixture.telegram.fail("sendMessage", { status: 502 }, { botId: bot.id });
  bot.userSays(42, "hello");
  const outbox = () => fixture.rows("SELECT status FROM outbox WHERE agent_id = ?", id);
  await eventually(async () => (await outbox()).length === 1);
  fixture.telegram.revoke(token);
  await fixture.inState(id, "failed");
  const asked = () => fixture.telegram.calls.filter(({ botId }) => botId === bot.id).length;
  const before = asked();
  await eventually(async () => (await outbox())[0]?.status === "failed");
  expect(asked()).toBe(before);
});

test("a second program with the same token causes retries, not a failure", async () => {
  const { id, bot } = await connected();
  fixture.telegram.fail(
    "getUpdates",
    { status: 409, description: "Conflict: terminated by other getUpdates request" },
    { botId: bot.id },
  );
  bot.userSays(42, "hello");
  expect(await fixture.inState(id, "backing_off")).toMatchObject({
    lastError: expect.stringContaining("Something else"),
  });
  await fixture.telegram.waitFor(() => bot.sent(42).length === 1);
});

test("a stopped agent's bot is disconnected, and messages wait at the platform", async () => {
  const { id, bot } = await connected();
  await fixture.setStatus(id, "stopped");
  await fixture.telegram.waitFor(() => !bot.polling);
  bot.userSays(42, "are you there?");
  expect(await fixture.channel(id)).toMatchObject({ state: "backing_off", lastError: "The agent is stopped." });
  await fixture.setStatus(id, "active");
  await fixture.telegram.waitFor(() => bot.sent(42).length === 1);
  expect(await fixture.channel(id)).toMatchObject({ state: "connected" });
});

test("a reply that is pending when its agent stops is sent after the next start", async () => {
  const { id, bot } = await connected();
  const outbox = () => fixture.rows("SELECT status, attempts FROM outbox WHERE agent_id = ?", id);
  fixture.telegram.fail("sendMessage", { status: 502 }, { botId: bot.id });
  bot.userSays(42, "hello");
  await eventually(async () => (await outbox())[0]?.attempts === 1);
  await fixture.setStatus(id, "stopped");
  await fixture.restart();
  expect(await outbox()).toEqual([{ status: "pending", attempts: 1 }]);
  await fixture.setStatus(id, "active");
  await fixture.telegram.waitFor(() => bot.sent(42).length === 1);
  await eventually(async () => (await outbox())[0]?.status === "sent");
});

test("a start connects all bots, awaits none, and causes no notices", async () => {
  const [first, second] = [await connected(), await connected()];
  fixture.telegram.fail("getUpdates", "hang", { botId: first.bot.id });
  second.bot.userSays(42, "said before the end");
  const before = performance.now();
  await fixture.restart();
  expect(performance.now() - before).toBeLessThan(2_500);
  second.bot.userSays(42, "said after it");
  await fixture.telegram.waitFor(() => second.bot.sent(42).length === 2);
  expect(await fixture.channel(first.id)).toMatchObject({ state: "connecting" });
  expect(await states(second.id)).toEqual(["connected"]);
});

test("a crash between the two writes of connecting leaves a failed channel", async () => {
  const { id, bot } = await connected();
  await fixture.kernel.database.write([{ sql: "DELETE FROM credentials WHERE owner_id = ?", args: [id] }]);
  await fixture.restart();
  expect(await fixture.inState(id, "failed")).toMatchObject({
    lastError: expect.stringContaining("Connect the channel again"),
  });
  expect(bot.polling).toBe(false);
});

test("hundreds of bots connect quickly", async () => {
  const bots = Array.from({ length: 120 }, (_, n) => ({ token: `${9_000 + n}:many-bots`, at: n }));
  for (const { token } of bots) fixture.telegram.addBot(token);
  for (const { token } of bots) await fixture.connect(await fixture.provision(), token, { ownerId: 42 });
  await fixture.restart();
  await eventually(() => bots.every(({ token }) => fixture.telegram.bot(token).polling));
  const before = performance.now();
  await fixture.restart();
  expect(performance.now() - before).toBeLessThan(3_000);
});
