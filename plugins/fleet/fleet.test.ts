// The fleet's API: who may use it, what each report holds and leaves out, and what is recorded of admins' actions.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY } from "../../src/kernel/util/time.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { type AgentItem, provision } from "../../tests/support/members.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import type { KeptBackup } from "./backups/backup-work.ts";

type Body = Record<string, unknown>;
interface AgentRow {
  id: string;
  name: string;
  status: string;
  costTodayUsd: number;
  errorsToday: number;
  owner: { email: string };
}

let server: TestServer;
let root: Client;
let ada: Client;
let adaId: string;
let agents: AgentItem[];

const write = (sql: string, ...args: (string | number)[]) => server.kernel.database.write([{ sql, args }]);
const today = Math.floor(Date.now() / DAY);
const spend = (userId: string, agentId: string, microUsd: number, day = today) =>
  write(
    "INSERT INTO usage_days VALUES (?, ?, ?, 'provider_1', 'harbour-1', 0, 2, 0, 0, 10, 20, ?, 0)",
    userId,
    day,
    agentId,
    microUsd,
  );

beforeAll(async () => {
  server = await openServer({ env: { SIGNUP_TRIAL: "enterprise:7d" } });
  root = createClient(server.web);
  const rootId = await root.join();
  await server.kernel.database.write([server.app.accounts.users.updateStatement(rootId, { isAdmin: true })]);
  ada = createClient(server.web);
  adaId = await ada.join();
  agents = [];
  for (const name of ["Zebra", "anchor", "Buoy"]) agents.push(await provision(ada, name));
  await spend(adaId, agents[1]?.id ?? "", 3_000_000);
  await spend(adaId, agents[0]?.id ?? "", 1_000_000);
  await spend(adaId, agents[0]?.id ?? "", 500_000, today - 40);
  const insertLog =
    "INSERT INTO agent_logs (id, agent_id, at, level, source, message) VALUES (?, ?, ?, 'error', 'turn', ?)";
  await write(insertLog, Bun.randomUUIDv7(), agents[2]?.id ?? "", Date.now(), "canary in a log");
});
afterAll(() => server?.[Symbol.asyncDispose]());

const UNKNOWN = "01890a5d-ac96-774b-bcce-b302099a8057";
const READS = [
  "overview",
  "agents",
  "usage",
  "channels",
  "providers",
  "jobs",
  "figures",
  "settings",
  "storage",
  "versions",
  "backups",
];
const CHANGES: [method: "POST" | "DELETE" | "GET", path: () => string][] = [
  ["POST", () => `/api/admin/agents/${agents[0]?.id}/stop`],
  ["POST", () => `/api/admin/agents/${agents[0]?.id}/start`],
  ["POST", () => `/api/admin/jobs/${UNKNOWN}/retry`],
  ["DELETE", () => `/api/admin/jobs/${UNKNOWN}`],
  ["POST", () => "/api/admin/backups"],
  ["DELETE", () => "/api/admin/backups/berth.db"],
  ["GET", () => "/api/admin/backups/berth.db/file"],
  ["DELETE", () => `/api/admin/users/${adaId}/two-factor`],
];
const read = async <T = Body>(path: string, client = root): Promise<T> => {
  const { status, body, text } = await client.get<T>(`/api/admin/${path}`);
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return body;
};
const namesOf = async (query: string) =>
  (await read<{ agents: AgentRow[] }>(`agents?${query}`)).agents.map(({ name }) => name);

