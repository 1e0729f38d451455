// Drives the strict fake of Discord through the interface that the contract's scenarios use.
import { startDiscord, tokenFor } from "../../tests/support/discord.ts";
import { createDiscord } from "../discord/index.ts";
import type { Binding, ChannelAdapter, Sink } from "../port.ts";
import type { ConversationKind, PlatformFixture } from "./harness.ts";

const UNLIMITED = { every: 0, burst: 1 };
const silentLog = { debug: () => undefined, warn: () => undefined };

export async function createDiscordFixture(): Promise<PlatformFixture> {
  const fake = await startDiscord({ identifyMs: 0 });
  const id = "424242424242424242";
  const token = tokenFor(id);
  const bot = fake.addBot(token, { username: "contract_bot" });
  const channels: Record<ConversationKind, string> = { private: bot.dm(), group: bot.channel() };
  const binding: Binding = { agentId: "agent", token, bot: { id, username: "contract_bot" } };
  const adapter = createDiscord({
    apiRoot: fake.url,
    commands: {},
    log: silentLog,
    fileHosts: [new URL(fake.url).origin],
    rules: { edit: UNLIMITED, typing: UNLIMITED, session: UNLIMITED },
  });
  const faults = {
    busy: { status: 429, retryAfter: 2 },
    broken: { status: 502 },
    cut: "cut",
    silent: "hang",
  } as const;
  const said: string[] = [];
  const savedSequence = () =>
    binding.resume === undefined ? 0 : Number((JSON.parse(binding.resume) as { seq: number }).seq);
  /** Keeps the resume point, as the host of a channel does. */
  const listener = {
    listen: (given: Binding, sink: Sink, signal: AbortSignal) =>
      adapter.listener.listen(
        given,
        {
          ...sink,
          saveResumePoint(resume) {
            given.resume = resume;
            sink.saveResumePoint(resume);
          },
        },
        signal,
      ),
  };
  const channel: ChannelAdapter = { ...adapter, listener };
  // Discord sends only the events since a session began.
  const stop = new AbortController();
  const sink: Sink = {
    accept: () => Promise.resolve(),
    reportAlive: () => undefined,
    saveResumePoint: () => stop.abort(),
    reportUndelivered: () => Promise.resolve(),
  };
  await listener.listen(binding, sink, stop.signal);
  await fake.waitFor(() => bot.connected === 0);
  const say = (text: string, kind: ConversationKind, isNamed: boolean) => {
    const message = bot.userSays(channels[kind], text, { mention: isNamed });
    said.push(message);
    return message;
  };
  const last = () => said.at(-1) ?? "";
  return {
    channel,
    binding,
    strangeToken: tokenFor("434343434343434343"),
    peers: channels,
    limit: 2000,
    userSays: (text, kind = "private", isNamed = false) => say(text, kind, isNamed),
    userSendsPicture(bytes, words) {
      const files = [{ name: "picture.jpg", type: "image/jpeg", bytes }];
      said.push(bot.userSays(channels.private, words, { files }));
      return last();
    },
    userReplies: (replyTo, words) => void bot.userSays(channels.private, words, { replyTo }),
    userSendsVoice(bytes) {
      const files = [{ name: "voice-message.ogg", type: "audio/ogg", bytes }];
      said.push(bot.userSays(channels.private, "", { files, isVoice: true }));
      return last();
    },
    deleteLast: () => bot.userDeletes(last()),
    userSaysOutOfOrder(texts) {
      bot.hold();
      const ids = texts.map((text) => say(text, "private", false));
      bot.release(true);
      return ids;
    },
    removeBotMessage: (id) => bot.userDeletes(id),
    redeliverLast: () => bot.repeats(last()),
    editLast: (text) => bot.userEdits(last(), text),
    visibleMessages: (kind = "private") =>
      bot.sent(channels[kind]).map(({ id, text, replyTo, files: [file] }) => ({
        id,
        text,
        ...(file && { file }),
        ...(replyTo === undefined ? {} : { replyTo }),
      })),
    visibleChoices: (id) =>
      bot
        .sent()
        .flatMap((one) => (one.id === id ? one.buttons.map(({ label, customId: text }) => ({ label, text })) : [])),
    userChooses(id, { text }) {
      said.push(bot.userPresses(id, text));
    },
    previewTexts: (kind = "private") =>
      bot.sent(channels[kind]).flatMap(({ edits }) => ["", ...edits.map(({ text }) => text)]),
    typingCount: (kind = "private") => bot.typing(channels[kind]).length,
    failNextSend: (fault) =>
      fault === "lost"
        ? fake.fail("createMessage", "cut", { when: "after" })
        : fake.fail("createMessage", faults[fault]),
    shownAs: { picture: "attachment", voice: "voice", audio: "attachment", document: "attachment" },
    failNextFiles(fault) {
      if (fault === "lost") fake.fail("createMessage", "cut", { when: "after" });
      else fake.fail("createMessage", fault === "refused" ? { status: 413, code: 40005 } : faults[fault]);
    },
    failNextReceive: (fault) => (fault === "broken" ? fake.fail("gateway", faults.broken) : bot.nextConnection("cut")),
    userBlocksBot: () => bot.closes(channels.private),
    revokeToken: () => fake.revoke(token),
    unconfirmedCount: () => said.filter((message) => bot.sequenceOf(message) > savedSequence()).length,
    [Symbol.asyncDispose]: () => fake.stop(),
  };
}
