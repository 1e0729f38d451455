// Every page of the console with hostile texts wherever people, models, tools and platforms can put theirs: each page shows
// them as texts, and nothing of them becomes markup, a link, a script or a request.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { upload } from "../../plugins/skill-folders/support.test.ts";
import { type Berth, startBerth } from "../support/berth.ts";
import { type Client, createClient } from "../support/client.ts";
import { startMcpServer, type TestMcpServer } from "../support/mcp-server.ts";
import { member, provision } from "../support/members.ts";
import { zipOf } from "../support/zips.ts";
import { addAudit, goTo } from "./support/audit.ts";
import { type Console, openConsole } from "./support/console.ts";
import { storeConversation } from "./support/conversations.ts";
import { HOSTILE_TEXTS } from "./support/hostile.ts";

const SHORT = `<img src=x onerror="hacked=1">[x](javascript:hacked=1)`;
const LONG = [SHORT, ...HOSTILE_TEXTS.filter(({ length }) => length < 300)].join("\n").replaceAll("\u0000", "");

let berth: Berth;
let root: Client;
let eve: Client;
let eveId: string;
let agentId: string;
let webhookId: string;
let tools: TestMcpServer;
let receiver: ReturnType<typeof Bun.serve>;

beforeAll(async () => {
  tools = startMcpServer({ search: { description: LONG.slice(0, 900) } });
  receiver = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(LONG, { status: 500 }) });
  // No chain: the page of the wallet shows what is stored.
  const noChain = { TESTNET_RPC_URL: "http://127.0.0.1:9", MAINNET_RPC_URL: "http://127.0.0.1:9" };
  berth = await startBerth({ env: { OUTBOUND_ALLOW: "127.0.0.1/32", ...noChain } });
  root = await member(berth, "enterprise");
  await berth.command("user", "admin", root.account.email);
  eve = createClient(berth);
  eveId = await eve.join({ name: SHORT });
  agentId = (await provision(root, SHORT)).id;
  const skill = zipOf({
    "pier/SKILL.md": `---\nname: pier\ndescription: ${JSON.stringify(SHORT)}\n---\n${LONG}\n`,
    "pier/<img src=x onerror=hacked=1>.md": LONG,
  });
  const installed = await upload(berth.web, root, skill);
  if (installed.status >= 300) throw new Error(JSON.stringify(installed.body));
  const at = `/api/agents/${agentId}`;
  const made = [
    root.put(`${at}/config`, {
      instructions: LONG,
      mcpServers: { docs: { url: tools.url } },
      skills: { "folder:pier": { enabled: true } },
    }),
    root.post("/api/wallet", { action: "create" }),
    root.post(`${at}/memories`, { text: LONG.slice(0, 1_900) }),
    root.post(`${at}/schedules`, { name: SHORT, prompt: LONG, cron: "@daily", deliver: { webhook: true } }),
    root.post("/api/keys", { name: SHORT, scopes: ["read"] }),
    root.post(`/api/admin/agents/${agentId}/stop`),
  ];
  for (const { status, text } of await Promise.all(made)) if (status >= 300) throw new Error(text);
  const webhook = await root.post<{ id: string }>("/api/webhooks", {
    url: receiver.url.href,
    types: ["*"],
    description: SHORT,
  });
  webhookId = webhook.body.id;
  await root.signIn();
  await storeConversation(berth, { agentId, platform: "channel_a", name: SHORT, messages: [LONG], reply: () => LONG });
  await berth.stop();
  plant(join(berth.dir, "data/berth.db"));
  await berth.restart({ keepPorts: true });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await tools?.stop();
  await receiver?.stop(true);
});

