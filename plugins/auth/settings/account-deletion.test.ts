// The end of an account over HTTP: who may cause it, what goes, what stays, and what a failure on the way leaves.
import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { type AppError, notFound } from "../../../src/kernel/errors.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { subscribe, verify } from "../../../tests/support/favours.ts";
import { type House, openHouse } from "../../../tests/support/house.ts";
import { lettersTo } from "../../../tests/support/letters.ts";
import { type AgentItem, expectRefusal } from "../../../tests/support/scene.ts";
import { createOneTimeLinks } from "../one-time-links.ts";

const MINUTE = 60_000;
const password = "correct horse battery";
let house: House;
/** What the next hooks do. */
let hook: () => Promise<void> = async () => undefined;
beforeAll(async () => {
  house = await openHouse();
  house.app.accounts.beforeDeletion(async () => {
    await hook();
    return [];
  });
});
afterAll(() => house?.[Symbol.asyncDispose]());
afterEach(() => {
  setSystemTime();
  hook = async () => undefined;
});

async function joined(): Promise<{ client: Client; id: string; email: string }> {
  const client = createClient(house.web);
  const id = await client.join();
  return { client, id, email: client.account.email };
}
async function agentOf(client: Client, name = "Harbour"): Promise<AgentItem> {
  await subscribe(house, client.account.email, "pro");
  return (await client.post<{ agent: AgentItem }>("/api/agents/provision", { name })).body.agent;
}
const signIn = (email: string) => createClient(house.web).post("/api/auth/callback/credentials", { email, password });
const remove = (client: Client, body: object = { password }, headers: Record<string, string> = {}) =>
  client.delete<{ success: boolean; message: string }>("/api/settings", body, { headers });
const read = async (sql: string, ...args: string[]) => (await house.kernel.database.read(sql, args)).rows;

/** The tables in which a text occurs anywhere. */
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
  test("takes everything of it along; what happened and what was spent stays", async () => {
    const { client, id, email } = await joined();
    await verify(house, email);
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
    house.app.accounts.onSessionRevoked((sessionId) => ended.push(sessionId));

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
      expectRefusal(await createClient(house.web).get("/api/settings", { headers }), 401, "UNAUTHORIZED");
    }
    expectRefusal(await signIn(email), 401, "BAD_CREDENTIALS");

    expect(await tablesWith(id)).toEqual(["events"]);
    expect(await tablesWith(email)).toEqual(["events"]);
    expect(await tablesWith(agent.id)).toEqual(["events"]);
    const events = await house.kernel.events.since(0, { userId: id });
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === "agent.deleted")).toHaveLength(2);
    expect(types.at(-1)).toBe("user.deleted");
    expect(events.at(-1)?.data).toEqual({ id, email, name: "Ada", plan: "pro", createdAt: expect.any(String) });
    expect((await lettersTo(house, email)).at(-1)?.text).toMatch(/deleted/i);
  });

  test("ends its links; one to reset its password says that the account is gone", async () => {
    const { client, id, email } = await joined();
    const { kernel } = house;
    const issued = (["reset-password", "verify-email"] as const).map((kind) =>
      createOneTimeLinks(kernel.database).issue(kind, { userId: id, email, lifetimeMs: MINUTE }),
    );
    await kernel.database.write(issued.flatMap(({ statements }) => statements));
    expect((await remove(client)).status).toBe(200);
    const [reset = "", verify = ""] = issued.map(({ token }) => token);
    const answer = await createClient(house.web).post("/api/auth/reset-password", { token: reset, password });
    expectRefusal(answer, 404, "USER_NOT_FOUND");
    expectRefusal(await createClient(house.web).post("/api/auth/verify-email", { token: verify }), 400, "INVALID_LINK");
    // Nor does it open an account that has the address since.
    const again = createClient(house.web);
    await again.join({ email });
    const fresh = { token: reset, password: "another horse battery" };
    expectRefusal(await createClient(house.web).post("/api/auth/reset-password", fresh), 404, "USER_NOT_FOUND");
    expect((await signIn(email)).status).toBe(200);
  });

  test("frees its address, and leaves others in peace", async () => {
    const [ada, eve] = [await joined(), await joined()];
    const agent = await agentOf(eve.client);
    await agentOf(ada.client);
    expect((await remove(ada.client)).status).toBe(200);
    const again = createClient(house.web);
    const id = await again.join({ email: ada.email });
    expect(id).not.toBe(ada.id);
    expect((await again.get("/api/agents")).body).toMatchObject({ count: 0 });
    expect((await again.get("/api/settings")).body).toMatchObject({ plan: "free", subscription: null });
    expect((await eve.client.get(`/api/agents/${agent.id}`)).status).toBe(200);
  });

  test("twice at once is done once", async () => {
    const { client, id } = await joined();
    await agentOf(client);
    const headers = { cookie: client.cookie };
    const answers = await Promise.all([1, 2, 3].map(() => remove(client, { password }, headers)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect(await house.kernel.events.since(0, { userId: id, types: ["user.deleted"] })).toHaveLength(1);
  });
});

