// Tests what only Telegram has: drafts, markup, webhooks beside polls, topics, its limits.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createWatch } from "../../tests/support/eventually.ts";
import { type FakeBot, startTelegram, type Telegram } from "../../tests/support/telegram.ts";
import type { Binding, IncomingMessage, OutgoingMessage, Sink } from "../port.ts";
import { createTelegram, type TelegramChannel } from "./index.ts";
import { TELEGRAM_RATE_RULES } from "./send-limiter.ts";

const token = "4242:telegram-test-token";
const binding: Binding = { agentId: "agent", token, bot: { id: "4242", username: "test_bot" } };
const instant = { every: 0, burst: 1 };
const rules = { bot: instant, chat: instant, group: instant, draft: instant, edit: instant, groupEdit: instant };

let fake: Telegram;
let bot: FakeBot;
let telegram: TelegramChannel;
let logged: string[];
let stop: AbortController;

const log = {
  debug: (message: string, fields?: object) => void logged.push(`${message} ${Bun.inspect(fields)}`),
  warn: (message: string, fields?: object) => void logged.push(`${message} ${Bun.inspect(fields)}`),
};

const commands = { help: "what I understand", reset: "start a new conversation" };

beforeEach(async () => {
  fake = await startTelegram();
  bot = fake.addBot(token, { username: "test_bot" });
  logged = [];
  stop = new AbortController();
  telegram = createTelegram({ apiRoot: `${fake.url}/`, commands, log, rules });
  bot.userSays(7, "hi");
  bot.userSays(-100, "hi");
});

afterEach(async () => {
  stop.abort();
  await fake.stop();
});

const reply = (more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  id: "m",
  peer: "7",
  text: "hello",
  attempts: 0,
  deliveredParts: [],
  ...more,
});
async function send(more: Partial<OutgoingMessage> = {}, channel = telegram): Promise<string[]> {
  const parts: string[] = [];
  await channel.send(binding, reply(more), (part) => parts.push(part), stop.signal);
  return parts;
}
const preview = (text: string, more: { peer?: string; messageId?: string } = {}) =>
  telegram.preview(binding, { draftId: 9, peer: "7", group: false, text, ...more }, stop.signal);
const callsOf = (method: string) => fake.calls.filter((call) => call.method === method);
const params = (method: string) => callsOf(method).at(-1)?.params;

function inbox(): {
  sink: Sink;
  messages: IncomingMessage[];
  waitFor: ReturnType<typeof createWatch>["waitFor"];
  alive: () => number;
} {
  const watch = createWatch();
  const messages: IncomingMessage[] = [];
  let alive = 0;
  const sink: Sink = {
    accept(more) {
      messages.push(...more);
      watch.changed();
      return Promise.resolve();
    },
    reportAlive() {
      alive += 1;
      watch.changed();
    },
    saveResumePoint: () => undefined,
    reportUndelivered: () => Promise.resolve(),
  };
  return { sink, messages, waitFor: watch.waitFor, alive: () => alive };
}

