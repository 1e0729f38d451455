// An agent is carried from one service to another over the real API, and backups are what they say on a real disk.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { type AgentItem, expectRefusal, member, provision } from "./support/scene.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let upstream: Upstream;
let berth: Berth;
let ada: Client;
let agent: AgentItem;

const CONFIG = `{ "model":"provider_5:fake-small", "__proto__":{"n":1.0}, "b" : 1e2,"a":"ü\\u2028"}`;

async function start(): Promise<Berth> {
  const env = {
    PROVIDER_5_BASE_URL: upstream.url,
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
}, 60_000);
afterAll(async () => {
  await berth[Symbol.asyncDispose]();
  await upstream.stop();
});

describe("export and import", () => {
  test("an agent moves to another service: the same configuration byte for byte, the same conversation", async () => {
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
    const { agent: there } = JSON.parse(made.body) as { agent: AgentItem };
    expect(there).toMatchObject({ name: "Hafen »Süd«", model: "model_a", status: "running" });
    expect((await bob.get(`/api/agents/${there.id}/config`)).text).toBe(`{"config":${CONFIG},"status":"ok"}`);
    const sessions = await bob.get<{ sessions: { messageCount: number }[] }>("/api/agent?action=sessions");
    expect(sessions.body.sessions).toMatchObject([{ messageCount: 4 }]);
    await chat(bob, "What did I say?");
    expect(JSON.stringify(upstream.chats.at(-1)?.messages)).toContain("My ship is called Ada");
  }, 60_000);

  test("sent twice under one key it is made once; a later format and a foreign one are refused", async () => {
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

  test("a file of more than 1 MiB: 413, with what to do about it", async () => {
    const { status, body: text } = await raw(
      ada,
      "POST",
      "/api/agents/import",
      JSON.stringify({ big: "x".repeat(1024 * 1024) }),
    );
    expect([status, JSON.parse(text).code]).toEqual([413, "BODY_TOO_LARGE"]);
    expect(JSON.parse(text).error).toContain("history=0");
  });

  test("the rules of provisioning hold: 402 without a subscription, 429 beyond the plan", async () => {
    const { text } = await ada.get(`/api/agents/${agent.id}/export`);
    const stranger = createClient(berth);
    await stranger.join();
    expectRefusal(await stranger.post("/api/agents/import", JSON.parse(text)), 402, "SUBSCRIPTION_REQUIRED");
    const small = await member(berth, "starter");
    expect((await small.post("/api/agents/import", JSON.parse(text))).status).toBe(201);
    const full = await small.post("/api/agents/import", JSON.parse(text));
    expect(expectRefusal(full, 429, "AGENT_LIMIT_REACHED")).toMatchObject({ current: 1, limit: 1 });
  });

  test("nobody else's agent is exported, and nobody may be asked which there are", async () => {
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
  const said = async () => (await ada.get(`/api/agents/${agent.id}/export`)).text.includes("My ship is called Ada");

  test("memory that was forgotten comes back from the backup that was written before", async () => {
    const { status, body } = await reset();
    expect(status).toBe(200);
    expect(existsSync(join(berth.dir, "data", body.backupPath))).toBe(true);
    expect(await said()).toBe(false);
    const back = await ada.post(`/api/agents/${agent.id}/rollback`, { backupPath: body.backupPath });
    expect(back.status).toBe(200);
    expect(await said()).toBe(true);
  });

  test("a folder that can't be written: nothing is forgotten, and the error says so without a path", async () => {
    const folder = join(berth.dir, "data", "backups");
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "in the way");
    const refused = await reset();
    expect(expectRefusal(refused, 500, "BACKUP_FAILED")).toMatchObject({ success: false, status: "error" });
    expect(await said()).toBe(true);
    rmSync(folder);
    expect((await reset()).status).toBe(200);
  });

  test("go with their agent", async () => {
    const { agent: gone } = (await ada.post<{ agent: AgentItem }>("/api/agents", { name: "Gone" })).body;
    expect((await ada.post(`/api/agents/${gone.id}/reset-memory`)).status).toBe(200);
    const folder = join(berth.dir, "data", "backups");
    expect(readdirSync(folder)).toContain(gone.id);
    await ada.delete(`/api/agents/${gone.id}`);
    expect(readdirSync(folder)).not.toContain(gone.id);
  });
});
