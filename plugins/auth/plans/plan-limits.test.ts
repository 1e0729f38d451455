// Tests that the limits of the operator's table are those in force: agents, schedules, bots, streams, files, skills, features, model use.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { StartError } from "../../../src/kernel/errors.ts";
import { createMember, subscribe } from "../../../tests/support/account-setup.ts";
import type { Client } from "../../../tests/support/client.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { agentStatement } from "../../../tests/support/records.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { createChannelQuota } from "../../channels/channel-quota.ts";
import { quotaOf as knowledgeQuotaOf } from "../../knowledge/quota.ts";
import { quotaOf as skillQuotaOf } from "../../skill-folders/store/quota.ts";
import { createAdmission } from "../../streams/admission.ts";
import { planSettings } from "../settings.ts";
import type { User } from "../users.ts";
import { requirePlansInUse } from "./plans-in-use.ts";

const dir = temporaryDir();
const file = join(dir.path, "plans.json");
const PLANS = {
  free: { agents: 1, features: [] },
  small: {
    ...{ name: "Small", agents: 2, schedules: 1, streams: 2, channels: 1, skills: 0, modelUsdPerMonth: 3 },
    storage: { filesMiB: 0, knowledgeFiles: 4, knowledgeMiB: 5, knowledgePassages: 6 },
    features: ["webhooks"],
  },
};
let server: TestServer;
let ada: Client;
let email: string;
beforeAll(async () => {
  await Bun.write(file, JSON.stringify({ plans: PLANS }));
  server = await openServer({ env: { PLANS_FILE: file } });
  email = "ada@example.com";
  ada = (await createMember(server, { email })).client;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  dir.remove();
});

const table = () => server.kernel.config.of(planSettings).table;
const user = (over: Partial<User> = {}) =>
  ({
    ...{ email: "u@example.com", isAdmin: false, disabledAt: null },
    subscription: { plan: "small", status: "active", currentPeriodEnd: Date.now() + 60_000 },
    ...over,
  }) as User;

describe("without a subscription the limits of the free plan are in force:", () => {
  test("agents", async () => {
    expect((await ada.post("/api/agents/provision", { name: "One" })).status).toBe(201);
    const refused = await ada.post("/api/agents/provision", { name: "Two" });
    expect(expectRefusal(refused, 429, "AGENT_LIMIT_REACHED")).toMatchObject({ current: 1, limit: 1 });
  });

  test("features", async () => {
    const hook = await ada.post("/api/webhooks", { url: "https://example.com/hook" });
    expect(expectRefusal(hook, 402, "FEATURE_NOT_IN_PLAN").error).toBe(
      "Your plan does not include webhooks. Choose a larger plan.",
    );
    expectRefusal(await ada.post("/api/keys", { name: "ci" }), 402, "FEATURE_NOT_IN_PLAN");
  });
});