describe("sending", () => {
  test("converts Markdown, and turns link previews off", async () => {
    await send({ text: "**a** `b` [c](https://x.org)" });
    expect(bot.sent()[0]).toMatchObject({
      text: "a b c",
      entities: [{ type: "bold" }, { type: "code" }, { type: "text_link", url: "https://x.org" }],
    });
    expect(params("sendMessage")).toMatchObject({ link_preview_options: { is_disabled: true } });
  });

  test("shows the answers to a question as buttons; a pressed one is a message of whoever pressed it, once", async () => {
    const { sink, messages, waitFor } = inbox();
    const choices = [
      { label: "Approve", text: "/approve ABC" },
      { label: "Deny", text: "/deny ABC" },
    ];
    await send({ text: `${"a".repeat(5000)} May I?`, choices });
    const [first, last] = bot.sent(7);
    expect(first?.buttons).toEqual([]);
    expect(last?.buttons).toEqual([
      { text: "Approve", data: "/approve ABC" },
      { text: "Deny", data: "/deny ABC" },
    ]);
    bot.userPresses(7, last?.messageId ?? 0, "/deny ABC");
    const listening = telegram.listener.listen(binding, sink, stop.signal);
    await waitFor(() => messages.length === 3);
    expect(messages.at(-1)).toMatchObject({
      platformMessageId: expect.stringMatching(/^button:/),
      peer: "7",
      sender: { id: "7" },
      text: "/deny ABC",
      group: false,
      addressed: true,
    });
    await fake.waitFor(() => bot.sent(7)[1]?.buttons.length === 0);
    expect(callsOf("answerCallbackQuery")).toHaveLength(1);
    stop.abort();
    await listening;
  });

  test("leaves the buttons to those who may answer; somebody else is told so", async () => {
    const { sink, messages, waitFor } = inbox();
    const choices = [{ label: "Deny", text: "/deny ABC" }];
    await send({ text: "May I?", choices });
    const [question] = bot.sent(7);
    let isOwner = false;
    const guarded = { ...sink, mayAnswer: async () => isOwner };
    bot.userPresses(7, question?.messageId ?? 0, "/deny ABC");
    const listening = telegram.listener.listen(binding, guarded, stop.signal);
    await waitFor(() => messages.some(({ text }) => text === "/deny ABC"));
    await fake.waitFor(() => callsOf("answerCallbackQuery").length === 1);
    expect(params("answerCallbackQuery")).toMatchObject({ text: "Only the owner of this bot can answer that." });
    isOwner = true;
    bot.userPresses(7, question?.messageId ?? 0, "/deny ABC");
    await fake.waitFor(() => bot.sent(7)[0]?.buttons.length === 0);
    expect(callsOf("editMessageReplyMarkup")).toHaveLength(1);
    stop.abort();
    await listening;
  });

  test("sends plain text if Telegram can't parse the markup", async () => {
    fake.fail("sendMessage", { status: 400, description: "Bad Request: can't parse entities: no reason" });
    await send({ text: "**a** <b>" });
    expect(bot.sent()).toMatchObject([{ text: "a <b>", entities: [] }]);
    expect(bot.sent()[0]?.parseMode).toBeUndefined();
  });

  test("sends a reply in a group although the question was deleted", async () => {
    await send({ peer: "-100", replyTo: "-100:99999" });
    expect(bot.sent(-100)).toMatchObject([{ text: "hello" }]);
    expect(bot.sent(-100)[0]?.replyTo).toBeUndefined();
  });

  test("quotes the question only in groups, and only in the first part", async () => {
    await send({ replyTo: "7:1" });
    expect(bot.sent(7)[0]?.replyTo).toBeUndefined();
    const { messageId } = bot.userSays(-100, "question");
    await send({ peer: "-100", replyTo: `-100:${messageId}`, text: `${"a".repeat(4096)} b` });
    expect(bot.sent(-100).map(({ replyTo }) => replyTo)).toEqual([messageId, undefined]);
  });

  test("sends to the supergroup that a group became, without a reference to the old group", async () => {
    const { messageId } = bot.userSays(-300, "question", { group: { type: "group" } });
    const old = await telegram.preview(
      binding,
      { draftId: 9, peer: "-300", group: true, text: "One", replyTo: `-300:${messageId}` },
      stop.signal,
    );
    bot.groupUpgrades(-300, -1000300);
    const message = { peer: "-300", replyTo: `-300:${messageId}`, text: "One two" };
    const parts = await send({ ...message, ...(old === undefined ? {} : { previewMessageId: old }) });
    expect(bot.sent(-1000300)).toMatchObject([{ text: "One two" }]);
    expect(bot.sent(-1000300)[0]?.replyTo).toBeUndefined();
    expect(parts).toEqual([`-1000300:${bot.sent(-1000300)[0]?.messageId}`]);
    // The new id is known now.
    const before = callsOf("sendMessage").length;
    await send({ ...message, text: `${"a".repeat(4096)} b` });
    expect(callsOf("sendMessage").length).toBe(before + 2);
    expect(bot.sent(-1000300).length).toBe(3);
  });

  test("fails for the group that the bot was removed from, and only there", async () => {
    bot.userBlocks(-100);
    await expect(send({ peer: "-100" })).rejects.toMatchObject({ kind: "refused", scope: "peer" });
    await send();
    expect(bot.sent(7).length).toBe(1);
  });

  test("addresses the general topic of a forum without a number", async () => {
    bot.userSays(-200, "hi", { group: { forum: true } });
    await send({ peer: "-200" });
    expect(bot.sent(-200)[0]?.threadId).toBeUndefined();
  });

  test("replies inside the topic", async () => {
    bot.userSays(-200, "hi", { group: { forum: true }, threadId: 5 });
    await send({ peer: "-200:5" });
    await telegram.typing(binding, "-200:5", stop.signal);
    expect(bot.sent(-200)).toMatchObject([{ threadId: 5 }]);
    expect(params("sendChatAction")).toMatchObject({ message_thread_id: 5, action: "typing" });
  });

  test("sends no message for an empty reply", async () => {
    expect(await send({ text: " \n " })).toEqual([]);
    expect(callsOf("sendMessage")).toEqual([]);
  });

  test("reports an HTML page as unreachable, without the token in the error", async () => {
    fake.fail("sendMessage", "garbage");
    const error: unknown = await send().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: "unreachable", scope: "peer" });
    expect(Bun.inspect(error, { depth: 10 })).not.toContain("telegram-test-token");
  });
});

