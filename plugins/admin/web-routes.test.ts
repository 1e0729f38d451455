// The admin API: permissions, input and output of each route, and one audit entry per change.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY } from "../../src/kernel/util/time.ts";
import { type Answer, type Client, createClient } from "../../tests/support/client.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";

interface User {
  id: string;
  email: string;
  name: string;
  plan: string;
  isAdmin: boolean;
  disabled: boolean;
  sessions: number;
  subscription: { plan: string; status: string; active: boolean; currentPeriodEnd: string } | null;
}

interface Entry {
  at: string;
  actor: { kind: string; id: string | null; name: string };
  action: string;
  target: { kind: string; id: string; name: string };
  details: Record<string, unknown>;
  address: string | null;
  requestId: string | null;
}

let server: TestServer;
let root: Client;
let rootId: string;
let ada: Client;
let adaId: string;
beforeAll(async () => {
  server = await openServer();
  root = createClient(server.web);
  rootId = await root.join();
  await server.kernel.database.write([{ sql: "UPDATE users SET is_admin = 1 WHERE id = ?", args: [rootId] }]);
  server.app.accounts.users.invalidate(rootId);
  ada = createClient(server.web);
  adaId = await ada.join();
});
afterAll(() => server?.[Symbol.asyncDispose]());

const accountPath = () => `/api/admin/users/${adaId}`;
const UNKNOWN_ID = "01890a5d-ac96-774b-bcce-b302099a8057";

/** Every route, with a valid body. */
const routes = [
  ["GET", () => "/api/admin/users", undefined],
  ["POST", () => "/api/admin/users", { email: "taken@example.com" }],
  ["POST", () => "/api/admin/invitations", { email: "invited@example.com" }],
  ["GET", accountPath, undefined],
  ["PATCH", accountPath, { name: "Hacked" }],
  ["DELETE", accountPath, undefined],
  ["PUT", () => `${accountPath()}/subscription`, { plan: "enterprise" }],
  ["DELETE", () => `${accountPath()}/subscription`, undefined],
  ["POST", () => `${accountPath()}/reset-password`, undefined],
  ["GET", () => "/api/admin/audit", undefined],
] as const;

