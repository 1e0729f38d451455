// Tests calls from the web surface to the backend, under signed grants, in process and over HTTP.
import { afterAll, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { Elysia, t } from "elysia";
import { auth } from "../../../../plugins/auth/index.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { rawRequest } from "../../../../tests/support/raw.ts";
import { expectRefusal } from "../../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../../tests/support/server.ts";
import { AppError } from "../../errors.ts";
import { plugin } from "../../plugin.ts";
import { createVault } from "../../security/vault.ts";
import { contextOf } from "../request-context.ts";
import { unwrap, unwrapJson } from "./backend-response.ts";
import { type BackendTransport, createBackendTransport } from "./backend-transport.ts";
import { createServiceTokens, type Grant } from "./service-tokens.ts";

const grant: Grant = {
  userId: "user-1",
  isAdmin: false,
  agentId: "agent-1",
  action: "probe.act",
  address: "203.0.113.7",
};

const routes = (guards: ReturnType<typeof auth.setup>["service"]["identities"]["guards"]) =>
  new Elysia({ name: "probe.backend" })
    .use(guards)
    .get("/probe", ({ caller, request }) => ({ caller, address: contextOf(request).address }), { granted: "probe.act" })
    .post("/probe/:id", ({ params, body }) => ({ id: params.id, said: body.said }), {
      granted: "probe.act",
      body: t.Object({ said: t.String() }),
    })
    .get(
      "/probe/full",
      () => {
        throw new AppError(429, "FULL", "No room.", { current: 3, limit: 3 });
      },
      { granted: "probe.act" },
    )
    .get("/probe/bug", () => Promise.reject(new Error("canary")), { granted: "probe.act" })
    .get(
      "/probe/hang",
      ({ request }) =>
        new Promise<never>((_, reject) => {
          waiting++;
          request.signal.addEventListener("abort", () => {
            waiting--;
            reject(request.signal.reason);
          });
        }),
      { granted: "probe.act" },
    );
type Routes = ReturnType<typeof routes>;

let waiting = 0;
const probe = plugin("probe", (host) => ({ service: {}, backend: routes(host.use(auth).identities.guards) }));

let server: TestServer;
let overHttp: BackendTransport;
beforeAll(async () => {
  server = await openServer({ plugins: [probe] });
  overHttp = createBackendTransport(server.kernel.backend.tokens, server.backend);
});
afterAll(() => server?.[Symbol.asyncDispose]());

describe("a service token", () => {
  const vault = createVault({ key: "a key of this test alone" });
  const tokens = createServiceTokens(vault);

  test("returns its grant unchanged, and reveals nothing of the key", () => {
    expect(tokens.verify(tokens.sign(grant))).toEqual(grant);
    const { agentId: _, ...wide } = grant;
    expect(tokens.verify(tokens.sign(wide))).toEqual(wide);
    expect(tokens.verify(tokens.sign({ ...grant, userId: "ü\u{1f6a2}" }))?.userId).toBe("ü\u{1f6a2}");
  });

  test("carries the caller's credential under the name that every version reads", () => {
    const token = tokens.sign({ ...grant, credentialId: "session-1" });
    expect(tokens.verify(token)?.credentialId).toBe("session-1");
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    expect(claims).toMatchObject({ shown: "session-1" });
    expect(claims).not.toHaveProperty("credentialId");
  });

  test("without a time at which it expires is not valid", () => {
    for (const expires of [undefined, null, "later", {}]) {
      const payload = Buffer.from(JSON.stringify({ ...grant, expires })).toString("base64url");
      expect(tokens.verify(`st.${payload}.${vault.sign("service-token", payload)}`)).toBeUndefined();
    }
  });

  test("of another key or purpose, changed or truncated, is not valid", () => {
    const token = tokens.sign(grant);
    const [, payload = "", mac = ""] = token.split(".");
    const forged = Buffer.from(JSON.stringify({ ...grant, isAdmin: true, expires: 9e15 })).toString("base64url");
    const other = createVault({ key: "another key of this test" });
    for (const bad of [
      createServiceTokens(other).sign(grant),
      `st.${forged}.${mac}`,
      `st.${forged}.${other.sign("service-token", forged)}`,
      `st.${forged}.${vault.sign("session-cookie", forged)}`,
      `st.${payload}.`,
      `st.${payload}`,
      `st..${mac}`,
      `${token}.`,
      `${token}A`,
      token.slice(0, -1),
      token.slice(3),
      `ST${token.slice(2)}`,
      token.replace("st.", "st. "),
      "",
      "st.",
      "st...",
    ]) {
      expect(tokens.verify(bad)).toBeUndefined();
    }
  });

  test("is valid for 30 seconds", () => {
    const token = tokens.sign(grant);
    try {
      setSystemTime(Date.now() + 29_000);
      expect(tokens.verify(token)).toEqual(grant);
      setSystemTime(Date.now() + 1_000);
      expect(tokens.verify(token)).toBeUndefined();
    } finally {
      setSystemTime();
    }
  });

  test("a grant can't extend its own lifetime", () => {
    const greedy = { ...grant, expires: 9e15 };
    const token = tokens.sign(greedy);
    try {
      setSystemTime(Date.now() + 31_000);
      expect(tokens.verify(token)).toBeUndefined();
    } finally {
      setSystemTime();
    }
  });
});

describe.each(["in process", "over HTTP"])("%s", (how) => {
  const transport = () => (how === "in process" ? server.kernel.backend : overHttp);
  const typed = (as: Grant = grant) => transport().client<Routes>(as);
  const plain = (path: string, init: RequestInit = {}, as: Grant = grant) => transport().fetch(as, path, init);

  test("the backend sees the user and the client's address of the grant", async () => {
    const { agentId, userId, isAdmin, address } = grant;
    const expected = { caller: { userId, isAdmin, address, agentId, hasServiceToken: true }, address };
    expect(await unwrapJson(await plain("/probe"))).toEqual(expected);
    expect(unwrap(await typed().probe.get())).toEqual(expected);
  });

  test("bodies and headers are sent", async () => {
    const init = { method: "POST", body: '{"said":"ahoy"}', headers: { "content-type": "application/json" } };
    expect(await unwrapJson(await plain("/probe/7", init))).toEqual({ id: "7", said: "ahoy" });
    expect(unwrap(await typed().probe({ id: "7" }).post({ said: "2026-01-01" }))).toEqual({
      id: "7",
      said: "2026-01-01",
    });
  });

  test("a caller can't set its own authorization", async () => {
    const init = { headers: { authorization: "Bearer something", cookie: "berth_session=x" } };
    expect(await unwrapJson(await plain("/probe", init))).toMatchObject({ address: grant.address });
  });

  test("errors have the status, code and extras of the backend", async () => {
    const expected = { status: 429, code: "FULL", message: "No room.", extras: { current: 3, limit: 3 } };
    await expect(plain("/probe/full").then(unwrapJson)).rejects.toMatchObject(expected);
    await expect(typed().probe.full.get().then(unwrap)).rejects.toMatchObject(expected);
    const bug = await plain("/probe/bug")
      .then(unwrapJson)
      .catch((error: unknown) => error);
    expect(bug).toMatchObject({ status: 500, code: "INTERNAL" });
    expect(String(bug)).not.toContain("canary");
  });

  test("a token that the backend refuses is 502, not the caller's 401", async () => {
    await expect(plain("/probe", {}, { ...grant, action: "other" })).rejects.toMatchObject({
      status: 502,
      code: "BACKEND_UNAVAILABLE",
    });
    await expect(
      typed({ ...grant, action: "other" })
        .probe.get()
        .then(unwrap),
    ).rejects.toMatchObject({ status: 502 });
  });

  test("a caller's abort reaches the backend", async () => {
    const abort = new AbortController();
    const answer = plain("/probe/hang", { signal: abort.signal });
    await eventually(() => waiting === 1);
    abort.abort(new Error("gone"));
    const outcome = await answer.then(
      ({ status }) => ({ status }),
      (error: unknown) => ({ error }),
    );
    expect(outcome).not.toMatchObject({ error: { code: "BACKEND_UNAVAILABLE" } });
    await eventually(() => waiting === 0);
  });
});

describe("an unreachable backend", () => {
  const away = () =>
    createBackendTransport(createServiceTokens(createVault({ key: "k".repeat(32) })), "http://127.0.0.1:1");
  const unavailable = { status: 502, code: "BACKEND_UNAVAILABLE" };

  test("is 502, without its address", async () => {
    const failure = await away()
      .fetch(grant, "/probe", {})
      .catch((error: unknown) => error);
    expect(failure).toMatchObject(unavailable);
    expect(String(failure)).not.toContain("127.0.0.1");
    await expect(away().client<Routes>(grant).probe.get().then(unwrap)).rejects.toMatchObject(unavailable);
  });

  test("is 502 before it is attached", async () => {
    const early = createBackendTransport(createServiceTokens(createVault({ key: "k".repeat(32) })), undefined);
    await expect(early.fetch(grant, "/probe", {})).rejects.toMatchObject(unavailable);
  });

  test.each([
    ["a page of something in between", () => new Response("<h1>502 Bad Gateway</h1>", { status: 502 })],
    ["JSON that is no error of ours", () => Response.json({ message: "nope" }, { status: 404 })],
    ["nothing", () => new Response(null, { status: 200 })],
    ["broken JSON", () => new Response('{"a":', { headers: { "content-type": "application/json" } })],
  ])("%s is 502", async (_, fetch) => {
    await using between = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
    const tokens = createServiceTokens(createVault({ key: "k".repeat(32) }));
    const transport = createBackendTransport(tokens, `http://127.0.0.1:${between.port}`);
    await expect(transport.fetch(grant, "/probe", {}).then(unwrapJson)).rejects.toMatchObject(unavailable);
  });
});

describe("the backend called by other clients", () => {
  test("accepts a token only in its header, and only for its action", async () => {
    const { tokens } = server.kernel.backend;
    const knock = async (authorization: string) => {
      const raw = await rawRequest(server.backend, { path: "/probe", headers: { authorization } });
      return { ...raw, text: raw.body };
    };
    expect((await knock(`Bearer ${tokens.sign(grant)}`)).status).toBe(200);
    for (const bad of [
      `Bearer ${tokens.sign({ ...grant, action: "probe.acts" })}`,
      `Bearer ${tokens.sign({ ...grant, action: "" })}`,
      `Basic ${tokens.sign(grant)}`,
      tokens.sign(grant),
      "Bearer ",
      "Bearer",
    ]) {
      expectRefusal(await knock(bad), 401, "UNAUTHORIZED");
    }
    const inQuery = await rawRequest(server.backend, { path: `/probe?authorization=${tokens.sign(grant)}` });
    expect(inQuery.status).toBe(401);
  });
});
