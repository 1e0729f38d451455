// Isolation of two tenants on one host: no path, body, header or token gives access to the other's data.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServiceTokens, type Grant } from "../src/kernel/http/backend/service-tokens.ts";
import { createVault } from "../src/kernel/security/vault.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { openGateway } from "./support/gateway-client.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { rawRequest } from "./support/raw.ts";
import { expectRefusal } from "./support/refusal.ts";

const SECRET_KEY = "isolation-test-root-key-0123456789abcdef";
const CANARY = "canary-of-alice";

let berth: Berth;
let alice: Client;
let mallory: Client;
let hers: AgentItem;
let own: AgentItem;
let session: string;

beforeAll(async () => {
  berth = await startBerth({ env: { SECRET_KEY, RATE_LIMITS: "off" } });
  alice = await member(berth);
  mallory = await member(berth);
  hers = await provision(alice, CANARY, { instructions: CANARY, note: CANARY });
  own = await provision(mallory, "Mallory's");
  const greeting = await alice.post<{ sessionId: string }>("/api/agent", {
    message: `Remember that ${CANARY} is mine.`,
  });
  session = greeting.body.sessionId;
  await mallory.post("/api/agent", { message: "Hello" });
});
afterAll(() => berth?.[Symbol.asyncDispose]());

/** A valid id that does not exist. */
const NOBODY = "01890a5d-ac96-774b-bcce-b302099a8057";

interface Route {
  side: "web" | "backend";
  method: string;
  /** Around the agent's id. */
  path: [before: string, after: string];
  body?: object;
  /** The error for a foreign agent and for a missing one, which must be the same. */
  refusal: [status: number, code: string];
}

/** Valid bodies for the agent's owner. */
const BODIES: Record<string, object> = {
  "PATCH ": { name: "Stolen" },
  "PUT ": { name: "Stolen", config: {} },
  "PUT /config": {},
  "POST /config/restore": { version: 1 },
  "PUT /channels/channel_a": { token: "123456:abcdefghijklmnopqrstuvwxyz0123456789" },
  "POST /channels/channel_a/pairings": { code: "ABCDEF" },
  "POST /turns": { platform: "web", message: "What do you remember?" },
  "POST /visits": { message: "What do you remember?", visitor: "v".repeat(22) },
  "PUT /skills/clock": { enabled: false },
  "PUT /credentials/provider_1": { value: "stolen" },
  "PUT /public": { enabled: true },
  "POST /verification/challenge": { verificationType: "name_service" },
  "POST /verify": {
    verificationType: "name_service",
    walletAddress: `0x${"1".repeat(40)}`,
    signature: `0x${"1".repeat(130)}`,
  },
  "POST /rollback": { backupPath: "backups/none.json.gz" },
};
const REST: Record<string, string> = {
  channel: "channel_a",
  senderId: "42",
  skillId: "clock",
  key: "provider_1",
  version: "1",
};
const LIFECYCLE = /^\/(?:start|stop|restart|update|rollback|repair|reset-memory|token|token\/rotate)$/;

/** Every route with an agent id, from the API description of each surface. */
let routes: Route[];
beforeAll(async () => {
  const found = await Promise.all((["web", "backend"] as const).map(routesOf));
  routes = found.flat();
});

async function routesOf(side: Route["side"]): Promise<Route[]> {
  const { body } = await createClient(berth[side]).get<{ paths: Record<string, Record<string, unknown>> }>(
    "/swagger/json",
  );
  return Object.entries(body.paths).flatMap(([path, methods]) => {
    const [, before = "", rest] = /^(\/api\/agents\/|\/api\/instance\/)\{\w+\}(.*)$/.exec(path) ?? [];
    if (rest === undefined) return [];
    const after = rest.replace(/\{(\w+)\}/g, (_, name: string) => REST[name] ?? "x");
    const lifecycle = before === "/api/instance/" || LIFECYCLE.test(after);
    return Object.keys(methods).map((name): Route => {
      const method = name.toUpperCase();
      const body = BODIES[`${method} ${after}`] ?? (method === "GET" ? undefined : {});
      return {
        side,
        method,
        path: [before, after],
        ...(body && { body }),
        refusal: lifecycle ? [403, "NOT_YOUR_AGENT"] : [404, "AGENT_NOT_FOUND"],
      };
    });
  });
}

