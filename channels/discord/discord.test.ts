// Tests what only Discord has: resumed sessions, refused intents, slash commands, revoked tokens.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  type Discord,
  type DiscordOptions,
  type FakeBot,
  startDiscord,
  tokenFor,
} from "../../tests/support/discord.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { channelErrorOf, createMemorySink } from "../contract/harness.ts";
import { ChannelError, type OutgoingMessage, type Sink } from "../port.ts";
import { createDiscord, type DiscordChannel } from "./index.ts";

const ID = "515151515151515151";
const TOKEN = tokenFor(ID);
const FAST = { every: 0, burst: 1 };
const COMMANDS = { start: "say hello", help: "what I understand", reset: "start a new conversation" };

let fake: Discord;
let bot: FakeBot;
let channel: DiscordChannel;
let stop: AbortController;
let binding: { agentId: string; token: string; bot: { id: string; username: string }; resume?: string };
let noted: string[];

async function begin(options: DiscordOptions = {}, messageContent = true) {
  fake = await startDiscord({ identifyMs: 0, ...options });
  bot = fake.addBot(TOKEN, { username: "berth", messageContent });
  noted = [];
  channel = adapter();
  stop = new AbortController();
  binding = { agentId: "agent", token: TOKEN, bot: { id: ID, username: "berth" } };
}

const adapter = () =>
  createDiscord({
    apiRoot: fake.url,
    commands: COMMANDS,
    log: { debug: (text) => void noted.push(text), warn: (text) => void noted.push(text) },
    rules: { edit: FAST, typing: FAST, session: FAST },
  });

beforeEach(() => begin());
afterEach(async () => {
  stop.abort();
  await fake.stop();
});

/** Listens and keeps the resume point; resolves with the way it ended. */
function listen(sink: Sink, signal = stop.signal): Promise<ChannelError | undefined> {
  const saveResumePoint = (resume: string) => {
    binding.resume = resume;
  };
  return channel.listener.listen(binding, { ...sink, saveResumePoint }, signal).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof ChannelError) return error;
      throw error;
    },
  );
}

/** Listens until the connection works. */
async function connected(heard = createMemorySink()) {
  const listening = listen(heard.sink);
  const early = await Promise.race([heard.waitFor(() => heard.state.alive > 0), listening]);
  if (early instanceof ChannelError) throw early;
  return { ...heard, listening };
}

const kept = () => JSON.parse(binding.resume ?? "{}") as { id: string; seq: number };
const message = (more: Partial<OutgoingMessage>): OutgoingMessage => ({
  id: crypto.randomUUID(),
  peer: bot.dm(),
  text: "the reply",
  attempts: 0,
  deliveredParts: [],
  ...more,
});
async function send(out: OutgoingMessage): Promise<string[]> {
  await channel.send(binding, out, (part) => out.deliveredParts.push(part), stop.signal);
  return out.deliveredParts;
}

