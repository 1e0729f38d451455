// Moves an agent from one service to another by export and import, and restores backups from a real disk.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { rawRequest } from "./support/raw.ts";
import { expectRefusal } from "./support/refusal.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let upstream: Upstream;
let berth: Berth;
let ada: Client;
let agent: AgentItem;

const MiB = 1024 * 1024;
const CONFIG = `{ "model":"provider_5:fake-small", "__proto__":{"n":1.0}, "b" : 1e2,"a":"ü\\u2028"}`;

async function start(): Promise<Berth> {
  const env = {
    PROVIDER_5_BASE_URL: upstream.url,
    // The prices of its models are not known, so that they count as dear ones.
    AI_PLAN_BUDGETS_USD_PER_MONTH: "free:500",
    AI_UNPAID_BUDGET_USD_PER_DAY: "500",
    PROVIDER_5_API_KEY: "sk-test",
    RATE_LIMITS: "off",
    BOT_DETECTION: "off",
  };
  return startBerth({ env });
}
const raw = (client: Client, method: string, path: string, body: string, headers: Record<string, string> = {}) =>
  client.raw({ method, path, body, headers: { "content-type": "application/json", ...headers } });
const chat = async (client: Client, message: string) => {
  const { status, text } = await client.post("/api/agent", { action: "chat", message });
  if (status !== 200) throw new Error(`chat: ${status} ${text}`);
};

beforeAll(async () => {
  upstream = await startUpstream({ key: "sk-test" });
  berth = await start();
  ada = await member(berth, "enterprise");
  agent = await provision(ada, "Hafen »Süd«");
  await raw(ada, "PUT", `/api/agents/${agent.id}/config`, CONFIG);
  await chat(ada, "My ship is called Ada 🚢");
  await chat(ada, "And yours?");
});
afterAll(async () => {
  await berth[Symbol.asyncDispose]();
  await upstream.stop();
});

