import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Bot, GrammyError, HttpError } from "grammy";
import { type FakeBot, startTelegram, type Telegram, type Update } from "./telegram.ts";
import { spawnTelegram } from "./telegram-control.ts";

const token = "1001:AAtest-token_0123456789";
let telegram: Telegram;
let bot: FakeBot;
beforeEach(async () => {
  telegram = await startTelegram({ webhookRetryMs: 5, webhookTimeoutMs: 500 });
  bot = telegram.addBot(token, { username: "berth_bot" });
});
afterEach(() => telegram.stop());

interface Reply {
  ok: boolean;
  result?: unknown;
  error_code?: number;
  description?: string;
  parameters?: { retry_after?: number };
}

async function call(method: string, params: object = {}, init: RequestInit = {}): Promise<Reply & { status: number }> {
  const response = await fetch(`${telegram.url}/bot${token}/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(params),
    ...init,
  });
  const body = (await response.json()) as Reply;
  expect(body.ok).toBe(response.ok);
  if (!body.ok) expect(body.error_code).toBe(response.status);
  return { ...body, status: response.status };
}
const say = (text: unknown, more: object = {}) => call("sendMessage", { chat_id: 42, text, ...more });

describe("calls", () => {
  test("need a known token: others get 401, malformed tokens and unknown methods 404", async () => {
    expect((await call("getMe")).result).toMatchObject({ id: 1001, is_bot: true, username: "berth_bot" });
    expect((await call("GETME")).status).toBe(200);
    const status = async (path: string) => (await fetch(telegram.url + path)).status;
    expect(await status("/bot1001:other/getMe")).toBe(401);
    expect(await status("/botnonsense/getMe")).toBe(404);
    expect(await status(`/bot${token}/getYou`)).toBe(404);
    telegram.revoke(token);
    expect(await status(`/bot${token}/getMe`)).toBe(401);
  });

  test("take parameters from the query, a form or JSON, in well-formed Unicode", async () => {
    bot.userSays(42, "hi");
    const url = `${telegram.url}/bot${token}/sendMessage`;
    expect((await fetch(`${url}?chat_id=42&text=query`)).status).toBe(200);
    expect(
      (await fetch(url, { method: "POST", body: new URLSearchParams({ chat_id: "42", text: "form" }) })).status,
    ).toBe(200);
    const form = new FormData();
    form.set("chat_id", "42");
    form.set("text", "multipart");
    expect((await fetch(url, { method: "POST", body: form })).status).toBe(200);
    expect((await call("sendMessage", {}, { body: '{"chat_id":' })).status).toBe(400);
    expect((await say("a\ud800b")).description).toContain("UTF-8");
    expect((await say("x", { reply_to: 1 })).description).toContain('no parameter "reply_to"');
    expect(bot.sent(42).map(({ text }) => text)).toEqual(["query", "form", "multipart"]);
  });
});

describe("messages", () => {
  beforeEach(() => void bot.userSays(42, "hi"));

  test.each([
    [{ chat_id: 42, text: "" }, "message text is empty"],
    [{ chat_id: 42, text: "  \n" }, "text must be non-empty"],
    [{ chat_id: 42, text: "x".repeat(4097) }, "message is too long"],
    [{ chat_id: 42, text: "🙂".repeat(2049) }, "message is too long"],
    [{ chat_id: 43, text: "x" }, "chat not found"],
    [{ text: "x" }, "chat_id is empty"],
    [{ chat_id: 42, text: 7 }, 'field "text" must be of type String'],
    [{ chat_id: 42, text: "x", message_thread_id: 5 }, "message thread not found"],
    [{ chat_id: 42, text: "x", reply_parameters: { message_id: 99 } }, "message to be replied not found"],
    [{ chat_id: 42, text: "x", parse_mode: "html5" }, "unsupported parse_mode"],
  ])("%j is refused", async (params, why) => {
    const { status, description } = await call("sendMessage", params);
    expect(status).toBe(400);
    expect(description).toBe(`Bad Request: ${why}`);
    expect(bot.sent()).toBeEmpty();
  });

  test("are recorded as the chat shows them, with replies and threads", async () => {
    expect((await say("x".repeat(4096))).status).toBe(200);
    const question = bot.userSays(42, "and?", { threadId: 7 });
    const { result } = await say("  so  ", {
      reply_parameters: { message_id: question.messageId },
      message_thread_id: 7,
    });
    expect(result).toMatchObject({ text: "so", chat: { id: 42, type: "private" }, reply_to_message: { text: "and?" } });
    expect(bot.sent(42)[1]).toMatchObject({ text: "so", replyTo: question.messageId, threadId: 7, delivered: true });
    expect(bot.sent(43)).toBeEmpty();
  });

  test("to a user who blocked the bot get 403 until the user writes again", async () => {
    bot.userBlocks(42);
    expect(await say("x")).toMatchObject({ status: 403, description: "Forbidden: bot was blocked by the user" });
    bot.userSays(42, "again");
    expect((await say("x")).status).toBe(200);
  });

  test("can be edited only by their author, and only with a new text", async () => {
    const { messageId } = bot.userSays(42, "mine");
    const { result } = await say("one");
    const { message_id } = result as { message_id: number };
    const edit = (message_id: number, text: string) => call("editMessageText", { chat_id: 42, message_id, text });
    expect((await edit(message_id, "one")).description).toStartWith("Bad Request: message is not modified");
    expect((await edit(messageId, "x")).description).toBe("Bad Request: message can't be edited");
    expect((await edit(999, "x")).description).toBe("Bad Request: message to edit not found");
    expect((await edit(message_id, "two")).result).toMatchObject({ text: "two", message_id });
    expect(bot.sent(42)).toMatchObject([{ text: "two", edits: [{ text: "two" }] }]);
    expect((await call("deleteMessage", { chat_id: 42, message_id })).result).toBe(true);
    expect((await edit(message_id, "three")).status).toBe(400);
    expect(bot.sent(42)[0]?.deleted).toBe(true);
  });

  test("as drafts work in private chats only, and can be switched off", async () => {
    bot.userSays(-100, "hi", { group: true });
    const draft = (params: object) => call("sendMessageDraft", { chat_id: 42, draft_id: 5, text: "so far", ...params });
    expect((await draft({})).result).toBe(true);
    expect((await draft({ text: "" })).result).toBe(true);
    expect((await draft({ draft_id: 0 })).status).toBe(400);
    expect((await draft({ chat_id: -100 })).description).toBe("Bad Request: TEXTDRAFT_PEER_INVALID");
    telegram.set({ drafts: false });
    expect((await draft({})).status).toBe(400);
    expect(bot.drafts(42).map(({ text }) => text)).toEqual(["so far", ""]);
    expect(bot.sent()).toBeEmpty();
  });

  test("come with chat actions, commands and files", async () => {
    expect((await call("sendChatAction", { chat_id: 42, action: "typing" })).result).toBe(true);
    expect((await call("sendChatAction", { chat_id: 42, action: "dancing" })).status).toBe(400);
    expect(bot.actions(42)).toHaveLength(1);
    const commands = [{ command: "help", description: "What I can do" }];
    expect((await call("setMyCommands", { commands: [{ command: "Help", description: "x" }] })).status).toBe(400);
    expect((await call("setMyCommands", { commands })).result).toBe(true);
    expect((await call("getMyCommands")).result).toEqual(commands);
    bot.userSendsFile(42, "notes.txt", Buffer.from("line"), "look");
    const updates = (await call("getUpdates")).result as { message: { document: { file_id: string } } }[];
    const { file_id } = updates[1]?.message.document ?? {};
    const { file_path } = (await call("getFile", { file_id })).result as { file_path: string };
    expect(await (await fetch(`${telegram.url}/file/bot${token}/${file_path}`)).text()).toBe("line");
    expect((await call("getFile", { file_id: "other" })).status).toBe(400);
  });
});

describe("updates by polling", () => {
  const poll = (params: object = {}) => call("getUpdates", params);
  const texts = (reply: Reply) => (reply.result as { message: { text: string } }[]).map(({ message }) => message.text);

  test("repeat until an offset confirms them", async () => {
    const { updateId = 0 } = bot.userSays(42, "one");
    bot.userSays(42, "two");
    expect(texts(await poll())).toEqual(["one", "two"]);
    expect(texts(await poll({ offset: updateId }))).toEqual(["one", "two"]);
    expect(texts(await poll({ offset: updateId + 1, limit: 1 }))).toEqual(["two"]);
    expect(texts(await poll({ offset: -1 }))).toEqual(["two"]);
    expect(texts(await poll({ offset: updateId + 2 }))).toBeEmpty();
    expect(bot.pending()).toBe(0);
  });

  test("end a long poll", async () => {
    const waiting = poll({ timeout: 30 });
    await telegram.waitFor(() => bot.polling);
    bot.userSays(42, "/start@berth_bot hello @ada", { from: { id: 7, first_name: "Bo" } });
    const { result } = await waiting;
    expect(result).toMatchObject([
      {
        message: {
          from: { id: 7, is_bot: false },
          chat: { id: 42, type: "private" },
          entities: [
            { type: "bot_command", offset: 0, length: 16 },
            { type: "mention", offset: 23, length: 4 },
          ],
        },
      },
    ]);
  });

  test("conflict with a second poll and with a webhook", async () => {
    const first = poll({ timeout: 30 });
    await telegram.waitFor(() => bot.polling);
    const second = poll({ timeout: 30 });
    expect(await first).toMatchObject({
      status: 409,
      description: expect.stringContaining("terminated by other getUpdates"),
    });
    expect((await call("setWebhook", { url: "http://127.0.0.1:9/hook" })).status).toBe(200);
    expect(await second).toMatchObject({
      status: 409,
      description: expect.stringContaining("terminated by setWebhook"),
    });
    expect((await poll()).description).toContain("can't use getUpdates method while webhook is active");
    expect((await call("deleteWebhook")).result).toBe(true);
    expect((await poll()).status).toBe(200);
    expect(telegram.stats().conflicts).toBe(3);
    expect(telegram.stats().conflictsAt).toHaveLength(3);
  });

  test("are of the requested kinds, which stay set", async () => {
    await poll({ allowed_updates: ["edited_message"] });
    await poll();
    const { messageId, updateId } = bot.userSays(42, "one");
    expect(updateId).toBeUndefined();
    bot.userEdits(42, messageId, "uno");
    expect((await poll()).result).toMatchObject([{ edited_message: { text: "uno" } }]);
    await poll({ allowed_updates: [] });
    bot.userSays(42, "two");
    expect(bot.pushes("message_reaction", {})).toBeUndefined();
    expect((await poll()).result).toHaveLength(2);
  });

  test("can be held and reordered; a client that disconnects ends its poll", async () => {
    bot.hold();
    bot.userSays(42, "one");
    bot.userSays(42, "two");
    expect(texts(await poll())).toBeEmpty();
    bot.release(true);
    expect(texts(await poll())).toEqual(["two", "one"]);
    const abort = new AbortController();
    const leaving = call("getUpdates", { timeout: 30, offset: 999_999_999 }, { signal: abort.signal });
    await telegram.waitFor(() => bot.polling);
    abort.abort();
    await expect(leaving).rejects.toThrow();
    await telegram.waitFor(() => !bot.polling);
  });
});

describe("updates by webhook", () => {
  /** Starts a webhook that answers with this status and records its posts. */
  function receiver(status: () => number) {
    const posts: { update: Update; secret: string | null }[] = [];
    const server = Bun.serve({
      port: 0,
      async fetch(request) {
        const update = (await request.json()) as Update;
        posts.push({ update, secret: request.headers.get("x-telegram-bot-api-secret-token") });
        return new Response(null, { status: status() });
      },
    });
    return { posts, url: `http://127.0.0.1:${server.port}/hook`, [Symbol.asyncDispose]: () => server.stop(true) };
  }

  test("are posted with the secret, in order within a chat, until they are accepted", async () => {
    const answers = [500, 404, 302];
    await using hook = receiver(() => answers.shift() ?? 200);
    bot.userSays(42, "before");
    await call("setWebhook", { url: hook.url, secret_token: "s3cret_-" });
    bot.userSays(42, "after");
    await telegram.waitFor(() => bot.pending() === 0);
    const texts = hook.posts.map(({ update }) => (update.message as { text: string }).text);
    expect(texts).toEqual(["before", "before", "before", "before", "after"]);
    expect(new Set(hook.posts.map(({ secret }) => secret))).toEqual(new Set(["s3cret_-"]));
    expect((await call("getWebhookInfo")).result).toMatchObject({
      url: hook.url,
      pending_update_count: 0,
      last_error_message: expect.stringContaining("302"),
    });
    expect(telegram.stats()).toMatchObject({ posted: 2, refusedPosts: 3 });
  });

  test("can be repeated, and stop after deleteWebhook", async () => {
    await using hook = receiver(() => 200);
    await call("setWebhook", { url: hook.url });
    const { updateId = 0 } = bot.userSays(42, "one");
    bot.repeats(updateId);
    await telegram.waitFor(() => bot.pending() === 0);
    expect(hook.posts.map(({ update }) => update.update_id)).toEqual([updateId, updateId]);
    await call("deleteWebhook");
    bot.userSays(42, "two");
    expect((await call("getUpdates")).result).toHaveLength(1);
    expect(hook.posts).toHaveLength(2);
  });

  test.each([
    [{ url: "http://example.com/hook" }, "HTTPS URL"],
    [{ url: "https://example.com:3000/hook" }, "ports"],
    [{ url: "https://example.com/", secret_token: "a b" }, "unallowed characters"],
    [{ url: "https://example.com/", secret_token: "x".repeat(257) }, "too long"],
    [{ url: "https://example.com/", max_connections: 101 }, "max_connections"],
  ])("%j is refused", async (params, why) => {
    expect(await call("setWebhook", params)).toMatchObject({ status: 400, description: expect.stringContaining(why) });
    expect(bot.webhook).toBeUndefined();
  });
});

