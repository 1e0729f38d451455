// Telegram on the whole service, against a strict fake: files, groups and topics.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { member } from "./support/members.ts";
import { type FakeBot, startTelegram, type Telegram } from "./support/telegram.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const JPEG = Buffer.concat([Buffer.from("\xff\xd8\xff\xe0", "latin1"), crypto.getRandomValues(Buffer.alloc(50_000))]);

let telegram: Telegram;
let upstream: Upstream;
let berth: Berth;
let owner: Client;
/** A bot with a model that accepts pictures, and one with a model for text only. */
let seeing: FakeBot;
let blind: FakeBot;

beforeAll(async () => {
  telegram = await startTelegram();
  const architecture = { input_modalities: ["text", "image"], output_modalities: ["text"] };
  const hears = { ...architecture, input_modalities: ["text", "audio"] };
  upstream = await startUpstream({
    models: [{ id: "sees", architecture }, { id: "hears", architecture: hears }, "reads"],
  });
  berth = await startBerth({
    env: {
      CHANNEL_A_API_ROOT: telegram.url,
      PROVIDER_1_BASE_URL: upstream.url,
      PROVIDER_1_API_KEY: "sk-test",
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:reads",
      RATE_LIMITS: "off",
    },
  });
  owner = await member(berth, "enterprise");
  seeing = await connect("300001", "provider_3:sees");
  blind = await connect("300002", "provider_3:reads");
});

afterAll(async () => {
  await berth[Symbol.asyncDispose]();
  await upstream.stop();
  await telegram.stop();
});

async function connect(id: string, model: string): Promise<FakeBot> {
  const token = `${id}:${"telegram-test-token-of-a-bot".padEnd(35, "x")}`;
  const bot = telegram.addBot(token);
  const config = { model, channels: { channel_a: { access: "open" } } };
  const { status, body, text } = await owner.post<{ agent: { id: string } }>("/api/agents/provision", {
    name: "Harbour",
    model: "custom",
    config,
  });
  if (status !== 201) throw new Error(`provision: ${status} ${text}`);
  const put = await owner.put(`/api/agents/${body.agent.id}/channels/channel_a`, { token });
  if (put.status !== 200) throw new Error(`connect: ${put.status} ${put.text}`);
  return bot;
}

const replies = (bot: FakeBot, chat: number) => bot.sent(chat).map(({ text }) => text);
async function repliesOf(bot: FakeBot, chat: number, count: number): Promise<string[]> {
  await eventually(() => replies(bot, chat).length === count, { timeoutMs: 15_000 });
  return replies(bot, chat);
}