describe("export and import", () => {
  test("an agent moves to another service with the same configuration, byte for byte, and the same conversation", async () => {
    const file = await ada.get(`/api/agents/${agent.id}/export`);
    expect(file.status).toBe(200);
    expect(file.headers.get("content-type")).toStartWith("application/json");
    expect(file.headers.get("content-disposition")).toBe(
      `attachment; filename="Hafen-Sud.berth.json"; filename*=UTF-8''Hafen%20%C2%BBS%C3%BCd%C2%AB.berth.json`,
    );
    expect(file.text).toContain(CONFIG);
    expect(file.text).toContain("My ship is called Ada 🚢");
    expect(file.text).not.toMatch(/sk-test|berth_session|secret/);

    await using other = await start();
    const bob = await member(other, "pro");
    const made = await raw(bob, "POST", "/api/agents/import", file.text);
    expect(made.status).toBe(201);
    const { agent: imported } = JSON.parse(made.body) as { agent: AgentItem };
    expect(imported).toMatchObject({ name: "Hafen »Süd«", model: "model_a", status: "running" });
    expect((await bob.get(`/api/agents/${imported.id}/config`)).text).toBe(`{"config":${CONFIG},"status":"ok"}`);
    const sessions = await bob.get<{ sessions: { messageCount: number }[] }>("/api/agent?action=sessions");
    expect(sessions.body.sessions).toMatchObject([{ messageCount: 4 }]);
    const list = async (client: Client, { id }: AgentItem) =>
      (
        await client.get<{ messages: { content: string; platform: string }[] }>(
          `/api/agents/${id}/messages?include=all`,
        )
      ).body.messages.map(({ content, platform }) => [platform, content]);
    expect(await list(bob, imported)).toEqual(await list(ada, agent));
    expect(await list(bob, imported)).toHaveLength(4);
    await chat(bob, "What did I say?");
    expect(JSON.stringify(upstream.chats.at(-1)?.messages)).toContain("My ship is called Ada");
  });

  test("an import that is repeated under one key creates one agent; newer and unknown formats are rejected", async () => {
    const { text } = await ada.get(`/api/agents/${agent.id}/export?history=0`);
    expect(text).not.toContain("My ship");
    const headers = { "idempotency-key": crypto.randomUUID() };
    const [one, two] = [
      await raw(ada, "POST", "/api/agents/import", text, headers),
      await raw(ada, "POST", "/api/agents/import", text, headers),
    ];
    expect(one.status).toBe(201);
    expect(two.body).toBe(one.body);
    const later = await ada.post("/api/agents/import", { ...JSON.parse(text), format: "berth.agent/2" });
    expectRefusal(later, 400, "UNKNOWN_FORMAT");
    expectRefusal(await ada.post("/api/agents/import", []), 400, "UNKNOWN_FORMAT");
    expectRefusal(await ada.get(`/api/agents/${agent.id}/export?history=maybe`), 400, "INVALID_INPUT");
  });

  /** An export file with about `bytes` of messages in 40 sessions. */
  function fileOf(bytes: number): string {
    const at = "2026-01-01T00:00:00.000Z";
    const words = "word ".repeat(200);
    const each = Math.ceil(bytes / (words.length + 70) / 40);
    const messages = Array.from({ length: each }, (_, n) => ({
      role: n % 2 ? "assistant" : "user",
      content: words,
      at,
    }));
    const times = { createdAt: at, lastActivity: at };
    const session = {
      platform: "web",
      peer: null,
      status: "completed",
      summary: null,
      summarized: 0,
      ...times,
      messages,
    };
    const sessions = Array.from({ length: 40 }, (_, n) => ({ id: `s${n}`, ...session }));
    return JSON.stringify({ format: "berth.agent/1", name: "Long", model: "model_a", config: {}, sessions });
  }

  test("a file may have 32 MiB, other requests are served meanwhile, and its export is the same", async () => {
    const file = fileOf(31 * MiB);
    expect(Buffer.byteLength(file)).toBeWithin(30 * MiB, 32 * MiB);
    const headers = { "content-type": "application/json", cookie: ada.cookie };
    // A busy machine takes longer than other requests may.
    const making = rawRequest(berth.web, { method: "POST", path: "/api/agents/import", body: file, headers }, 40_000);
    expect((await ada.get("/api/settings")).status).toBe(200);
    const made = await making;
    expect(made.status).toBe(201);
    const { agent: imported } = JSON.parse(made.body) as { agent: AgentItem };
    const back = await ada.get<{ sessions: { messages: unknown[] }[] }>(`/api/agents/${imported.id}/export`);
    const { sessions } = JSON.parse(file) as { sessions: { messages: unknown[] }[] };
    expect(back.body.sessions.map(({ messages }) => messages.length)).toEqual(
      sessions.map(({ messages }) => messages.length),
    );
    expect(back.body.sessions[7]?.messages).toEqual(sessions[7]?.messages ?? []);
    expect((await ada.delete(`/api/agents/${imported.id}`)).status).toBe(200);
  });

  test("a larger file: 413 with advice, by its length; without a length as soon as it is too large", async () => {
    const head = (more: string) =>
      `POST /api/agents/import HTTP/1.1\r\nhost: localhost\r\ncookie: ${ada.cookie}\r\nuser-agent: t\r\nconnection: close\r\ncontent-type: application/json\r\n${more}\r\n\r\n`;
    const announced = await rawRequest(berth.web, `${head(`content-length: ${33 * MiB}`)}{`);
    expect(expectRefusal(announced, 413, "BODY_TOO_LARGE").error).toContain("history=0");
    const piece = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const untold = await rawRequest(
      berth.web,
      `${head("transfer-encoding: chunked")}${piece.repeat(16 * 33)}0\r\n\r\n`,
    );
    expect(expectRefusal(untold, 413, "BODY_TOO_LARGE").error).toContain("32 MiB");
    // Without a session the body is not read.
    const unauthenticated = head(`content-length: ${33 * MiB}`).replace(/cookie: .*\r\n/, "");
    expectRefusal(await rawRequest(berth.web, `${unauthenticated}{`), 401, "UNAUTHORIZED");
  });

  test("two large files are read at once and a third must wait; small ones are not, and a disconnect frees a place", async () => {
    const { hostname, port } = new URL(berth.web);
    const length = `content-length: ${2 * MiB}\r\n\r\n{`;
    const half = `POST /api/agents/import HTTP/1.1\r\nhost: localhost\r\ncookie: ${ada.cookie}\r\nuser-agent: t\r\ncontent-type: application/json\r\n${length}`;
    const open = [1, 2].map(() => connect(Number(port), hostname).on("error", () => undefined));
    for (const socket of open) socket.write(half);
    const file = fileOf(2 * MiB);
    const large = () => raw(ada, "POST", "/api/agents/import", file);
    const refused = await eventually(async () => {
      const answer = await large();
      return answer.status === 429 ? answer : undefined;
    });
    expectRefusal({ ...refused, text: refused.body }, 429, "TOO_MANY_IMPORTS");
    expect(refused.headers.get("retry-after")).toBe("5");
    expect((await raw(ada, "POST", "/api/agents/import", fileOf(10_000))).status).toBe(201);
    for (const socket of open) socket.destroy();
    await eventually(async () => (await large()).status === 201);
  });

  test("without a plan or room for an agent, the answer does not wait for the file", async () => {
    const withoutPlan = createClient(berth);
    await withoutPlan.join();
    const full = await member(berth, "starter");
    await provision(full, "The only one");
    const head = (client: Client) =>
      `POST /api/agents/import HTTP/1.1\r\nhost: localhost\r\ncookie: ${client.cookie}\r\nuser-agent: t\r\n` +
      `connection: close\r\ncontent-type: application/json\r\ncontent-length: ${31 * MiB}\r\n\r\n{`;
    expectRefusal(await rawRequest(berth.web, head(withoutPlan)), 402, "SUBSCRIPTION_REQUIRED");
    expectRefusal(await rawRequest(berth.web, head(full)), 429, "AGENT_LIMIT_REACHED");
  });

  test("4,000 sessions are imported, restored and exported, and no other file passes under their key", async () => {
    const at = "2026-01-01T00:00:00.000Z";
    const session = (n: number) => ({
      ...{ id: `s${n}`, platform: "api", peer: `p${n}`, status: "open", summary: null, summarized: 0 },
      ...{ createdAt: at, lastActivity: at, messages: [] },
    });
    const sessions = Array.from({ length: 4_000 }, (_, n) => session(n));
    const file = JSON.stringify({ format: "berth.agent/1", name: "Wide", model: "model_a", config: {}, sessions });
    const headers = { "idempotency-key": crypto.randomUUID() };
    const made = await raw(ada, "POST", "/api/agents/import", file, headers);
    expect(made.status).toBe(201);
    const path = `/api/agents/${(JSON.parse(made.body) as { agent: AgentItem }).agent.id}`;
    const other = await raw(ada, "POST", "/api/agents/import", file.replace("Wide", "Other"), headers);
    expectRefusal({ ...other, text: other.body }, 409, "IDEMPOTENCY_MISMATCH");
    const { body } = await ada.post<{ backupPath: string }>(`${path}/reset-memory`);
    expect((await ada.get<{ sessions: unknown[] }>(`${path}/export`)).body.sessions).toEqual([]);
    expect((await ada.post(`${path}/rollback`, body)).status).toBe(200);
    const back = await ada.get<{ sessions: { peer: string }[] }>(`${path}/export`);
    expect(new Set(back.body.sessions.map(({ peer }) => peer))).toEqual(new Set(sessions.map(({ peer }) => peer)));
    expect((await ada.delete(path)).status).toBe(200);
  });

  test("the rules of provisioning hold: 402 without a subscription, 429 beyond the plan", async () => {
    const { text } = await ada.get(`/api/agents/${agent.id}/export`);
    const unpaid = createClient(berth);
    await unpaid.join();
    expectRefusal(await unpaid.post("/api/agents/import", JSON.parse(text)), 402, "SUBSCRIPTION_REQUIRED");
    const small = await member(berth, "starter");
    expect((await small.post("/api/agents/import", JSON.parse(text))).status).toBe(201);
    const full = await small.post("/api/agents/import", JSON.parse(text));
    expect(expectRefusal(full, 429, "AGENT_LIMIT_REACHED")).toMatchObject({ current: 1, limit: 1 });
  });

  test("exporting a foreign agent fails like exporting a missing one", async () => {
    const eve = await member(berth);
    const foreign = await eve.get(`/api/agents/${agent.id}/export`);
    const missing = await eve.get(`/api/agents/${Bun.randomUUIDv7()}/export`);
    expectRefusal(foreign, 404, "AGENT_NOT_FOUND");
    expect(foreign.text).toBe(missing.text);
    expectRefusal(await createClient(berth).get(`/api/agents/${agent.id}/export`), 401);
    expectRefusal(await createClient(berth).post("/api/agents/import", { format: "?" }), 401);
    const straight = await fetch(`${berth.backend}/api/agents/import`, { method: "POST" });
    expect(straight.status).toBe(401);
  });
});