describe("a session", () => {
  test("is resumed after a stop, with the missed messages and none twice", async () => {
    const { listening, waitFor, state } = await connected();
    bot.userSays(bot.dm(), "before");
    await waitFor(() => state.messages.length === 1);
    await eventually(() => kept().seq === bot.sequence);
    stop.abort();
    expect(await listening).toBeUndefined();
    await fake.waitFor(() => bot.connected === 0);
    bot.userSays(bot.dm(), "meanwhile");
    stop = new AbortController();
    const again = await connected();
    bot.userSays(bot.dm(), "after");
    await again.waitFor(() => again.state.messages.length === 2);
    expect(again.texts()).toEqual(["meanwhile", "after"]);
    expect(bot).toMatchObject({ identifies: 1, resumes: 1 });
  });

  test("has a resume point only up to stored messages", async () => {
    const { state, listening } = await connected();
    await eventually(() => kept().seq === 1);
    const gate = Promise.withResolvers<void>();
    state.gate = gate.promise;
    bot.userSays(bot.dm(), "one");
    bot.userSays(bot.dm(), "two");
    stop.abort();
    expect(kept().seq).toBe(1);
    gate.resolve();
    await listening;
  });

  test("continues without an error when Discord asks for a new connection", async () => {
    const { state, waitFor, texts } = await connected();
    bot.reconnects();
    await fake.waitFor(() => bot.resumes === 1);
    bot.userSays(bot.dm(), "still here");
    await waitFor(() => state.messages.length === 1);
    expect(texts()).toEqual(["still here"]);
    expect(bot.identifies).toBe(1);
  });

  test("is replaced if Discord has forgotten it", async () => {
    const { state, waitFor } = await connected();
    bot.invalidates(false);
    await fake.waitFor(() => bot.identifies === 2);
    bot.userSays(bot.dm(), "hello again");
    await waitFor(() => state.messages.length === 1);
    await eventually(() => kept().seq === bot.sequence);
  });

  test("that was lost while nothing listened is replaced, and missed messages are fetched", async () => {
    const [dm, guild, other] = [bot.dm(), bot.channel(), bot.channel()];
    const first = await connected();
    bot.userSays(dm, "one");
    bot.userSays(guild, "two", { mention: true });
    bot.userSays(other, "not a conversation with the bot");
    await first.waitFor(() => first.state.messages.length === 3);
    await eventually(() => kept().seq === bot.sequence);
    stop.abort();
    await first.listening;
    await fake.waitFor(() => bot.connected === 0);
    bot.forgets();
    bot.userSays(dm, "three");
    bot.userSays(guild, "four", { mention: true });
    bot.userSays(guild, "five");
    bot.userSays(other, "six");
    stop = new AbortController();
    fake.fail("listMessages", { status: 502 });
    const failing = await connected();
    expect(await failing.listening).toMatchObject({ kind: "unreachable" });
    const again = await connected();
    await again.waitFor(() => again.state.messages.length === 3);
    bot.userSays(dm, "seven");
    await again.waitFor(() => again.state.messages.length === 4);
    expect(again.texts()).toEqual(["three", "four", "five", "seven"]);
    expect(again.state.messages.map(({ group, addressed }) => [group, addressed])).toEqual([
      [false, true],
      [true, true],
      [true, false],
      [false, true],
    ]);
    expect(bot.identifies).toBe(3);
  });

  test("is replaced if it is unknown at the start", async () => {
    binding.resume = JSON.stringify({
      id: "f".repeat(32),
      url: fake.url.replace(/^http(.*)\/api$/, "ws$1/gateway"),
      seq: 7,
      app: ID,
    });
    await connected();
    expect(bot).toMatchObject({ identifies: 1, resumes: 0 });
  });

  test("survives a broken connection, which is reported", async () => {
    const { listening } = await connected();
    bot.drops();
    expect(await listening).toMatchObject({ kind: "unreachable", scope: "bot" });
    bot.userSays(bot.dm(), "while away");
    const again = await connected();
    await again.waitFor(() => again.state.messages.length === 1);
    expect(bot).toMatchObject({ identifies: 1, resumes: 1 });
  });

  test("is not started when few are left, because Discord would reset the token", async () => {
    fake.set({ identifiesLeft: 5 });
    const error = await listen(createMemorySink().sink);
    expect(error).toMatchObject({ kind: "busy", scope: "bot" });
    expect(error?.retryAfter).toBe(3_600_000);
    expect(bot.identifies).toBe(0);
  });

  test("reports a heartbeat as a sign of life", async () => {
    await fake.stop();
    await begin({ heartbeatMs: 40 });
    const { state, waitFor } = await connected();
    await waitFor(() => state.alive > 3);
  });

  test("can be resumed after its connection was ended for silence", async () => {
    await fake.stop();
    await begin({ heartbeatMs: 100 });
    const { state, waitFor, texts } = await connected();
    bot.silent();
    bot.userSays(bot.dm(), "unheard");
    await waitFor(() => state.messages.length === 1);
    expect(texts()).toEqual(["unheard"]);
    expect(bot).toMatchObject({ identifies: 1, resumes: 1 });
  });

  test("ends on too many events, which are sent again", async () => {
    const { state, listening } = await connected();
    const gate = Promise.withResolvers<void>();
    state.gate = gate.promise;
    for (let n = 0; n < 1_100; n++) bot.userSays(bot.dm(), `message ${n}`);
    await fake.waitFor(() => bot.connected === 0);
    gate.resolve();
    expect(await listening).toMatchObject({ kind: "unreachable" });
  });

  test.each(["ws://127.0.0.1:9", "a page"])(
    "whose own address is gone (%s) is resumed at the general address",
    async (address) => {
      const first = await connected();
      await eventually(() => kept().seq === 1);
      stop.abort();
      await first.listening;
      await fake.waitFor(() => bot.connected === 0);
      bot.userSays(bot.dm(), "missed");
      const url = address === "a page" ? fake.url.replace("http", "ws") : address;
      binding.resume = JSON.stringify({ ...kept(), url });
      stop = new AbortController();
      const again = await connected();
      await again.waitFor(() => again.state.messages.length === 1);
      expect(bot).toMatchObject({ identifies: 1, resumes: 1 });
    },
  );

  test("is replaced if Discord has seen fewer events than Berth", async () => {
    const first = await connected();
    await eventually(() => kept().seq === 1);
    stop.abort();
    await first.listening;
    binding.resume = JSON.stringify({ ...kept(), seq: 77 });
    stop = new AbortController();
    await connected();
    expect(bot).toMatchObject({ identifies: 2, resumes: 0 });
  });
});

