// Voice on the whole binary: recordings of all channels and the console are written down, and answered by voice, once, also
// through kills.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { testedBlocks } from "../site/tested-blocks.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { type Discord, type FakeBot as DiscordBot, startDiscord, tokenFor } from "./support/discord.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { sound } from "./support/sounds.ts";
import { startTelegram, type Telegram, type FakeBot as TelegramBot } from "./support/telegram.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";
import { type FakeAccount, startWhatsApp, type WhatsApp } from "./support/whatsapp.ts";

const APP = { id: "9001", secret: "the-operators-app-secret" };
const ADA = "15550001111";

let upstream: Upstream;
let telegram: Telegram;
let discord: Discord;
let whatsapp: WhatsApp;
let berth: Berth;
let owner: Client;
let ogg: Buffer<ArrayBuffer>;
/** An agent with a bot on each platform. */
let agentId: string;
let onTelegram: TelegramBot;
let onDiscord: DiscordBot;
let onWhatsApp: FakeAccount;

beforeAll(async () => {
  ogg = await sound("ogg", 3);
  telegram = await startTelegram();
  discord = await startDiscord();
  const webhookAddress = (url: string) => url.replace("https://berth.example", berth.web);
  whatsapp = await startWhatsApp({ webhookAddress, https: true, webhookRetryMs: 20 });
  whatsapp.addApp(APP.id, APP.secret);
  upstream = await startUpstream();
  berth = await startBerth({
    env: {
      BASE_URL: "https://berth.example",
      CHANNEL_A_MODE: "polling",
      CHANNEL_A_API_ROOT: telegram.url,
      CHANNEL_B_API_ROOT: discord.url,
      CHANNEL_C_API_ROOT: whatsapp.url,
      CHANNEL_C_APP_ID: APP.id,
      CHANNEL_C_APP_SECRET: APP.secret,
      PROVIDER_5_BASE_URL: upstream.url,
      PROVIDER_5_API_KEY: "sk-test",
      AI_PLAN_BUDGETS_USD_PER_MONTH: "off",
      AI_UNPAID_BUDGET_USD_PER_DAY: "500",
      RATE_LIMITS: "off",
    },
  });
  owner = await member(berth, "enterprise");
  agentId = (await provision(owner, "Harbour", { model: "provider_5:fake-small", channels: CHANNELS })).id;
  onTelegram = telegram.addBot(`300001:${"telegram-test-token-of-a-bot".padEnd(35, "x")}`);
  const discordToken = tokenFor("515151515151515001");
  onDiscord = discord.addBot(discordToken, { username: "berth_1" });
  onWhatsApp = whatsapp.addAccount("EAAtokenOfAccount1", { waba: "102290129340001" });
  await connect("channel_a", onTelegram.token);
  await connect("channel_b", discordToken);
  await connect("channel_c", "EAAtokenOfAccount1");
});
afterEach(() => upstream.reset());
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
  await telegram?.stop();
  await discord?.stop();
  await whatsapp?.stop();
});

const OPEN = { access: "open" };
const CHANNELS = { channel_a: OPEN, channel_b: OPEN, channel_c: OPEN };
async function connect(channel: string, token: string) {
  const { status, text } = await owner.put(`/api/agents/${agentId}/channels/${channel}`, { token });
  if (status !== 200) throw new Error(`${channel}: ${status} ${text}`);
}
const hears = (words: string) => upstream.scriptAudio({ hears: () => words });
describe("a voice message", () => {
  test("on Telegram is written down, byte for byte as it was recorded", async () => {
    const [shown] = testedBlocks(import.meta.path, "docs/voice.md", 1);
    hears("Is the harbour open tomorrow?");
    onTelegram.userSendsFile(41, "v.ogg", ogg, undefined, { as: "voice" });
    await eventually(() => onTelegram.sent(41).length === 1);
    expect(onTelegram.sent(41)).toMatchObject([{ text: `echo: ${shown.code}` }]);
    expect(upstream.heard.length).toBe(1);
    expect(upstream.heard[0]?.bytes.equals(ogg)).toBe(true);
  });

  test("on Discord", async () => {
    hears("Ahoy from Discord");
    const dm = onDiscord.dm();
    onDiscord.userSays(dm, "", {
      files: [{ name: "voice-message.ogg", type: "audio/ogg", bytes: ogg }],
      isVoice: true,
    });
    await eventually(() => onDiscord.sent(dm).length === 1);
    expect(onDiscord.sent(dm)[0]?.text).toEndWith("\nAhoy from Discord");
    expect(upstream.heard[0]?.bytes.equals(ogg)).toBe(true);
  });

  test("on WhatsApp", async () => {
    hears("Ahoy from WhatsApp");
    onWhatsApp.sendsFile("audio", ogg, { mime: "audio/ogg; codecs=opus", voice: true, from: ADA });
    await eventually(() => onWhatsApp.sent(ADA).length === 1);
    expect(onWhatsApp.sent(ADA)[0]?.text).toEndWith("\nAhoy from WhatsApp");
    expect(upstream.heard[0]?.bytes.equals(ogg)).toBe(true);
  });
});