describe("files", () => {
  test("a photo reaches a model with picture input, byte for byte", async () => {
    seeing.userSendsFile(10, "p.jpg", JPEG, "What is this?", { as: "photo" });
    await repliesOf(seeing, 10, 1);
    expect(upstream.chats.at(-1)?.messages.at(-1)?.content).toEqual([
      { type: "text", text: "[photo]\nWhat is this?" },
      { type: "image_url", image_url: { url: `data:image/jpeg;base64,${JPEG.toString("base64")}` } },
    ]);
    // The history keeps the text, not the picture.
    seeing.userSays(10, "And now?");
    await repliesOf(seeing, 10, 2);
    expect(JSON.stringify(upstream.chats.at(-1)?.messages)).not.toContain("base64");
    expect(JSON.stringify(upstream.chats.at(-1)?.messages)).toContain("[photo]\\nWhat is this?");
  });

  test("a voice message reaches a model with audio input, in its original format", async () => {
    const hearing = await connect("300003", "provider_1:hears");
    const voice = Buffer.concat([Buffer.from("OggS"), crypto.getRandomValues(Buffer.alloc(9_000))]);
    hearing.userSendsFile(12, "v.ogg", voice, undefined, { as: "voice" });
    await repliesOf(hearing, 12, 1);
    expect(upstream.chats.at(-1)?.messages.at(-1)?.content).toEqual([
      { type: "text", text: "[voice message]" },
      { type: "input_audio", input_audio: { data: voice.toString("base64"), format: "ogg" } },
    ]);
  });

  test("the content of a short text file reaches any model", async () => {
    blind.userSendsFile(11, "notes.txt", Buffer.from("Tea at noon."), "When?");
    await repliesOf(blind, 11, 1);
    expect(JSON.stringify(upstream.chats.at(-1)?.messages.at(-1))).toContain("Tea at noon.");
  });

  test.each([
    ["photo", "p.jpg", 20, "I can't look at pictures with the model I use."],
    ["voice", "v.ogg", 21, "I can't listen to recordings of this kind (audio/ogg)."],
    ["video_note", "n.mp4", 22, "I can't watch videos."],
  ] as const)(
    "a %s that the model does not take is answered plainly, without asking it",
    async (as, name, chat, expected) => {
      const before = upstream.chats.length;
      blind.userSendsFile(chat, name, JPEG, undefined, { as });
      const [reply] = await repliesOf(blind, chat, 1);
      expect(reply).toStartWith(expected);
      expect(upstream.chats.length).toBe(before);
    },
  );

  test("a sticker is answered like text", async () => {
    blind.userSendsFile(30, "s.webp", JPEG, undefined, { as: "sticker" });
    expect(await repliesOf(blind, 30, 1)).toEqual(["echo: [sticker: 👍]"]);
  });

  test("no log contains an address with the token, or a file", () => {
    const { stdout, stderr } = berth.output();
    expect(stdout + stderr).not.toContain(seeing.token.split(":")[1] ?? seeing.token);
    expect(stdout + stderr).not.toContain(JPEG.toString("base64").slice(0, 40));
  });
});

describe("groups", () => {
  test("mentions in a topic get a reply to the message in that topic; other messages get none", async () => {
    const forum = { group: { title: "Team", forum: true }, threadId: 5 };
    blind.userSays(-1001, "to nobody", forum);
    const { messageId } = blind.userSays(-1001, `@${blind.username} the first`, forum);
    await repliesOf(blind, -1001, 1);
    expect(blind.sent(-1001)).toMatchObject([{ threadId: 5, replyTo: messageId }]);
    // The general topic has its own conversation.
    blind.userSays(-1001, `@${blind.username} in general`, { group: true });
    await repliesOf(blind, -1001, 2);
    expect(blind.sent(-1001)[1]?.threadId).toBeUndefined();
    expect(JSON.stringify(upstream.chats.at(-1)?.messages)).not.toContain("the first");
  });

  test("a reply to the bot counts as a mention, and a replied-to photo reaches the model", async () => {
    seeing.userSays(-1002, `@${seeing.username} hello`);
    await repliesOf(seeing, -1002, 1);
    seeing.userSays(-1002, "why?", { replyTo: seeing.sent(-1002)[0]?.messageId ?? 0 });
    await repliesOf(seeing, -1002, 2);
    const { messageId } = seeing.userSendsFile(-1002, "p.jpg", JPEG, undefined, { as: "photo" });
    seeing.userSays(-1002, `@${seeing.username} what is this?`, { replyTo: messageId });
    await repliesOf(seeing, -1002, 3);
    expect(JSON.stringify(upstream.chats.at(-1)?.messages.at(-1)?.content)).toContain("image_url");
  });

  test("a command with the bot's name runs, one for another bot does not", async () => {
    blind.userSays(-1003, "/reset@another_bot");
    blind.userSays(-1003, `/status@${blind.username}`);
    const [reply] = await repliesOf(blind, -1003, 1);
    expect(reply).toStartWith("Harbour is running.");
  });

  test("a group that becomes a supergroup during a turn gets the reply there", async () => {
    upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: 300 }));
    blind.userSays(-77, `@${blind.username} hello`, { group: { type: "group" } });
    await eventually(() => upstream.open > 0);
    blind.groupUpgrades(-77, -10077);
    await repliesOf(blind, -10077, 1);
    expect(replies(blind, -77)).toEqual([]);
    upstream.script(undefined);
  });
});
