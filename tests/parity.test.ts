// A single process and split roles over a database server return the same response on every web route of agents.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { upload } from "../plugins/skill-folders/support.test.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type Sqld, startSqld } from "./support/sqld.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";
import { skillMd, zipOf } from "./support/zips.ts";

interface Side {
  web: Berth;
  ada: Client;
  userId: string;
  agent: AgentItem;
  subdomain: string;
}

let sqld: Sqld;
let upstream: Upstream;
let backend: Berth;
let one: Side;
let two: Side;
const open: Berth[] = [];

beforeAll(async () => {
  [sqld, upstream] = await Promise.all([startSqld(), startUpstream()]);
  const models = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" };
  const shared = { DATABASE_URL: sqld.url, SECRET_KEY: "parity-test-root-key-0123456789abcdefg", ...models };
  const started = async (env: Record<string, string>) => {
    const berth = await startBerth({ env });
    open.unshift(berth);
    return berth;
  };
  const whole = await started(models);
  backend = await started({ ...shared, ROLE: "backend" });
  const web = await started({ ...shared, ROLE: "web", BACKEND_URL: backend.backend });
  [one, two] = [await side(whole), await side(web)];
});
afterAll(async () => {
  for (const berth of open) await berth[Symbol.asyncDispose]();
  await upstream?.stop();
  await sqld?.stop();
});

async function side(web: Berth): Promise<Side> {
  const ada = await member(web, "enterprise");
  const agent = await provision(ada, "Harbour", { instructions: "Be brief." });
  const { body } = await ada.get<{ id: string }>("/api/settings");
  await upload(web.web, ada, zipOf({ "tea/SKILL.md": skillMd("tea") }));
  const detail = await ada.get<{ agent: { subdomain: string } }>(`/api/agents/${agent.id}`);
  return { web, ada, userId: body.id, agent, subdomain: detail.body.agent.subdomain };
}

const NOBODY = "01890a5d-ac96-774b-bcce-b302099a8057";
type Step = [method: string, path: string, body?: object];

