// Account deletion over HTTP: permissions, what is deleted and what stays, and failures on the way.
import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { type AppError, notFound } from "../../../src/kernel/errors.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { subscribe, verifyEmail } from "../../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import type { AgentItem } from "../../../tests/support/members.ts";
import { queuedMailsTo } from "../../../tests/support/queued-mail.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { createOneTimeLinks } from "../one-time-links.ts";

const password = "correct horse battery";
let server: TestServer;
/** The hook that the next deletions run. */
let hook: () => Promise<void> = async () => undefined;
beforeAll(async () => {
  server = await openServer();
  server.app.accounts.beforeDeletion(async () => {
    await hook();
    return [];
  });
});
afterAll(() => server?.[Symbol.asyncDispose]());
afterEach(() => {
  setSystemTime();
  hook = async () => undefined;
});

async function joined(): Promise<{ client: Client; id: string; email: string }> {
  const client = createClient(server.web);
  const id = await client.join();
  return { client, id, email: client.account.email };
}
async function agentOf(client: Client, name = "Harbour"): Promise<AgentItem> {
  await subscribe(server, client.account.email, "pro");
  return (await client.post<{ agent: AgentItem }>("/api/agents/provision", { name })).body.agent;
}
const signIn = (email: string) => createClient(server.web).post("/api/auth/callback/credentials", { email, password });
const remove = (client: Client, body: object = { password }, headers: Record<string, string> = {}) =>
  client.delete<{ success: boolean; message: string }>("/api/settings", body, { headers });
const read = async (sql: string, ...args: string[]) => (await server.kernel.database.read(sql, args)).rows;

