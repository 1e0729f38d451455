// Adapts the platform fakes to the storm test: each runs strictly in its own process, with rate limits enforced.

import { spawnDiscord } from "./discord-control.ts";
import { tokensFor } from "./slack.ts";
import { spawnSlack } from "./slack-control.ts";
import type { StormPlatform } from "./storm.ts";
import { spawnTelegram } from "./telegram-control.ts";
import { spawnWhatsApp } from "./whatsapp-control.ts";

/** Starts these one after the other; the stack ends them. */
export async function startPlatforms(
  stack: AsyncDisposableStack,
  starts: readonly (() => Promise<StormPlatform>)[] = [
    startTelegramPlatform,
    startDiscordPlatform,
    startWhatsAppPlatform,
    startSlackPlatform,
  ],
): Promise<StormPlatform[]> {
  const platforms: StormPlatform[] = [];
  for (const start of starts) platforms.push(stack.use(await start()));
  return platforms;
}

const STRICT = ["--latency-ms", "4", "--rates"];

/** Telegram with long polling. */
export async function startTelegramPlatform(): Promise<StormPlatform> {
  const fake = await spawnTelegram(...STRICT);
  const tokens: string[] = [];
  return {
    name: "Telegram",
    connects: true,
    channel: "channel_a",
    env: { CHANNEL_A_API_ROOT: fake.url },
    async addBots(count) {
      for (let n = 0; n < count; n++) tokens.push(`${200_000 + n}:${"storm-test-token-of-a-bot".padEnd(35, "x")}`);
      await fake.addBots(tokens.map((token) => ({ token })));
      return tokens.map((token) => ({ token }));
    },
    send: async (sayings) => {
      await fake.usersSay(sayings.map(({ bot, chat, text }) => ({ token: tokens[bot] ?? "", chatId: chat, text })));
    },
    async replies() {
      const sent = await Promise.all(tokens.map((token) => fake.sent(token)));
      return sent.flatMap((all, bot) => all.map(({ chatId, text }) => ({ bot, chat: chatId, text })));
    },
    set: (down) => fake.set({ down }),
    async stats() {
      const { sent, tooMany, turnedAway, returned, conflictsAt } = await fake.stats();
      return { sent, limited: tooMany, turnedAway, returned, overlaps: conflictsAt.length };
    },
    [Symbol.asyncDispose]: () => fake.stop(),
  };
}

/** Discord with its gateway; users write in direct messages. */
export async function startDiscordPlatform(): Promise<StormPlatform> {
  const fake = await spawnDiscord(...STRICT);
  const tokens: string[] = [];
  /** The chat of each direct message channel. */
  const chats = new Map<string, number>();
  return {
    name: "Discord",
    connects: true,
    channel: "channel_b",
    env: { CHANNEL_B_API_ROOT: fake.url },
    async addBots(count) {
      const ids = Array.from({ length: count }, (_, n) => String(1_000_000_000_000_000 + n));
      tokens.push(...ids.map((id) => `${Buffer.from(id).toString("base64url")}.AbCdEf.storm-storm-storm-storm-storm`));
      await fake.addBots(tokens.map((token) => ({ token })));
      return tokens.map((token) => ({ token }));
    },
    async send(sayings) {
      for (const { bot, chat, text } of sayings) {
        const token = tokens[bot] ?? "";
        const from = `7${String(chat).padStart(17, "0")}`;
        const channelId = await fake.bot(token, "dm", from);
        chats.set(channelId, chat);
        await fake.bot(token, "userSays", channelId, text, { from });
      }
    },
    async replies() {
      const sent = await Promise.all(tokens.map((token) => fake.bot(token, "sent")));
      return sent.flatMap((all, bot) =>
        all.map(({ channelId, text }) => ({ bot, chat: chats.get(channelId) ?? 0, text })),
      );
    },
    set: (down) => fake.set({ down }),
    async stats() {
      const { sent, tooMany, turnedAway, returned, overlaps, resumes } = await fake.stats();
      return { sent, limited: tooMany, turnedAway, returned, overlaps, resumes };
    },
    [Symbol.asyncDispose]: () => fake.stop(),
  };
}

/** WhatsApp with webhooks: it has no connections, so a bot counts as back with its first call. */
export async function startWhatsAppPlatform(): Promise<StormPlatform> {
  const fake = await spawnWhatsApp(...STRICT);
  await fake.addApp("9001", "the-app-of-the-storm");
  const tokens: string[] = [];
  const userOf = (chat: number) => String(15_550_000_000 + chat);
  return {
    name: "WhatsApp",
    connects: false,
    channel: "channel_c",
    env: { CHANNEL_C_API_ROOT: fake.url, CHANNEL_C_APP_ID: "9001", CHANNEL_C_APP_SECRET: "the-app-of-the-storm" },
    async addBots(count) {
      for (let n = 0; n < count; n++) tokens.push(`EAAtokenOfTheStorm${n}`);
      await fake.addAccounts(tokens.map((token, n) => ({ token, waba: String(102_290_129_000_000 + n) })));
      return tokens.map((token) => ({ token }));
    },
    send: async (sayings) => {
      const outgoing = sayings.map(({ bot, chat, text }) => ({
        token: tokens[bot] ?? "",
        text,
        says: { from: userOf(chat) },
      }));
      await fake.usersSay(outgoing);
    },
    async replies() {
      const sent = await Promise.all(tokens.map((token) => fake.sent(token)));
      return sent.flatMap((all, bot) => all.map(({ to, text }) => ({ bot, chat: Number(to) - 15_550_000_000, text })));
    },
    set: (down) => fake.set({ down }),
    async stats() {
      const { sent, tooMany, turnedAway, returned } = await fake.stats();
      return { sent, limited: tooMany, turnedAway, returned };
    },
    [Symbol.asyncDispose]: () => fake.stop(),
  };
}

/** Slack with its sockets; people write in direct messages. An app may have several connections, so none of them is one too many. */
export async function startSlackPlatform(): Promise<StormPlatform> {
  const fake = await spawnSlack(...STRICT);
  const tokens: string[] = [];
  /** The chat of each direct message channel. */
  const chats = new Map<string, number>();
  return {
    name: "Slack",
    connects: true,
    channel: "channel_d",
    env: { CHANNEL_D_API_ROOT: fake.url },
    async addBots(count) {
      const apps = Array.from({ length: count }, (_, n) => {
        const id = `A0STORM${String(n).padStart(5, "0")}`;
        return { ...tokensFor(id), id };
      });
      tokens.push(...apps.map(({ botToken }) => botToken));
      await fake.addApps(apps);
      return apps.map(({ botToken, appToken }) => ({ credentials: { botToken, appToken } }));
    },
    async send(sayings) {
      for (const { bot, chat, text } of sayings) {
        const token = tokens[bot] ?? "";
        const from = `U7${String(chat).padStart(9, "0")}`;
        const channel = await fake.app(token, "dm", from);
        chats.set(`${bot} ${channel}`, chat);
        await fake.app(token, "userSays", channel, text, { from });
      }
    },
    async replies() {
      const sent = await Promise.all(tokens.map((token) => fake.app(token, "sent")));
      return sent.flatMap((all, bot) =>
        all.map(({ channel, text }) => ({ bot, chat: chats.get(`${bot} ${channel}`) ?? 0, text })),
      );
    },
    set: (down) => fake.set({ down }),
    async stats() {
      const { sent, tooMany, turnedAway, returned } = await fake.stats();
      return { sent, limited: tooMany, turnedAway, returned };
    },
    [Symbol.asyncDispose]: () => fake.stop(),
  };
}