describe("intents", () => {
  test("without the privileged one, messages to the bot still have their text", async () => {
    await fake.stop();
    await begin({}, false);
    const { state, waitFor, texts } = await connected();
    const guild = bot.channel();
    bot.userSays(guild, "not for you");
    bot.userSays(guild, "for you", { mention: true });
    bot.userSays(bot.dm(), "between us");
    await waitFor(() => state.messages.length === 2);
    expect(texts()).toEqual(["for you", "between us"]);
    expect(bot.identifies).toBe(1);
  });

  test("one that was withdrawn is left out", async () => {
    await fake.stop();
    await begin({}, false);
    // The application still has the flag, but the gateway refuses the intent.
    const real = globalThis.fetch;
    const lying = async (...args: Parameters<typeof fetch>) => {
      const response = await real(...args);
      return String(args[0]).endsWith("/applications/@me") ? Response.json({ id: ID, flags: 1 << 19 }) : response;
    };
    globalThis.fetch = Object.assign(lying, { preconnect: real.preconnect });
    try {
      await connected();
      expect(bot.identifies).toBe(2);
    } finally {
      globalThis.fetch = real;
    }
  });
});

describe("a token", () => {
  const identify = (token: string) => channelErrorOf(channel.identify(token, stop.signal), token);

  test("that was revoked is not used again until the bot is connected again", async () => {
    const { listening } = await connected();
    fake.revoke(TOKEN);
    expect(await listening).toMatchObject({ kind: "refused", scope: "bot" });
    const before = fake.calls.length;
    expect(await listen(createMemorySink().sink)).toMatchObject({ kind: "refused", scope: "bot" });
    expect(await channelErrorOf(send(message({})), TOKEN)).toMatchObject({ kind: "refused", scope: "bot" });
    expect(fake.calls.length).toBe(before);
    bot = fake.addBot(TOKEN, { username: "berth" });
    expect(await channel.identify(TOKEN, stop.signal)).toEqual({ id: ID, username: "berth" });
  });

  test("of no bot is sent once, and unknown tokens never block connected bots", async () => {
    const strange = (n: number) => tokenFor(String(700_000_000_000_000_000n + BigInt(n)));
    for (let n = 0; n < 3; n++) expect(await identify(strange(0))).toMatchObject({ kind: "refused" });
    expect(fake.calls.length).toBe(1);
    for (let n = 1; n < 500; n++) expect(await identify(strange(n))).toMatchObject({ kind: "refused" });
    expect(await identify(strange(500))).toMatchObject({ kind: "busy", scope: "bot" });
    expect(fake.calls.length).toBe(500);
    expect(await channelErrorOf(channel.typing(binding, "616161616161616161", stop.signal), TOKEN)).not.toMatchObject({
      kind: "busy",
    });
    expect(fake.calls.length).toBeGreaterThan(500);
  });

  test("is not used after a refused call", async () => {
    fake.revoke(TOKEN);
    for (let n = 0; n < 5; n++) await channelErrorOf(channel.typing(binding, "616161616161616161", stop.signal), TOKEN);
    expect(fake.calls.length).toBe(1);
  });
});