describe("who may", () => {
  test.each([
    [{}, 400],
    [{ password: "" }, 400],
    [{ password: 7 }, 400],
    [{ password: "x".repeat(5_000) }, 400],
    [{ password: "not the password" }, 401],
    [{ userId: "another", currentPassword: password }, 400],
  ])("%j is %i, and nothing goes", async (body, status) => {
    const { client } = await joined();
    const agent = await agentOf(client);
    const answer = await remove(client, body);
    expectRefusal(answer, status, status === 401 ? "BAD_CREDENTIALS" : undefined);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await client.get(`/api/agents/${agent.id}`)).status).toBe(200);
  });

  test("an account without a password, from a young session and from no other", async () => {
    const { client, id } = await joined();
    await house.kernel.database.write([{ sql: "UPDATE users SET password_hash = NULL WHERE id = ?", args: [id] }]);
    house.app.accounts.users.invalidate(id);
    setSystemTime(Date.now() + 10 * MINUTE + 1_000);
    expectRefusal(await remove(client, {}), 403, "RECENT_SIGN_IN_REQUIRED");
    setSystemTime();
    expect((await remove(client, {})).status).toBe(200);
  });

  test("no API key, no page of another site, and nobody for somebody else", async () => {
    const { client, id } = await joined();
    const { body } = await client.post<{ key: string }>("/api/keys", { name: "script" });
    const key = { authorization: `Bearer ${body.key}` };
    expectRefusal(await remove(createClient(house.web), { password }, key), 403, "SESSION_REQUIRED");
    const foreign = { origin: "https://evil.example" };
    expectRefusal(await remove(client, { password }, foreign), 403, "FOREIGN_ORIGIN");
    const eve = await joined();
    expect((await remove(eve.client, { password, id, userId: id })).status).toBe(200);
    expect((await client.get("/api/settings")).body).toMatchObject({ id });
  });
});

describe("what fails on the way", () => {
  test("is the answer; the account stays, and can be deleted then", async () => {
    const { client, id } = await joined();
    await agentOf(client);
    const trouble: AppError = notFound("This can't be cleared now.", "NOT_NOW");
    hook = () => Promise.reject(trouble);
    const answer = await remove(client);
    expectRefusal(answer, 404, "NOT_NOW");
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await client.get("/api/settings")).body).toMatchObject({ id });
    expect(await house.kernel.events.since(0, { userId: id, types: ["user.deleted"] })).toEqual([]);
    hook = async () => undefined;
    expect((await remove(client)).status).toBe(200);
  });

  test("an agent made meanwhile goes too, with the news of it; one made each time is 409", async () => {
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
    const { length: made } = await house.kernel.events.since(0, { userId: id, types: ["agent.created"] });
    expect(await house.kernel.events.since(0, { userId: id, types: ["agent.deleted"] })).toHaveLength(made);
  });
});
