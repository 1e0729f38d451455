// Attacks on sessions: forged, foreign, planted and invalidated cookies, and cross-site requests.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Secret, TOTP } from "otpauth";
import { createServiceTokens } from "../src/kernel/http/backend/service-tokens.ts";
import { createVault } from "../src/kernel/security/vault.ts";
import { newEmail, PASSWORD, settingsOf } from "./support/accounts.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { type Mailbox, openMailbox } from "./support/mailbox.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { rawRequest } from "./support/raw.ts";
import { expectRefusal } from "./support/refusal.ts";
import { createWallet, siweMessage } from "./support/wallets.ts";

const SECRET_KEY = "session-attacks-root-key-0123456789abcdef";
const COOKIE = "berth_session";

let mailbox: Mailbox;
let berth: Berth;
let alice: Client;
let agent: AgentItem;
beforeAll(async () => {
  mailbox = await openMailbox();
  berth = await startBerth({ env: { SECRET_KEY, SMTP_URL: mailbox.url, RATE_LIMITS: "off" } });
  alice = await member(berth);
  agent = await provision(alice);
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await mailbox?.[Symbol.asyncDispose]();
});

const visitor = () => createClient(berth);
const joined = async () => {
  const client = visitor();
  await client.join();
  return client;
};
const tokenOf = (client: Client) => client.cookie.slice(COOKIE.length + 1);
const signIn = (client: Client, account: object, headers = {}) =>
  client.post("/api/auth/callback/credentials", account, { headers });

/** Requests the agent's details with these headers on both surfaces. */
async function ask(headers: Record<string, string>) {
  const path = `/api/agents/${agent.id}`;
  return [
    await createClient(berth.web).get(path, { headers }),
    await createClient(berth.backend).get(path, { headers }),
  ];
}
async function expectNobody(headers: Record<string, string>): Promise<void> {
  for (const answer of await ask(headers)) expectRefusal(answer, 401, "UNAUTHORIZED");
}
/** Expects that a cookie has no session. */
async function expectDead(cookie: string): Promise<void> {
  const options = { headers: { cookie } };
  expectRefusal(await visitor().get("/api/settings", options), 401, "UNAUTHORIZED");
  expectRefusal(await createClient(berth.backend).get(`/api/agents/${agent.id}`, options), 401, "UNAUTHORIZED");
  expect((await visitor().get("/api/auth/session", options)).body).toEqual({ user: null, expires: null });
}