interface Shown {
  messages: {
    role: string;
    text: string;
    transcribedBy: string | null;
    attachments: { id: string }[];
    usage: object | null;
  }[];
}

/** Sends a recording as the console does; returns the messages of its conversation once it is answered, the reply first. */
async function sendRecording(wav: Buffer<ArrayBuffer>): Promise<Shown["messages"]> {
  const uploaded = await fetch(`${berth.web}/api/agents/${agentId}/uploads?name=recording.wav`, {
    method: "POST",
    body: wav,
    headers: { cookie: owner.cookie, "content-type": "audio/wav" },
  });
  const { id: upload } = (await uploaded.json()) as { id: string };
  const { body } = await owner.post<{ conversationId: string }>(`/api/agents/${agentId}/conversations`, {
    attachments: [upload],
    voice: [upload],
  });
  const path = `/api/agents/${agentId}/conversations/${body.conversationId}/messages`;
  return eventually(async () => {
    const { messages } = (await owner.get<Shown>(path)).body;
    return messages.length === 2 ? messages : undefined;
  });
}
const recorded = async (wav: Buffer<ArrayBuffer>) =>
  (await sendRecording(wav)).find(({ role }) => role === "assistant");

test("a recording of the console is shown with its words and the model that wrote them down", async () => {
  hears("Ahoy from the console");
  const shown = await sendRecording(await sound("wav", 2));
  expect(shown.find(({ role }) => role === "user")).toMatchObject({
    text: "[audio: recording.wav]\nAhoy from the console",
    transcribedBy: "provider_5:gpt-4o-mini-transcribe",
    attachments: [{ name: "recording.wav" }],
  });
  expect(shown.find(({ role }) => role === "assistant")).toMatchObject({ transcribedBy: null });
});

describe("a kill", () => {
  test("while a recording is written down: it is written down after the start, and answered once", async () => {
    upstream.scriptAudio({ hears: () => ({ hang: true }) });
    onTelegram.userSendsFile(51, "v.ogg", ogg, undefined, { as: "voice" });
    await upstream.waitFor(({ heard }) => heard.length === 1);
    await berth.kill();
    hears("After the night");
    await berth.restart({ keepPorts: true });
    await eventually(() => onTelegram.sent(51).length === 1, { timeoutMs: 20_000 });
    expect(onTelegram.sent(51)).toMatchObject([{ text: "echo: [voice message]\nAfter the night" }]);
  });

  test("while the model answers: the words are not paid again", async () => {
    hears("Only once");
    upstream.script({ hang: true });
    onTelegram.userSendsFile(52, "v.ogg", ogg, undefined, { as: "voice" });
    await upstream.waitFor(({ chats }) => chats.length === 1);
    await berth.kill();
    upstream.script(undefined);
    await berth.restart({ keepPorts: true });
    await eventually(() => onTelegram.sent(52).length === 1, { timeoutMs: 20_000 });
    expect(onTelegram.sent(52)).toMatchObject([{ text: "echo: [voice message]\nOnly once" }]);
    expect(upstream.heard.length).toBe(1);
  });
});