async function send(client: Client, method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await client.fetch(method, path, body);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

const audit = async (query = "") => {
  const { status, body } = await root.get<{ entries: Entry[]; total: number }>(`/api/admin/audit?${query}`);
  expect(status).toBe(200);
  return body;
};

/** The entries that `work` adds to the audit log, oldest first. */
async function recorded(work: () => Promise<unknown>): Promise<Entry[]> {
  const before = (await audit()).total;
  await work();
  const { entries, total } = await audit();
  return entries.slice(0, total - before).reverse();
}

describe("permissions", () => {
  test.each([...routes])("%s %p refuses requests without a session, whatever the body", async (method, path, body) => {
    const stranger = createClient(server.web);
    const bodies = method === "GET" ? [undefined] : [body, { plan: 1, email: [], name: {} }, "x".repeat(1024 * 1024)];
    for (const body of bodies) expectRefusal(await send(stranger, method, path(), body), 401, "UNAUTHORIZED");
  });

  test.each([...routes])("%s %p refuses users who are not admins, whatever the body", async (method, path, body) => {
    for (const given of method === "GET" ? [undefined] : [body, { plan: 1, email: [] }]) {
      expectRefusal(await send(ada, method, path(), given), 403, "ADMIN_REQUIRED");
    }
    expect((await root.get<User>(accountPath())).body).toMatchObject({ name: "Ada", plan: "free", isAdmin: false });
  });

  describe("with an admin's API key", () => {
    const client = () => createClient(server.web);
    const keyOf = async (scopes: string[]) => {
      const { body } = await root.post<{ key: string }>("/api/keys", { name: "ops", scopes });
      return { headers: { authorization: `Bearer ${body.key}` } };
    };

    test("accounts can be read, and subscriptions set and removed, with the matching scope", async () => {
      const reads = await keyOf(["read"]);
      expect((await client().get("/api/admin/users", reads)).status).toBe(200);
      expect((await client().get(accountPath(), reads)).status).toBe(200);
      expectRefusal(await client().put(`${accountPath()}/subscription`, { plan: "pro" }, reads), 403, "MISSING_SCOPE");
      const writes = await keyOf(["write"]);
      expect((await client().put(`${accountPath()}/subscription`, { plan: "pro" }, writes)).status).toBe(200);
      expect((await client().delete(`${accountPath()}/subscription`, undefined, writes)).status).toBe(200);
    });

    const newAdmin = { email: "made-by-a-key@example.com", password: "correct horse", isAdmin: true };
    const powerful: [method: string, path: () => string, body: unknown][] = [
      ["POST", () => "/api/admin/users", newAdmin],
      ["PATCH", accountPath, { isAdmin: true }],
      ["POST", () => "/api/admin/invitations", { email: "invited@example.com" }],
      ["POST", () => `${accountPath()}/reset-password`, undefined],
    ];
    // Otherwise a leaked key could create an admin who outlasts the key.
    test.each(powerful)("%s %p is refused, whatever the body", async (method, path, body) => {
      const { headers } = await keyOf(["read", "write", "chat"]);
      for (const given of [body, { isAdmin: "yes", email: [] }]) {
        const entries = await recorded(async () => {
          const answer = await client().fetch(method, path(), given, { headers });
          expect(answer.status).toBe(403);
          expect(await answer.json()).toMatchObject({ code: "SESSION_REQUIRED" });
        });
        expect(entries).toEqual([]);
      }
      expect((await root.get<User>(accountPath())).body).toMatchObject({ isAdmin: false });
      const { body: list } = await root.get<{ total: number }>("/api/admin/users?query=made-by-a-key");
      expect(list.total).toBe(0);
    });
  });

  test("only admins learn whether an account exists", async () => {
    expectRefusal(await ada.get(`/api/admin/users/${UNKNOWN_ID}`), 403, "ADMIN_REQUIRED");
    for (const [method, path, body] of routes.filter(([, path]) => path().includes(adaId))) {
      for (const id of [UNKNOWN_ID, "x"]) {
        expectRefusal(await send(root, method, path().replace(adaId, id), body), 404, "USER_NOT_FOUND");
      }
    }
  });
});

describe("bad input", () => {
  test.each([
    ["POST", "/api/admin/users", {}],
    ["POST", "/api/admin/users", { email: "x" }],
    ["POST", "/api/admin/users", { email: "fine@example.com", password: "short" }],
    ["POST", "/api/admin/users", { email: "fine@example.com", name: "two\nlines" }],
    ["POST", "/api/admin/users", { email: "fine@example.com", isAdmin: "yes" }],
    ["PATCH", "", { name: "two\nlines" }],
    ["PATCH", "", { name: 1 }],
    ["PATCH", "", { isAdmin: "true" }],
    ["PATCH", "", { credits: -1 }],
    ["PATCH", "", { credits: 1.5 }],
    ["PATCH", "", { credits: "5" }],
    ["PATCH", "", { disabled: null }],
    ["PUT", "/subscription", {}],
    ["PUT", "/subscription", { plan: "gold" }],
    ["PUT", "/subscription", { plan: "pro", status: "lapsed" }],
    ["PUT", "/subscription", { plan: "pro", days: 0 }],
    ["PUT", "/subscription", { plan: "pro", days: "7" }],
    ["PUT", "/subscription", { plan: "pro", days: 36_501 }],
    ["PUT", "/subscription", { plan: "pro", currentPeriodEnd: "tomorrow" }],
    ["PUT", "/subscription", { plan: "pro", currentPeriodEnd: "2030-13-45T00:00:00Z" }],
    ["PUT", "/subscription", { plan: "pro", days: 7, currentPeriodEnd: "2030-01-01T00:00:00Z" }],
    ["GET", "/api/admin/users?limit=0", undefined],
    ["GET", "/api/admin/users?limit=x", undefined],
    ["GET", "/api/admin/users?offset=-1", undefined],
    ["GET", "/api/admin/users?status=nice", undefined],
    ["GET", "/api/admin/audit?limit=1.5", undefined],
  ])("%s %s %j is refused with 400 and paths, and not recorded", async (method, path, body) => {
    const entries = await recorded(async () => {
      const refused = await send(root, method, path.startsWith("/api") ? path : accountPath() + path, body);
      expect(expectRefusal(refused, 400).issues?.length).toBeGreaterThan(0);
    });
    expect(entries).toEqual([]);
  });
});

describe("creating accounts", () => {
  test("with a password: usable at once, and no secret in the response or the log", async () => {
    const password = "a password from an admin";
    let answer: Answer<User> | undefined;
    const entries = await recorded(async () => {
      answer = await root.post<User>("/api/admin/users", { email: "Made@Example.com ", name: "Made", password });
    });
    expect(answer?.status).toBe(201);
    expect(answer?.body).toMatchObject({
      email: "made@example.com",
      name: "Made",
      plan: "free",
      isAdmin: false,
      agents: 0,
    });
    expect(answer?.text).not.toMatch(/hash|argon|a password/i);
    expect(entries).toMatchObject([
      { action: "user.create", target: { id: answer?.body.id, name: "made@example.com" } },
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/argon|a password/);
    const owner = createClient(server.web);
    const signedIn = await owner.post("/api/auth/callback/credentials", { email: "made@example.com", password });
    expect(signedIn.status).toBe(200);
  });

  test("without a password: mails the owner a link, unless invite is false", async () => {
    const mails = async () => (await server.kernel.database.read("SELECT 1 FROM jobs WHERE kind = 'mail'")).rows.length;
    const before = await mails();
    const invited = await root.post("/api/admin/users", { email: "invited@example.com" });
    expect(invited.status).toBe(201);
    expect(invited.body).toMatchObject({ hasPassword: false, emailVerified: false });
    expect(invited.text).not.toContain("token=");
    expect(await mails()).toBe(before + 1);
    expect((await root.post("/api/admin/users", { email: "quiet@example.com", invite: false })).status).toBe(201);
    expect(await mails()).toBe(before + 1);
  });

  test("an existing address is 409, and an idempotency key makes it happen once", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const entries = await recorded(async () => {
      for (let n = 0; n < 2; n++) {
        expect((await root.post("/api/admin/users", { email: "once@example.com" }, { headers })).status).toBe(201);
      }
      expectRefusal(await root.post("/api/admin/users", { email: "ONCE@example.com" }), 409, "USER_EXISTS");
    });
    expect(entries).toHaveLength(1);
  });

  test("ignores fields that admins may not set", async () => {
    const wish = {
      id: UNKNOWN_ID,
      plan: "enterprise",
      credits: 9,
      passwordHash: "x",
      createdAt: "2020-01-01T00:00:00Z",
    };
    const { body } = await root.post<User>("/api/admin/users", { email: "wish@example.com", ...wish });
    expect(body).toMatchObject({ plan: "free", credits: 0, hasPassword: false, subscription: null });
    expect(body.id).not.toBe(UNKNOWN_ID);
  });
});

describe("changing accounts", () => {
  test("adds one entry per action, with actor, target, time and client address", async () => {
    let requestId: string | null = null;
    const entries = await recorded(async () => {
      const { status, body, headers } = await root.patch<User>(accountPath(), {
        name: "Countess",
        isAdmin: true,
        plan: "pro",
      });
      requestId = headers.get("x-request-id");
      expect({ status, body }).toMatchObject({ status: 200, body: { name: "Countess", isAdmin: true, plan: "free" } });
    });
    const same = {
      actor: { kind: "user", id: rootId, name: root.account.email },
      target: { kind: "user", id: adaId, name: ada.account.email },
      address: "127.0.0.1",
      requestId,
    };
    expect(entries).toMatchObject([
      { ...same, action: "user.update", details: { name: { from: "Ada", to: "Countess" } } },
      { ...same, action: "user.promote", details: { isAdmin: { from: false, to: true } } },
    ]);
    expect(Date.now() - Date.parse(entries[0]?.at ?? "")).toBeLessThan(60_000);
    expect(await recorded(() => root.patch(accountPath(), { name: "Countess" }))).toEqual([]);
    expect(await recorded(() => root.patch(accountPath(), {}))).toEqual([]);
    expect(await recorded(() => root.patch(accountPath(), { name: "Ada", isAdmin: false }))).toHaveLength(2);
  });

  test("a disabled account loses all access, learns the reason only after its password, and can be enabled again", async () => {
    const eve = createClient(server.web);
    const id = await eve.join();
    const path = `/api/admin/users/${id}`;
    expect((await root.get<User>(path)).body).toMatchObject({ disabled: false, disabledAt: null, sessions: 1 });
    const entries = await recorded(() => root.patch(path, { disabled: true }));
    expect(entries).toMatchObject([{ action: "user.disable", details: { disabled: { from: false, to: true } } }]);
    expect((await root.get<User>(path)).body).toMatchObject({ disabled: true, sessions: 0 });
    expectRefusal(await eve.get("/api/settings"), 401, "UNAUTHORIZED");
    const { email, password } = eve.account;
    const signIn = (password: string) => eve.post("/api/auth/callback/credentials", { email, password });
    expectRefusal(await signIn("a wrong password"), 401, "BAD_CREDENTIALS");
    expectRefusal(await signIn(password), 403, "ACCOUNT_DISABLED");
    expectRefusal(await root.post(`${path}/reset-password`), 409, "ACCOUNT_DISABLED");
    expect(await recorded(() => root.patch(path, { disabled: false }))).toMatchObject([{ action: "user.enable" }]);
    expect((await signIn(password)).status).toBe(200);
  });

  test("the last admin can't be demoted or disabled", async () => {
    const entries = await recorded(async () => {
      for (const wish of [{ isAdmin: false }, { disabled: true }, { name: "Gone", disabled: true, isAdmin: false }]) {
        expectRefusal(await root.patch(`/api/admin/users/${rootId}`, wish), 409, "LAST_ADMIN");
      }
    });
    expect(entries).toEqual([]);
    expect((await root.get<User>(`/api/admin/users/${rootId}`)).body).toMatchObject({ name: "Ada", isAdmin: true });
  });
});

describe("subscriptions", () => {
  const put = (body: object) => root.put<User>(`${accountPath()}/subscription`, body);

  test("are active for 30 days by default", async () => {
    const entries = await recorded(async () => {
      const { status, body } = await put({ plan: "pro" });
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { plan: "pro", subscription: { plan: "pro", status: "active", active: true } },
      });
      const days = (Date.parse(body.subscription?.currentPeriodEnd ?? "") - Date.now()) / DAY;
      expect(days).toBeWithin(29.99, 30.01);
    });
    expect(entries).toMatchObject([{ action: "subscription.set", details: { subscription: { from: null } } }]);
    expect((await ada.get("/api/settings")).body).toMatchObject({ plan: "pro", subscription: { active: true } });
  });

  test("have the given status and end", async () => {
    const end = "2031-01-31T12:00:00.000Z";
    const given = { plan: "starter", status: "trialing", currentPeriodEnd: "2031-01-31T13:00:00+01:00" };
    const { plan, status } = given;
    expect((await put(given)).body.subscription).toEqual({ plan, status, active: true, currentPeriodEnd: end });
    expect((await put({ plan: "pro", status: "past_due", days: 7 })).body.subscription).toMatchObject({
      active: false,
    });
    const past = { plan: "pro", currentPeriodEnd: "2020-01-01T00:00:00Z" };
    expect((await put(past)).body.subscription).toMatchObject({ status: "active", active: false });
  });

  test("are removed once", async () => {
    await put({ plan: "pro" });
    const path = `${accountPath()}/subscription`;
    const entries = await recorded(async () => {
      expect((await root.delete(path)).body).toMatchObject({ plan: "free", subscription: null });
      expect((await root.delete(path)).status).toBe(200);
    });
    expect(entries).toMatchObject([{ action: "subscription.remove", details: { subscription: { to: null } } }]);
    expect((await ada.get("/api/settings")).body).toMatchObject({ plan: "free", subscription: null });
  });
});