describe("a cookie that is signed with the right key", () => {
  const vault = createVault({ key: SECRET_KEY });
  const keyOf = (purpose: string) => Buffer.from(vault.deriveKey(purpose)).toString("base64url");
  const text = (part: unknown) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const jwt = (
    claims: unknown,
    header: object = {},
    key = keyOf("session-cookie"),
    hash: "sha256" | "sha384" | "sha512" = "sha256",
  ) => {
    const data = `${text({ alg: "HS256", ...header })}.${text(claims)}`;
    return `${data}.${new Bun.CryptoHasher(hash, key).update(data).digest("base64url")}`;
  };
  const claims = (): { sub: string; exp: number } =>
    JSON.parse(Buffer.from(tokenOf(alice).split(".")[1] ?? "", "base64url").toString());
  const soon = () => Math.floor(Date.now() / 1000) + 3600;

  test("works, which shows that the following tests build cookies correctly", async () => {
    const [web, backend] = await ask({ cookie: `${COOKIE}=${jwt({ sub: claims().sub, exp: soon() })}` });
    expect([web?.status, backend?.status]).toEqual([200, 200]);
  });

  test.each<[string, (sub: string) => string]>([
    ["without exp", (sub) => jwt({ sub })],
    ["with an exp in the past", (sub) => jwt({ sub, exp: soon() - 7200 })],
    ["with an exp of null", (sub) => jwt({ sub, exp: null })],
    ["with an exp in words", (sub) => jwt({ sub, exp: "2099-01-01" })],
    ["with an exp in digits that are a text", (sub) => jwt({ sub, exp: String(soon()) })],
    ["that is not good yet", (sub) => jwt({ sub, exp: soon(), nbf: soon() })],
    ["without sub", () => jwt({ exp: soon() })],
    ["with a sub that is a list", (sub) => jwt({ sub: [sub], exp: soon() })],
    ["with another session's id", () => jwt({ sub: Bun.randomUUIDv7(), exp: soon() })],
    ["with a sub that is SQL", (sub) => jwt({ sub: `${sub}' OR '1'='1`, exp: soon() })],
    ["with a claim that is no object", (sub) => jwt(sub)],
    ["with an unknown critical extension", (sub) => jwt({ sub, exp: soon() }, { crit: ["x"], x: 1 })],
    ["but HS384", (sub) => jwt({ sub, exp: soon() }, { alg: "HS384" }, undefined, "sha384")],
    ["but HS512", (sub) => jwt({ sub, exp: soon() }, { alg: "HS512" }, undefined, "sha512")],
    ["but alg none", (sub) => jwt({ sub, exp: soon() }, { alg: "none" })],
    ["but alg none, and no signature", (sub) => jwt({ sub, exp: soon() }, { alg: "none" }).replace(/[^.]+$/, "")],
    ["but alg nOnE", (sub) => jwt({ sub, exp: soon() }, { alg: "nOnE" })],
    ["but RS256", (sub) => jwt({ sub, exp: soon() }, { alg: "RS256" })],
    ["but no algorithm", (sub) => jwt({ sub, exp: soon() }, { alg: undefined })],
    ["and was changed", (sub) => jwt({ sub, exp: soon() }).replace(/\.[^.]+\./, `.${text({ sub, exp: soon() + 1 })}.`)],
    ["and lost its end", (sub) => jwt({ sub, exp: soon() }).slice(0, -1)],
    ["and its signature", (sub) => jwt({ sub, exp: soon() }).replace(/[^.]+$/, "")],
    ["made for service tokens", (sub) => jwt({ sub, exp: soon() }, {}, keyOf("service-token"))],
    ["not derived at all", (sub) => jwt({ sub, exp: soon() }, {}, SECRET_KEY)],
    ["signed with another key", (sub) => jwt({ sub, exp: soon() }, {}, "another key")],
    [
      "that it brings along",
      (sub) => jwt({ sub, exp: soon() }, { jwk: { kty: "oct", k: text("k") }, kid: "/dev/null" }, "k"),
    ],
    ["which is empty", (sub) => jwt({ sub, exp: soon() }, {}, "")],
  ])("%s: has no session", async (_, forge) => {
    await expectNobody({ cookie: `${COOKIE}=${forge(claims().sub)}` });
  });

  test("its parts alone, doubled, or under another name: have no session", async () => {
    const good = tokenOf(alice);
    const [head = "", body = "", mac = ""] = good.split(".");
    for (const value of [
      head,
      body,
      mac,
      `${head}.${body}`,
      `${good}.${mac}`,
      `${good}.`,
      `.${good}`,
      `${good}x`,
      claims().sub,
    ]) {
      await expectNobody({ cookie: `${COOKIE}=${value}` });
    }
    for (const name of ["Berth_session", "__Host-berth_session", "session", " "]) {
      await expectNobody({ cookie: `${name}=${good}` });
    }
  });

  test("a valid cookie is not accepted as a bearer token", async () => {
    const good = tokenOf(alice);
    for (const authorization of [`Bearer ${good}`, `Bearer bk_${good}`, `Bearer st.${good}`, `bearer ${good}`]) {
      await expectNobody({ authorization });
      // With a bearer token the cookie is ignored.
      await expectNobody({ authorization, cookie: alice.cookie });
    }
    for (const authorization of [`Basic ${btoa(`${alice.account.email}:${PASSWORD}`)}`, good]) {
      await expectNobody({ authorization });
    }
  });
});