describe("permissions", () => {
  test.each(READS)("%s is for admins only, on both surfaces", async (path) => {
    const route = `/api/admin/${path}`;
    expectRefusal(await createClient(server.web).get(route), 401, "UNAUTHORIZED");
    expectRefusal(await ada.get(route), 403, "ADMIN_REQUIRED");
    const { body } = await ada.post<{ key: string }>("/api/keys", { name: "script" });
    const headers = { authorization: `Bearer ${body.key}` };
    expectRefusal(await createClient(server.backend).get(route, { headers }), 403, "ADMIN_REQUIRED");
    expectRefusal(await createClient(server.backend).get(route), 401, "UNAUTHORIZED");
    expect((await root.get(route)).status).toBe(200);
  });

  test.each(CHANGES)("%s %p is for admins only", async (method, path) => {
    const send = async (client: Client) => {
      const response = await client.fetch(method, path());
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    };
    expectRefusal(await send(createClient(server.web)), 401, "UNAUTHORIZED");
    expectRefusal(await send(ada), 403, "ADMIN_REQUIRED");
  });

  test("an admin's key reads reports, but no backup, on either surface", async () => {
    const { body } = await root.post<{ key: string }>("/api/keys", { name: "ops" });
    const headers = { authorization: `Bearer ${body.key}` };
    expect((await createClient(server.web).get("/api/admin/overview", { headers })).status).toBe(200);
    expect((await createClient(server.backend).get("/api/admin/overview", { headers })).status).toBe(200);
    const file = "/api/admin/backups/berth-2030-01-01T00-00-00-000Z.tar.gz/file";
    expectRefusal(await createClient(server.web).get(file, { headers }), 403, "SESSION_REQUIRED");
    expectRefusal(await createClient(server.backend).get(file, { headers }), 403, "SESSION_REQUIRED");
  });
});

describe("the overview", () => {
  test("counts accounts, agents, cost and errors, and says what is wrong", async () => {
    await write("UPDATE agents SET status = 'error', status_reason = 'no key' WHERE id = ?", agents[2]?.id ?? "");
    await write(
      "INSERT INTO jobs (id, kind, payload, state, run_at, max_attempts, created_at) VALUES ('j1', 'mail', '{\"to\":\"canary\"}', 'failed', 1, 8, 1)",
    );
    await write(
      "INSERT INTO jobs (id, kind, payload, run_at, max_attempts, created_at, last_error) VALUES ('j0', 'schedule', '{}', 1, 8, 1, 'the tide was late')",
    );
    await write(
      `INSERT INTO approvals (id, agent_id, session_id, turn_id, code, platform, by_owner, tool, class, summary, input, status, requested_at, expires_at)
        VALUES ('a1', ?, 's', 't', '1', 'web', 1, 'send', 'outside', 'canary', '{}', 'pending', 1, 9e12)`,
      agents[0]?.id ?? "",
    );
    await write(
      "INSERT INTO outbox (id, inbox_id, agent_id, platform, peer, body, created_at) VALUES (?, 'i', ?, 'channel_b', '1', 'canary', 1)",
      Bun.randomUUIDv7(),
      agents[0]?.id ?? "",
    );
    const body = await eventually(
      async () => {
        const answer = await read<{ problems: { code: string; link: string }[]; agents: Body }>("overview");
        return answer.agents.error === 1 ? answer : undefined;
      },
      { timeoutMs: 15_000 },
    );
    expect(body).toMatchObject({
      users: { total: 2, disabled: 0 },
      agents: { total: 3, error: 1 },
      today: { calls: 4, agentCalls: 4, costUsd: 4, errors: 1 },
      jobs: { failed: 1 },
      turns: { ended: 0, failed: 0 },
      schedules: { late: 1 },
      approvals: { waiting: 1 },
      streams: { live: 0 },
      outbox: { waiting: 1 },
      channels: { failed: 0 },
      database: { kind: "file" },
    });
    const codes = body.problems.map(({ code }) => code);
    expect(codes).toContain("DEMO_MODEL");
    expect(codes).toContain("AGENTS_FAILED");
    expect(codes).toContain("JOBS_FAILED");
    for (const { link } of body.problems) expect(link).toStartWith("/admin");
    expect(JSON.stringify(body)).not.toContain("canary");
    const { undelivered } = await read<{ undelivered: Body[] }>("channels");
    expect(undelivered).toEqual([{ channel: "channel_b", waiting: 1, oldestAt: expect.any(String) }]);
    const kinds = await eventually(async () => {
      const found = (await read<{ kinds: Body[] }>("jobs")).kinds;
      return found.length > 1 ? found : undefined;
    });
    expect(kinds).toContainEqual(
      expect.objectContaining({ kind: "schedule", late: 1, lastError: "the tide was late" }),
    );
  });
});