describe("on demand, the fake", () => {
  beforeEach(() => void bot.userSays(42, "hi"));

  test("fails a number of calls of one method in one chat", async () => {
    bot.userSays(43, "hi");
    telegram.fail("sendMessage", { status: 429, retryAfter: 3 }, { times: 2, chatId: 42 });
    expect((await call("sendMessage", { chat_id: 43, text: "x" })).status).toBe(200);
    expect(await say("x")).toMatchObject({ status: 429, parameters: { retry_after: 3 } });
    expect((await call("getMe")).status).toBe(200);
    expect((await say("x")).status).toBe(429);
    expect((await say("x")).status).toBe(200);
    telegram.fail("*", { status: 502 });
    expect((await call("getMe")).status).toBe(502);
    expect(bot.sent(42)).toHaveLength(1);
  });

  test.each(["before", "after"] as const)("cuts the connection %s the effect", async (when) => {
    telegram.fail("sendMessage", "cut", { when });
    await expect(say("x")).rejects.toThrow();
    expect(bot.sent(42)).toHaveLength(when === "after" ? 1 : 0);
    expect(bot.sent(42).some(({ delivered }) => delivered)).toBe(false);
    expect(telegram.calls.at(-1)).toMatchObject({ method: "sendMessage", status: 0 });
  });

  test("hangs, delays, or sends garbage", async () => {
    telegram.fail("sendMessage", "hang", { when: "after" });
    await expect(
      call("sendMessage", { chat_id: 42, text: "x" }, { signal: AbortSignal.timeout(30) }),
    ).rejects.toThrow();
    await telegram.waitFor(() => telegram.calls.length === 1 && bot.sent(42).length === 1);
    expect(bot.sent(42)[0]?.delivered).toBe(false);
    telegram.fail("getMe", { slowMs: 40 });
    const started = performance.now();
    await call("getMe");
    expect(performance.now() - started).toBeGreaterThan(35);
    telegram.fail("getMe", "garbage");
    const response = await fetch(`${telegram.url}/bot${token}/getMe`);
    expect(response.status).toBe(502);
    expect(await response.text()).toStartWith("<html>");
  });

  test.each(["broken", "cut"] as const)(
    "is down as a whole (%s), and then delivers the messages of the outage",
    async (down) => {
      const { updateId = 0 } = bot.userSays(42, "before");
      const polling = call("getUpdates", { timeout: 30, offset: updateId + 1 });
      await telegram.waitFor(() => bot.polling);
      telegram.set({ down });
      const failed = (question: Promise<{ status: number }>) =>
        question.then(
          ({ status }) => status >= 500,
          () => true,
        );
      expect(await failed(polling)).toBe(true);
      expect(await failed(say("x"))).toBe(true);
      bot.userSays(42, "meanwhile");
      expect(telegram.stats()).toMatchObject({ turnedAway: 2, pending: 1, sent: 0 });
      telegram.set({ down: false });
      expect(telegram.stats().returned).toEqual([]);
      expect((await call("getUpdates", { offset: updateId + 1 })).result).toMatchObject([
        { message: { text: "meanwhile" } },
      ]);
      expect(telegram.stats().returned.length).toBe(1);
      expect((await say("y")).status).toBe(200);
    },
  );

  test("enforces rate limits", async () => {
    expect([(await say("1")).status, (await say("2")).status]).toEqual([200, 200]);
    telegram.set({ rates: true });
    expect([(await say("3")).status, (await say("4")).status]).toEqual([200, 429]);
    for (let chat = 100; chat < 129; chat += 1) {
      bot.userSays(chat, "hi");
      expect((await call("sendMessage", { chat_id: chat, text: "x" })).status).toBe(200);
    }
    bot.userSays(200, "hi");
    const { status, parameters } = await call("sendMessage", { chat_id: 200, text: "31st in a second" });
    expect([status, parameters]).toEqual([429, { retry_after: 1 }]);
    expect(telegram.stats().tooMany).toBe(2);
  });
});