/** Sends the path exactly as written, as Mallory. */
const ask = ({ side, method, path: [before, after], body }: Route, id: string) =>
  rawRequest(berth[side], {
    method,
    path: `${before}${id}${after}`,
    headers: { cookie: mallory.cookie, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });

const untouched = async () => {
  const { body } = await alice.get<{ agent: { name: string; status: string } }>(`/api/agents/${hers.id}`);
  expect(body.agent).toMatchObject({ name: CANARY, status: "running" });
  expect((await alice.get(`/api/agents/${hers.id}/config`)).body).toMatchObject({ config: { note: CANARY } });
  const skills = await alice.get<{ skills: { id: string; enabled: boolean }[] }>("/api/agent?action=skills");
  expect(skills.body.skills.find(({ id }) => id === "clock")?.enabled).toBe(true);
  const credentials = await alice.get("/api/agent?action=credentials");
  expect(credentials.body).toMatchObject({ credentials: { provider_1: false, channel_a: false } });
};

describe("paths", () => {
  const spellings = (id: string) => [
    id,
    id.toUpperCase(),
    `${id}%2Fconfig`,
    `${id}%2fconfig%3f`,
    `${id}%3F`,
    `${id}%3Fa=b`,
    `${id}%23`,
    `${id}%00`,
    `%00${id}`,
    `${id}%0d%0aX-Evil:%201`,
    `${id}%20`,
    `%20${id}`,
    `${id}.json`,
    `${id};a=b`,
    `${id}%252Fconfig`,
    `..%2Fagents%2F${id}`,
    `..%2f..%2fapi%2fagents%2f${id}`,
    `%2e%2e%2f${id}`,
    `..%5C${id}`,
    `x/../${id}`,
    `x/%2e%2e/${id}`,
    `.%2F${id}`,
    `%2F${id}`,
    `/${id}`,
    `${own.id}%2F..%2F${id}`,
    `${own.id}/../${id}`,
    `${own.id},${id}`,
    `${own.id}%00${id}`,
    `${own.id}%7C${id}`,
    `${id.replace("-", "%E2%80%90")}`,
    `${id.replace("0", "%EF%BC%90")}`,
    `${id}%E2%80%AE`,
    `%ff${id}`,
    `%c0%af${id}`,
    `%25`,
    `%`,
    `%zz`,
    `%F0%9F%90%B4`,
    `*`,
    `:id`,
    `__proto__`,
    `constructor`,
    `%27%20OR%201=1--`,
    `undefined`,
    `null`,
    "x".repeat(4_000),
  ];

  test("all routes with an agent id are tested", () => {
    const named = routes.map(({ side, method, path }) => `${side} ${method} ${path.join(":")}`);
    const both = [
      ...["GET :", "PATCH :", "PUT :", "DELETE :", "GET :/config", "PUT :/config", "GET :/logs"],
      ...["GET :/config/versions", "GET :/config/versions/1", "POST :/config/restore", "GET :/messages"],
      ...["GET :/verification", "POST :/verification/challenge", "POST :/verify", "DELETE :/verify"],
      ...["start", "stop", "restart", "update", "rollback", "repair", "reset-memory"].map((name) => `POST :/${name}`),
      ...["GET :/token", "POST :/token/rotate", "GET :/stats", "GET :/channels", "PUT :/channels/channel_a"],
    ].map((route) => route.replace(":", "/api/agents/:"));
    const more = ["web POST /api/instance/:/stop", "web GET /api/instance/:", "backend POST /api/agents/:/turns"];
    expect(named).toEqual(expect.arrayContaining([...both.map((route) => `web ${route}`), ...more]));
    expect(named).toEqual(expect.arrayContaining(both.map((route) => `backend ${route}`)));
  });

  test("no spelling of an id on any route of either surface reads or changes another tenant's data", async () => {
    for (const route of routes) {
      const answers = await Promise.all(spellings(hers.id).map(async (id) => ({ id, answer: await ask(route, id) })));
      for (const { id, answer } of answers) {
        const what = `${route.side} ${route.method} ${route.path.join(id)}`;
        expect({ what, refused: answer.status >= 400 && answer.status < 500 }).toEqual({ what, refused: true });
        expect(answer.body).not.toContain(CANARY);
        expect(answer.headers.get("x-evil")).toBeNull();
        expectRefusal(answer, answer.status);
      }
    }
    await untouched();
  });

  test("the same paths work for the agent's owner", async () => {
    expect((await alice.get(`/api/agents/${hers.id}`)).text).toContain(CANARY);
    expect((await mallory.get(`/api/agents/${own.id}`)).status).toBe(200);
  });

  test("a foreign agent and a missing one get the same response, byte for byte", async () => {
    for (const route of routes) {
      const [foreign, missing] = [await ask(route, hers.id), await ask(route, NOBODY)];
      const seen = ({ status, headers, body }: typeof foreign) => {
        const kept = [...headers].filter(([name]) => name !== "x-request-id" && name !== "date");
        return { route, status, headers: kept, body };
      };
      expect(seen(foreign)).toEqual(seen(missing));
      expectRefusal(foreign, ...route.refusal);
    }
    await untouched();
  });

  test("a foreign agent is refused before the body is judged, whatever it is", async () => {
    const bodies: [text: string, type: string][] = [
      ["{", "application/json"],
      ['{"message":1,"name":[],"token":{}}', "application/json"],
      ["x".repeat(2_000_000), "application/json"],
      ["message=Hello", "application/x-www-form-urlencoded"],
    ];
    for (const { side, method, path, refusal } of routes.filter(({ method }) => method !== "GET")) {
      for (const [body, type] of bodies) {
        const headers = { cookie: mallory.cookie, "content-type": type };
        const answer = await rawRequest(berth[side], { method, path: path.join(hers.id), headers, body });
        expect({ side, method, path, type, status: answer.status }).toEqual({
          side,
          method,
          path,
          type,
          status: refusal[0],
        });
      }
    }
    await untouched();
  });

  test("agentId and sessionId in a query or body give no access to another tenant", async () => {
    for (const id of [hers.id, NOBODY, `../${hers.id}`, `${hers.id}%00`]) {
      for (const action of ["health", "sessions", "memory", "skills", "credentials", "session"]) {
        const query = new URLSearchParams({ action, agentId: id, sessionId: session });
        expectRefusal(await mallory.get(`/api/agent?${query}`), 404, "AGENT_NOT_FOUND");
      }
      expectRefusal(await mallory.get(`/api/chat?agentId=${encodeURIComponent(id)}`), 404, "AGENT_NOT_FOUND");
      expectRefusal(await mallory.post("/api/chat", { message: "Hi", agentId: id }), 404, "AGENT_NOT_FOUND");
      const skill = { action: "update-skill", agentId: id, skillId: "clock", enabled: false };
      expectRefusal(await mallory.post("/api/agent", skill), 404, "AGENT_NOT_FOUND");
      const credential = { action: "set-credential", agentId: id, key: "provider_1", value: "stolen" };
      expectRefusal(await mallory.post("/api/agent", credential), 404, "AGENT_NOT_FOUND");
    }
    const query = new URLSearchParams({ action: "session", sessionId: session });
    expectRefusal(await mallory.get(`/api/agent?${query}`), 404, "SESSION_NOT_FOUND");
    expectRefusal(await mallory.post("/api/agent", { message: "Hi", sessionId: session }), 404, "SESSION_NOT_FOUND");
    for (const skillId of [`../../${hers.id}/skills/clock`, `clock%2F..`, "..", "clock?x=", "%00"]) {
      const answer = await mallory.post("/api/agent", { action: "update-skill", skillId, enabled: false });
      expectRefusal(answer, answer.status === 404 ? 404 : 400);
    }
    await untouched();
  });

  test("the gateway closes sockets alike for a foreign agent, a missing one, and invalid ids", async () => {
    for (const id of [hers.id, NOBODY, `${own.id}%2F..%2F${hers.id}`, "%00", "%zz", "", "%F0%9F%90%B4"]) {
      const socket = openGateway(berth, id, { cookie: mallory.cookie });
      expect({ id, closed: await socket.closed }).toEqual({ id, closed: { code: 4401, reason: "Sign in first" } });
      expect(socket.frames).toEqual([]);
    }
    const socket = openGateway(berth, own.id, { cookie: mallory.cookie });
    socket.send({ type: "chat", id: "1", message: "Hi", sessionId: session });
    expect(await socket.next("error")).toMatchObject({ code: "SESSION_NOT_FOUND" });
    socket.close();
  });
});

describe("service tokens", () => {
  const vault = createVault({ key: SECRET_KEY });
  const tokens = createServiceTokens(vault);
  const path = () => `/api/agents/${hers.id}`;
  let aliceId = "";
  beforeAll(async () => {
    aliceId = (await alice.get<{ id: string }>("/api/settings")).body.id;
  });
  const grant = (overrides: Partial<Grant> = {}): Grant => ({
    userId: aliceId,
    isAdmin: false,
    agentId: hers.id,
    action: "agent.read",
    address: "127.0.0.1",
    ...overrides,
  });
  const show = (token: string | undefined, to = path()) =>
    createClient(berth.backend).get(to, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
  const token = (payload: object, purpose = "service-token", by = vault) => {
    const text = Buffer.from(JSON.stringify(payload)).toString("base64url");
    return `st.${text}.${by.sign(purpose, text)}`;
  };

  test("a valid token opens exactly the named action", async () => {
    expect((await show(tokens.sign(grant()))).body).toMatchObject({ id: hers.id });
    expectRefusal(await show(tokens.sign(grant({ action: "agent.chat" }))), 401, "UNAUTHORIZED");
    expectRefusal(await show(tokens.sign(grant({ agentId: own.id }))), 404, "AGENT_NOT_FOUND");
    expectRefusal(await show(tokens.sign(grant()), `/api/agents/${own.id}`), 404, "AGENT_NOT_FOUND");
  });

  test("a token opens nothing that its user does not own", async () => {
    const foreign = tokens.sign(grant({ agentId: own.id }));
    expectRefusal(await show(foreign, `/api/agents/${own.id}`), 404, "AGENT_NOT_FOUND");
    const missingUser = tokens.sign(grant({ userId: NOBODY }));
    expectRefusal(await show(missingUser), 404, "AGENT_NOT_FOUND");
  });

  test("a missing, expired or changed token, one under another key or for another purpose: 401", async () => {
    const good = tokens.sign(grant());
    const [, payload = "", mac = ""] = good.split(".");
    const other = createVault({ key: "another-root-key-0123456789abcdefghijk" });
    const later = Date.now() + 60_000;
    const wider = Buffer.from(JSON.stringify({ ...grant({ isAdmin: true }), expires: later })).toString("base64url");
    const bad = [
      undefined,
      "",
      "st.",
      "st..",
      `st.${payload}`,
      `st.${payload}.`,
      `st.${payload}.${mac}.`,
      `st.${payload}.${mac.slice(0, -1)}`,
      `st.${payload}.${mac.startsWith("A") ? "B" : "A"}${mac.slice(1)}`,
      `st.${wider}.${mac}`,
      good.slice(3),
      good.toUpperCase(),
      token({ ...grant(), expires: Date.now() - 1 }),
      token({ ...grant() }),
      token({ ...grant(), expires: "later" }),
      token({ ...grant(), expires: later }, "session-cookie"),
      token({ ...grant(), expires: later }, "service-token", other),
      "bk_0123456789abcdef0123456789abcdef",
    ];
    for (const one of bad) expectRefusal(await show(one), 401, "UNAUTHORIZED");
  });

  test("the web surface accepts no service token", async () => {
    const headers = { authorization: `Bearer ${tokens.sign(grant())}` };
    expectRefusal(await createClient(berth.web).get(path(), { headers }), 401, "UNAUTHORIZED");
    expectRefusal(await createClient(berth.web).get("/api/settings", { headers }), 401, "UNAUTHORIZED");
  });
});

describe("cookies", () => {
  const origins = ["https://evil.example", "http://localhost.evil.example", "null", "http://127.0.0.1:1", "file://"];

  test("another site can't write with the visitor's cookie, on either surface", async () => {
    for (const surface of [berth.web, berth.backend]) {
      const client = createClient(surface);
      const send = (headers: Record<string, string>) =>
        client.put(
          `/api/agents/${hers.id}/config`,
          { taken: "over" },
          { headers: { cookie: alice.cookie, ...headers } },
        );
      for (const origin of origins) expectRefusal(await send({ origin }), 403, "FOREIGN_ORIGIN");
      for (const site of ["cross-site", "same-site"]) {
        expectRefusal(await send({ "sec-fetch-site": site }), 403, "FOREIGN_ORIGIN");
      }
    }
    const signUp = { email: "csrf@example.com", password: "correct horse battery" };
    const foreign = { headers: { origin: "https://evil.example" } };
    expectRefusal(await createClient(berth).post("/api/register", signUp, foreign), 403, "FOREIGN_ORIGIN");
    await untouched();
  });

  test("another site can't read responses or open the gateway", async () => {
    const headers = { origin: "https://evil.example" };
    const answer = await alice.get("/api/settings", { headers });
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    for (const origin of [...origins, ""]) {
      const socket = openGateway(berth, hers.id, { cookie: alice.cookie, origin });
      expect(await socket.closed).toMatchObject({ code: 4401 });
      expect(socket.frames).toEqual([]);
    }
  });

  test("sign-out invalidates the cookie and closes its sockets", async () => {
    const guest = await member(berth);
    const agent = await provision(guest);
    const { cookie } = guest;
    const socket = openGateway(berth, agent.id, { cookie });
    await socket.next("status");
    await guest.signOut();
    expect(await socket.closed).toMatchObject({ code: 4401 });
    for (const origin of [berth.web, berth.backend]) {
      const again = createClient(origin);
      expectRefusal(await again.get(`/api/agents/${agent.id}`, { headers: { cookie } }), 401, "UNAUTHORIZED");
    }
    expect((await createClient(berth).get("/api/auth/session", { headers: { cookie } })).body).toEqual({
      user: null,
      expires: null,
    });
    expect(await openGateway(berth, agent.id, { cookie }).closed).toMatchObject({ code: 4401 });
  });

  test("a forged cookie has no session: no algorithm, another key, changed claims", async () => {
    const name = alice.cookie.slice(0, alice.cookie.indexOf("="));
    const [head = "", claims = "", mac = ""] = alice.cookie.slice(name.length + 1).split(".");
    const text = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
    const hmac = (key: string, hash: "sha256" | "sha512", data: string) =>
      new Bun.CryptoHasher(hash, key).update(data).digest("base64url");
    const known: { sub: string; exp: number } = JSON.parse(Buffer.from(claims, "base64url").toString());
    const hs256 = text({ alg: "HS256", typ: "JWT" });
    const hs512 = text({ alg: "HS512", typ: "JWT" });
    const forged = [
      `${text({ alg: "none", typ: "JWT" })}.${claims}.`,
      `${text({ alg: "None" })}.${claims}.${mac}`,
      `${text({ alg: "none" })}.${claims}`,
      `${hs256}.${claims}.${hmac("guessed", "sha256", `${hs256}.${claims}`)}`,
      `${hs256}.${claims}.${hmac("", "sha256", `${hs256}.${claims}`)}`,
      `${hs512}.${claims}.${hmac(SECRET_KEY, "sha512", `${hs512}.${claims}`)}`,
      `${head}.${claims}.${hmac(SECRET_KEY, "sha256", `${head}.${claims}`)}`,
      `${head}.${text({ ...known, exp: known.exp + 1 })}.${mac}`,
      `${head}.${claims}.${mac.startsWith("A") ? "B" : "A"}${mac.slice(1)}`,
      `${head}.${claims}.`,
      known.sub,
      "",
    ];
    for (const value of forged) {
      for (const origin of [berth.web, berth.backend]) {
        const answer = await createClient(origin).get(`/api/agents/${hers.id}`, {
          headers: { cookie: `${name}=${value}` },
        });
        expectRefusal(answer, 401, "UNAUTHORIZED");
      }
    }
    expect((await alice.get("/api/settings")).status).toBe(200);
  });

  test("sign-in never adopts a cookie of the request", async () => {
    const eve = createClient(berth);
    await eve.signUp();
    const { email, password } = eve.account;
    const headers = { cookie: mallory.cookie };
    const answer = await eve.post("/api/auth/callback/credentials", { email, password }, { headers });
    expect(answer.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Lax$/);
    expect(eve.cookie).not.toBe("");
    expect(eve.cookie).not.toBe(mallory.cookie);
  });
});

test("read-only fields are ignored", async () => {
  const eve = createClient(berth);
  const wish = {
    id: NOBODY,
    isAdmin: true,
    is_admin: 1,
    emailVerified: true,
    plan: "enterprise",
    credits: 1_000,
    twoFactorEnabled: true,
    subscription: { plan: "enterprise", status: "active" },
    userId: NOBODY,
  };
  const account = { email: "eve@example.com", password: "correct horse battery", name: "Eve" };
  const made = await eve.post<{ id: string }>("/api/register", { ...account, ...wish });
  expect(made.status).toBe(201);
  expect(Object.keys(Object(made.body)).sort()).toEqual(["email", "id", "name", "warnings"]);
  expect(made.body.id).not.toBe(NOBODY);
  await eve.post("/api/auth/callback/credentials", { ...account, ...wish });
  const settings = await eve.get<{ id: string }>("/api/settings");
  expect(settings.body).toMatchObject({
    id: made.body.id,
    isAdmin: false,
    emailVerified: false,
    plan: "free",
    credits: 0,
    twoFactorEnabled: false,
    subscription: null,
  });

  const victim = (await alice.get<{ id: string }>("/api/settings")).body.id;
  const theirs = { userId: victim, user_id: victim, ownerId: victim, id: NOBODY, status: "error", subdomain: "admin" };
  const { status, body } = await mallory.post<{ agent: AgentItem }>("/api/agents/provision", {
    name: "Second",
    ...theirs,
  });
  expect(status).toBe(201);
  expect(body.agent.id).not.toBe(NOBODY);
  expect(body.agent.status).toBe("running");
  expect((await alice.get<{ count: number }>("/api/agents")).body.count).toBe(1);
  expect((await mallory.get<{ count: number }>("/api/agents")).body.count).toBe(2);
  const spoken = await mallory.post("/api/agent", { message: "What do you remember?", ...theirs, user: victim });
  expect(spoken.text).not.toContain(CANARY);
});