describe("agents", () => {
  test("of all accounts are listed, newest first, without conversations, configurations and logs", async () => {
    const { agents: rows, total } = await read<{ agents: AgentRow[]; total: number }>("agents");
    expect(rows.map(({ name }) => name)).toEqual(["Buoy", "anchor", "Zebra"]);
    expect(total).toBe(3);
    expect(rows[1]).toMatchObject({ costTodayUsd: 3, errorsToday: 0, owner: { email: ada.account.email } });
    expect(rows[0]).toMatchObject({ status: "error", reason: "no key", errorsToday: 1, channels: [] });
    expect(JSON.stringify(rows)).not.toContain("canary");
  });

  test("can be sorted, searched and filtered", async () => {
    expect(await namesOf("sort=name")).toEqual(["anchor", "Buoy", "Zebra"]);
    expect(await namesOf("sort=cost")).toEqual(["anchor", "Zebra"]);
    expect(await namesOf("sort=errors")).toEqual(["Buoy"]);
    expect(await namesOf("sort=activity")).toEqual([]);
    expect(await namesOf("query=NCH")).toEqual(["anchor"]);
    expect(await namesOf("query=%25")).toEqual([]);
    expect(await namesOf(`query=${encodeURIComponent(ada.account.email.slice(2))}`)).toHaveLength(3);
    expect(await namesOf(`query=${agents[0]?.id}`)).toEqual(["Zebra"]);
    expect(await namesOf("status=error")).toEqual(["Buoy"]);
    expect(await namesOf("status=up&sort=cost")).toEqual(["anchor", "Zebra"]);
    expect(await namesOf(`owner=${adaId}&sort=name`)).toHaveLength(3);
    expect(await namesOf(`owner=${UNKNOWN}`)).toEqual([]);
  });

  test.each(["created", "name", "cost"])("sorted by %s can be read page by page", async (sort) => {
    const all = await namesOf(`sort=${sort}`);
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: { agents: AgentRow[]; next: string | null } = await read(
        `agents?limit=1&sort=${sort}${cursor && `&cursor=${cursor}`}`,
      );
      seen.push(...page.agents.map(({ name }) => name));
      cursor = page.next;
    }
    expect(seen).toEqual(all);
  });

  test.each(["cursor=x", "cursor=W10", "sort=size", "status=gone", "limit=0"])("%s is 400", async (query) => {
    expectRefusal(await root.get(`/api/admin/agents?${query}`), 400, "INVALID_INPUT");
  });

  test("are stopped and started by admins; both are in the audit log", async () => {
    const id = agents[0]?.id ?? "";
    const stopped = await root.post<Body>(`/api/admin/agents/${id}/stop`);
    expect(stopped).toMatchObject({ status: 200, body: { success: true, id, status: "stopped" } });
    expect((await ada.get<{ agent: Body }>(`/api/agents/${id}`)).body.agent.status).toBe("stopped");
    const logs = await ada.get<{ logs: { message: string }[] }>(`/api/agents/${id}/logs`);
    expect(logs.body.logs[0]?.message).toContain("an admin of this service stopped it");
    expect(await root.post(`/api/admin/agents/${id}/start`)).toMatchObject({ status: 200, body: { status: "active" } });
    expectRefusal(await root.post(`/api/admin/agents/${UNKNOWN}/stop`), 404, "AGENT_NOT_FOUND");
    const { entries } = await read<{ entries: Body[] }>(
      `audit?kind=agent&actor=${encodeURIComponent(root.account.email)}`,
    );
    expect(entries).toMatchObject([
      { action: "agent.start", target: { kind: "agent", id, name: "Zebra" }, actor: { name: root.account.email } },
      { action: "agent.stop", details: { owner: ada.account.email } },
    ]);
  });

  test("of a disabled account can't be started", async () => {
    const eve = createClient(server.web);
    const eveId = await eve.join();
    const { id } = await provision(eve, "Driftwood");
    await root.patch(`/api/admin/users/${eveId}`, { disabled: true });
    expectRefusal(await root.post(`/api/admin/agents/${id}/start`), 409, "ACCOUNT_DISABLED");
    await root.delete(`/api/admin/users/${eveId}`);
  });
});

