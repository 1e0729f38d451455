// Tests files in replies on the compiled binary: pictures and charts arrive on every platform, and a kill loses and doubles none.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createDocumentReader } from "../plugins/documents/document-reader.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { type Discord, startDiscord, tokenFor } from "./support/discord.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import type { SentFile } from "./support/sent-file.ts";
import { startTelegram, type Telegram } from "./support/telegram.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";
import { ONE_POINT_PNG } from "./support/upstream-pictures.ts";
import { startWhatsApp, type WhatsApp } from "./support/whatsapp.ts";

const reader = createDocumentReader();
let telegram: Telegram;
let discord: Discord;
let whatsapp: WhatsApp;
let upstream: Upstream;
let berth: Berth;
let ada: Client;
let agentId: string;
/** A person asks on each platform; the files that the person has got there by now. */
const platforms: Record<
  string,
  { ask(text: string): void; files(): SentFile[]; set(change: { down: "broken" | false }): void }
> = {};

beforeAll(async () => {
  upstream = await startUpstream({ key: "sk-test" });
  let web = "";
  const webhookAddress = (url: string) => `${web}${new URL(url).pathname}${new URL(url).search}`;
  [telegram, discord, whatsapp] = await Promise.all([
    startTelegram({ webhookAddress }),
    startDiscord(),
    startWhatsApp({ webhookAddress, webhookRetryMs: 20 }),
  ]);
  berth = await startBerth({
    env: {
      BASE_URL: "https://berth.example",
      CHANNEL_A_API_ROOT: telegram.url,
      CHANNEL_A_MODE: "polling",
      CHANNEL_B_API_ROOT: discord.url,
      CHANNEL_C_API_ROOT: whatsapp.url,
      PROVIDER_5_BASE_URL: upstream.url,
      PROVIDER_5_API_KEY: "sk-test",
      MODEL_A: "provider_5:fake-small",
      RATE_LIMITS: "off",
    },
  });
  web = berth.web;
  ada = await member(berth, "enterprise");
  const open = { access: "open" };
  agentId = (await provision(ada, "Harbour", { channels: { channel_a: open, channel_b: open, channel_c: open } })).id;
  for (const skillId of ["run-code", "pictures", "documents"]) {
    await ada.post("/api/agent", { action: "update-skill", agentId, skillId, enabled: true });
  }
  const tokens = {
    channel_a: `300001:${"x".repeat(35)}`,
    channel_b: tokenFor("515151515151515999"),
    channel_c: "EAAtoken",
  };
  const bot = telegram.addBot(tokens.channel_a);
  const other = discord.addBot(tokens.channel_b);
  const account = whatsapp.addAccount(tokens.channel_c, { waba: "102290129340398" });
  for (const [channel, token] of Object.entries(tokens)) {
    const { status, text } = await ada.put(`/api/agents/${agentId}/channels/${channel}`, { token });
    if (status !== 200) throw new Error(`${channel}: ${text}`);
  }
  platforms.Telegram = {
    ask: (text) => void bot.userSays(7, text),
    files: () => bot.sent(7).flatMap(({ file = [] }) => file),
    set: (change) => telegram.set(change),
  };
  const channel = other.dm();
  platforms.Discord = {
    ask: (text) => void other.userSays(channel, text),
    files: () => other.sent(channel).flatMap(({ files }) => files),
    set: (change) => discord.set(change),
  };
  platforms.WhatsApp = {
    ask: (text) => void account.says(text),
    files: () => account.sent().flatMap(({ file = [] }) => file),
    set: (change) => whatsapp.set(change),
  };
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  reader.stop();
  await berth?.[Symbol.asyncDispose]();
  await Promise.all([upstream, telegram, discord, whatsapp].map((one) => one?.stop()));
});

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100"><text y="60">Sales</text></svg>';
const CALLS = {
  picture: { name: "make_picture", arguments: { prompt: "A red boat", caption: "A boat" } },
  report: {
    name: "run_code",
    arguments: {
      code: `files.write("chart.svg", ${JSON.stringify(SVG)}); files.write("sales.csv", "month;sum\\nMay;7\\n")`,
      send: ["chart.svg", "sales.csv"],
    },
  },
};
/** Both at once, as models call tools. */
const DOCUMENTS = ["Offer.pdf", "Offer.docx"].map((name) => ({
  name: "write_document",
  arguments: { name, content: "# Offer\n\nDear **Ada**,\n\n| Berth | Price |\n|---|---:|\n| small | 12.50 € |\n" },
}));
const scripted = (call: keyof typeof CALLS, text = "Here it is.") =>
  upstream.script(({ toolResults }) => (toolResults.length > 0 ? text : { toolCalls: [CALLS[call]] }));

