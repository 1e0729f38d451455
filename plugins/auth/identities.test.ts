// Authentication: what API keys may and may not do, and that a bearer token takes precedence over the cookie.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { subscribe } from "../../tests/support/account-setup.ts";
import { type Client, createClient, type SendOptions } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer({ env: { ADMIN_EMAILS: "root@example.com, boss@example.com" } });
});
afterAll(() => server?.[Symbol.asyncDispose]());

const bearer = (key: string): SendOptions => ({ headers: { authorization: `Bearer ${key}` } });

async function member(email?: string) {
  const client = createClient(server.web);
  const id = await client.join(email === undefined ? {} : { email });
  const key = async (scopes?: string[], options?: SendOptions) =>
    (await client.post<{ key: string }>("/api/keys", { name: "k", scopes }, options)).body.key;
  return { client, id, key };
}

/** A user with an agent, and a client that sends a key of these scopes instead of the cookie. */
async function memberWithAgent(...scopes: string[]) {
  const { client, id, key } = await member();
  await subscribe(server, client.account.email, "pro");
  const { body } = await client.post<{ agent: { id: string } }>("/api/agents/provision", {
    name: "Harbour",
    config: {},
  });
  const options = bearer(await key(scopes.length > 0 ? scopes : undefined));
  const ask = (surface: string, method: string, path: string, sent?: unknown) => {
    const http = createClient(surface);
    if (method === "GET") return http.get(path, options);
    if (method === "PUT") return http.put(path, sent, options);
    return method === "DELETE" ? http.delete(path, sent, options) : http.post(path, sent, options);
  };
  return { client, id, agentId: body.agent.id, ask, options };
}

