// Connects apps by OAuth: with the official client, and step by step with requests of our own.
import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { Client as McpClient, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import type { InteractionFixture } from "../../interaction/support.test.ts";
import { createOAuthProvider } from "../../mcp/connections/oauth-provider.ts";
import type { SignIn } from "../../mcp/connections/sign-in-store.ts";
import { call, openFixture, type Person } from "../support.test.ts";
import { toolNameOf } from "../tools/names.ts";

let fixture: InteractionFixture;
let ada: Person;
beforeAll(async () => {
  fixture = await openFixture();
  ada = await fixture.member();
});
afterEach(() => setSystemTime());
afterAll(async () => await fixture?.[Symbol.asyncDispose]());

const REDIRECT = "http://127.0.0.1:7777/callback";
const VERIFIER = "v".repeat(43);
const CHALLENGE = new Bun.CryptoHasher("sha256").update(VERIFIER).digest("base64url");

interface App {
  id: string;
  name: string;
  host: string;
  scopes: string[];
  trusted: boolean;
  lastUsedAt: string | null;
}
const appsOf = async (person: Person) => (await person.get<{ apps: App[] }>("/api/connected-apps")).body.apps;

async function register(metadata: object = {}): Promise<string> {
  const body = { client_name: "Desk assistant", redirect_uris: [REDIRECT], ...metadata };
  const answer = await fetch(`${fixture.origin}/api/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { client_id: string }).client_id;
}

const requestOf = (clientId: string, more: Record<string, string> = {}) =>
  new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
    state: "xyz",
    resource: `${fixture.origin}/mcp`,
    ...more,
  }).toString();

/** Decides as the person does on the page; the address to which the browser goes. */
async function decide(request: string, decision: object = {}, person = ada): Promise<URL> {
  const body = { request, approved: true, scopes: ["read", "chat", "write"], ...decision };
  const answer = await person.post<{ redirect: string }>("/api/oauth/decision", body);
  expect(answer.status).toBe(200);
  return new URL(answer.body.redirect);
}

async function token(fields: Record<string, string>, path = "token") {
  const answer = await fetch(`${fixture.origin}/api/oauth/${path}`, {
    method: "POST",
    body: new URLSearchParams(fields),
  });
  expect(answer.headers.get("cache-control")).toBe("no-store");
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

/** A connected app with its tokens. */
async function connected(decision: object = {}, person = ada) {
  const clientId = await register();
  const code = (await decide(requestOf(clientId), decision, person)).searchParams.get("code") ?? "";
  const fields = { grant_type: "authorization_code", client_id: clientId, code, code_verifier: VERIFIER };
  const { status, body } = await token(fields);
  expect(status).toBe(200);
  const refresh = (refreshToken = body.refresh_token ?? "") =>
    token({ grant_type: "refresh_token", client_id: clientId, refresh_token: refreshToken });
  return { clientId, fields, refresh, access: body.access_token ?? "", refreshToken: body.refresh_token ?? "", body };
}

const statusWith = async (access: string) => {
  const headers = {
    authorization: `Bearer ${access}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  return (await fetch(`${fixture.origin}/mcp`, { method: "POST", headers, body })).status;
};

/** Signs in with the official client, whose browser this person uses. */
async function signIn(decision: object): Promise<McpClient> {
  const state: SignIn = {};
  const addresses = { redirect: REDIRECT, clientMetadata: "http://localhost/none" };
  const provider = createOAuthProvider(addresses, state, async () => undefined);
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(`${fixture.origin}/mcp`), { authProvider: provider });
  const make = () => new McpClient({ name: "desk", version: "1.0.0" });
  const first = transport();
  await expect(make().connect(first)).rejects.toBeInstanceOf(UnauthorizedError);
  const url = new URL(state.authorizeUrl ?? "");
  expect(url.origin + url.pathname).toBe(`${fixture.origin}/oauth/authorize`);
  await first.finishAuth((await decide(url.search.slice(1), decision)).searchParams);
  const client = make();
  await client.connect(transport());
  return client;
}

async function agentOf(person: Person) {
  const id = await fixture.provision(person);
  const { agent } = (await person.get<{ agent: { subdomain: string } }>(`/api/agents/${id}`)).body;
  return { id, tool: toolNameOf(agent.subdomain), subdomain: agent.subdomain };
}

describe("the official client", () => {
  test("finds out how to sign in, registers, and asks an agent", async () => {
    fixture.upstream.script(() => "Aye.");
    const { tool } = await agentOf(ada);
    const client = await signIn({ scopes: ["chat"] });
    expect((await call(client, tool, { message: "Ahoy" })).text).toBe("Aye.");
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("list_agents");
    await client.close();
    expect(await appsOf(ada)).toMatchObject([
      { name: "Berth", host: "127.0.0.1:7777", scopes: ["chat"], trusted: false },
    ]);
  });
});

describe("what an app writes", () => {
  test.each([
    [false, 1],
    [true, 0],
  ])("with trust %p has so many requests for approval: %i", async (trusted, requests) => {
    const { id, tool, subdomain } = await agentOf(ada);
    const client = await signIn({ trusted });
    fixture.upstream.script(({ toolResults }) =>
      toolResults.length > 0
        ? String(toolResults[0]?.content)
        : { toolCalls: [{ name: "remind_me", arguments: { text: "Send it.", inMinutes: 60 } }] },
    );
    await call(client, tool, { message: "Remind me." });
    const { approvals } = (await ada.get<{ approvals: object[] }>(`/api/agents/${id}/approvals`)).body;
    expect(approvals).toHaveLength(requests);

    await call(client, "remember", { agent: subdomain, text: "The gate code is in the drawer." });
    const { memories } = (await ada.get<{ memories: object[] }>(`/api/agents/${id}/memories`)).body;
    expect(memories).toMatchObject([{ untrusted: !trusted }]);
    await call(client, "schedule", { agent: subdomain, prompt: "Report.", cron: "0 9 * * *" });
    const { schedules } = (await ada.get<{ schedules: object[] }>(`/api/agents/${id}/schedules`)).body;
    expect(schedules).toMatchObject([{ untrusted: !trusted }]);
    await client.close();
  });
});

describe("the page that asks", () => {
  test("is shown who asks, and for what", async () => {
    const request = requestOf(await register({ client_name: "Desk\u202e assistant\n!" }), { scope: "chat admin read" });
    const { body } = await ada.post("/api/oauth/request", { request });
    expect(body).toEqual({
      back: null,
      app: {
        name: "Desk assistant !",
        verifiedHost: null,
        host: "127.0.0.1:7777",
        isLocal: true,
        scopes: ["read", "chat"],
      },
      account: ada.account.email,
    });
  });

  test("can't be decided by a key, by another site, or without a sign-in", async () => {
    const body = { request: requestOf(await register()), approved: true, scopes: ["read"] };
    const { key } = (await ada.post<{ key: string }>("/api/keys", { name: "Key" })).body;
    const refusals = [
      [{ authorization: `Bearer ${key}` }, 403],
      [{ cookie: ada.cookie, origin: "https://evil.example" }, 403],
      [{}, 401],
    ] as const;
    for (const [headers, status] of refusals) {
      const answer = await fetch(`${fixture.origin}/api/oauth/decision`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
      expect(answer.status).toBe(status);
    }
  });

  test("sends the browser to no address that the app has not named", async () => {
    const clientId = await register({ redirect_uris: ["https://app.example/back", REDIRECT] });
    for (const redirect_uri of [
      "https://evil.example/back",
      "https://app.example/back/more",
      "https://app.example.evil.example/back",
      "javascript:alert(1)",
      "http://127.0.0.1:7777/other",
    ]) {
      expectRefusal(
        await ada.post("/api/oauth/request", { request: requestOf(clientId, { redirect_uri }) }),
        400,
        "INVALID_AUTHORIZATION",
      );
    }
    const anyPort = requestOf(clientId, { redirect_uri: "http://127.0.0.1:45454/callback" });
    expect((await decide(anyPort)).port).toBe("45454");
  });

  test.each([
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ code_challenge: "" }, "invalid_request"],
    [{ resource: "https://other.example/mcp" }, "invalid_target"],
  ])("sends the app back at once with %p", async (more, error) => {
    const { body } = await ada.post<{ back: string }>("/api/oauth/request", {
      request: requestOf(await register(), more),
    });
    const back = new URL(body.back);
    expect(back.origin).toBe("http://127.0.0.1:7777");
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error, state: "xyz", iss: fixture.origin });
  });

  test("tells the app of a refusal", async () => {
    const back = await decide(requestOf(await register()), { approved: false, scopes: [] });
    expect(back.searchParams.get("error")).toBe("access_denied");
    expect(back.searchParams.get("code")).toBeNull();
  });

  test("grants no more than was asked for", async () => {
    const clientId = await register();
    const code = (await decide(requestOf(clientId, { scope: "read" }))).searchParams.get("code") ?? "";
    const { body } = await token({
      grant_type: "authorization_code",
      client_id: clientId,
      code,
      code_verifier: VERIFIER,
    });
    expect(body.scope).toBe("read");
  });
});