/** Requests in a sensible order; `:id`, `:userId` and `:subdomain` are replaced by each side's own values. */
const AGENTS: Step[] = [
  ["GET", "/api/agents"],
  ["GET", "/api/agents/overview"],
  ["GET", "/api/templates"],
  ["GET", "/api/channels"],
  ["POST", "/api/agents", { name: "Second" }],
  ["POST", "/api/agents/provision", {}],
  ["POST", "/api/agents/provision", { name: "Third", model: "custom", config: { model: "provider_3:fake-small" } }],
  ["GET", "/api/agents/provision"],
  ["GET", "/api/agents/:id"],
  ["GET", `/api/agents/${NOBODY}`],
  ["PATCH", "/api/agents/:id", { name: "Renamed" }],
  ["PUT", "/api/agents/:id", { model: "model_b" }],
  ["PATCH", "/api/agents/:id", { model: "model_z" }],
  ["GET", "/api/agents/:id/config"],
  ["PUT", "/api/agents/:id/config", { instructions: "Be kind.", odd: { b: 1, a: [null] } }],
  ["PUT", "/api/agents/:id/config", { temperature: "hot" }],
  ["GET", "/api/agents/:id/config/versions"],
  ["GET", "/api/agents/:id/config/versions/{version}"],
  ["GET", "/api/agents/:id/config/versions/1"],
  ["POST", "/api/agents/:id/config/restore", { version: 1 }],
  ["POST", "/api/agents/:id/config/restore", { version: 99 }],
  ["POST", "/api/agent", { agentId: ":id", message: "Hello" }],
  ["POST", "/api/agent", { agentId: ":id", action: "update-skill", skillId: "clock", enabled: false }],
  ["GET", "/api/agent?agentId=:id"],
  ["GET", "/api/agent?action=sessions&agentId=:id"],
  ["GET", "/api/agent?action=memory&agentId=:id"],
  ["GET", "/api/agent?action=skills&agentId=:id"],
  ["GET", "/api/agent?action=credentials&agentId=:id"],
  ["POST", "/api/chat", { agentId: ":id", message: "And hello", topic: "ships" }],
  ["GET", "/api/chat?agentId=:id"],
  ["POST", "/api/agents/:id/chat", { id: "harbour", messages: [] }],
  ["GET", "/api/agents/:id/chat/{chatId}"],
  ["GET", "/api/agents/:id/chat/topic:ships"],
  ["GET", "/api/agents/:id/chat/{chatId}/stream"],
  ["POST", "/api/agents/:id/chat/{chatId}/stop"],
  ["GET", "/api/chat/{chatId}/stream?agentId=:id"],
  ["POST", "/api/chat/{chatId}/stop?agentId=:id"],
  ["GET", "/api/agents/:id/messages?include=all"],
  ["GET", "/api/agents/:id/reminders"],
  ["PATCH", "/api/agents/:id/reminders/{reminderId}", { enabled: true }],
  ["PATCH", "/api/agents/:id/reminders/{reminderId}", {}],
  ["GET", "/api/agents/:id/credentials"],
  ["POST", "/api/agents/:id/credentials/compare", { values: { provider_5: "sk-another" } }],
  ["POST", "/api/agents/:id/credentials/compare", { values: { provider_5: 1 } }],
  ["GET", "/schemas/agent.json"],
  ["GET", "/schemas/plans.json"],
  ["GET", "/api/billing"],
  ["POST", "/api/billing/plan", { plan: "pro" }],
  ["POST", "/api/billing/credits", { credits: 100 }],
  ["POST", "/api/billing/portal", {}],
  ["GET", "/api/billing/invoices"],
  ["GET", "/api/billing/stablecoin"],
  ["POST", "/api/billing/stablecoin", { transaction: `0x${"12".repeat(32)}` }],
  ["POST", "/api/billing/credits/x402", { credits: 100 }],
  ["GET", "/api/skills"],
  ["POST", "/api/skills", {}],
  ["GET", "/api/skills/{skillId}"],
  ["GET", "/api/skills/folder:tea"],
  ["GET", "/api/skills/{skillId}/file?path=SKILL.md"],
  ["GET", "/api/skills/folder:tea/file?path=SKILL.md"],
  ["PATCH", "/api/skills/{skillId}", { trusted: true }],
  ["PATCH", "/api/skills/folder:tea", { trusted: true }],
  ["POST", "/api/agent", { agentId: ":id", action: "update-skill", skillId: "folder:tea", enabled: true }],
  ["GET", "/api/agents/:id/skills"],
  ["POST", "/api/agent", { agentId: ":id", message: "Tea, please" }],
  ["DELETE", "/api/skills/{skillId}"],
  ["DELETE", "/api/skills/folder:tea"],
  ["POST", "/api/skills/{skillId}/restore"],
  ["POST", "/api/skills/folder:tea/restore"],
  ["POST", "/api/agents/:id/memories", { text: "The ship is called Ada." }],
  ["POST", "/api/agents/:id/memories", { text: "" }],
  ["GET", "/api/agents/:id/memories?query=ship"],
  ["PATCH", "/api/agents/:id/memories/{memoryId}", { pinned: true }],
  ["DELETE", "/api/agents/:id/memories/{memoryId}"],
  ["POST", "/api/agents/:id/schedules", { prompt: "Hi", cron: "0 0 1 1 *" }],
  ["POST", "/api/agents/:id/schedules", { prompt: "Hi", cron: "0 0 31 2 *" }],
  ["GET", "/api/agents/:id/schedules"],
  ["GET", "/api/agents/:id/schedules/targets"],
  ["POST", "/api/agents/:id/schedules/preview", { cron: "@daily", timezone: "Asia/Tokyo" }],
  ["GET", "/api/agents/:id/schedules/{scheduleId}"],
  ["PATCH", "/api/agents/:id/schedules/{scheduleId}", { enabled: false }],
  ["GET", "/api/agents/:id/schedules/{scheduleId}/runs"],
  ["POST", "/api/agents/:id/schedules/{scheduleId}/run", {}],
  ["DELETE", "/api/agents/:id/schedules/{scheduleId}"],
  ["GET", "/api/approvals?status=pending"],
  ["GET", "/api/agents/:id/approvals"],
  ["GET", "/api/agents/:id/approvals?status=lost"],
  ["POST", "/api/agents/:id/approvals/{approvalId}", { decision: "approve" }],
  ["POST", "/api/agents/:id/approvals/{approvalId}", {}],
  ["GET", "/api/agents/:id/figures"],
  ["GET", "/api/agents/:id/figures?range=week&timezone=Nowhere/Else"],
  ["GET", "/api/agents/:id/backups"],
  ["POST", "/api/agents/:id/backups", {}],
  ["POST", "/api/agents/:id/uploads?name=notes.json", { n: 1 }],
  ["GET", "/api/agents/:id/uploads"],
  ["GET", "/api/agents/:id/uploads/{uploadId}"],
  ["POST", "/api/agents/:id/files", { url: "not an address" }],
  ["GET", "/api/agents/:id/files"],
  ["GET", "/api/agents/:id/files/{fileId}"],
  ["PATCH", "/api/agents/:id/files/{fileId}", { refresh: "day" }],
  ["POST", "/api/agents/:id/files/{fileId}/read", {}],
  ["DELETE", "/api/agents/:id/files/{fileId}"],
  ["GET", "/api/agents/:id/knowledge?query=ship"],
  ["GET", "/api/agents/:id/web-search"],
  ["DELETE", "/api/agents/:id/uploads/{uploadId}"],
  ["GET", "/api/agents/:id/stats"],
  ["GET", "/api/instance/:userId/stats"],
  ["GET", `/api/agents/${NOBODY}/stats`],
  ["GET", "/api/instance/:userId"],
  ["GET", "/api/agents/:id/channels"],
  ["GET", "/api/agents/:id/channels/channel_a"],
  ["PUT", "/api/agents/:id/channels/{channel}", {}],
  ["PUT", "/api/agents/:id/channels/channel_a", {}],
  ["POST", "/api/agents/:id/channels/{channel}/check", { token: "none" }],
  ["POST", "/api/agents/:id/channels/{channel}/retry", {}],
  ["GET", "/api/agents/:id/channels/{channel}/access"],
  ["PUT", "/api/agents/:id/channels/{channel}/access", { access: "open" }],
  ["PUT", "/api/agents/:id/channels/{channel}/pairings/{senderId}", { status: "approved" }],
  ["POST", "/api/agents/:id/channels/{channel}/owner-link", {}],
  ["DELETE", "/api/agents/:id/channels/{channel}"],
  ["POST", "/api/provision", {}],
  ["POST", "/api/provision", { channelAToken: "none", plan: "gold" }],
  ["POST", "/api/provision", { channelAToken: "none", discordGuildId: "1" }],
  ["POST", "/api/provision/claim", {}],
  ["POST", "/api/provision/claim", { token: "nobodys" }],
  ["GET", "/api/agents/:id/channels/{channel}/pairings"],
  ["POST", "/api/agents/:id/channels/{channel}/pairings", {}],
  ["DELETE", "/api/agents/:id/channels/{channel}/pairings/{senderId}"],
  ["GET", "/api/agents/:id/people"],
  ["GET", "/api/agents/:id/people/{channel}/{personId}/export"],
  ["GET", "/api/agents/:id/people/channel_a/404/export"],
  ["DELETE", "/api/agents/:id/people/{channel}/{personId}"],
  ["DELETE", "/api/agents/:id/people/channel_a/404"],
  ["GET", "/api/agents/:id/erasures"],
  ["POST", "/api/agents/:id/erasures/verify", { receipt: "{}" }],
  ["GET", "/api/agents/:id/stream"],
  ["PUT", "/api/agents/:id/stream", {}],
  ["GET", "/api/agents/:id/stream"],
  ["POST", "/api/agents/:id/stream/rotate", {}],
  ["GET", "/live/{liveStreamId}"],
  ["GET", "/live/{liveStreamId}/{file}"],
  ["DELETE", "/api/agents/:id/stream"],
  ["GET", "/api/agents/:id/token"],
  ["GET", "/api/instance/:userId/token"],
  ["POST", "/api/agents/:id/token/rotate", {}],
  ["POST", "/api/instance/:userId/token/rotate", {}],
  ["GET", `/api/agents/${NOBODY}/token`],
  ["GET", "/api/agents/:id/public"],
  ["PUT", "/api/agents/:id/public", { enabled: true, greeting: "Ahoy" }],
  ["GET", "/a/:subdomain"],
  ["POST", "/a/:subdomain/messages", { message: "Hello there" }],
  ["GET", "/a/:subdomain/.well-known/agent-card.json"],
  ["GET", "/api/embed/:subdomain"],
  ["POST", "/api/embed/:subdomain/messages", { message: "Hello there" }],
  ["POST", "/api/embed/:subdomain/stop", { id: "7c1de3a0-52f4-4c1b-9d7e-0a6f6c2b9a11" }],
  ["POST", "/a/:subdomain", { jsonrpc: "2.0", id: 1, method: "tasks/get", params: { id: "none" } }],
  ["POST", "/api/agent", { agentId: ":id", action: "set-credential", key: "provider_5", value: "sk-parity" }],
  ["GET", "/api/agent?action=credentials&agentId=:id"],
  ["GET", "/api/agents/:id/verification"],
  ["POST", "/api/agents/:id/verification/challenge", { verificationType: "exchange" }],
  ["POST", "/api/agents/:id/verify", { verificationType: "guess" }],
  ["DELETE", "/api/agents/:id/verify"],
  ["GET", "/api/agents/:id/export"],
  ["POST", "/api/agents/import", { format: "berth.agent/1", name: "Imported", model: "model_a", config: {} }],
  ["POST", "/api/agents/import", { format: "other" }],
  ["POST", "/api/agents/import/preview", { spec: "chara_card_v2", data: { name: "Ada", description: "Sails." } }],
  ...["start", "stop", "restart", "update", "repair", "reset-memory", "rollback"].flatMap((operation): Step[] => [
    ["POST", `/api/agents/:id/${operation}`, {}],
    ["POST", `/api/instance/:userId/${operation}`, {}],
    ["POST", `/api/agents/${NOBODY}/${operation}`, {}],
  ]),
  ["POST", "/api/deployments", { agentId: ":id", config: { instructions: "Be brave." } }],
  ["POST", "/api/agents/:id/stop", {}],
  ["POST", "/api/deployments", { agentId: ":id" }],
  ["POST", "/api/deployments", { agentId: ":id", config: [] }],
  ["POST", "/api/deployments", { agentId: NOBODY }],
  ["POST", "/api/deployments", {}],
  ["GET", "/api/agents/:id/logs?limit=100"],
  ["GET", "/api/agents/:id/logs?limit=x"],
  ["POST", "/api/webhooks", { url: "https://hooks.example/berth" }],
  ["GET", "/api/webhooks"],
  ["DELETE", "/api/agents/:id"],
  ["DELETE", "/api/agents/:id"],
];