test.each(["Telegram", "Discord", "WhatsApp"])("%s: a picture, a chart and a table arrive", async (name) => {
  const { ask, files } = platforms[name] ?? {};
  if (!ask || !files) throw new Error(name);
  scripted("picture");
  ask("Paint a boat.");
  await eventually(() => files().length === 1, { timeoutMs: 20_000, what: "the picture arrives" });
  expect(Buffer.from(files()[0]?.bytes ?? []).equals(Buffer.from(ONE_POINT_PNG))).toBe(true);
  scripted("report");
  ask("How were the sales?");
  await eventually(() => files().length === 3, { timeoutMs: 20_000, what: "chart and table arrive" });
  const [, chart, table] = files();
  expect(Buffer.from(chart?.bytes ?? []).toString("latin1", 1, 4)).toBe("PNG");
  expect(table).toMatchObject({ name: "sales.csv" });
  expect(Buffer.from(table?.bytes ?? []).toString()).toBe("month;sum\nMay;7\n");
});

test.each(["Telegram", "Discord", "WhatsApp"])(
  "%s: a PDF and a Word document arrive, and can be read",
  async (name) => {
    const { ask, files } = platforms[name] ?? {};
    if (!ask || !files) throw new Error(name);
    const before = files().length;
    upstream.script(({ toolResults }) => (toolResults.length > 0 ? "Here they are." : { toolCalls: DOCUMENTS }));
    ask("Write an offer.");
    await eventually(() => files().length === before + 2, { timeoutMs: 30_000, what: "both documents arrive" });
    const documents = files().slice(before);
    expect(documents.map((file) => file.name).sort()).toEqual(["Offer.docx", "Offer.pdf"]);
    for (const { name: fileName, bytes } of documents) {
      const { pages } = await reader.read({ bytes: new Uint8Array(bytes), name: fileName });
      const text = pages.map((page) => page.text).join("\n");
      expect(text).toContain("Offer");
      expect(text).toMatch(/small[\s|]+12\.50 €/);
    }
  },
);

test("over the API the reply says where each file is, and nobody else gets it", async () => {
  scripted("report");
  interface Reply {
    files: { id: string; name: string; type: string; size: number; url: string }[];
  }
  const { body, text } = await ada.post<Reply>("/api/chat", { agentId, message: "How were the sales?" });
  expect(text).toContain("files");
  expect(body.files.map(({ name, type }) => [name, type])).toEqual([
    ["chart.png", "image/png"],
    ["sales.csv", "text/csv"],
  ]);
  const [chart, table] = body.files;
  const got = await ada.fetch("GET", chart?.url ?? "");
  expect((await got.arrayBuffer()).byteLength).toBe(chart?.size ?? 0);
  expect(got.headers.get("content-type")).toBe("image/png");
  const saved = await ada.fetch("GET", table?.url ?? "");
  expect(saved.headers.get("content-disposition")).toContain("attachment");
  expect(saved.headers.get("content-security-policy")).toContain("sandbox");
  expect(saved.headers.get("x-content-type-options")).toBe("nosniff");
  await saved.arrayBuffer();
  const stranger = await member(berth);
  expect((await stranger.get(chart?.url ?? "")).status).toBe(404);
  const { body: page } = await ada.get<{ messages: Partial<Reply>[] }>(`/api/agents/${agentId}/messages?include=all`);
  expect(page.messages[0]?.files).toEqual(body.files);
});

test.each(["Telegram", "Discord", "WhatsApp"])("%s: killed before the delivery, it arrives once", async (name) => {
  const { ask, files, set } = platforms[name] ?? {};
  if (!ask || !files || !set) throw new Error(name);
  const before = files().length;
  const { promise: isDown, resolve: goOn } = Promise.withResolvers<void>();
  upstream.script(async ({ toolResults }) => {
    if (toolResults.length === 0) return { toolCalls: [CALLS.picture] };
    await isDown;
    return `This is for ${name}.`;
  });
  ask("Paint a boat.");
  await eventually(() => upstream.chats.length === 2, { timeoutMs: 20_000, what: "the picture is made" });
  set({ down: "broken" });
  goOn();
  await eventually(async () => (await newest()) === `This is for ${name}.`, { what: "the reply is stored" });
  await berth.kill();
  await berth.restart({ keepPorts: true });
  set({ down: false });
  await eventually(() => files().length > before, { timeoutMs: 60_000, what: "the picture arrives" });
  scripted("picture", "And this.");
  ask("And another.");
  await eventually(() => files().length > before + 1, { timeoutMs: 60_000, what: "the next one arrives" });
  expect(files()).toHaveLength(before + 2);
  expect(upstream.painted).toHaveLength(2);
});

async function newest(): Promise<string | undefined> {
  const address = `/api/agents/${agentId}/messages?include=all&limit=1`;
  return (await ada.get<{ messages: { content: string }[] }>(address)).body.messages[0]?.content;
}