describe("a preview that is a message", () => {
  test("is edited into the reply, also if it has that text already, and also on a retry", async () => {
    const [id = ""] = await send({ text: "hel" });
    expect(await send({ previewMessageId: id, text: "**hello**" })).toEqual([id]);
    expect(await send({ previewMessageId: id, text: "**hello**" })).toEqual([id]);
    expect(bot.sent()).toMatchObject([{ text: "hello", entities: [{ type: "bold" }] }]);
  });

  test("is replaced by a new message if it was deleted", async () => {
    const [id] = await send({ previewMessageId: "7:9999", text: "hello" });
    expect(bot.sent().map(({ messageId }) => `7:${messageId}`)).toEqual([id ?? ""]);
  });

  test("becomes the first part of a long reply", async () => {
    const [id = ""] = await send({ text: "a" });
    const parts = await send({ previewMessageId: id, text: `${"a".repeat(4096)} b` });
    expect(parts[0]).toBe(id);
    expect(bot.sent().map(({ text }) => text.length)).toEqual([4096, 1]);
  });
});

describe("a growing reply", () => {
  test("is shown as a draft in private, without a message", async () => {
    expect(await preview("")).toBeUndefined();
    expect(await preview("one **tw")).toBeUndefined();
    expect(await preview(`${"a".repeat(4096)}\n\nend`)).toBeUndefined();
    expect(bot.drafts().map(({ text, draftId }) => [text, draftId])).toEqual([
      ["", 9],
      ["one **tw", 9],
      ["end", 9],
    ]);
    expect(bot.sent()).toEqual([]);
  });

  test("is shown by edits if Telegram refuses drafts, which is tried once", async () => {
    fake.set({ drafts: false });
    const messageId = await preview("one");
    expect(messageId).toBe(`7:${bot.sent()[0]?.messageId}`);
    if (messageId === undefined) throw new Error("no message");
    expect(await preview("one two", { messageId })).toBe(messageId);
    expect(await preview("other")).not.toBe(messageId);
    expect(callsOf("sendMessageDraft").length).toBe(1);
    expect(bot.sent()).toMatchObject([{ text: "one two", edits: [{ text: "one two" }] }, { text: "other" }]);
  });

  test("still uses drafts after a chat was not found", async () => {
    await expect(preview("x", { peer: "8" })).rejects.toMatchObject({ kind: "refused", scope: "peer" });
    await preview("one");
    expect(bot.drafts(7).length).toBe(1);
  });

  test("has no preview any more after a person deleted it", async () => {
    expect(await preview("one", { peer: "-100", messageId: "-100:9999" })).toBeUndefined();
  });

  test("is shown within Telegram's limits and never delays the reply", async () => {
    fake.set({ rates: true });
    const paced = createTelegram({ apiRoot: fake.url, commands, log });
    const show = (messageId?: string) =>
      paced.preview(
        binding,
        {
          draftId: 9,
          peer: "-100",
          group: true,
          text: `n ${Math.random()}`,
          ...(messageId === undefined ? {} : { messageId }),
        },
        stop.signal,
      );
    const messageId = await show();
    for (let n = 0; n < 50; n += 1) expect(await show(messageId)).toBe(messageId);
    expect(callsOf("editMessageText").length).toBe(0);
    expect(TELEGRAM_RATE_RULES.groupEdit.every).toBeGreaterThanOrEqual(3000);
    expect(bot.sent(-100).length).toBe(1);
  });

  test("blocks only the chat for which Telegram asked to wait", async () => {
    const paced = createTelegram({ apiRoot: fake.url, commands, log });
    fake.fail("sendMessageDraft", { status: 429, retryAfter: 30 });
    const show = (peer: string) => paced.preview(binding, { draftId: 9, peer, group: false, text: "x" }, stop.signal);
    await expect(show("7")).rejects.toMatchObject({ kind: "busy", retryAfter: 30_000 });
    await expect(send({}, paced)).rejects.toMatchObject({ kind: "busy", scope: "peer" });
    await send({ peer: "-100" }, paced);
    expect(bot.sent(7)).toEqual([]);
    paced.forget(binding);
    await send({}, paced);
    expect(bot.sent(7).length).toBe(1);
  });
});

