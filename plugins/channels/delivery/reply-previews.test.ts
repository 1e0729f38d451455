// Tests previews: none for quick replies, one call at a time, and one message in the end.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startUpstream, type Upstream } from "../../../tests/support/upstream.ts";
import { type ChannelsFixture, openChannelsFixture } from "../support.test.ts";

let fixture: ChannelsFixture;
let upstream: Upstream;
let next = 5_000;
beforeAll(async () => {
  upstream = await startUpstream();
  fixture = await openChannelsFixture({ env: { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" } });
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await upstream.stop();
});

async function connected() {
  const token = `${++next}:secret-part-of-the-token-${next}`;
  const bot = fixture.telegram.addBot(token);
  const id = await fixture.provision({ channels: { channel_a: { access: "open" } } });
  await fixture.connect(id, token);
  return { id, bot };
}

test("a slow reply is shown as it grows, and is one message in the end", async () => {
  const { bot } = await connected();
  upstream.script({ pieces: Array.from({ length: 20 }, (_, n) => `word${n} `), paceMs: 75 });
  bot.userSays(7, "tell me");
  await fixture.telegram.waitFor(() => bot.sent(7).length === 1);
  const drafts = bot.drafts(7).map(({ text }) => text);
  expect(drafts.length).toBeGreaterThanOrEqual(2);
  expect(drafts.every((text, n) => n === 0 || text.startsWith(drafts[n - 1]?.trim() ?? ""))).toBe(true);
  expect(bot.sent(7)[0]?.text).toStartWith("word0 word1");
  expect(bot.sent(7)[0]?.text).toContain("word19");
  expect(new Set(bot.drafts(7).map(({ draftId }) => draftId)).size).toBe(1);
});

test("a quick reply has no preview", async () => {
  const { bot } = await connected();
  upstream.script({ text: "quick", delayMs: 20 });
  bot.userSays(7, "tell me");
  await fixture.telegram.waitFor(() => bot.sent(7).length === 1);
  expect(bot.drafts(7)).toEqual([]);
  expect(bot.actions(7)).toEqual([]);
});

test("the bot is shown as typing until the model responds", async () => {
  const { bot } = await connected();
  upstream.script({ text: "thought about it", delayMs: 1_000 });
  bot.userSays(7, "think");
  await fixture.telegram.waitFor(() => bot.actions(7).length === 1);
  expect(bot.sent(7)).toEqual([]);
  await fixture.telegram.waitFor(() => bot.sent(7).length === 1);
});

test("where the platform has no drafts, the preview message becomes the reply", async () => {
  const { bot } = await connected();
  upstream.script({ pieces: Array.from({ length: 20 }, (_, n) => `word${n} `), paceMs: 100 });
  bot.userSays(-77, `@${bot.username} tell us`, { group: true, from: { id: 7 } });
  await fixture.telegram.waitFor(() => bot.sent(-77).length === 1);
  await fixture.telegram.waitFor(() => bot.sent(-77)[0]?.text.includes("word19"));
  expect(bot.sent(-77)).toHaveLength(1);
  expect(bot.sent(-77)[0]?.edits.length).toBeGreaterThanOrEqual(1);
  expect(bot.sent(-77)[0]?.replyTo).toBeNumber();
});

test("the reply arrives although previews fail", async () => {
  const { bot } = await connected();
  upstream.script({ pieces: Array.from({ length: 12 }, (_, n) => `word${n} `), paceMs: 75 });
  fixture.telegram.fail("sendMessageDraft", { status: 500 }, { botId: bot.id, times: 10 });
  fixture.telegram.fail("sendChatAction", { status: 500 }, { botId: bot.id, times: 10 });
  bot.userSays(7, "tell me");
  await fixture.telegram.waitFor(() => bot.sent(7).length === 1);
  expect(bot.sent(7)[0]?.text).toContain("word11");
});

test("the owner is told in their own chat why somebody else got no reply, while they are the owner", async () => {
  const token = `${++next}:secret-part-of-the-token-${next}`;
  const bot = fixture.telegram.addBot(token);
  const id = await fixture.provision({ channels: { channel_a: { access: "open" } } });
  await fixture.connect(id, token, { ownerId: "11" });
  upstream.reset();
  bot.userSays(11, "good morning");
  await fixture.telegram.waitFor(() => bot.sent(11).length === 1);
  upstream.failNext(1, 401);
  bot.userSays(7, "hello");
  await fixture.telegram.waitFor(() => bot.sent(7).length === 1 && bot.sent(11).length === 2);
  expect(bot.sent(7)[0]?.text).toBe("Sorry, I can't answer right now. My owner has been told.");
  expect(bot.sent(11)[1]?.text).toContain("I could not answer somebody on Telegram. The provider of provider_3:");
  await fixture.connect(id, token, { ownerId: "12" });
  upstream.failNext(1, 400);
  bot.userSays(7, "hello again");
  await fixture.telegram.waitFor(() => bot.sent(7).length === 2);
  // A reply to the former owner shows that nothing else was sent before it.
  bot.userSays(11, "and now?");
  await fixture.telegram.waitFor(() => bot.sent(11).length === 3);
  expect(bot.sent(11)[2]?.text).toBe("echo: and now?");
});