describe("usage", () => {
  const rows = async (query: string) =>
    (await read<{ total: Body; rows: { key: string; name: string | null; costUsd: number }[] }>(`usage?${query}`)).rows;

  test("is summed by day, model, provider, account and agent", async () => {
    const cost = (list: { key: string; name: string | null; costUsd: number }[]) =>
      list.map(({ key, name, costUsd }) => [key, name, costUsd]);
    const date = new Date().toISOString().slice(0, 10);
    expect(cost(await rows("by=day"))).toEqual([[date, null, 4]]);
    expect(cost(await rows("by=model"))).toEqual([["provider_1:harbour-1", "harbour-1", 4]]);
    expect(cost(await rows("by=provider"))).toEqual([["provider_1", null, 4]]);
    expect(cost(await rows("by=user"))).toEqual([[adaId, ada.account.email, 4]]);
    expect(cost(await rows("by=agent"))).toEqual([
      [agents[1]?.id ?? "", "anchor", 3],
      [agents[0]?.id ?? "", "Zebra", 1],
    ]);
    expect(await rows(`by=agent&user=${UNKNOWN}`)).toEqual([]);
    const from = new Date((today - 50) * DAY).toISOString().slice(0, 10);
    expect(await rows(`from=${from}&by=day&user=${adaId}`)).toHaveLength(2);
  });

  test.each(["by=owner", "from=yesterday", "from=2020-01-01"])("%s is 400", async (query) => {
    expectRefusal(await root.get(`/api/admin/usage?${query}`), 400, "INVALID_INPUT");
  });
});

describe("channels", () => {
  test("are listed with the state of each, and stopped with their agents", async () => {
    const insert = `INSERT INTO channel_connections (agent_id, channel, bot_id, bot_username, token_digest, callback_id,
      callback_secret, created_at) VALUES (?, 'channel_a', ?, ?, 'canary', ?, 'canary', 1)`;
    await write(insert, agents[0]?.id ?? "", "1", "zebra_bot", "c1");
    await write(insert, agents[1]?.id ?? "", "2", "anchor_bot", "c2");
    await write("UPDATE agents SET status = 'stopped' WHERE id = ?", agents[1]?.id ?? "");
    const list = await read<{ channels: { bot: Body; state: string }[]; next: string }>("channels?limit=1");
    expect(list.channels).toMatchObject([{ bot: { username: "anchor_bot" }, state: "stopped" }]);
    const second = await read<typeof list>(`channels?limit=1&cursor=${encodeURIComponent(list.next)}`);
    expect(second).toMatchObject({ channels: [{ bot: { username: "zebra_bot" }, state: "connecting" }], next: null });
    expect((await read<typeof list>("channels?state=stopped")).channels).toHaveLength(1);
    expect((await read<typeof list>("channels?state=failed")).channels).toEqual([]);
    expect((await read<typeof list>("channels?channel=channel_b")).channels).toEqual([]);
    expectRefusal(await root.get("/api/admin/channels?channel=pigeon"), 400, "INVALID_INPUT");
    expect(JSON.stringify(list)).not.toContain("canary");
    const { agents: rows } = await read<{ agents: { channels: Body[] }[] }>("agents?sort=name&limit=1");
    expect(rows[0]?.channels).toEqual([{ channel: "channel_a", state: "stopped" }]);
  });
});