describe("backups on a real disk", () => {
  const reset = () => ada.post<{ backupPath: string }>(`/api/agents/${agent.id}/reset-memory`);
  const hasMessage = async () =>
    (await ada.get(`/api/agents/${agent.id}/export`)).text.includes("My ship is called Ada");

  test("a rollback restores the memory from the backup that reset-memory wrote", async () => {
    const { status, body } = await reset();
    expect(status).toBe(200);
    expect(existsSync(join(berth.dir, "data", body.backupPath))).toBe(true);
    expect(await hasMessage()).toBe(false);
    const back = await ada.post(`/api/agents/${agent.id}/rollback`, { backupPath: body.backupPath });
    expect(back.status).toBe(200);
    expect(await hasMessage()).toBe(true);
  });

  test("a folder that can't be written: memory is kept, and the error shows no path", async () => {
    const folder = join(berth.dir, "data", "backups");
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "in the way");
    const refused = await reset();
    expect(expectRefusal(refused, 500, "BACKUP_FAILED")).toMatchObject({ success: false, status: "error" });
    expect(await hasMessage()).toBe(true);
    rmSync(folder);
    expect((await reset()).status).toBe(200);
  });

  test("are deleted with their agent", async () => {
    const { agent: gone } = (await ada.post<{ agent: AgentItem }>("/api/agents", { name: "Gone" })).body;
    expect((await ada.post(`/api/agents/${gone.id}/reset-memory`)).status).toBe(200);
    const folder = join(berth.dir, "data", "backups");
    expect(readdirSync(folder)).toContain(gone.id);
    await ada.delete(`/api/agents/${gone.id}`);
    expect(readdirSync(folder)).not.toContain(gone.id);
  });
});