describe("an app that registers", () => {
  test.each([
    [{ redirect_uris: [] }, "invalid_redirect_uri"],
    [{ redirect_uris: ["javascript:alert(1)"] }, "invalid_redirect_uri"],
    [{ redirect_uris: ["http://app.example/back"] }, "invalid_redirect_uri"],
    [{ redirect_uris: ["https://app.example/#x"] }, "invalid_redirect_uri"],
    [{ redirect_uris: "https://app.example/" }, "invalid_redirect_uri"],
    [{ token_endpoint_auth_method: "private_key_jwt" }, "invalid_client_metadata"],
    [{ grant_types: ["client_credentials"] }, "invalid_client_metadata"],
  ])("with %p is refused", async (metadata, error) => {
    const answer = await fetch(`${fixture.origin}/api/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ redirect_uris: [REDIRECT], ...metadata }),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error });
  });
});

describe("an app with a document", () => {
  const serveDocument = (document: (url: string) => object) => {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => Response.json(document(url)),
    });
    return { url: `http://127.0.0.1:${server.port}/client.json`, stop: () => server.stop(true) };
  };

  test("is not fetched from a private network, and is refused", async () => {
    const document = serveDocument((url) => ({ client_id: url, client_name: "Inside", redirect_uris: [REDIRECT] }));
    expectRefusal(
      await ada.post("/api/oauth/request", { request: requestOf(document.url) }),
      400,
      "INVALID_AUTHORIZATION",
    );
    await document.stop();
  });

  test("is shown with the site that vouches for it, and only if the document is its own", async () => {
    await using open = await openFixture({ OUTBOUND_ALLOW: "127.0.0.1/32" });
    const own = serveDocument((url) => ({ client_id: url, client_name: "Desk", redirect_uris: [REDIRECT] }));
    const foreign = serveDocument(() => ({
      client_id: "https://x.example/c",
      client_name: "X",
      redirect_uris: [REDIRECT],
    }));
    const eve = await open.member();
    const ask = (clientId: string) =>
      eve.post<{ app: { verifiedHost: string; name: string } }>("/api/oauth/request", {
        request: requestOf(clientId, { resource: `${open.origin}/mcp` }),
      });
    expect((await ask(own.url)).body.app).toMatchObject({ name: "Desk", verifiedHost: new URL(own.url).host });
    expectRefusal(await ask(foreign.url), 400, "INVALID_AUTHORIZATION");
    await Promise.all([own.stop(), foreign.stop()]);
  });
});

describe("tokens", () => {
  test("work at /mcp, and at no other address", async () => {
    const { access, body } = await connected();
    expect(body).toMatchObject({ token_type: "Bearer", expires_in: 1800, scope: "read chat write" });
    expect(await statusWith(access)).toBe(200);
    const elsewhere = await fetch(`${fixture.origin}/api/settings`, { headers: { authorization: `Bearer ${access}` } });
    expect(elsewhere.status).toBe(401);
  });

  test("are stored as hashes only", async () => {
    const { access, refreshToken, fields } = await connected();
    const { rows } = await fixture.kernel.database.read("SELECT * FROM oauth_secrets");
    for (const secret of [access, refreshToken, fields.code]) {
      expect(JSON.stringify(rows)).not.toContain(secret.slice(4));
    }
  });

  test("end after half an hour, and are refreshed", async () => {
    const { access, refresh } = await connected();
    setSystemTime(new Date(Date.now() + 31 * 60_000));
    expect(await statusWith(access)).toBe(401);
    const { body } = await refresh();
    expect(await statusWith(body.access_token ?? "")).toBe(200);
  });

  test("of a refresh token that is used twice all end", async () => {
    const { refresh } = await connected();
    const { body: next } = await refresh();
    expect((await refresh()).body).toMatchObject({ error: "invalid_grant" });
    expect(await statusWith(next.access_token ?? "")).toBe(401);
    expect((await refresh(next.refresh_token)).body).toMatchObject({ error: "invalid_grant" });
  });

  test("of a refresh that races with itself come once, and then end", async () => {
    const { refresh } = await connected();
    const answers = await Promise.all([refresh(), refresh(), refresh()]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const winner = answers.find(({ status }) => status === 200);
    expect(await statusWith(winner?.body.access_token ?? "")).toBe(401);
  });

  test("of a code that is used twice all end", async () => {
    const { access, fields } = await connected();
    expect((await token(fields)).body).toMatchObject({ error: "invalid_grant" });
    expect(await statusWith(access)).toBe(401);
  });

  test.each([
    [{ code_verifier: "w".repeat(43) }, "invalid_grant"],
    [{ redirect_uri: "http://127.0.0.1:1/callback" }, "invalid_grant"],
    [{ client_id: "another" }, "invalid_grant"],
    [{ grant_type: "password" }, "unsupported_grant_type"],
    [{ code_verifier: "" }, "invalid_request"],
    [{ resource: "https://other.example/" }, "invalid_target"],
  ])("are not given for a code with %p", async (wrong, error) => {
    const clientId = await register();
    const code = (await decide(requestOf(clientId))).searchParams.get("code") ?? "";
    const fields = { grant_type: "authorization_code", client_id: clientId, code, code_verifier: VERIFIER };
    expect((await token({ ...fields, ...wrong })).body).toMatchObject({ error });
    expect((await token(fields)).status).toBe(200);
  });

  test("are not given for a code that is old", async () => {
    const clientId = await register();
    const code = (await decide(requestOf(clientId))).searchParams.get("code") ?? "";
    setSystemTime(new Date(Date.now() + 6 * 60_000));
    const fields = { grant_type: "authorization_code", client_id: clientId, code, code_verifier: VERIFIER };
    expect((await token(fields)).body).toMatchObject({ error: "invalid_grant" });
  });

  test("end when the app revokes one of them", async () => {
    const { access, refreshToken, clientId } = await connected();
    expect((await token({ token: refreshToken, client_id: "another" }, "revoke")).status).toBe(200);
    expect(await statusWith(access)).toBe(200);
    expect((await token({ token: refreshToken, client_id: clientId }, "revoke")).status).toBe(200);
    expect(await statusWith(access)).toBe(401);
  });
});

describe("the owner", () => {
  test("sees the connected apps, and ends them with immediate effect", async () => {
    const bob = await fixture.member();
    const { access } = await connected({ scopes: ["read"], trusted: true }, bob);
    const [app] = await appsOf(bob);
    expect(app).toMatchObject({
      name: "Desk assistant",
      scopes: ["read"],
      trusted: true,
      lastUsedAt: expect.any(String),
    });
    expectRefusal(await ada.delete(`/api/connected-apps/${app?.id}`), 404, "APP_NOT_FOUND");
    expect((await bob.delete(`/api/connected-apps/${app?.id}`)).status).toBe(200);
    expect(await statusWith(access)).toBe(401);
    expect(await appsOf(bob)).toEqual([]);
  });

  test("who is disabled has no app", async () => {
    const bob = await fixture.member();
    const { access } = await connected({}, bob);
    await fixture.kernel.database.write([
      fixture.app.accounts.users.updateStatement(bob.userId, { disabledAt: Date.now() }),
    ]);
    expect(await statusWith(access)).toBe(401);
  });

  test("has at most fifty", async () => {
    const bob = await fixture.member();
    const clientId = await register();
    for (let n = 0; n < 50; n++) await decide(requestOf(clientId), {}, bob);
    const body = { request: requestOf(clientId), approved: true, scopes: ["read"] };
    expectRefusal(await bob.post("/api/oauth/decision", body), 409, "TOO_MANY_APPS");
  });
});