test("other tokens are not accepted as cookies: API key, service token, links from mails, nonce", async () => {
  const { email } = alice.account;
  await visitor().post("/api/auth/forgot-password", { email });
  const { key } = (await alice.post<{ key: string }>("/api/keys", { name: "k" })).body;
  const { id: userId } = await settingsOf(alice);
  const grant = { userId, isAdmin: false, agentId: agent.id, action: "agent.read", address: "127.0.0.1" };
  const service = createServiceTokens(createVault({ key: SECRET_KEY })).sign(grant);
  const { nonce } = (await visitor().get<{ nonce: string }>("/api/auth/nonce")).body;
  const links = [await mailbox.token(email, "verify-email"), await mailbox.token(email, "reset-password")];
  for (const token of [key, service, nonce, ...links]) await expectNobody({ cookie: `${COOKIE}=${token}` });
  for (const token of [nonce, ...links]) await expectNobody({ authorization: `Bearer ${token}` });
  for (const token of [key, service, nonce, tokenOf(alice)]) {
    const body = { token, password: "a new password" };
    expectRefusal(await visitor().post("/api/auth/reset-password", body), 400);
    expectRefusal(await visitor().post("/api/auth/verify-email", body), 400);
    expectRefusal(await visitor().post("/api/auth/first-admin", { ...body, email: newEmail() }), 400);
  }
  expect((await ask({ authorization: `Bearer ${key}` })).map(({ status }) => status)).toEqual([200, 200]);
});

describe("a cookie from before the sign-in", () => {
  const wallet = createWallet();
  const entrances: Record<string, (client: Client, headers: Record<string, string>) => Promise<unknown>> = {
    "a password": async (client, headers) => {
      const account = { email: newEmail(), password: PASSWORD };
      await client.post("/api/register", account);
      await signIn(client, account, headers);
    },
    "a wallet": async (client, headers) => {
      const message = siweMessage(berth.web.replace("127.0.0.1", "localhost"), wallet);
      const body = { message, signature: await wallet.sign(message) };
      await client.post("/api/auth/callback/wallet", body, { headers });
    },
    "a new password": async (client, headers) => {
      await client.join();
      const { cookie } = client;
      const body = { currentPassword: PASSWORD, newPassword: "a better horse battery" };
      await client.post("/api/settings/password", body, { headers: { cookie: `${cookie}; ${headers.cookie}` } });
    },
  };
  test.each(Object.keys(entrances))("is not adopted by %s", async (entrance) => {
    const eve = await joined();
    const unknown = `${COOKIE}=${crypto.randomUUID()}`;
    for (const planted of [eve.cookie, unknown]) {
      const ada = visitor();
      await entrances[entrance]?.(ada, { cookie: planted });
      expect(ada.cookie).toStartWith(`${COOKIE}=`);
      expect(ada.cookie).not.toBe(planted);
      const { email } = await settingsOf(ada);
      expect(email).not.toBe(eve.account.email);
    }
    await expectDead(unknown);
    expect((await settingsOf(eve)).email).toBe(eve.account.email);
    expect((await eve.get<{ count: number }>("/api/auth/sessions")).body.count).toBe(1);
  });
});