describe("mentions", () => {
  test("address the bot by name, role or reply; its name is removed from the text, others' are resolved", async () => {
    const { state, waitFor } = await connected();
    const guild = bot.channel();
    const [own = ""] = await send(message({ peer: guild }));
    bot.userSays(guild, "help us", { mention: true });
    bot.userSays(guild, "and us", { mentionRole: true });
    bot.userSays(guild, "thanks", { replyTo: own });
    bot.userSays(guild, "<@717171717171717171> look", { naming: { "717171717171717171": "Grace" } });
    bot.userSays(guild, "from a bot", { isBot: true, mention: true });
    await waitFor(() => state.messages.length === 4);
    expect(state.messages.map(({ text, addressed, group }) => ({ text, addressed, group }))).toEqual([
      { text: "help us", addressed: true, group: true },
      { text: "and us", addressed: true, group: true },
      { text: "thanks", addressed: true, group: true },
      { text: "@Grace look", addressed: false, group: true },
    ]);
  });
});

describe("slash commands", () => {
  test("are registered once", async () => {
    const { listening } = await connected();
    await fake.waitFor(() => bot.commands.length > 0);
    expect(bot.commands.map(({ name }) => name)).toEqual(["ask", "help", "reset"]);
    stop.abort();
    await listening;
    stop = new AbortController();
    await connected();
    expect(fake.stats().calls.putCommands).toBe(1);
  });

  test("are acknowledged at once and answered in place", async () => {
    const { state, waitFor } = await connected();
    const guild = bot.channel();
    const id = bot.userCommands(guild, "ask", { question: "what time is it?" });
    await waitFor(() => state.messages.length === 1);
    const [received] = state.messages;
    expect(received).toMatchObject({ platformMessageId: `interaction:${id}`, text: "what time is it?", peer: guild });
    expect(received).toMatchObject({ group: true, addressed: true });
    await fake.waitFor(() => bot.sent(guild)[0]?.thinking);
    await channel.typing(binding, guild, stop.signal, `interaction:${id}`);
    const shown = { draftId: 1, peer: guild, group: true, text: "It", replyTo: `interaction:${id}` };
    const preview = await channel.preview(binding, shown, stop.signal);
    const parts = await send(message({ peer: guild, text: "It is late.", replyTo: `interaction:${id}` }));
    expect(bot.sent(guild)).toMatchObject([
      { id: preview ?? "", text: "It is late.", thinking: false, interaction: id },
    ]);
    expect(parts).toEqual([preview ?? ""]);
    expect(bot.typing()).toEqual([]);
  });

  test("become their name as text, except /ask", async () => {
    const { state, waitFor, texts } = await connected();
    bot.userCommands(bot.dm(), "reset");
    await waitFor(() => state.messages.length === 1);
    expect(texts()).toEqual(["/reset"]);
  });

  test("get messages without a question as their answer, such as a pairing code", async () => {
    const { state, waitFor } = await connected();
    const dm = bot.dm();
    bot.userCommands(dm, "ask", { question: "hello?" });
    await waitFor(() => state.messages.length === 1);
    await send(message({ peer: dm, text: "I don't know you yet." }));
    expect(bot.sent(dm)).toMatchObject([{ text: "I don't know you yet.", thinking: false }]);
  });

  test("are answered in place after a crash", async () => {
    const first = await connected();
    const dm = bot.dm();
    const id = bot.userCommands(dm, "ask", { question: "are you there?" });
    await first.waitFor(() => first.state.messages.length === 1);
    await fake.waitFor(() => bot.sent(dm)[0]?.thinking);
    bot.userSays(dm, "hm");
    await first.waitFor(() => first.state.messages.length === 2);
    stop.abort();
    await first.listening;
    // Another process, which knows only the resume point.
    channel = adapter();
    stop = new AbortController();
    const reply = message({ peer: dm, text: "Yes.", replyTo: `interaction:${id}` });
    expect(await channelErrorOf(send(reply), TOKEN)).toMatchObject({ kind: "busy", scope: "peer" });
    const again = await connected();
    await again.waitFor(() => again.state.messages.length === 2);
    await send({ ...reply, attempts: 1 });
    expect(bot.sent(dm)).toMatchObject([{ text: "Yes.", interaction: id, thinking: false }]);
    bot.userSays(dm, "good");
    await eventually(() => kept().seq === bot.sequence);
  });

  test("are answered in the channel if their place is gone", async () => {
    const { state, waitFor } = await connected();
    const dm = bot.dm();
    fake.fail("acknowledge", { status: 404, code: 10062 });
    const id = bot.userCommands(dm, "ask", { question: "hello?" });
    await waitFor(() => state.messages.length === 1);
    await send(message({ peer: dm, replyTo: `interaction:${id}` }));
    expect(bot.sent(dm)).toMatchObject([{ text: "the reply" }]);
    expect(bot.sent(dm)[0]?.interaction).toBeUndefined();
  });

  test("get all parts of the reply where the bot can't write", async () => {
    const { state, waitFor } = await connected();
    const guild = bot.channel();
    const id = bot.userCommands(guild, "ask", { question: "hello?" });
    await waitFor(() => state.messages.length === 1);
    bot.closes(guild);
    const text = `${"a".repeat(2000)} ${"b".repeat(10)}`;
    await send(message({ peer: guild, text, replyTo: `interaction:${id}` }));
    expect(bot.sent(guild).map((part) => [part.text.charAt(0), part.interaction])).toEqual([
      ["a", id],
      ["b", id],
    ]);
  });
});