describe("with “when spoken to”", () => {
  /** What the fakes have got: the same sound that the provider has made. */
  const spoken = (as: string) => ({ as, bytes: new Uint8Array(ogg) });
  beforeAll(async () => {
    const { status } = await owner.patch(`/api/agents/${agentId}`, {
      config: { model: "provider_5:fake-small", channels: CHANNELS, voice: "when spoken to" },
    });
    expect(status).toBe(200);
  });
  beforeEach(() => upstream.scriptAudio({ hears: () => "Is it open?", speaks: () => new Uint8Array(ogg) }));

  test("a voice message on Telegram is answered by one; a text by a text", async () => {
    onTelegram.userSendsFile(71, "v.ogg", ogg, undefined, { as: "voice" });
    await eventually(() => onTelegram.sent(71).length === 1);
    expect(onTelegram.sent(71)).toMatchObject([{ text: "", file: spoken("voice") }]);
    onTelegram.userSays(71, "And now?");
    await eventually(() => onTelegram.sent(71).length === 2);
    expect(onTelegram.sent(71)[1]).toMatchObject({ text: "echo: And now?" });
    expect(upstream.spoken.map(({ input }) => input)).toEqual(["echo: [voice message]\nIs it open?"]);
  });

  test("a voice message on Discord is answered by one, with its length and its picture", async () => {
    const dm = onDiscord.dm("700000000000000002");
    const files = [{ name: "voice-message.ogg", type: "audio/ogg", bytes: ogg }];
    onDiscord.userSays(dm, "", { files, isVoice: true });
    await eventually(() => onDiscord.sent(dm).length === 1);
    expect(onDiscord.sent(dm)).toMatchObject([{ text: "", files: [spoken("voice")] }]);
  });

  test("a voice message on WhatsApp is answered by one", async () => {
    const from = "15550002222";
    onWhatsApp.sendsFile("audio", ogg, { mime: "audio/ogg; codecs=opus", voice: true, from });
    await eventually(() => onWhatsApp.sent(from).length === 1);
    expect(onWhatsApp.sent(from)).toMatchObject([{ text: "", file: spoken("voice") }]);
  });

  test("a recording of the console is answered by text and a sound that it can play", async () => {
    const reply = await recorded(await sound("wav", 2));
    expect(reply).toMatchObject({
      text: "echo: [audio: recording.wav]\nIs it open?",
      attachments: [{ kind: "voice", type: "audio/ogg", size: ogg.length }],
      // The model that answered, and neither that which heard nor that which speaks.
      usage: { model: expect.not.stringMatching(/tts|transcribe/) },
    });
    const [{ id } = { id: "" }] = reply?.attachments ?? [];
    const file = await fetch(`${berth.web}/api/agents/${agentId}/uploads/${id}`, { headers: { cookie: owner.cookie } });
    expect(file.headers.get("content-type")).toBe("audio/ogg");
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(new Uint8Array(ogg));
  });

  test("a kill while the answer is read aloud: it arrives once, and the model is not asked again", async () => {
    upstream.scriptAudio({ speaks: () => ({ hang: true }) });
    onTelegram.userSendsFile(72, "v.ogg", ogg, undefined, { as: "voice" });
    await upstream.waitFor(({ spoken }) => spoken.length === 1);
    await berth.kill();
    upstream.scriptAudio({ speaks: () => new Uint8Array(ogg) });
    await berth.restart({ keepPorts: true });
    await eventually(() => onTelegram.sent(72).length === 1, { timeoutMs: 20_000 });
    expect(onTelegram.sent(72)).toMatchObject([{ text: "", file: spoken("voice") }]);
    expect([upstream.heard.length, upstream.chats.length, upstream.spoken.length]).toEqual([1, 1, 2]);
  });

  test("a provider that can't speak leaves the text", async () => {
    upstream.scriptAudio({ speaks: () => ({ status: 503 }) });
    onTelegram.userSendsFile(73, "v.ogg", ogg, undefined, { as: "voice" });
    await eventually(() => onTelegram.sent(73).length === 1);
    expect(onTelegram.sent(73)[0]?.text).toBe("echo: [voice message]\nIs it open?");
  });

  test("a platform that does not take voice messages from the bot gets the words", async () => {
    for (const method of ["sendVoice", "sendDocument"]) telegram.fail(method, { status: 400 });
    onTelegram.userSendsFile(74, "v.ogg", ogg, undefined, { as: "voice" });
    await eventually(() => onTelegram.sent(74).length === 1);
    expect(onTelegram.sent(74)[0]?.text).toBe("echo: [voice message]\nIs it open?");
  });
});

test("a provider that is down is asked again, and then the sender is told what to do", async () => {
  upstream.scriptAudio({ hears: () => ({ status: 503 }) });
  onTelegram.userSendsFile(61, "v.ogg", ogg, undefined, { as: "voice" });
  await eventually(() => onTelegram.sent(61).length === 1, { timeoutMs: 20_000 });
  expect(onTelegram.sent(61)[0]?.text).toStartWith("I can't listen to recordings right now.");
  expect(upstream.heard.length).toBeGreaterThan(1);
  expect(upstream.chats).toEqual([]);
});

test("no log has the sound or the words", () => {
  const { stdout, stderr } = berth.output();
  expect(stdout + stderr).not.toContain(ogg.toString("base64").slice(0, 40));
  expect(stdout + stderr).not.toContain("Ahoy from");
});