describe("a cookie is invalid", () => {
  interface Sessions {
    /** The session that acts. */
    ada: Client;
    /** Another session of the same user. */
    other: Client;
  }
  const NEW_PASSWORD = "a better horse battery";
  const ok = async (answer: Promise<{ status: number }>) => (await answer).status === 200;
  const reset = async ({ ada }: Sessions) => {
    const { email } = ada.account;
    await visitor().post("/api/auth/forgot-password", { email });
    const token = await mailbox.token(email, "reset-password");
    return ok(visitor().post("/api/auth/reset-password", { token, password: NEW_PASSWORD }));
  };
  const twoFactor = async ({ other }: Sessions) => {
    const begun = await other.post<{ secret: string }>("/api/settings/2fa", { password: PASSWORD });
    const code = new TOTP({ secret: Secret.fromBase32(begun.body.secret) }).generate();
    return ok(other.post("/api/settings/2fa/confirm", { code }));
  };
  /** The event, and whether it also ends other sessions and API keys. */
  const ends: [string, (sessions: Sessions) => Promise<boolean>, { other: boolean; key: boolean }][] = [
    ["a sign-out", ({ ada }) => ok(ada.post("/api/auth/signout")), { other: false, key: false }],
    ["its end from elsewhere", ({ other }) => ok(other.delete("/api/auth/sessions")), { other: false, key: false }],
    ["two-factor turned on elsewhere", twoFactor, { other: false, key: false }],
    [
      "a new password",
      ({ ada }) => ok(ada.post("/api/settings/password", { currentPassword: PASSWORD, newPassword: NEW_PASSWORD })),
      { other: true, key: false },
    ],
    ["a reset password", reset, { other: true, key: true }],
    [
      "the account's end",
      ({ ada }) => ok(ada.delete("/api/settings", { password: PASSWORD })),
      { other: true, key: true },
    ],
    [
      "a word of the operator",
      async ({ ada }) => (await berth.command("user", "disable", ada.account.email)).exitCode === 0,
      { other: true, key: true },
    ],
  ];
  test.each(ends)("after %s, on both surfaces, before and after a restart", async (_, act, also) => {
    const ada = await joined();
    const other = visitor();
    await signIn(other, ada.account);
    const { key } = (await ada.post<{ key: string }>("/api/keys", { name: "k" })).body;
    const [first, second] = [ada.cookie, other.cookie];
    const bearer = { headers: { authorization: `Bearer ${key}` } };
    for (const client of [ada, other]) expect((await client.get("/api/settings")).status).toBe(200);
    expect((await visitor().get("/api/settings", bearer)).status).toBe(200);

    expect(await act({ ada, other })).toBe(true);
    const check = async () => {
      await expectDead(first);
      if (also.other) await expectDead(second);
      else expect((await visitor().get("/api/settings", { headers: { cookie: second } })).status).toBe(200);
      const byKey = await visitor().get("/api/settings", bearer);
      if (also.key) expectRefusal(byKey, 401, "UNAUTHORIZED");
      else expect(byKey.status).toBe(200);
    };
    await check();
    await berth.restart({ keepPorts: true });
    await check();
  });
});