describe("answers to choose", () => {
  const choices = [
    { label: "Approve", text: "/approve ABC" },
    { label: "Deny", text: "/deny ABC" },
  ];
  const buttons = choices.map(({ label, text }) => ({ label, customId: text }));
  const shown = (id = "") => bot.sent().find((one) => one.id === id)?.buttons;

  test("are buttons below the last part", async () => {
    const [first, last] = await send(message({ text: `${"a".repeat(2000)} May I?`, choices }));
    expect([shown(first), shown(last)]).toEqual([[], buttons]);
  });

  test("are also shown where a preview or the answer to a command becomes the question", async () => {
    const { state, waitFor } = await connected();
    const [dm, guild] = [bot.dm(), bot.channel()];
    const asked = bot.userSays(guild, "well?", { mention: true });
    const preview = { draftId: 3, peer: guild, group: true, replyTo: asked, text: "May" };
    const previewMessageId = (await channel.preview(binding, preview, stop.signal)) ?? "";
    await send(message({ peer: guild, replyTo: asked, previewMessageId, choices }));
    expect(bot.sent(guild)).toMatchObject([{ id: previewMessageId, text: "the reply", buttons }]);
    const id = bot.userCommands(dm, "ask", { question: "well?" });
    await waitFor(() => state.messages.length === 2);
    await send(message({ peer: dm, replyTo: `interaction:${id}`, choices }));
    expect(bot.sent(dm)).toMatchObject([{ interaction: id, text: "the reply", buttons }]);
  });

  test.each([
    ["in private", () => bot.dm(), { group: false, sender: { id: "700000000000000001" } }],
    ["in a guild, by somebody else,", () => bot.channel(), { group: true, sender: { id: "700000000000000002" } }],
  ])("%s: a pressed one is a message of the presser; it is acknowledged, and the buttons go", async (_, open, by) => {
    const { state, waitFor } = await connected();
    const peer = open();
    const [question = ""] = await send(message({ peer, choices }));
    const gate = Promise.withResolvers<void>();
    state.gate = gate.promise;
    const id = bot.userPresses(question, "/deny ABC", by.sender.id);
    await fake.waitFor(() => fake.stats().calls.acknowledge === 1);
    expect(shown(question)).toEqual(buttons);
    gate.resolve();
    await waitFor(() => state.messages.length === 1);
    expect(state.messages).toMatchObject([
      { platformMessageId: `button:${id}`, peer, text: "/deny ABC", addressed: true, ...by },
    ]);
    await fake.waitFor(() => shown(question)?.length === 0);
    await send(message({ peer, text: "Then I won't.", replyTo: `button:${id}` }));
    expect(bot.sent(peer).map(({ text }) => text)).toEqual(["the reply", "Then I won't."]);
    expect(noted).toEqual([]);
  });

  test("that were pressed, but not stored, keep their buttons and arrive again", async () => {
    const { state, listening } = await connected();
    const [question = ""] = await send(message({ choices }));
    await eventually(() => kept().seq === bot.sequence);
    state.broken = true;
    const id = bot.userPresses(question, "/approve ABC");
    expect(await listening).toMatchObject({ kind: "unreachable" });
    expect(shown(question)).toEqual(buttons);
    await fake.waitFor(() => bot.connected === 0);
    const again = await connected();
    await again.waitFor(() => again.state.messages.length === 1);
    expect(again.state.messages).toMatchObject([{ platformMessageId: `button:${id}`, text: "/approve ABC" }]);
    await fake.waitFor(() => shown(question)?.length === 0);
    expect(noted).toEqual([]);
  });

  test("lose their buttons even if Discord takes no acknowledgement; a failure is only logged", async () => {
    const { state, waitFor } = await connected();
    const [question = ""] = await send(message({ choices }));
    fake.fail("acknowledge", { status: 404, code: 10062 }, { times: 2 });
    fake.fail("editMessage", { status: 502 });
    bot.userPresses(question, "/approve ABC");
    await eventually(() => noted.length === 2);
    expect(shown(question)).toEqual(buttons);
    bot.userPresses(question, "/approve ABC");
    await fake.waitFor(() => shown(question)?.length === 0);
    await waitFor(() => state.messages.length === 2);
  });
});

