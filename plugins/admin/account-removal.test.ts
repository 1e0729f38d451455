// Account removal by an admin: deletes what the owner's own deletion does, and is recorded in the audit log.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { AppError } from "../../src/kernel/errors.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { provision } from "../../tests/support/members.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";

let server: TestServer;
let root: Client;
let rootId: string;
/** The hook that the next deletions run. */
let hook: () => Promise<void> = async () => undefined;
beforeAll(async () => {
  server = await openServer({ env: { SIGNUP_TRIAL: "pro:7d" } });
  server.app.accounts.beforeDeletion(async () => {
    await hook();
    return [];
  });
  ({ client: root, id: rootId } = await joined(true));
});
afterAll(() => server?.[Symbol.asyncDispose]());
afterEach(() => {
  hook = async () => undefined;
});

async function joined(isAdmin = false): Promise<{ client: Client; id: string }> {
  const client = createClient(server.web);
  const id = await client.join();
  await server.kernel.database.write([server.app.accounts.users.updateStatement(id, { isAdmin })]);
  return { client, id };
}
const remove = (id: string, by = root, options = {}) => by.delete(`/api/admin/users/${id}`, undefined, options);
const rows = async (sql: string, ...args: string[]) => (await server.kernel.database.read(sql, args)).rows;
const audited = async (id: string) => {
  const { body } = await root.get<{ entries: { action: string }[] }>(`/api/admin/audit?user=${id}`);
  return body.entries;
};

describe("removing an account", () => {
  test("deletes its agents, sessions and keys, and is recorded with the admin", async () => {
    const { client, id } = await joined();
    const agent = await provision(client);
    const { body } = await client.post<{ key: string }>("/api/keys", { name: "script" });
    const answer = await remove(id);
    expect(answer).toMatchObject({ status: 200, body: { success: true, id, deleted: true } });
    expect(answer.headers.getSetCookie()).toEqual([]);

    expectRefusal(await client.get("/api/settings"), 401, "UNAUTHORIZED");
    const headers = { authorization: `Bearer ${body.key}` };
    expectRefusal(await createClient(server.web).get("/api/agents", { headers }), 401, "UNAUTHORIZED");
    expectRefusal(await root.get(`/api/admin/users/${id}`), 404, "USER_NOT_FOUND");
    expect(await rows("SELECT 1 FROM agents WHERE id = ?", agent.id)).toEqual([]);
    const types = (await server.kernel.events.since(0, { userId: id })).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(["agent.deleted", "user.deleted"]);
    expect((await audited(id)).slice(0, 1)).toMatchObject([
      {
        action: "user.delete",
        actor: { kind: "user", id: rootId, name: root.account.email },
        target: { kind: "user", id, name: client.account.email },
        details: { name: "Ada", plan: "pro" },
        address: "127.0.0.1",
        requestId: answer.headers.get("x-request-id"),
      },
    ]);
    expect((await root.get("/api/settings")).status).toBe(200);
  });

  test("happens once; later requests get 404", async () => {
    const { id } = await joined();
    const answers = await Promise.all([remove(id), remove(id), remove(id)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    expect((await audited(id)).filter(({ action }) => action === "user.delete")).toHaveLength(1);
  });

  test("works for a disabled account", async () => {
    const { id } = await joined();
    await root.patch(`/api/admin/users/${id}`, { disabled: true });
    expect((await remove(id)).status).toBe(200);
  });

  test("changes and records nothing if a hook fails", async () => {
    const { id } = await joined();
    hook = async () => {
      throw new AppError(502, "BACKEND_UNAVAILABLE", "The backend can't be reached. Try again.");
    };
    expectRefusal(await remove(id), 502, "BACKEND_UNAVAILABLE");
    expect((await root.get(`/api/admin/users/${id}`)).status).toBe(200);
    expect((await audited(id)).map(({ action }) => action)).not.toContain("user.delete");
  });
});

describe("the removal is refused", () => {
  test("with the API key of an admin", async () => {
    const { id } = await joined();
    const { body } = await root.post<{ key: string }>("/api/keys", { name: "ops" });
    const headers = { authorization: `Bearer ${body.key}` };
    expectRefusal(await remove(id, createClient(server.web), { headers }), 403, "SESSION_REQUIRED");
    expect((await root.get(`/api/admin/users/${id}`)).status).toBe(200);
  });

  test("for the admin's own account", async () => {
    expectRefusal(await remove(rootId), 409, "OWN_ACCOUNT");
    expect((await root.get("/api/settings")).status).toBe(200);
  });

  test("for the last admin, also if two remove each other concurrently", async () => {
    await using other = await openServer();
    const admin = async () => {
      const client = createClient(other.web);
      const id = await client.join();
      await other.kernel.database.write([other.app.accounts.users.updateStatement(id, { isAdmin: true })]);
      return { client, id };
    };
    const [one, two] = [await admin(), await admin()];
    const answers = await Promise.all([remove(two.id, one.client), remove(one.id, two.client)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = answers.find(({ status }) => status !== 200);
    // The removed admin is signed out, or failed on the guard.
    expect([401, 409]).toContain(refused?.status ?? 0);
    const { rows: remaining } = await other.kernel.database.read("SELECT is_admin FROM users");
    expect(remaining.map(({ is_admin }) => is_admin)).toEqual([1]);
  });
});