describe("jobs", () => {
  test("are counted by kind; failed ones are retried or discarded, without their contents", async () => {
    const insert =
      "INSERT INTO jobs (id, kind, payload, state, run_at, attempt, max_attempts, last_error, created_at) VALUES (?, 'probe.failed', '\"canary\"', 'failed', 1, 8, 8, 'Bearer abcdefghijkl', 1)";
    await write(insert, "j2");
    await write(insert, "j3");
    const probed = (list: Body[]) => list.find(({ kind }) => kind === "probe.failed");
    const { failed, kinds } = await eventually(
      async () => {
        const answer = await read<{ failed: Body[]; kinds: Body[] }>("jobs");
        return probed(answer.kinds) ? answer : undefined;
      },
      { timeoutMs: 15_000 },
    );
    expect(failed).toMatchObject([
      { id: "j3", kind: "probe.failed", attempts: 8, error: "Bearer [redacted]" },
      { id: "j2" },
      { id: "j1" },
    ]);
    expect(probed(kinds)).toMatchObject({ failed: 2, waiting: 0 });
    expect(JSON.stringify({ failed, kinds })).not.toContain("canary");
    expect(await root.post("/api/admin/jobs/j2/retry")).toMatchObject({
      status: 200,
      body: { success: true, id: "j2" },
    });
    expect((await root.delete("/api/admin/jobs/j3")).status).toBe(200);
    expectRefusal(await root.post("/api/admin/jobs/j2/retry"), 404, "JOB_NOT_FAILED");
    expectRefusal(await root.delete("/api/admin/jobs/j3"), 404, "JOB_NOT_FAILED");
    expect((await read<{ failed: Body[] }>("jobs")).failed).toMatchObject([{ id: "j1" }]);
    const { entries } = await read<{ entries: Body[] }>("audit?kind=job");
    expect(entries).toMatchObject([
      { action: "job.discard" },
      { action: "job.retry", target: { name: "probe.failed" } },
    ]);
  });
});