describe("receiving", () => {
  test("connects at once, requests messages only, and sets the command menu once", async () => {
    const { sink, waitFor, alive, messages } = inbox();
    const listening = telegram.listener.listen(binding, sink, stop.signal);
    await waitFor(() => alive() > 0);
    await fake.waitFor(() => bot.commands.length === 2);
    bot.pushes("callback_query", { id: "1" });
    stop.abort();
    await listening;
    const again = new AbortController();
    const second = inbox();
    const relisten = telegram.listener.listen(binding, second.sink, again.signal);
    await second.waitFor(() => second.alive() > 0);
    again.abort();
    await relisten;
    expect(callsOf("setMyCommands").length).toBe(1);
    expect(messages.map(({ text }) => text)).toEqual(["hi", "hi"]);
  });

  test("works without the menu, and logs why it is missing", async () => {
    fake.fail("setMyCommands", { status: 400, description: "Bad Request: no menus today" });
    const { sink, waitFor, messages } = inbox();
    const listening = telegram.listener.listen(binding, sink, stop.signal);
    await fake.waitFor(() => callsOf("setMyCommands").length === 1);
    bot.userSays(7, "still here");
    await waitFor(() => messages.some(({ text }) => text === "still here"));
    expect(logged.join()).toContain("no menus today");
    expect(logged.join()).not.toContain("telegram-test-token");
    stop.abort();
    await listening;
  });

  test("removes a webhook that exists at the start, but not one that is set later", async () => {
    await telegram.webhook.register(binding, { url: "https://example.org/hook", secret: "abc" }, stop.signal);
    const { sink, waitFor, alive } = inbox();
    const listening = telegram.listener.listen(binding, sink, stop.signal);
    await waitFor(() => alive() > 0);
    expect(bot.webhook).toBeUndefined();
    await fake.waitFor(() => bot.polling);
    await telegram.webhook.register(binding, { url: "https://example.org/other", secret: "abc" }, stop.signal);
    await expect(listening).rejects.toMatchObject({ kind: "conflict" });
    expect(bot.webhook?.url).toBe("https://example.org/other");
  });

  test("registers a webhook with its secret, and reports an address that Telegram refuses", async () => {
    await telegram.webhook.register(binding, { url: "https://example.org/hook", secret: "abc-_1" }, stop.signal);
    expect(bot.webhook).toMatchObject({ url: "https://example.org/hook", secret: "abc-_1" });
    const bad = telegram.webhook.register(binding, { url: "http://example.org/hook", secret: "abc" }, stop.signal);
    await expect(bad).rejects.toMatchObject({ kind: "refused" });
    await telegram.webhook.unregister(binding, stop.signal);
    expect(bot.webhook).toBeUndefined();
  });

  test("names a document beside its caption", async () => {
    const { sink, waitFor, messages } = inbox();
    const listening = telegram.listener.listen(binding, sink, stop.signal);
    bot.userSendsFile(7, "plan.pdf", new Uint8Array(3), "read this");
    await waitFor(() => messages.length === 3);
    expect(messages.at(-1)?.text).toBe("[document: plan.pdf]\nread this");
    stop.abort();
    await listening;
  });

  test("skips a malformed update instead of receiving it for ever", async () => {
    const { sink, waitFor, messages } = inbox();
    bot.pushes("message", {
      message_id: 1,
      date: 1,
      from: { id: 1 },
      chat: { id: -1, type: "group" },
      text: "x",
      entities: 5,
    });
    bot.userSays(7, "after it");
    const listening = telegram.listener.listen(binding, sink, stop.signal);
    await waitFor(() => messages.length === 3);
    expect(messages.map(({ text }) => text)).toEqual(["hi", "hi", "after it"]);
    expect(logged.join()).toContain("could not be read");
    stop.abort();
    await listening;
  });
});