describe("resetting a password", () => {
  test("mails a link, and does not return it", async () => {
    const mails = "SELECT payload FROM jobs WHERE kind = 'mail' ORDER BY id DESC LIMIT 1";
    const before = (await server.kernel.database.read(mails)).rows[0]?.payload;
    const entries = await recorded(async () => {
      const { status, body, text } = await root.post(`${accountPath()}/reset-password`);
      expect({ status, body }).toEqual({ status: 200, body: { success: true, message: expect.any(String) } });
      expect(text).not.toMatch(/token|http/);
    });
    expect(entries).toMatchObject([{ action: "user.reset-password", details: { delivery: "mail" } }]);
    expect((await server.kernel.database.read(mails)).rows[0]?.payload).not.toBe(before);
  });

  test("is refused for a wallet account", async () => {
    const email = "0x1234567890abcdef1234567890abcdef12345678@wallet.invalid";
    const { id } = await server.app.accounts.users.create({ email, passwordHash: null });
    expectRefusal(await root.post(`/api/admin/users/${id}/reset-password`), 409, "NO_MAILBOX");
  });
});

describe("lists", () => {
  test("return accounts in pages, newest first, filtered by text and status", async () => {
    const list = async (query: string) =>
      (await root.get<{ users: User[]; total: number; limit: number; offset: number }>(`/api/admin/users?${query}`))
        .body;
    const all = await list("limit=1000");
    expect(all).toMatchObject({ total: all.users.length, limit: 200, offset: 0 });
    expect(all.users.map(({ id }) => id)).toEqual(
      all.users
        .map(({ id }) => id)
        .toSorted()
        .reverse(),
    );
    expect(all.users[0]).not.toHaveProperty("passwordHash");
    const second = await list("limit=1&offset=1");
    expect(second).toMatchObject({ total: all.total, limit: 1, offset: 1, users: [{ id: all.users[1]?.id }] });
    expect((await list(`query=${ada.account.email}`)).users.map(({ id }) => id)).toEqual([adaId]);
    expect((await list("status=admin")).users.map(({ id }) => id)).toEqual([rootId]);
    expect((await list("status=disabled")).total).toBe(0);
    expect((await list("offset=10000")).users).toEqual([]);
  });

  test("return the audit log, filtered by actor, target and action", async () => {
    const byRoot = await audit(`actor=${rootId}&limit=200`);
    expect(byRoot.total).toBeGreaterThan(0);
    expect(byRoot.entries.every(({ actor }) => actor.id === rootId)).toBe(true);
    const byAddress = await audit(`actor=${encodeURIComponent(root.account.email)}&limit=200`);
    expect(byAddress.total).toBeGreaterThanOrEqual(byRoot.total);
    expect(new Set(byAddress.entries.map(({ actor }) => actor.kind))).toEqual(new Set(["user", "key"]));
    const byAda = await audit(`actor=${adaId}&limit=200`);
    expect(new Set(byAda.entries.map(({ action }) => action))).toContain("user.sign-in");
    const ofAda = await audit(`user=${adaId}&action=subscription.set`);
    expect(ofAda.total).toBeGreaterThan(0);
    expect(new Set(ofAda.entries.map(({ action, target }) => `${action} ${target.id}`)).size).toBe(1);
    expect((await audit("limit=1")).entries).toHaveLength(1);
    expect(JSON.stringify(byRoot)).not.toMatch(/argon|token=|password_hash/);
  });

  test("keep entries after the account is deleted, with the address of the admin at that time", async () => {
    const { body } = await root.post<User>("/api/admin/users", { email: "mayfly@example.com", invite: false });
    await server.kernel.database.write([{ sql: "DELETE FROM users WHERE id = ?", args: [body.id] }]);
    const { entries } = await audit(`user=${body.id}`);
    expect(entries).toMatchObject([{ action: "user.create", actor: { name: root.account.email } }]);
  });
});