describe("sending", () => {
  test("does not notify people by mentions, and shows no link previews", async () => {
    await send(message({ text: "@everyone see https://example.com/?secret" }));
    const call = fake.calls.find(({ route }) => route === "createMessage");
    expect(call?.body).toMatchObject({ allowed_mentions: { parse: [] }, flags: 4, enforce_nonce: true });
  });

  test("makes a preview refer to the question and edits it into the reply", async () => {
    const guild = bot.channel();
    const question = bot.userSays(guild, "well?", { mention: true });
    const preview = { draftId: 3, peer: guild, group: true, replyTo: question };
    const id = await channel.preview(binding, { ...preview, text: "So" }, stop.signal);
    await send(message({ peer: guild, text: "So it is.", replyTo: question, previewMessageId: id ?? "" }));
    expect(bot.sent(guild)).toMatchObject([{ id: id ?? "", text: "So it is.", replyTo: question }]);
  });

  test("obeys the limits in response headers", async () => {
    fake.set({ rates: true });
    const dm = bot.dm();
    const endings = [];
    for (let n = 0; n < 7; n++) {
      endings.push(
        await send(message({ peer: dm })).then(
          () => "sent",
          (error: ChannelError) => error.kind,
        ),
      );
    }
    expect(endings).toEqual([...Array(5).fill("sent"), "busy", "busy"]);
    expect(fake.stats().tooMany).toBe(0);
  });

  test("fails for one conversation if a person accepts no messages, with a sentence for the owner", async () => {
    const dm = bot.dm();
    bot.closes(dm);
    const error = await channelErrorOf(send(message({ peer: dm })), TOKEN);
    expect(error).toMatchObject({ kind: "refused", scope: "peer" });
    expect(error.message).toContain("no direct messages");
  });
});

describe("files", () => {
  test("are fetched from a fresh address if the first one expired", async () => {
    const { state, waitFor } = await connected();
    const bytes = new Uint8Array([1, 2, 3]);
    bot.userSays(bot.dm(), "look", { files: [{ name: "a.pdf", type: "application/pdf", bytes }] });
    await waitFor(() => state.messages.length === 1);
    const [file] = state.messages[0]?.attachments ?? [];
    if (!file) throw new Error("There is no file.");
    expect(file).toMatchObject({ kind: "document", mimeType: "application/pdf", size: 3, name: "a.pdf" });
    bot.filesExpire();
    expect([...(await channel.fetchFile(binding, file, 10, stop.signal))]).toEqual([1, 2, 3]);
    expect(fake.stats().calls.getMessage).toBe(1);
  });

  test("are fetched from Discord's hosts only", async () => {
    const file = { kind: "image", mimeType: "image/png" } as const;
    for (const address of ["https://example.com/attachments/1/2/3/x", "http://cdn.discordapp.com/3/x", "file:///3/x"]) {
      const ref = `${address} 1/2/3`;
      const error = await channelErrorOf(channel.fetchFile(binding, { ...file, ref }, 10, stop.signal), TOKEN);
      expect(error).toMatchObject({ kind: "refused", scope: "peer" });
    }
  });
});