describe("the instance", () => {
  test("shows the figures of the last day in steps", async () => {
    await server.app.instance.figures.sample();
    const { figures, stepSeconds } = await read<{ figures: Record<string, (number | null)[]>; stepSeconds: number }>(
      "figures",
    );
    expect(stepSeconds).toBe(300);
    expect(figures.requests).toHaveLength(288);
    expect(figures.requests?.at(-1)).toBeGreaterThan(10);
    expect(figures.memoryBytes?.at(-1)).toBeGreaterThan(1e6);
    expect(figures.requests?.at(0)).toBeNull();
    expect((await read<{ figures: Body }>("figures?step=15")).figures.lagMs).toHaveLength(96);
    expectRefusal(await root.get("/api/admin/figures?step=7"), 400, "INVALID_INPUT");
  });

  test("shows settings, providers and versions", async () => {
    server.app.instance.registerSettingsReport(async () => ({
      settings: [{ name: "PORT", value: "1", source: "default", secret: false, description: "The port." }],
      findings: [],
    }));
    expect(await read("settings")).toEqual({ settings: [], findings: [] });
    const { providers } = await read<{ providers: Body[] }>("providers");
    expect(providers[0]).toMatchObject({ todayUsd: 4, monthUsd: 4, recent: { calls: 0 }, breaker: "closed" });
    expect(await read("versions")).toMatchObject({ role: "all", runtimes: [{ agents: 3, available: true }] });
  });

  test("makes backups in the background, hands them out, and deletes them", async () => {
    expectRefusal(await root.post("/api/admin/backups"), 409, "DATABASE_ON_SERVER");
    let finish = Promise.withResolvers<void>();
    const kept = new Map<string, KeptBackup>();
    server.app.instance.registerBackupWork({
      async make({ name, onProgress }) {
        onProgress(0.5);
        await finish.promise;
        const backup = { name, bytes: 6, createdAt: Date.now(), verified: "opened" } as const;
        kept.set(name, backup);
        return backup;
      },
      list: async () => [...kept.values()],
      read: async (name) => (kept.has(name) ? { body: new Blob(["a copy"]).stream(), bytes: 6 } : undefined),
      remove: async (name) => void kept.delete(name),
    });
    await server.kernel.jobs.start();
    const { status, body } = await root.post<{ backup: { name: string } }>("/api/admin/backups");
    expect(status).toBe(202);
    const { name } = body.backup;
    expectRefusal(await root.post("/api/admin/backups"), 409, "BACKUP_RUNNING");
    const list = async () =>
      (await read<{ backups: { name: string; state: string; error: string }[] }>("backups")).backups;
    await eventually(async () => (await list())[0]?.state === "running");
    finish.resolve();
    await eventually(async () => (await list())[0]?.state === "done");
    const download = await root.get(`/api/admin/backups/${name}/file`);
    expect(download.headers.get("content-disposition")).toBe(`attachment; filename="${name}"`);
    expect(download.text).toBe("a copy");
    for (const bad of ["..%2Fberth.db", "berth.db", "%2e%2e"]) {
      expect((await root.get(`/api/admin/backups/${bad}/file`)).status).toBe(404);
    }

    finish = Promise.withResolvers<void>();
    await root.post("/api/admin/backups");
    await eventually(async () => (await list())[0]?.state === "running");
    finish.reject(new Error("the disk is full"));
    await eventually(async () => (await list())[0]?.state === "failed");
    expect((await list())[0]?.error).toBe("the disk is full");

    expect((await root.delete(`/api/admin/backups/${name}`)).status).toBe(200);
    expectRefusal(await root.delete(`/api/admin/backups/${name}`), 404, "BACKUP_NOT_FOUND");
    const { entries } = await read<{ entries: { action: string }[] }>("audit?kind=backup");
    expect(entries.map(({ action }) => action)).toEqual([
      "backup.delete",
      "backup.create",
      "backup.download",
      "backup.create",
    ]);
  });
});

describe("the audit log", () => {
  test("is read page by page, and by time", async () => {
    const all = await read<{ entries: { id: string }[]; total: number }>("audit");
    expect(all.total).toBe(all.entries.length);
    const first = await read<{ entries: { id: string }[]; next: string }>("audit?limit=2");
    const second = await read<{ entries: { id: string }[] }>(`audit?limit=2&cursor=${first.next}`);
    expect([...first.entries, ...second.entries].map(({ id }) => id)).toEqual(
      all.entries.slice(0, 4).map(({ id }) => id),
    );
    const later = new Date(Date.now() + DAY).toISOString();
    expect((await read<{ entries: Body[] }>(`audit?from=${later}`)).entries).toEqual([]);
    expect((await read<{ total: number }>(`audit?to=${later}`)).total).toBe(all.total);
    expectRefusal(await root.get("/api/admin/audit?from=soon"), 400, "INVALID_INPUT");
  });
});

describe("sign-in help", () => {
  test("a link to set a password is returned only if it is asked for", async () => {
    const path = `/api/admin/users/${adaId}/reset-password`;
    expect((await root.post<Body>(path)).body).not.toHaveProperty("link");
    const { body } = await root.post<{ link: string }>(path, { delivery: "link" });
    expect(body.link).toContain("/reset-password?token=");
    expectRefusal(await root.post(path, { delivery: "pigeon" }), 400, "INVALID_INPUT");
  });

  test("a second factor can be turned off only where there is one", async () => {
    expectRefusal(await root.delete(`/api/admin/users/${adaId}/two-factor`), 409, "TWO_FACTOR_OFF");
    expectRefusal(await root.delete(`/api/admin/users/${UNKNOWN}/two-factor`), 404, "USER_NOT_FOUND");
  });
});