/** Stores what other platforms, models and receivers would have sent. */
function plant(file: string): void {
  using database = new Database(file);
  const now = Date.now();
  const id = () => Bun.randomUUIDv7();
  const rows: [sql: string, ...values: (string | number)[]][] = [
    ["UPDATE agents SET status = 'error', wanted = 'down', status_reason = ? WHERE id = ?", LONG, agentId],
    ["UPDATE users SET name = ? WHERE id <> ?", SHORT, eveId],
    ["UPDATE auth_sessions SET user_agent = ?", SHORT],
    ["UPDATE webhook_endpoints SET disabled_reason = ?, active = 0", SHORT],
    [
      "INSERT INTO agent_logs (id, agent_id, at, level, source, message) VALUES (?, ?, ?, 'error', ?, ?)",
      id(),
      agentId,
      now,
      SHORT,
      LONG,
    ],
    [
      `INSERT INTO channel_connections (agent_id, channel, bot_id, bot_username, token_digest, callback_id, callback_secret,
        created_at) VALUES (?, 'channel_a', '1', ?, 'x', 'c', 'x', ?)`,
      agentId,
      SHORT,
      now,
    ],
    [
      "INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, code, expires_at, approved_at, created_at) VALUES (?, 'channel_a', '7', ?, '7', 'ABCDEF', ?, NULL, ?)",
      agentId,
      SHORT,
      now + 3e6,
      now,
    ],
    [
      `INSERT INTO jobs (id, kind, payload, state, run_at, attempt, max_attempts, last_error, created_at)
        VALUES (?, ?, '{}', 'failed', ?, 8, 8, ?, ?)`,
      id(),
      SHORT,
      now,
      LONG,
      now,
    ],
    [
      `INSERT INTO approvals (id, agent_id, session_id, turn_id, platform, by_owner, tool, class, summary, input, code, status,
        requested_at, expires_at) VALUES (?, ?, 's', 't', 'web', 0, ?, 'write', ?, ?, 'x', 'pending', ?, ?)`,
      id(),
      agentId,
      SHORT,
      LONG,
      JSON.stringify({ text: LONG }),
      now,
      now + 3e6,
    ],
    [
      "INSERT INTO uploads (id, agent_id, name, type, size, created_at) VALUES (?, ?, ?, ?, 3, ?)",
      id(),
      agentId,
      SHORT,
      SHORT,
      now,
    ],
    ["INSERT INTO public_pages (agent_id, enabled, greeting, updated_at) VALUES (?, 1, ?, ?)", agentId, LONG, now],
    [
      `INSERT INTO webhook_deliveries (id, endpoint_id, event_seq, event_id, type, status, attempts, last_status, last_error,
        created_at) VALUES (?, ?, 1, 'e', ?, 'failed', 3, 500, ?, ?)`,
      id(),
      webhookId,
      SHORT,
      LONG,
      now,
    ],
  ];
  for (const state of ["waiting", "confirmed"]) {
    rows.push([
      `INSERT INTO wallet_spends (id, user_id, wallet_id, request_hash, kind, network, address, asset, units, usd, amount, recipient,
        details, plan, state, created_at, reserved_at, updated_at)
        SELECT ?, user_id, id, '', 'pay', 'testnet_chain', address, ?, '1', 1, '1', NULL, ?, '{}', ?, ?, ?, ? FROM wallets`,
      id(),
      SHORT,
      JSON.stringify({ assets: [], url: `https://example.com/${SHORT}`, buy: SHORT, quoted: SHORT }),
      state,
      now,
      now,
      now,
    ]);
  }
  for (const [sql, ...values] of rows) database.run(sql, values);
  const addUsage = database.query(
    "INSERT INTO usage_days VALUES ((SELECT user_id FROM agents WHERE id = ?1), ?2, ?1, ?3, ?3, 0, 5, 0, 0, 900, 90, 5000, 0)",
  );
  const today = Math.floor(now / 86_400_000);
  addUsage.run(agentId, today, SHORT);
  database.run(
    `INSERT OR REPLACE INTO usage_account_days
      VALUES ((SELECT user_id FROM agents WHERE id = ?1), ?2, ?3, ?3, 0, 5, 0, 0, 900, 90, 5000, 0)`,
    [agentId, today, SHORT],
  );
}