describe("an API key", () => {
  test("works wherever a session does, on both surfaces", async () => {
    const { id, agentId, ask } = await memberWithAgent();
    expect((await ask(server.web, "GET", "/api/settings")).body).toMatchObject({ id });
    expect((await ask(server.web, "GET", "/api/agents")).body).toMatchObject({ count: 1 });
    expect((await ask(server.web, "POST", "/api/chat", { message: "Hello" })).status).toBe(200);
    expect((await ask(server.web, "PUT", `/api/agents/${agentId}/config`, { a: 1 })).status).toBe(200);
    expect((await ask(server.backend, "GET", `/api/agents/${agentId}`)).body).toMatchObject({ id: agentId });
    const message = { platform: "api", message: "Hello" };
    expect((await ask(server.backend, "POST", `/api/agents/${agentId}/turns`, message)).status).toBe(200);
    expect((await ask(server.backend, "DELETE", `/api/agents/${agentId}`)).status).toBe(200);
  });

  test("needs the scope of the route, checked before the body is read", async () => {
    const { agentId } = await memberWithAgent();
    const all = [
      ["read", "web", "GET", "/api/settings"],
      ["read", "web", "GET", "/api/agents"],
      ["read", "web", "GET", `/api/agents/${agentId}`],
      ["read", "web", "GET", "/api/agent"],
      ["read", "web", "GET", "/api/chat"],
      ["read", "backend", "GET", `/api/agents/${agentId}`],
      ["read", "backend", "GET", `/api/agents/${agentId}/channels`],
      ["chat", "web", "POST", "/api/chat"],
      ["chat", "web", "POST", "/api/agent"],
      ["chat", "backend", "POST", `/api/agents/${agentId}/turns`],
      ["chat", "backend", "POST", `/api/agents/${agentId}/sessions`],
      ["write", "web", "POST", "/api/agents/provision"],
      ["write", "web", "PUT", `/api/agents/${agentId}/config`],
      ["write", "web", "DELETE", `/api/agents/${agentId}`],
      ["write", "backend", "POST", "/api/agents"],
      ["write", "backend", "PUT", `/api/agents/${agentId}/config`],
      ["write", "backend", "PUT", `/api/agents/${agentId}/skills/clock`],
      ["write", "backend", "PUT", `/api/agents/${agentId}/credentials/provider_1`],
      ["write", "backend", "DELETE", `/api/agents/${agentId}`],
    ] as const;
    for (const scope of ["read", "write", "chat"] as const) {
      const { key } = await member();
      const headers = { ...bearer(await key([scope])).headers, "content-type": "application/json" };
      for (const [required, surface, method, path] of all) {
        const init = { method, headers, ...(method === "GET" ? {} : { body: "{ not JSON" }) };
        const answer = await fetch(`${server[surface]}${path}`, init);
        const { code } = (await answer.json()) as { code?: string };
        expect({ scope, method, path, missing: code === "MISSING_SCOPE" }).toEqual({
          scope,
          method,
          path,
          missing: scope !== required,
        });
        if (scope !== required) expect(answer.status).toBe(403);
      }
    }
  });

  test("with the scope chat can't change an agent through the chat route", async () => {
    const { ask } = await memberWithAgent("chat");
    const change = { action: "set-credential", key: "provider_1", value: "sk-x" };
    expectRefusal(await ask(server.web, "POST", "/api/agent", change), 403, "MISSING_SCOPE");
    const skill = { action: "update-skill", skillId: "clock", enabled: false };
    expectRefusal(await ask(server.web, "POST", "/api/agent", skill), 403, "MISSING_SCOPE");
    expect((await ask(server.web, "POST", "/api/agent", { message: "Hello" })).status).toBe(200);
  });

  test("can't change the security settings of the account, whatever its scopes", async () => {
    for (const scopes of [["read", "write", "chat"], ["chat"]]) {
      const { key } = await member();
      const options = bearer(await key(scopes));
      const http = createClient(server.web);
      for (const answer of [
        await http.post("/api/keys", { name: "more" }, options),
        await http.get("/api/keys", options),
        await http.delete("/api/keys/any", undefined, options),
        await http.post("/api/settings/2fa", {}, options),
        await http.post("/api/settings/2fa/confirm", {}, options),
        await http.delete("/api/settings/2fa", {}, options),
        await http.post("/api/settings/password", {}, options),
        await http.delete("/api/settings", {}, options),
      ]) {
        expectRefusal(answer, 403, "SESSION_REQUIRED");
      }
    }
  });

  test("is not a session: none is shown or renewed, and a sign-out with it ends nothing", async () => {
    const { client, key } = await member();
    const options = bearer(await key());
    const answer = await createClient(server.web).get("/api/auth/session", options);
    expect(answer.body).toEqual({ user: null, expires: null });
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await createClient(server.web).post("/api/auth/signout", undefined, options)).status).toBe(200);
    expect((await client.get("/api/settings")).status).toBe(200);
    expect((await createClient(server.web).get("/api/settings", options)).status).toBe(200);
  });

  test("is accepted from pages of other sites, since no cookie is involved", async () => {
    const { key } = await member();
    const headers = { authorization: `Bearer ${await key()}`, origin: "https://other.example" };
    expect((await createClient(server.web).patch("/api/settings", { name: "Eve" }, { headers })).status).toBe(200);
  });

  test("of a disabled account is refused", async () => {
    const { id, key } = await member();
    const options = bearer(await key());
    await server.kernel.database.write([{ sql: "UPDATE users SET disabled_at = 1 WHERE id = ?", args: [id] }]);
    server.app.accounts.users.invalidate(id);
    expectRefusal(await createClient(server.web).get("/api/settings", options), 401, "UNAUTHORIZED");
    expectRefusal(await createClient(server.backend).post("/api/agents", {}, options), 401, "UNAUTHORIZED");
  });
});

