// Every page of the console in German: it is opened in both languages, and a text that is the same in both, or that has words of
// English in it, came from Berth without a translation. What people, models and other services write is marked.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { translation as german } from "../../web/languages/de.ts";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member, provision } from "../support/members.ts";
import { addAudit, goTo } from "./support/audit.ts";
import { type Console, openConsole } from "./support/console.ts";
import { storeConversation } from "./support/conversations.ts";

/** Stands in each text that people have written. */
const NAME = "Wanda";
/** What people, and the demo model, have written. */
const OWN = /Wanda|\bAda\b|This is the demo model/;
/** Words that no German sentence has. */
const ENGLISH =
  /\b(the|is|are|of|and|or|not|no|with|for|from|has|have|it|its|this|that|your|you|by|be|can|can't|when|which|what|to)\b/i;
/** Names that are the same in both languages, and words of other services' pages, which are English there. */
const SAME =
  /\b(Berth|Telegram|Discord|WhatsApp|BotFather|GitHub|Google Gemini|OpenRouter|Groq|Anthropic|OpenAI|Ollama|Bun|TypeScript|Python|Shell|New Application|Configuration|Verify and save|Reset Token|Message Content Intent|From a manifest|Next|Create|Install App|Basic Information|App-Level Tokens|Generate Token and Scopes|messages|demo|CSV|JSON|nova|English|Deutsch)\b/g;
/** Names, addresses, versions and zones. */
const NAMES =
  /\bprovider_\d:\S+|\S+@\S+|\bhttps?:\/\/\S*|\blocalhost:\S+|\b\d[\w.]*_\w+|\b[A-Z][\w-]+\/[\w/+ -]+|\b\w+-x64|\b(ms|min|kB|MB|GB|TB)\b|berth-tests\/1.0/g;

let berth: Berth;
let root: Client;
let agentId: string;
let webhookId: string;

beforeAll(async () => {
  const settings = { RATE_LIMITS: "off", CHANNEL_A_MODE: "webhook", SKILL_DIR: "/nowhere", WALLET_PLATFORM: "local" };
  berth = await startBerth({ env: { ...settings, ADMIN_EMAIL: "a@example.com", SMTP_URL: "smtp://127.0.0.1:9" } });
  root = await member(berth, "enterprise");
  await berth.command("user", "admin", root.account.email);
  agentId = (await provision(root, NAME)).id;
  const at = `/api/agents/${agentId}`;
  const steps = [
    () => root.put(`${at}/config`, { instructions: NAME, temperature: 1, budget: { usdPerDay: 1 } }),
    () =>
      root.put(`${at}/config`, {
        instructions: `${NAME} sails.`,
        topP: 0.5,
        maxTokens: 100,
        budget: { usdPerDay: 2.5, usdPerMonth: 7 },
        approvals: { spend: "ask", web_fetch: "deny" },
        timezone: "Europe/Vienna",
        skills: { wallet: true },
        mcpServers: { [NAME]: { url: "http://127.0.0.1:9/mcp" } },
      }),
    () => root.post(`${at}/memories`, { text: NAME }),
    () => root.post(`${at}/schedules`, { name: NAME, prompt: NAME, cron: "@daily", deliver: { webhook: true } }),
    () => root.post("/api/keys", { name: NAME, scopes: ["read"] }),
    () => root.post("/api/wallet/create", { email: root.account.email }),
    () => root.put(`${at}/public`, { enabled: true }),
    () => root.put(`/api/admin/users/${ownId}/subscription`, { plan: "pro", days: 30 }),
    () => root.post("/api/chat", { message: `Remember that ${NAME} sails.` }),
  ];
  const { body: own } = await root.get<{ id: string }>("/api/settings");
  const ownId = own.id;
  for (const step of steps) {
    const { status, text } = await step();
    if (status >= 300) throw new Error(text);
  }
  const webhook = await root.post<{ id: string }>("/api/webhooks", { url: "https://example.com/x", description: NAME });
  webhookId = webhook.body.id;
  await storeConversation(berth, {
    agentId,
    platform: "channel_a",
    name: NAME,
    messages: [NAME],
    reply: () => NAME,
    steps: ["web_fetch", "remember", "list_schedules"].map((tool) => ({ tool, input: "{}", result: NAME, ok: true })),
  });
  await berth.stop();
  plant(join(berth.dir, "data/berth.db"));
  await berth.restart({ keepPorts: true });
  await root.signIn();
});
afterAll(() => berth?.[Symbol.asyncDispose]());

/** Stores what happens only with a platform, a chain or time. */
function plant(file: string): void {
  using database = new Database(file);
  const now = Date.now();
  const id = () => Bun.randomUUIDv7();
  const addLog = (level: string, source: string, message: string) =>
    database.run("INSERT INTO agent_logs (id, agent_id, at, level, source, message) VALUES (?, ?, ?, ?, ?, ?)", [
      id(),
      agentId,
      now,
      level,
      source,
      message,
    ]);
  addLog("info", "lifecycle", "restart: the agent is stopped, because its owner's account was disabled");
  addLog("error", "channels", "A reply did not reach its reader: Discord asks to wait 12 s.");
  database.run("UPDATE agents SET status = 'error', wanted = 'down', status_reason = ? WHERE id = ?", [
    "The agent could not come up: it was not up within 30 s.",
    agentId,
  ]);
  database.run(
    `INSERT INTO channel_connections (agent_id, channel, bot_id, bot_username, token_digest, callback_id, callback_secret,
      created_at) VALUES (?, 'channel_a', '1', ?, 'x', 'c', 'x', ?)`,
    [agentId, NAME, now],
  );
  const addApproval = (tool: string, kind: string, summary: string, status: string) =>
    database.run(
      `INSERT INTO approvals (id, agent_id, session_id, turn_id, platform, by_owner, tool, class, summary, input, code, status,
        requested_at, expires_at) VALUES (?, ?, 's', 't', 'web', 0, ?, ?, ?, '{}', ?, ?, ?, ?)`,
      [id(), agentId, tool, kind, summary, id(), status, now, now + 3e6],
    );
  addApproval("wallet_send", "spend", "Send 2.5 USD to 0x1 on testnet_chain", "pending");
  addApproval("remind_me", "write", `Set a reminder in 20 minutes: ${NAME}`, "pending");
  addApproval("cancel_reminder", "write", "Cancel the reminder 7", "denied");
  database.run(
    `INSERT INTO webhook_deliveries (id, endpoint_id, event_seq, event_id, type, status, attempts, last_status, last_error,
      created_at) VALUES (?, ?, 1, 'e', 'agent.status', 'failed', 3, NULL, ?, ?)`,
    [id(), webhookId, "The receiver answered 410 Gone: it wants no more events.", now],
  );
  database.run(
    `INSERT INTO jobs (id, kind, payload, state, run_at, attempt, max_attempts, last_error, created_at)
      VALUES (?, 'mail', '{}', 'failed', ?, 8, 8, ?, ?)`,
    [id(), now, NAME, now],
  );
  database.run(
    "INSERT INTO usage_days VALUES ((SELECT user_id FROM agents WHERE id = ?1), ?2, ?1, 'provider_1', ?3, 0, 5, 0, 0, 900, 90, 5000, 0)",
    [agentId, Math.floor(now / 86_400_000), NAME],
  );
}

/** The texts on the page and their places, without code and what people have written; folded parts count, too. */
const TEXTS = `(() => {
  const texts = [];
  const skipped = "noscript, code, pre, kbd, svg, textarea, [class~=font-mono], [translate=no]";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    const isSkipped = parentElement.closest("script, style, " + skipped) && !parentElement.closest("[data-log]");
    if (data.trim() !== "" && !isSkipped) texts.push(data.trim());
  }
  for (const element of document.querySelectorAll("[aria-label], [title], [placeholder]")) {
    for (const name of ["aria-label", "title", "placeholder"]) {
      const value = element.getAttribute(name);
      if (value && !element.closest(skipped)) texts.push(value.trim());
    }
  }
  return texts;
})()`;

async function textsOf(console: Console, path: string): Promise<string[]> {
  const { page } = console;
  await goTo(page, path);
  return page.evaluate<string[]>(TEXTS);
}

/** Texts that are rightly the same in both languages. */
const alike = new Set(
  Object.entries<string>(german.texts).flatMap(([english, other]) =>
    english.replace(/\{\w+\}/g, "") === other.replace(/\{\w+\}/g, "") ? [english.replace(/\{\w+\}/g, "").trim()] : [],
  ),
);

/** What is left to translate in a text that both languages show alike. */
function isLeft(text: string): boolean {
  const rest = text.replace(NAMES, "").replace(SAME, "");
  const isKnown = alike.has(rest.replace(/\d+/g, "").trim());
  return !isKnown && /\p{L}{2}/u.test(rest);
}

const linksIn = async (console: Console, path: string, navigation: RegExp): Promise<string[]> => {
  await console.open(path);
  const links = await console.page.getByRole("navigation", { name: navigation }).getByRole("link").all();
  return Promise.all(links.map(async (link) => (await link.getAttribute("href")) ?? ""));
};

test("no page shows English", async () => {
  await using english = await openConsole(berth, root, { theme: "light", width: 1280, language: "en" });
  await using console = await openConsole(berth, root, { theme: "dark", width: 1280, language: "de" });
  for (const { page } of [english, console]) await addAudit(page);
  await console.open("/");
  const paths = [
    ...(await linksIn(english, "/", /^Pages$/)),
    ...(await linksIn(english, "/account", /^Pages of your account$/)),
    ...(await linksIn(english, `/agents/${agentId}`, /^Pages of this agent$/)),
    `/agents/${agentId}/channels/channel_a`,
    `/agents/${agentId}/channels/channel_b`,
    `/agents/${agentId}/channels/channel_c`,
    `/agents/${agentId}/channels/channel_d`,
    "/admin/settings?show=all",
    "/admin/usage?by=agent",
    "/admin/agents?status=error",
    `/webhooks/${webhookId}`,
    "/welcome",
  ];
  expect(paths.length).toBeGreaterThan(45);
  const left: Record<string, string[]> = {};
  for (const path of paths) {
    const [before, now] = await Promise.all([textsOf(english, path), textsOf(console, path)]);
    const same = new Set(before);
    const found = now.filter(
      (text) =>
        !OWN.test(text) &&
        ((same.has(text) && isLeft(text)) || ENGLISH.test(text.replace(NAMES, "").replace(SAME, ""))),
    );
    if (found.length > 0) left[path.replace(agentId, ":id")] = [...new Set(found)];
  }
  expect(left).toEqual({});
});