describe("with a plan of the operator's own", () => {
  beforeAll(() => subscribe(server, email, "small"));

  test("agents, and what the plan includes, change at once", async () => {
    expect((await ada.post("/api/agents/provision", { name: "Two" })).status).toBe(201);
    expectRefusal(await ada.post("/api/agents/provision", { name: "Three" }), 429, "AGENT_LIMIT_REACHED");
    expectRefusal(await ada.post("/api/keys", { name: "ci" }), 402, "FEATURE_NOT_IN_PLAN");
    const { body } = await ada.get<{ plans: { id: string }[] }>("/api/plans");
    expect(body.plans.find(({ id }) => id === "small")).toEqual({
      ...{ id: "small", name: "Small", price: null, trialDays: 0, features: ["webhooks"], isCurrent: true },
      ...{ agents: 2, schedules: 1, streams: 2, channels: 1, skills: 0, includedUsd: 3 },
      ...{ skillBytes: 20 * 1024 * 1024, fileBytes: 0 },
      ...{ knowledgeFiles: 4, knowledgeBytes: 5 * 1024 * 1024, knowledgePassages: 6 },
    });
  });

  test("model use", async () => {
    const { body } = await ada.get("/api/usage");
    expect(body).toMatchObject({ plan: { plan: "small", limitUsd: 3 } });
  });

  test("schedules", async () => {
    const { body } = await ada.get<{ agents: { id: string }[] }>("/api/agents");
    const path = `/api/agents/${body.agents[0]?.id}/schedules`;
    const schedule = { name: "Daily", cron: "0 9 * * *", prompt: "Say hello." };
    expect((await ada.post(path, schedule)).status).toBe(201);
    expectRefusal(await ada.post(path, { ...schedule, name: "Other" }), 429, "SCHEDULE_LIMIT_REACHED");
  });

  test("files that people send", async () => {
    const { body } = await ada.get<{ agents: { id: string }[] }>("/api/agents");
    const form = new FormData();
    form.set("file", new File(["hello"], "a.txt", { type: "text/plain" }));
    const sent = await ada.post(`/api/agents/${body.agents[0]?.id}/uploads`, form);
    expectRefusal(sent, 413, "UPLOAD_QUOTA_EXCEEDED");
  });

  test("streams, skills, and files that agents know", async () => {
    const admit = createAdmission({
      users: { byId: async () => user() },
      agents: { find: async () => ({ id: "a", userId: "u", status: "running", thawedStatus: null }) as never },
      plans: table(),
      rows: { findByKey: async () => ({ id: "s", agentId: "a" }) as never },
    });
    expect(await admit("key")).toMatchObject({ maxStreams: 2 });
    expect(knowledgeQuotaOf(user(), table())).toEqual({ files: 4, bytes: 5 * 1024 * 1024, chunks: 6 });
    expect(skillQuotaOf(table().ofAccount(user()))).toMatchObject({ skills: 0 });
    expect(knowledgeQuotaOf(user({ subscription: null }), table())).toMatchObject({ files: 20 });
  });

  test("connected bots, in the write that connects one", async () => {
    const { database, config } = server.kernel;
    const { id: userId } = await server.app.accounts.administration.byEmail(email);
    const { rows } = await database.read("SELECT id FROM agents WHERE user_id = ? ORDER BY id", [userId]);
    const [one = "", two = ""] = rows.map(({ id }) => String(id));
    const quota = createChannelQuota({
      users: server.app.accounts.users,
      isAdmin: () => false,
      plans: config.of(planSettings).table,
    });
    const connect = async (agentId: string, channel: string) => {
      const room = await quota.roomStatements(userId, { agentId, channel, count: 1 });
      const sql = `INSERT INTO channel_connections (agent_id, channel, bot_id, bot_username, token_digest, callback_id,
        callback_secret, created_at) VALUES (?1, ?2, ?1, 'bot', 'd', ?1 || ?2, 's', 1) ON CONFLICT DO NOTHING`;
      try {
        await database.write([...room, { sql, args: [agentId, channel] }]);
      } catch (error) {
        throw await quota.toLimitError(error, userId);
      }
    };
    await connect(one, "channel_a");
    await connect(one, "channel_a");
    await expect(connect(two, "channel_a")).rejects.toMatchObject({ status: 429, code: "CHANNEL_LIMIT_REACHED" });
    await database.write([{ sql: "DELETE FROM channel_connections", args: [] }]);
  });

  test("an agent that comes with its bots to an account counts them", async () => {
    const { database } = server.kernel;
    const { id: userId } = await server.app.accounts.administration.byEmail(email);
    const agent = agentStatement({ userId: "stranger" });
    const quota = createChannelQuota({ users: server.app.accounts.users, isAdmin: () => false, plans: table() });
    const [room] = await quota.roomStatements(userId, { agentId: agent.id });
    expect(room?.args).toEqual([userId, agent.id, "", null, 1]);
    const result = room && (await database.write([room]));
    expect(result?.[0]?.rowsAffected).toBe(1);
  });
});

test("admins have no limits of a plan", async () => {
  const quota = createChannelQuota({ users: { byId: async () => user() }, isAdmin: () => true, plans: table() });
  expect(await quota.roomStatements("u", { count: 5 })).toEqual([]);
});

test("a plan that accounts have can't vanish: the start names it, and what to do", async () => {
  const { database } = server.kernel;
  const config = server.kernel.config;
  const without = { table: { plans: [] }, file: "/etc/berth/plans.json" };
  const start = requirePlansInUse({ database, config: { ...config, of: () => without } as never });
  await expect(start).rejects.toThrow(StartError);
  await expect(start).rejects.toThrow(
    'In /etc/berth/plans.json there is no plan "small", but an account has it. Put it back with "hidden": true',
  );
  await requirePlansInUse({ database, config });
});
