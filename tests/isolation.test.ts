// Two tenants on one host: whatever a path, a body, a header or a token says, neither gets a byte of the other's.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServiceTokens, type Grant } from "../src/kernel/http/backend/service-tokens.ts";
import { createVault } from "../src/kernel/security/vault.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { rawRequest } from "./support/raw.ts";
import { type AgentItem, expectRefusal, member, openGateway, provision } from "./support/scene.ts";

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
  const said = await alice.post<{ sessionId: string }>("/api/agent", { message: `Remember that ${CANARY} is mine.` });
  session = said.body.sessionId;
  await mallory.post("/api/agent", { message: "Hello" });
});
afterAll(() => berth?.[Symbol.asyncDispose]());

/** Valid, and nobody's. */
const NOBODY = "01890a5d-ac96-774b-bcce-b302099a8057";

interface Route {
  side: "web" | "backend";
  method: string;
  /** Around the agent's id. */
  path: [before: string, after: string];
  body?: object;
  /** What somebody else's agent and one that does not exist are answered with: contract §5. */
  refusal: [status: number, code: string];
}

/** Bodies that an agent's owner would be taken with. */
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

/** Every route that names an agent, by the document of each surface. */
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

/** Exactly as written, in Mallory's name. */
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

  test("these are the routes", () => {
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

  test("no spelling of an id, on no route of either surface, gives or changes anything of another tenant", async () => {
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
  }, 120_000);

  test("the same path for the agent's owner still works", async () => {
    expect((await alice.get(`/api/agents/${hers.id}`)).text).toContain(CANARY);
    expect((await mallory.get(`/api/agents/${own.id}`)).status).toBe(200);
  });

  test("somebody else's agent and one that does not exist are answered alike, byte for byte", async () => {
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
  }, 30_000);

  test("agentId and sessionId in a query or body never reach over", async () => {
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

  test("the gateway's socket is closed the same way for a foreign agent, a missing one, and odd ids", async () => {
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
  const grant = (but: Partial<Grant> = {}): Grant => ({
    userId: aliceId,
    isAdmin: false,
    agentId: hers.id,
    action: "agent.read",
    address: "127.0.0.1",
    ...but,
  });
  const show = (token: string | undefined, to = path()) =>
    createClient(berth.backend).get(to, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
  const token = (payload: object, purpose = "service-token", by = vault) => {
    const text = Buffer.from(JSON.stringify(payload)).toString("base64url");
    return `st.${text}.${by.sign(purpose, text)}`;
  };

  test("a good one opens exactly what it names", async () => {
    expect((await show(tokens.sign(grant()))).body).toMatchObject({ id: hers.id });
    expectRefusal(await show(tokens.sign(grant({ action: "agent.chat" }))), 401, "UNAUTHORIZED");
    expectRefusal(await show(tokens.sign(grant({ agentId: own.id }))), 404, "AGENT_NOT_FOUND");
    expectRefusal(await show(tokens.sign(grant()), `/api/agents/${own.id}`), 404, "AGENT_NOT_FOUND");
  });

  test("it opens nothing that its user does not own", async () => {
    const foreign = tokens.sign(grant({ agentId: own.id }));
    expectRefusal(await show(foreign, `/api/agents/${own.id}`), 404, "AGENT_NOT_FOUND");
    const nobody = tokens.sign(grant({ userId: NOBODY }));
    expectRefusal(await show(nobody), 404, "AGENT_NOT_FOUND");
  });

  test("none, an expired one, a changed one, one under another key or for another purpose: 401", async () => {
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

  test("the web surface takes none", async () => {
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

  test("another site can read nothing, and can't open the gateway", async () => {
    const headers = { origin: "https://evil.example" };
    const answer = await alice.get("/api/settings", { headers });
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    for (const origin of [...origins, ""]) {
      const socket = openGateway(berth, hers.id, { cookie: alice.cookie, origin });
      expect(await socket.closed).toMatchObject({ code: 4401 });
      expect(socket.frames).toEqual([]);
    }
  });

  test("after sign-out the cookie is worth nothing, and its sockets close", async () => {
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

  test("a cookie that Berth did not make is nobody's: no algorithm, another key, changed claims", async () => {
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

  test("a cookie sent along to sign-in is never adopted", async () => {
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

test("fields that nobody may set are ignored", async () => {
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
  expect(Object.keys(Object(made.body)).sort()).toEqual(["email", "id", "name"]);
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