describe("a bearer token takes precedence", () => {
  const notKeys = ["", "x", "bk_", `bk_${"A".repeat(43)}`, "st.e30.AAAA", "null"];

  test("so that a valid cookie beside an invalid token is ignored", async () => {
    const { client } = await member();
    for (const text of notKeys) {
      for (const authorization of [`Bearer ${text}`, `bearer ${text}`, `BEARER  ${text}`]) {
        const headers = { authorization };
        expectRefusal(await client.get("/api/settings", { headers }), 401, "UNAUTHORIZED");
        expectRefusal(await client.post("/api/agents/provision", {}, { headers }), 401, "UNAUTHORIZED");
        expectRefusal(await client.get("/api/agents", { headers }), 401, "UNAUTHORIZED");
        expect((await client.get("/api/auth/session", { headers })).body).toMatchObject({ user: null });
      }
    }
    expect((await client.get("/api/settings", { headers: { authorization: "Basic eDp5" } })).status).toBe(200);
  });

  test("so that another site can't bypass the origin check by adding an invalid token", async () => {
    const { client } = await member();
    for (const text of notKeys) {
      const headers = { authorization: `Bearer ${text}`, origin: "https://evil.example" };
      const answer = await client.patch("/api/settings", { name: "Eve" }, { headers });
      expect([401, 403]).toContain(answer.status);
    }
    expect((await client.get("/api/settings")).body).toMatchObject({ name: "Ada" });
  });

  test("over the cookie of another user", async () => {
    const [ada, eve] = [await member(), await member()];
    expect((await eve.client.get("/api/settings", bearer(await ada.key()))).body).toMatchObject({ id: ada.id });
  });

  test("and an API key is not accepted as service token, nor a service token as API key", async () => {
    const { key } = await member();
    const { tokens } = server.kernel.backend;
    const grant = { userId: "x", isAdmin: true, action: "agent.provision", address: "127.0.0.1" };
    const options = bearer(tokens.sign(grant));
    expectRefusal(await createClient(server.web).get("/api/settings", options), 401, "UNAUTHORIZED");
    expect(tokens.verify(await key())).toBeUndefined();
  });
});

describe("model calls", () => {
  const chat = (options?: SendOptions) =>
    createClient(server.backend).post("/v1/chat/completions", { messages: [{ role: "user", content: "Hi" }] }, options);
  const payers = async () =>
    (await server.kernel.database.read("SELECT kind, user_id FROM usage WHERE kind <> 'turn'")).rows.map((row) => ({
      kind: row.kind,
      user: row.user_id,
    }));

  test("are charged to the owner of a Berth key, and are public with any other key", async () => {
    const { client, id, key } = await member();
    expect((await chat(bearer(await key(["chat"])))).status).toBe(200);
    expect((await chat(bearer("sk-whatever-a-client-must-send"))).status).toBe(200);
    const { cookie } = client;
    const both = { headers: { cookie, authorization: "Bearer sk-whatever" } };
    expect((await chat(both)).status).toBe(200);
    await eventually(async () => (await payers()).length === 3);
    const [own, ...others] = await payers();
    expect([own, ...others]).toEqual([
      { kind: "api", user: id },
      { kind: "public", user: null },
      { kind: "public", user: null },
    ]);
  });

  test("are refused with a key without the scope chat", async () => {
    const { key } = await member();
    expectRefusal(await chat(bearer(await key(["read", "write"]))), 403, "MISSING_SCOPE");
  });

  test("are refused with an unknown key that has the prefix of Berth", async () => {
    expectRefusal(await chat(bearer(`bk_${"A".repeat(43)}`)), 401, "UNAUTHORIZED");
  });
});

describe("an address of ADMIN_EMAILS", () => {
  const isAdmin = async (key: string, headers: Record<string, string> = {}) => {
    const options = { headers: { ...bearer(key).headers, ...headers } };
    return (await createClient(server.web).get<{ isAdmin: boolean }>("/api/settings", options)).body.isAdmin;
  };
  const proxied = { "x-forwarded-for": "127.0.0.1" };

  test("counts unverified only for a key that is created and used directly on this machine", async () => {
    const { client, key } = await member("root@example.com");
    const direct = await key();
    expect(await isAdmin(direct)).toBe(true);
    expect(await isAdmin(direct, proxied)).toBe(false);
    expect(await isAdmin(await key(undefined, { headers: proxied }))).toBe(false);
    const remote: Client = createClient(server.web);
    const { email, password } = client.account;
    await remote.post("/api/auth/callback/credentials", { email, password }, { headers: proxied });
    const { body } = await remote.post<{ key: string }>("/api/keys", { name: "remote" });
    expect(await isAdmin(body.key)).toBe(false);
  });

  test("counts with any key once it is verified", async () => {
    const { id, key } = await member("boss@example.com");
    const remoteKey = await key(undefined, { headers: proxied });
    expect(await isAdmin(remoteKey)).toBe(false);
    await server.kernel.database.write([{ sql: "UPDATE users SET email_verified = 1 WHERE id = ?", args: [id] }]);
    server.app.accounts.users.invalidate(id);
    expect(await isAdmin(remoteKey, proxied)).toBe(true);
  });
});