/** What on the page would only be there if a text had become markup: handlers, foreign addresses, elements no page uses. */
const FOREIGN_ELEMENTS = `[...document.querySelectorAll("main *")].filter((element) =>
  [...element.attributes].some(({ name, value }) =>
    name.startsWith("on") || /^\\s*(javascript|data|vbscript):/i.test(value) && ["href", "src", "action"].includes(name) ||
    ["src", "srcset", "action", "srcdoc"].includes(name) && /tracker|javascript/.test(value)) ||
  ["SCRIPT", "IFRAME", "STYLE", "BASE", "LINK", "META", "OBJECT", "EMBED"].includes(element.tagName) &&
    // The preview of the chat for sites.
    !(element.tagName === "IFRAME" && element.getAttribute("src") === "/embed/~preview")
).map((element) => element.outerHTML.slice(0, 200))`;

/** In what is to read, or in a field. */
const SHOWS_TEXT = `[document.querySelector("main").textContent,
  ...[...document.querySelectorAll("main input, main textarea")].map(({ value }) => value)].join().includes("hacked=1")`;

async function look(console: Console, path: string): Promise<{ showsText: boolean }> {
  const { page } = console;
  await goTo(page, path);
  const harmless = { path, hacked: undefined, elements: [], complaints: [] };
  const found = {
    path,
    hacked: await page.evaluate("globalThis.hacked"),
    elements: await page.evaluate(FOREIGN_ELEMENTS),
    complaints: console.complaints().splice(0),
  };
  expect(found).toEqual(harmless);
  const isTooWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  expect({ path, isTooWide }).toEqual({ path, isTooWide: false });
  return { showsText: await page.evaluate<boolean>(SHOWS_TEXT) };
}

const linksIn = async (console: Console, path: string, navigation: string): Promise<string[]> => {
  await console.open(path);
  const links = await console.page.getByRole("navigation", { name: navigation }).getByRole("link").all();
  return Promise.all(links.map(async (link) => (await link.getAttribute("href")) ?? ""));
};

test.each([390, 1280] as const)("every page shows them as texts, %i wide", async (width) => {
  await using console = await openConsole(berth, root, { theme: "light", width });
  await addAudit(console.page);
  await console.open("/");
  const wide = await openConsole(berth, root);
  const paths = [
    ...(await linksIn(wide, "/", "Pages")),
    ...(await linksIn(wide, "/account", "Pages of your account")),
    ...(await linksIn(wide, `/agents/${agentId}`, "Pages of this agent")),
    `/admin/users/${eveId}`,
    "/admin/usage?by=agent",
    "/admin/usage?by=provider",
    "/admin/agents?status=error",
    "/admin/audit?action=agent.stop",
    `/webhooks/${webhookId}`,
    `/agents/${agentId}/channels/channel_a`,
    "/account/skills?skill=folder%3Apier",
  ];
  await wide[Symbol.asyncDispose]();
  const silent: string[] = [];
  // Each page in one width; in both with BERTH_ALL_VIEWS. A wider screen shows the same texts.
  const isSeen = (place: number) => process.env.BERTH_ALL_VIEWS || place % 2 === (width === 390 ? 0 : 1);
  const seen = paths.filter((_, place) => isSeen(place));
  for (const path of seen) if (!(await look(console, path)).showsText) silent.push(path.replace(agentId, ":id"));
  // The other pages show nothing that comes from others.
  const withoutTexts = [
    "/admin",
    "/admin/models",
    "/admin/providers",
    "/admin/storage",
    "/admin/settings",
    "/admin/versions",
    "/account/security",
    "/account/sign-ins",
    "/account/sessions",
    "/account/assistants",
    "/account/notifications",
    "/account/plan",
    "/account/appearance",
  ];
  expect(silent).toEqual(withoutTexts.filter((path) => seen.includes(path)));
});