describe("with grammY", () => {
  test("a bot polls, replies, and confirms its updates", async () => {
    const client = new Bot(token, { client: { apiRoot: telegram.url } });
    client.on("message:text", (context) => context.reply(`<b>${context.message.text}</b>!`, { parse_mode: "HTML" }));
    const started = client.start();
    try {
      bot.userSays(42, "hello");
      bot.userSays(-100, "hello all", { group: { title: "All" } });
      await telegram.waitFor(() => bot.sent().length === 2);
      expect(bot.sent(42)).toMatchObject([{ text: "hello!", entities: [{ type: "bold", offset: 0, length: 5 }] }]);
      expect(bot.sent(-100)).toMatchObject([{ text: "hello all!", parseMode: "HTML", delivered: true }]);
    } finally {
      await client.stop();
      await started;
    }
    expect(bot.pending()).toBe(0);
  });

  test("error responses and connection failures are two kinds of error", async () => {
    const { api } = new Bot(token, { client: { apiRoot: telegram.url } });
    const refused = await api.sendMessage(42, "nobody here").catch((error: unknown) => error);
    expect(refused instanceof GrammyError && refused.description).toBe("Bad Request: chat not found");
    telegram.fail("getMe", "cut");
    expect(await api.getMe().catch((error: unknown) => error)).toBeInstanceOf(HttpError);
    telegram.fail("getMe", { status: 429, retryAfter: 9 });
    const busy = await api.getMe().catch((error: unknown) => error);
    expect(busy instanceof GrammyError && busy.parameters.retry_after).toBe(9);
    const other = new Bot("1001:other", { client: { apiRoot: telegram.url } });
    await expect(other.start()).rejects.toThrow("401: Unauthorized");
  });
});

test("the fake runs as a program that is controlled over HTTP", async () => {
  await using alone = await spawnTelegram("--latency-ms", "2");
  await alone.addBots([{ token, username: "berth_bot" }]);
  const [first] = await alone.usersSay([
    { token, chatId: 42, text: "one" },
    { token, chatId: -5, text: "two", says: { group: true } },
  ]);
  expect(first?.messageId).toBe(1);
  const { api } = new Bot(token, { client: { apiRoot: alone.url } });
  await alone.fail("sendMessage", { status: 500 });
  await expect(api.sendMessage(42, "x")).rejects.toThrow("500");
  await api.sendMessage(42, "y");
  expect(await alone.sent(token)).toMatchObject([{ text: "y", chatId: 42, delivered: true }]);
  expect(await alone.stats()).toMatchObject({ bots: 1, sent: 1, pending: 2, calls: { sendMessage: 2 } });
  await expect(alone.userSays("1:none", 1, "x")).rejects.toThrow("No bot has this token");
});