const filled = (text: string, { userId, agent, subdomain }: Side) =>
  text.replaceAll(":id", agent.id).replaceAll(":userId", userId).replaceAll(":subdomain", subdomain);

async function take(at: Side, [method, path, body]: Step) {
  const json = body && JSON.parse(filled(JSON.stringify(body), at));
  const headers = { accept: "application/json" };
  const answer = await at.ada.fetch(method, filled(path, at), json, { headers });
  return { status: answer.status, type: answer.headers.get("content-type"), text: plain(await answer.text()) };
}

/** Replaces the values that differ between any two services: ids, times, secrets, ports, measurements. */
function plain(text: string): string {
  return (
    text
      .replace(/([Nn]once)(["': ]+)[\w-]+/g, "$1$2<nonce>")
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<id>")
      .replace(/\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.-]\d{3}Z/g, "<time>")
      .replace(/\bsess_[0-9a-f]{16}\b/g, "<session>")
      .replace(/\b[0-9a-f]{64}\b/g, "<token>")
      .replace(/visitor:[\w-]+/g, "visitor:<label>")
      .replace(/whsec_[\w+/=]+/g, "<secret>")
      .replace(/(localhost|127\.0\.0\.1):\d+/g, "<host>")
      .replace(/\b1[78]\d{11}\b/g, "<ms>")
      .replace(/(harbour|renamed|second|third|imported)-[a-z2-9]{6}\b/g, "$1-<label>")
      // Not \b, since base64url may start and end with a dash.
      .replace(/(?<![\w-])[\w-]{43}(?![\w-])/g, "<token>")
      .replace(
        /"(cpu|memory|memoryPercent|network|uptime|uptimeFormatted|averageResponseTime|pids|averageAnswerMs|p95AnswerMs|size)":("[^"]*"|[\d.]+)/g,
        '"$1":<figure>',
      )
  );
}

test("every route of agents returns the same in one process and in two", async () => {
  for (const step of AGENTS) {
    const [whole, split] = [await take(one, step), await take(two, step)];
    expect({ step, ...split }).toEqual({ step, ...whole });
    expect({ step, trouble: whole.status >= 500 && whole.text }).toEqual({ step, trouble: false });
  }
});

test("every route of agents is tested", async () => {
  const { body } = await one.ada.get<{ paths: Record<string, Record<string, { tags?: string[] }>> }>("/swagger/json");
  const tags = [
    "Agents",
    "Approvals",
    "Memory",
    "Skills",
    "Schedules",
    "Life cycle",
    "Uploads",
    "Files",
    "Interaction",
    "Channels",
    "Live streams",
    "Gateway",
    "Public page",
    "Embed",
    "Verification",
    "People",
  ];
  const shape = (path: string) =>
    path
      .replace(/\?.*$/, "")
      .replace(/\{(\w+)\}/g, ":x")
      .replace(/:(id|userId|subdomain)\b/g, ":x")
      .replace(/\/(channel_a|1)$/, "/:x");
  const taken = new Set(AGENTS.map(([method, path]) => `${method} ${shape(path)}`));
  const missing = Object.entries(body.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { tags: of = [] }]) => of.some((tag) => tags.includes(tag)))
      .map(([method]) => `${method.toUpperCase()} ${shape(path)}`)
      .filter((route) => !taken.has(route)),
  );
  // Platforms call the hooks, and the gateway is a socket.
  const hooks = ["GET /hooks/:x", "POST /hooks/:x", "POST /hooks/:x/:x", "GET /hooks/:x/:x"];
  expect(missing).toEqual([...hooks, "GET /agent/:x"]);
});