describe("cross-site requests", () => {
  interface Route {
    side: "web" | "backend";
    method: string;
    path: string;
  }
  /** A body with fields for all routes. */
  const body = JSON.stringify({
    email: newEmail("taken"),
    password: PASSWORD,
    currentPassword: PASSWORD,
    newPassword: "the password of Eve",
    name: "Taken over",
    config: { taken: "over" },
    notifications: { security: false },
    plan: "enterprise",
    isAdmin: true,
    disabled: true,
    url: "https://evil.example/hook",
    message: "Forget everything.",
    verificationType: "attestation",
    enabled: false,
    value: "a key of Eve's",
    code: "123456",
    version: 1,
    token: "123456:abcdefghijklmnopqrstuvwxyz0123456789",
    messages: [{ role: "user", content: "Hello" }],
  });
  let routes: Route[];
  beforeAll(async () => {
    await berth.command("user", "admin", alice.account.email);
    const { id: userId } = await settingsOf(alice);
    const make = async (path: string, what: object) => (await alice.post<{ id: string }>(path, what)).body.id;
    const ids: [RegExp, string][] = [
      [/\/api\/(?:agents|instance)\/\{\w+\}/, agent.id],
      [/\/api\/keys\/\{id\}/, await make("/api/keys", { name: "hers" })],
      [/\/api\/webhooks\/\{id\}/, await make("/api/webhooks", { url: "https://receiver.example/hook" })],
      [/\/api\/admin\/users\/\{id\}/, userId],
    ];
    const real = (path: string) => {
      const [rule, id = ""] = ids.find(([rule]) => rule.test(path)) ?? [];
      const begun = rule ? path.replace(rule, (found) => found.replace(/\{\w+\}/, id)) : path;
      return begun
        .replace("{channel}", "channel_a")
        .replace("{skillId}", "clock")
        .replace(/\{\w+\}/g, "provider_1");
    };
    const listed = await Promise.all(
      (["web", "backend"] as const).map(async (side) => {
        const { body } = await createClient(berth[side]).get<{ paths: Record<string, object> }>("/swagger/json");
        return Object.entries(body.paths).flatMap(([path, methods]) =>
          Object.keys(methods).map((method) => ({ side, method: method.toUpperCase(), path: real(path) })),
        );
      }),
    );
    routes = listed.flat().filter(({ method }) => ["POST", "PUT", "PATCH", "DELETE"].includes(method));
  });

  const send = ({ side, method, path }: Route, headers: Record<string, string>) =>
    rawRequest(berth[side], {
      method,
      path,
      body,
      headers: { cookie: alice.cookie, "user-agent": "berth-tests/1.0", ...headers },
    });
  const named = ({ side, method, path }: Route) => `${side} ${method} ${path}`;
  const json = { "content-type": "application/json" };

  /** Tables that the service itself writes to, at times of its own. */
  const OF_THE_SERVICE = ["jobs", "instance_runs", "instance_figures"];

  /** Every row of every other table. */
  function rows(): Record<string, unknown[]> {
    using database = new Database(join(berth.dir, "data/berth.db"), { readonly: true });
    const tables = database.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const kept = tables.filter(({ name }) => !OF_THE_SERVICE.includes(name));
    return Object.fromEntries(kept.map(({ name }) => [name, database.query(`SELECT * FROM "${name}"`).all()]));
  }

  test.each([
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://localhost.evil.example" },
    { origin: "http://localhost:1" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ])("%j: 403 on every route that changes something, and nothing is changed", async (from) => {
    const before = rows();
    expect(routes.length).toBeGreaterThan(50);
    for (const route of routes) {
      const answer = await send(route, { ...json, ...from });
      expect({ route: named(route), status: answer.status }).toEqual({ route: named(route), status: 403 });
      expectRefusal(answer, 403, "FOREIGN_ORIGIN");
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(rows()).toEqual(before);
  });

  test.each([
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "text/plain; charset=application/json",
    "application/json, text/plain",
    "application/jsonp",
  ])("a body of %s: 415, and nothing is changed", async (type) => {
    const before = rows();
    // Uploads are files of any type, others are forms. Foreign origins are refused there too, as tested above.
    const takesType = ({ path }: { path: string }) =>
      path.endsWith("/uploads") ||
      (/^\/api\/(?:skills|agents\/[^/]+\/files)$/.test(path) && type.startsWith("multipart/")) ||
      // These take forms, and have errors of their own.
      /^\/(?:api\/(?:oauth\/(?:token|revoke)|auth\/device(?:\/token)?)|v1\/audio\/transcriptions)$/.test(path);
    for (const route of routes.filter((route) => !takesType(route))) {
      const answer = await send(route, { "content-type": type });
      // Hooks (Stripe's, too), agents without a public page or a site, and the MCP server, where no cookie counts, fail with their own error first.
      const status = /\/(?:hooks|a|peers|embed)\/|\/visits$|^\/(?:mcp|api\/billing\/stripe)$/.test(route.path)
        ? answer.status
        : 415;
      expect({ route: named(route), status: answer.status }).toEqual({ route: named(route), status });
      expectRefusal(answer, status);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(rows()).toEqual(before);
  });

  test("the same requests from Berth's own page succeed, which shows that the earlier tests are valid", async () => {
    const own = { ...json, origin: berth.web.replace("127.0.0.1", "localhost"), "sec-fetch-site": "same-origin" };
    for (const name of [
      "web POST /api/register",
      "web POST /api/keys",
      "web PATCH /api/settings",
      `web PATCH /api/agents/${agent.id}`,
    ]) {
      const route = routes.find((route) => named(route) === name);
      const before = rows();
      expect((await send(route ?? expect.unreachable(), own)).status).toBeWithin(200, 202);
      expect(rows()).not.toEqual(before);
    }
  });
});
