// Tests the routes of the gateway token: under each path, for its owner and for others.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Client, createClient } from "../../tests/support/client.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { type InteractionFixture, openInteractionFixture } from "../interaction/support.test.ts";

let fixture: InteractionFixture;
let ada: Client & { userId: string };
let eve: Client & { userId: string };
let admin: Client & { userId: string };
let agentId: string;

beforeAll(async () => {
  fixture = await openInteractionFixture();
  [ada, eve, admin] = [await fixture.member(), await fixture.member(), await fixture.member()];
  const nothing = () => ({ sql: "SELECT 1", args: [] });
  await fixture.app.accounts.administration.update(admin.userId, { isAdmin: true }, nothing, { keepAnAdmin: false });
  agentId = await fixture.provision(ada);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const NOBODYS = "01890a5d-ac96-774b-bcce-b302099a8057";
type Shown = { token: string };

/** Every route, by the id in its path. */
const routes = (name: string) =>
  ["agents", "instance"].flatMap((place) => [
    { method: "GET" as const, path: `/api/${place}/${name}/token` },
    { method: "POST" as const, path: `/api/${place}/${name}/token/rotate` },
  ]);
const ask = (who: Client, { method, path }: { method: "GET" | "POST"; path: string }) =>
  method === "GET" ? who.get<Shown>(path) : who.post<Shown>(path);

describe("the owner", () => {
  test("sees the same token each time; the first request creates it", async () => {
    const first = await ada.get<Shown>(`/api/agents/${agentId}/token`);
    expect({ status: first.status, body: first.body }).toEqual({
      status: 200,
      body: { token: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(first.headers.get("cache-control")).toBe("no-store");
    for (const name of [agentId, ada.userId]) {
      expect((await ada.get(`/api/instance/${name}/token`)).body).toEqual(first.body);
    }
  });

  test("replaces it, under each path", async () => {
    const seen = new Set([(await ada.get<Shown>(`/api/agents/${agentId}/token`)).body.token]);
    for (const path of [`agents/${agentId}`, `instance/${agentId}`, `instance/${ada.userId}`]) {
      const { status, body } = await ada.post<Shown>(`/api/${path}/token/rotate`);
      expect(status).toBe(200);
      expect(seen).not.toContain(body.token);
      seen.add(body.token);
      expect((await ada.get(`/api/agents/${agentId}/token`)).body).toEqual(body);
    }
    await fixture.agents.logs.flush();
    const { text } = await ada.get(`/api/agents/${agentId}/logs`);
    expect(text).toContain("The gateway token was replaced.");
    for (const token of seen) expect(text).not.toContain(token);
  });

  test("replaces it once for one Idempotency-Key; the repeated response has no token", async () => {
    const headers = { "idempotency-key": "once" };
    const [first, again] = [
      await ada.post<Shown>(`/api/agents/${agentId}/token/rotate`, undefined, { headers }),
      await ada.post(`/api/agents/${agentId}/token/rotate`, undefined, { headers }),
    ];
    expect(again.body).toEqual({ token: null });
    expect((await ada.get(`/api/agents/${agentId}/token`)).body).toEqual(first.body);
    expect(JSON.stringify(await fixture.rows("SELECT * FROM idempotency_keys"))).not.toContain(first.body.token);
  });

  test("needs an API key with the scope write, since the token is a credential", async () => {
    const { body } = await ada.post<{ key: string }>("/api/keys", { name: "r", scopes: ["read", "chat"] });
    const reader = createClient(fixture.origin);
    const headers = { authorization: `Bearer ${body.key}` };
    for (const { method, path } of routes(agentId)) {
      const answer = await (method === "GET"
        ? reader.get(path, { headers })
        : reader.post(path, undefined, { headers }));
      expectRefusal(answer, 403, "MISSING_SCOPE");
    }
    const writer = await ada.post<{ key: string }>("/api/keys", { name: "w", scopes: ["write"] });
    const asWriter = { headers: { authorization: `Bearer ${writer.body.key}` } };
    expect((await reader.get(`/api/agents/${agentId}/token`, asWriter)).status).toBe(200);
  });
});

describe("others", () => {
  test("get the same 403 with the failure body for another user's agent and a missing one; admins too", async () => {
    for (const who of [eve, admin]) {
      for (const [n, route] of routes(agentId).entries()) {
        const foreign = await ask(who, route);
        const body = expectRefusal(foreign, 403, "NOT_YOUR_AGENT");
        expect(body).toMatchObject({ success: false, status: "error" });
        const missing = routes(NOBODYS)[n];
        if (missing) expect((await ask(who, missing)).text).toBe(foreign.text);
      }
      for (const route of routes(ada.userId)) expectRefusal(await ask(who, route), 403, "NOT_YOUR_AGENT");
    }
  });

  test("get it from the backend too, by session and by key, also as an admin", async () => {
    const token = (await ada.get<Shown>(`/api/agents/${agentId}/token`)).body.token;
    const turn = { method: "POST", body: JSON.stringify({ platform: "web", message: "What did we say?" }) };
    const cases = [
      { rest: "/token", init: { method: "GET" }, refusal: { status: 403, code: "NOT_YOUR_AGENT" } },
      { rest: "/token/rotate", init: { method: "POST" }, refusal: { status: 403, code: "NOT_YOUR_AGENT" } },
      { rest: "/stop", init: { method: "POST" }, refusal: { status: 403, code: "NOT_YOUR_AGENT" } },
      { rest: "/messages?include=all", init: { method: "GET" }, refusal: { status: 404, code: "AGENT_NOT_FOUND" } },
      { rest: "/turns", init: turn, refusal: { status: 404, code: "AGENT_NOT_FOUND" } },
    ];
    for (const who of [eve, admin]) {
      const { body } = await who.post<{ key: string }>("/api/keys", { name: "all" });
      for (const shown of [{ cookie: who.cookie }, { authorization: `Bearer ${body.key}` }]) {
        for (const { rest, init, refusal } of cases) {
          const headers = { ...shown, "content-type": "application/json" };
          const request = new Request(`http://localhost/api/agents/${agentId}${rest}`, { ...init, headers });
          const answer = await fixture.app.backend.handle(request);
          const { code } = (await answer.json()) as { code: string };
          expect({ rest, status: answer.status, code }).toEqual({ rest, ...refusal });
        }
      }
    }
    expect((await ada.get<Shown>(`/api/agents/${agentId}/token`)).body.token).toBe(token);
    expect(await fixture.rows("SELECT 1 FROM inbox WHERE agent_id = ?", agentId)).toEqual([]);
  });

  test("get 401 without a session", async () => {
    for (const name of [agentId, ada.userId, NOBODYS, "x"]) {
      for (const route of routes(name))
        expectRefusal(await ask(createClient(fixture.origin), route), 401, "UNAUTHORIZED");
    }
  });

  test("get 403 under their own id when they have no agent", async () => {
    for (const route of routes(eve.userId).slice(2)) expectRefusal(await ask(eve, route), 403, "NOT_YOUR_AGENT");
  });

  test("do not change the token", async () => {
    const { body } = await ada.get<Shown>(`/api/agents/${agentId}/token`);
    const before = body.token;
    for (const route of routes(agentId)) await ask(eve, route);
    expect((await ada.get<Shown>(`/api/agents/${agentId}/token`)).body.token).toBe(before);
  });
});

describe("the backend", () => {
  const at = (method: string, path: string, bearer?: string, cookie?: string) =>
    fixture.app.backend.handle(
      new Request(`http://backend${path}`, {
        method,
        headers: { ...(bearer && { authorization: `Bearer ${bearer}` }), ...(cookie && { cookie }) },
      }),
    );
  const doors = [
    { method: "GET", path: "/token", action: "agent.token" },
    { method: "POST", path: "/token/rotate", action: "agent.rotate-token" },
  ];

  test("accepts a service token for exactly this action, and the owner's session", async () => {
    const { tokens } = fixture.kernel.backend;
    const grant = { userId: ada.userId, isAdmin: false, agentId, address: "" };
    for (const { method, path, action } of doors) {
      const url = `/api/agents/${agentId}${path}`;
      expect((await at(method, url, tokens.sign({ ...grant, action }))).status).toBe(200);
      expect((await at(method, url, undefined, ada.cookie)).status).toBe(200);
      expect((await at(method, url)).status).toBe(401);
      expect((await at(method, url, tokens.sign({ ...grant, action: "agent.chat" }))).status).toBe(401);
      expect((await at(method, url, tokens.sign({ ...grant, action, agentId: NOBODYS }))).status).toBe(403);
      expect((await at(method, url, tokens.sign({ ...grant, action, userId: eve.userId }))).status).toBe(403);
      expect((await at(method, url, undefined, eve.cookie)).status).toBe(403);
    }
  });

  test("responds to an internal error with 500 and the failure body, without details", async () => {
    await ada.get(`/api/agents/${agentId}/token`);
    const breaking = "UPDATE gateway_tokens SET sealed = 'v1.00000000.AAAA' WHERE agent_id = ?";
    await fixture.kernel.database.write([{ sql: breaking, args: [agentId] }]);
    const body = expectRefusal(await ada.get(`/api/agents/${agentId}/token`), 500);
    expect(body).toMatchObject({ success: false, status: "error" });
    // A new token replaces the unreadable one.
    expect((await ada.post(`/api/agents/${agentId}/token/rotate`)).status).toBe(200);
    expect((await ada.get(`/api/agents/${agentId}/token`)).status).toBe(200);
  });
});