test("while the backend is stopped, lifecycle routes are 502 with the failure body and statistics are mock; afterwards all work without a restart", async () => {
  const { ada } = two;
  const agent = await provision(ada, "Left alone");
  const { port } = new URL(two.web.env.BACKEND_URL ?? "");
  await backend.stop();
  for (const operation of ["start", "stop", "restart", "update", "repair", "reset-memory"]) {
    for (const path of [`/api/agents/${agent.id}/${operation}`, `/api/instance/${two.userId}/${operation}`]) {
      const refused = expectRefusal(await ada.post(path, {}), 502, "BACKEND_UNAVAILABLE");
      expect(refused).toMatchObject({ success: false, status: "error" });
    }
  }
  expectRefusal(await ada.get(`/api/agents/${agent.id}/token`), 502, "BACKEND_UNAVAILABLE");
  for (const path of [`/api/agents/${agent.id}/stats`, `/api/instance/${two.userId}/stats`]) {
    const { status, body } = await ada.get<{ status: string; stats: Record<string, unknown> }>(path);
    expect({ status, state: body.status }).toEqual({ status: 200, state: "mock" });
    expect(body.stats).toEqual({
      agentId: agent.id,
      messagesProcessed: expect.any(Number),
      messagesPerHour: expect.any(Number),
      averageResponseTime: expect.any(Number),
      uptime: expect.any(Number),
      successRate: expect.stringMatching(/^\d+(\.\d+)?$/),
      errorRate: expect.stringMatching(/^\d+(\.\d+)?$/),
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  }
  expectRefusal(await ada.get(`/api/agents/${NOBODY}/stats`), 404, "AGENT_NOT_FOUND");
  expectRefusal(await ada.post(`/api/agents/${NOBODY}/start`, {}), 403, "NOT_YOUR_AGENT");
  expectRefusal(await createClient(two.web).post(`/api/agents/${agent.id}/start`, {}), 401, "UNAUTHORIZED");
  expect((await ada.get(`/api/agents/${agent.id}`)).status).toBe(200);

  await backend.restart({ env: { BACKEND_PORT: port } });
  await eventually(async () => (await ada.post(`/api/agents/${agent.id}/restart`, {})).status === 200, {
    what: "the life cycle is back",
  });
  expect((await ada.get<{ status: string }>(`/api/agents/${agent.id}/stats`)).body.status).toBe("ok");
});
