// Tests that polling bots stay connected independently, with visible states, through failures of platform and process.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { type ChannelsFixture, openChannelsFixture } from "../support.test.ts";

let scene: ChannelsFixture;
let next = 2_000;
beforeAll(async () => {
  scene = await openChannelsFixture();
});
afterAll(() => scene[Symbol.asyncDispose]());

async function connected() {
  const token = `${++next}:secret-part-of-the-token-${next}`;
  const bot = scene.telegram.addBot(token);
  const id = await scene.provision();
  await scene.connect(id, token, { ownerId: 42 });
  await scene.telegram.waitFor(() => bot.polling);
  return { id, token, bot };
}

const states = async (agentId: string) =>
  (await scene.rows("SELECT data FROM events WHERE agent_id = ? AND type = 'channel.state' ORDER BY seq", agentId)).map(
    ({ data }) => (JSON.parse(String(data)) as { state: string }).state,
  );

test("a failing platform is retried, and messages of that time are answered", async () => {
  const { id, bot } = await connected();
  scene.telegram.fail("getUpdates", { status: 502 }, { botId: bot.id });
  bot.userSays(42, "wakes the poll");
  expect(await scene.inState(id, "backing_off")).toMatchObject({ lastError: expect.stringContaining("Telegram") });
  expect(await scene.inState(id, "connected")).toMatchObject({ lastError: expect.stringContaining("Telegram") });
  await scene.telegram.waitFor(() => bot.sent(42).length === 1);
  expect(await states(id)).toEqual(["connected", "backing_off", "connected"]);
  expect(await scene.logs(id)).toContainEqual(expect.stringContaining("will be tried again"));
});

test("a revoked token stops its bot for good, and no other", async () => {
  const [gone, other] = [await connected(), await connected()];
  scene.telegram.revoke(gone.token);
  expect(await scene.inState(gone.id, "failed")).toMatchObject({
    lastError: expect.stringContaining("token"),
    nextTryAt: null,
  });
  expect(await scene.channel(other.id)).toMatchObject({ state: "connected" });
  expect(await states(gone.id)).toEqual(["connected", "failed"]);
  expect(await scene.logs(gone.id)).toContainEqual(expect.stringContaining("given up"));
  // A new token connects it again.
  const token = `${gone.bot.id}:another-secret-part`;
  scene.telegram.addBot(token);
  expect((await scene.connect(gone.id, token)).body).toMatchObject({ state: "connected" });
});

test("a refused token is not used again, not even for waiting replies", async () => {
  const { id, token, bot } = await connected();
  scene.telegram.fail("sendMessage", { status: 502 }, { botId: bot.id });
  bot.userSays(42, "hello");
  const outbox = () => scene.rows("SELECT status FROM outbox WHERE agent_id = ?", id);
  await eventually(async () => (await outbox()).length === 1);
  scene.telegram.revoke(token);
  await scene.inState(id, "failed");
  const asked = () => scene.telegram.calls.filter(({ botId }) => botId === bot.id).length;
  const before = asked();
  await eventually(async () => (await outbox())[0]?.status === "failed");
  expect(asked()).toBe(before);
});

test("a second program with the same token causes retries, not a failure", async () => {
  const { id, bot } = await connected();
  scene.telegram.fail(
    "getUpdates",
    { status: 409, description: "Conflict: terminated by other getUpdates request" },
    { botId: bot.id },
  );
  bot.userSays(42, "hello");
  expect(await scene.inState(id, "backing_off")).toMatchObject({
    lastError: expect.stringContaining("Something else"),
  });
  await scene.telegram.waitFor(() => bot.sent(42).length === 1);
});

test("a stopped agent's bot is disconnected, and messages wait at the platform", async () => {
  const { id, bot } = await connected();
  await scene.setStatus(id, "stopped");
  await scene.telegram.waitFor(() => !bot.polling);
  bot.userSays(42, "are you there?");
  expect(await scene.channel(id)).toMatchObject({ state: "backing_off", lastError: "The agent is stopped." });
  await scene.setStatus(id, "active");
  await scene.telegram.waitFor(() => bot.sent(42).length === 1);
  expect(await scene.channel(id)).toMatchObject({ state: "connected" });
});

test("a reply that is pending when its agent stops is sent after the next start", async () => {
  const { id, bot } = await connected();
  const outbox = () => scene.rows("SELECT status, attempts FROM outbox WHERE agent_id = ?", id);
  scene.telegram.fail("sendMessage", { status: 502 }, { botId: bot.id });
  bot.userSays(42, "hello");
  await eventually(async () => (await outbox())[0]?.attempts === 1);
  await scene.setStatus(id, "stopped");
  await scene.restart();
  expect(await outbox()).toEqual([{ status: "pending", attempts: 1 }]);
  await scene.setStatus(id, "active");
  await scene.telegram.waitFor(() => bot.sent(42).length === 1);
  await eventually(async () => (await outbox())[0]?.status === "sent");
});

test("a start connects all bots, awaits none, and causes no notices", async () => {
  const [first, second] = [await connected(), await connected()];
  scene.telegram.fail("getUpdates", "hang", { botId: first.bot.id });
  second.bot.userSays(42, "said before the end");
  const before = performance.now();
  await scene.restart();
  expect(performance.now() - before).toBeLessThan(2_500);
  second.bot.userSays(42, "said after it");
  await scene.telegram.waitFor(() => second.bot.sent(42).length === 2);
  expect(await scene.channel(first.id)).toMatchObject({ state: "connecting" });
  expect(await states(second.id)).toEqual(["connected"]);
});

test("a crash between the two writes of connecting leaves a failed channel", async () => {
  const { id, bot } = await connected();
  await scene.kernel.database.write([{ sql: "DELETE FROM credentials WHERE owner_id = ?", args: [id] }]);
  await scene.restart();
  expect(await scene.inState(id, "failed")).toMatchObject({
    lastError: expect.stringContaining("Connect the channel again"),
  });
  expect(bot.polling).toBe(false);
});

test("hundreds of bots connect quickly", async () => {
  const bots = Array.from({ length: 120 }, (_, n) => ({ token: `${9_000 + n}:many-bots`, at: n }));
  for (const { token } of bots) scene.telegram.addBot(token);
  for (const { token } of bots) await scene.connect(await scene.provision(), token, { ownerId: 42 });
  await scene.restart();
  await eventually(() => bots.every(({ token }) => scene.telegram.bot(token).polling));
  const before = performance.now();
  await scene.restart();
  expect(performance.now() - before).toBeLessThan(3_000);
}, 30_000);