/** The tables that contain a text. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await read("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'memories_search%'");
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await read(`SELECT * FROM "${name}"`);
    if (JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value)).includes(text)) {
      found.push(String(name));
    }
  }
  return found.sort();
}

describe("deleting an account", () => {
  test("deletes everything of it but its events and the audit log", async () => {
    const { client, id, email } = await joined();
    await verifyEmail(server, email);
    const { cookie } = client;
    const agent = await agentOf(client);
    const other = (await signIn(email)).headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const { body } = await client.post<{ key: string }>("/api/keys", { name: "script" });
    await client.post("/api/agents", { name: "Kept" }, { headers: { "idempotency-key": crypto.randomUUID() } });
    await client.post("/api/auth/forgot-password", { email });
    expect(await tablesWith(id)).toEqual(
      expect.arrayContaining(["agents", "auth_links", "auth_sessions", "idempotency_keys", "subscriptions", "users"]),
    );
    const ended: string[] = [];
    server.app.accounts.onSessionRevoked((sessionId) => ended.push(sessionId));

    const answer = await remove(client);
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: { success: true, message: expect.any(String) },
    });
    expect(answer.headers.getSetCookie()).toEqual(["berth_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"]);
    expect(ended).toHaveLength(2);
    for (const headers of [{ cookie }, { cookie: other }, { authorization: `Bearer ${body.key}` }] as Record<
      string,
      string
    >[]) {
      expectRefusal(await createClient(server.web).get("/api/settings", { headers }), 401, "UNAUTHORIZED");
    }
    expectRefusal(await signIn(email), 401, "BAD_CREDENTIALS");

    expect(await tablesWith(id)).toEqual(["audit_log", "events"]);
    expect(await tablesWith(email)).toEqual(["audit_log", "events"]);
    expect(await tablesWith(agent.id)).toEqual(["audit_log", "events"]);
    const events = await server.kernel.events.since(0, { userId: id });
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === "agent.deleted")).toHaveLength(2);
    expect(types.at(-1)).toBe("user.deleted");
    expect(events.at(-1)?.data).toEqual({ id, email, name: "Ada", plan: "pro", createdAt: expect.any(String) });
    expect((await queuedMailsTo(server, email)).at(-1)?.text).toMatch(/deleted/i);
  });

  test("ends its links; a reset link reports that the account is gone", async () => {
    const { client, id, email } = await joined();
    const { kernel } = server;
    const issued = (["reset-password", "verify-email"] as const).map((kind) =>
      createOneTimeLinks(kernel).issue(kind, { userId: id, email, lifetimeMs: MINUTE }),
    );
    await kernel.database.write(issued.flatMap(({ statements }) => statements));
    expect((await remove(client)).status).toBe(200);
    const [reset = "", verify = ""] = issued.map(({ token }) => token);
    const answer = await createClient(server.web).post("/api/auth/reset-password", { token: reset, password });
    expectRefusal(answer, 404, "USER_NOT_FOUND");
    expectRefusal(
      await createClient(server.web).post("/api/auth/verify-email", { token: verify }),
      400,
      "INVALID_LINK",
    );
    // It gives no access to a new account with the same address either.
    const again = createClient(server.web);
    await again.join({ email });
    const body = { token: reset, password: "another horse battery" };
    expectRefusal(await createClient(server.web).post("/api/auth/reset-password", body), 404, "USER_NOT_FOUND");
    expect((await signIn(email)).status).toBe(200);
  });

  test("frees its address, and does not affect other accounts", async () => {
    const [ada, eve] = [await joined(), await joined()];
    const agent = await agentOf(eve.client);
    await agentOf(ada.client);
    expect((await remove(ada.client)).status).toBe(200);
    const again = createClient(server.web);
    const id = await again.join({ email: ada.email });
    expect(id).not.toBe(ada.id);
    expect((await again.get("/api/agents")).body).toMatchObject({ count: 0 });
    expect((await again.get("/api/settings")).body).toMatchObject({ plan: "free", subscription: null });
    expect((await eve.client.get(`/api/agents/${agent.id}`)).status).toBe(200);
  });

  test("happens once for concurrent requests", async () => {
    const { client, id } = await joined();
    await agentOf(client);
    const headers = { cookie: client.cookie };
    const answers = await Promise.all([1, 2, 3].map(() => remove(client, { password }, headers)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect(await server.kernel.events.since(0, { userId: id, types: ["user.deleted"] })).toHaveLength(1);
  });
});

describe("permissions", () => {
  test.each([
    [{}, 400],
    [{ password: "" }, 400],
    [{ password: 7 }, 400],
    [{ password: "x".repeat(5_000) }, 400],
    [{ password: "not the password" }, 401],
    [{ userId: "another", currentPassword: password }, 400],
  ])("the body %j is refused with %i, and nothing is deleted", async (body, status) => {
    const { client } = await joined();
    const agent = await agentOf(client);
    const answer = await remove(client, body);
    expectRefusal(answer, status, status === 401 ? "BAD_CREDENTIALS" : undefined);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await client.get(`/api/agents/${agent.id}`)).status).toBe(200);
  });

  test("an account without a password needs a session younger than ten minutes", async () => {
    const { client, id } = await joined();
    await server.kernel.database.write([{ sql: "UPDATE users SET password_hash = NULL WHERE id = ?", args: [id] }]);
    server.app.accounts.users.invalidate(id);
    setSystemTime(Date.now() + 10 * MINUTE + 1_000);
    expectRefusal(await remove(client, {}), 403, "RECENT_SIGN_IN_REQUIRED");
    setSystemTime();
    expect((await remove(client, {})).status).toBe(200);
  });

  test("API keys, pages of other sites and other users are refused", async () => {
    const { client, id } = await joined();
    const { body } = await client.post<{ key: string }>("/api/keys", { name: "script" });
    const key = { authorization: `Bearer ${body.key}` };
    expectRefusal(await remove(createClient(server.web), { password }, key), 403, "SESSION_REQUIRED");
    const foreign = { origin: "https://evil.example" };
    expectRefusal(await remove(client, { password }, foreign), 403, "FOREIGN_ORIGIN");
    const eve = await joined();
    expect((await remove(eve.client, { password, id, userId: id })).status).toBe(200);
    expect((await client.get("/api/settings")).body).toMatchObject({ id });
  });
});

describe("failures", () => {
  test("of a hook is the response; the account stays and can be deleted later", async () => {
    const { client, id } = await joined();
    await agentOf(client);
    const trouble: AppError = notFound("This can't be cleared now.", "NOT_NOW");
    hook = () => Promise.reject(trouble);
    const answer = await remove(client);
    expectRefusal(answer, 404, "NOT_NOW");
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await client.get("/api/settings")).body).toMatchObject({ id });
    expect(await server.kernel.events.since(0, { userId: id, types: ["user.deleted"] })).toEqual([]);
    hook = async () => undefined;
    expect((await remove(client)).status).toBe(200);
  });

  test("an agent created during the deletion is deleted too; one at every attempt gives 409", async () => {
    const { client, id, email } = await joined();
    await agentOf(client);
    let tries = 0;
    const headers = { cookie: client.cookie };
    const provision = () => client.post("/api/agents/provision", { name: "Late" }, { headers });
    hook = async () => {
      tries++;
      await provision();
    };
    expectRefusal(await remove(client), 409, "ACCOUNT_IN_USE");
    expect(tries).toBe(5);
    expect((await client.get("/api/settings")).body).toMatchObject({ email });
    tries = 0;
    hook = async () => {
      if (++tries === 1) await provision();
    };
    expect((await remove(client)).status).toBe(200);
    expect(tries).toBe(2);
    const { length: created } = await server.kernel.events.since(0, { userId: id, types: ["agent.created"] });
    expect(await server.kernel.events.since(0, { userId: id, types: ["agent.deleted"] })).toHaveLength(created);
  });
});
