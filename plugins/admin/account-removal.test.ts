// An account that an admin removes goes as its owner's own deletion has it go, and the audit log says who did it.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { AppError } from "../../src/kernel/errors.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { type House, openHouse } from "../../tests/support/house.ts";
import { expectRefusal, provision } from "../../tests/support/scene.ts";

let house: House;
let root: Client;
let rootId: string;
/** What stands in the way of a deletion. */
let hook: () => Promise<void> = async () => undefined;
beforeAll(async () => {
  house = await openHouse({ env: { SIGNUP_TRIAL: "pro:7d" } });
  house.app.accounts.beforeDeletion(async () => {
    await hook();
    return [];
  });
  ({ client: root, id: rootId } = await joined(true));
});
afterAll(() => house?.[Symbol.asyncDispose]());
afterEach(() => {
  hook = async () => undefined;
});

async function joined(isAdmin = false): Promise<{ client: Client; id: string }> {
  const client = createClient(house.web);
  const id = await client.join();
  await house.kernel.database.write([house.app.accounts.users.updateStatement(id, { isAdmin })]);
  return { client, id };
}
const remove = (id: string, by = root, options = {}) => by.delete(`/api/admin/users/${id}`, undefined, options);
const rows = async (sql: string, ...args: string[]) => (await house.kernel.database.read(sql, args)).rows;
const audited = async (id: string) => {
  const { body } = await root.get<{ entries: { action: string }[] }>(`/api/admin/audit?user=${id}`);
  return body.entries;
};

describe("removing an account", () => {
  test("takes its agents, sessions and keys along, and is recorded in the admin's name", async () => {
    const { client, id } = await joined();
    const agent = await provision(client);
    const { body } = await client.post<{ key: string }>("/api/keys", { name: "script" });
    const answer = await remove(id);
    expect(answer).toMatchObject({ status: 200, body: { success: true, id, deleted: true } });
    expect(answer.headers.getSetCookie()).toEqual([]);

    expectRefusal(await client.get("/api/settings"), 401, "UNAUTHORIZED");
    const headers = { authorization: `Bearer ${body.key}` };
    expectRefusal(await createClient(house.web).get("/api/agents", { headers }), 401, "UNAUTHORIZED");
    expectRefusal(await root.get(`/api/admin/users/${id}`), 404, "USER_NOT_FOUND");
    expect(await rows("SELECT 1 FROM agents WHERE id = ?", agent.id)).toEqual([]);
    const types = (await house.kernel.events.since(0, { userId: id })).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(["agent.deleted", "user.deleted"]);
    expect(await audited(id)).toMatchObject([
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

  test("happens once: whoever comes later is told that there is none", async () => {
    const { id } = await joined();
    const answers = await Promise.all([remove(id), remove(id), remove(id)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    expect(await audited(id)).toHaveLength(1);
  });

  test("works for a disabled one", async () => {
    const { id } = await joined();
    await root.patch(`/api/admin/users/${id}`, { disabled: true });
    expect((await remove(id)).status).toBe(200);
  });

  test("where something of it can't be removed, it stays, and nothing is recorded", async () => {
    const { id } = await joined();
    hook = async () => {
      throw new AppError(502, "BACKEND_UNAVAILABLE", "The backend can't be reached. Try again.");
    };
    expectRefusal(await remove(id), 502, "BACKEND_UNAVAILABLE");
    expect((await root.get(`/api/admin/users/${id}`)).status).toBe(200);
    expect(await audited(id)).toEqual([]);
  });
});

describe("is refused", () => {
  test("with an admin's API key: it would outlast the key", async () => {
    const { id } = await joined();
    const { body } = await root.post<{ key: string }>("/api/keys", { name: "ops" });
    const headers = { authorization: `Bearer ${body.key}` };
    expectRefusal(await remove(id, createClient(house.web), { headers }), 403, "SESSION_REQUIRED");
    expect((await root.get(`/api/admin/users/${id}`)).status).toBe(200);
  });

  test("for the admin's own account, which its settings delete", async () => {
    expectRefusal(await remove(rootId), 409, "OWN_ACCOUNT");
    expect((await root.get("/api/settings")).status).toBe(200);
  });

  test("for the last admin, also of two who remove each other at once", async () => {
    await using other = await openHouse();
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
    // Who was just removed is signed out, or was on the way already.
    expect([401, 409]).toContain(refused?.status ?? 0);
    const { rows: left } = await other.kernel.database.read("SELECT is_admin FROM users");
    expect(left.map(({ is_admin }) => is_admin)).toEqual([1]);
  });
});
