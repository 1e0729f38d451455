// Several cells on one machine, with the whole binary: each account is in one of them, and nobody has to know in which.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cellOfId, cellOfToken } from "../src/kernel/cells/marks.ts";
import { newEmail, PASSWORD } from "./support/accounts.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { startOidc } from "./support/oidc.ts";
import { oidcEnv } from "./support/openid-pair.ts";
import { expectSignedIn, newGooglePerson, settingsOf, signInWith } from "./support/providers.ts";
import { spawnTelegram } from "./support/telegram-control.ts";
import { startUpstream } from "./support/upstream.ts";
import { createWallet, foreignNonce, siweMessage } from "./support/wallets.ts";

const CELLS = 3;
const start = (env: Record<string, string> = {}, options: { dir?: string } = {}) =>
  startBerth({ env: { CELLS: String(CELLS), RATE_LIMITS: "off", ...env }, readyMs: 60_000, ...options });

interface CellState {
  cell: number;
  pid: number;
  accounts: number;
  state: string;
}
const statesOf = async (berth: Berth): Promise<CellState[]> =>
  JSON.parse((await berth.command("cells", "--json")).stdout);

/** Accounts until each cell has one: by cell, the client that is signed in. */
async function oneInEachCell(berth: Berth): Promise<Map<number, { client: Client; id: string }>> {
  const found = new Map<number, { client: Client; id: string }>();
  for (let n = 0; found.size < CELLS && n < CELLS * 4; n++) {
    const client = createClient(berth);
    const id = await client.join();
    found.set(cellOfId(id), { client, id });
  }
  return found;
}
const databaseOf = (berth: Berth, cell: number) =>
  join(berth.dir, "data", ...(cell === 0 ? [] : ["cells", String(cell)]), "berth.db");
function count(berth: Berth, cell: number, email: string): number {
  const database = new Database(databaseOf(berth, cell), { readonly: true });
  try {
    return Number(
      database.query<{ n: number }, string>("SELECT count(*) AS n FROM users WHERE email = ?").get(email)?.n,
    );
  } finally {
    database.close();
  }
}
const copies = (berth: Berth, email: string) =>
  Array.from({ length: CELLS }, (_, cell) => count(berth, cell, email)).reduce((sum, n) => sum + n, 0);

test("accounts spread over the cells, and everything of an account is where it is", async () => {
  await using berth = await start();
  const accounts = await oneInEachCell(berth);
  expect([...accounts.keys()].toSorted()).toEqual([0, 1, 2]);
  for (const [cell, { client, id }] of accounts) {
    const { email } = client.account;
    expect(cellOfToken(client.cookie)).toBe(cell);
    expect(count(berth, cell, email)).toBe(1);
    expect(copies(berth, email)).toBe(1);
    // Commands find the account by its address.
    await client.grant("pro");
    const provisioned = await client.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Ann" });
    const { agent } = provisioned.body;
    expect(cellOfId(agent.id)).toBe(cell);
    const { body: answer } = await client.post<{ reply: string }>("/api/chat", { message: "Hello", agentId: agent.id });
    expect(answer.reply).toBeString();
    // A key works without a session, at both surfaces.
    const { body: made } = await client.post<{ key: string }>("/api/keys", { name: "k", scopes: ["read", "write"] });
    expect(cellOfToken(made.key)).toBe(cell);
    const headers = { authorization: `Bearer ${made.key}` };
    for (const origin of [berth.web, berth.backend]) {
      const response = await fetch(`${origin}/api/agents/${agent.id}`, { headers });
      expect(response.status).toBe(200);
    }
    // Somebody else's browser finds the public page, whatever cell its own account is in.
    const page = { enabled: true, greeting: "Ahoy!" };
    const { body: shown } = await client.put<{ url: string }>(`/api/agents/${agent.id}/public`, page);
    for (const { client: other } of accounts.values()) {
      expect((await other.get(new URL(shown.url).pathname)).status).toBe(200);
    }
    for (const { client: other, id: otherId } of accounts.values()) {
      if (otherId !== id) expect((await other.get(`/api/agents/${agent.id}`)).status).toBe(404);
    }
    // Signed out and in again, from a browser that knows nothing.
    const again = createClient(berth);
    const signedIn = await again.post<{ user: { id: string } }>("/api/auth/callback/credentials", {
      email: email.toUpperCase(),
      password: client.account.password,
    });
    expect(signedIn.body.user.id).toBe(id);
    expect((await again.post("/api/auth/callback/credentials", { email, password: "wrong password" })).status).toBe(
      401,
    );
  }
  const { stdout } = await berth.command("user", "list", "--json");
  const listed = (JSON.parse(stdout) as { email: string }[]).map(({ email }) => email);
  for (const { client } of accounts.values()) expect(listed).toContain(client.account.email);
}, 120_000);

describe("a name", () => {
  test("is had once: by another sign-up, a changed address, twenty at once", async () => {
    await using berth = await start();
    const accounts = await oneInEachCell(berth);
    const [first, second] = [...accounts.values()];
    if (!first || !second) throw new Error("There are too few accounts.");
    const taken = first.client.account.email;
    const stranger = createClient(berth);
    const body = { email: taken, password: PASSWORD, name: "Eve" };
    expect(await stranger.post("/api/register", body)).toMatchObject({ status: 409, body: { code: "USER_EXISTS" } });
    const change = await second.client.post("/api/settings", {
      email: taken,
      password: second.client.account.password,
    });
    expect(change).toMatchObject({ status: 409, body: { code: "EMAIL_IN_USE" } });

    const wanted = newEmail();
    const tries = await Promise.all(
      Array.from({ length: 20 }, () => createClient(berth).post("/api/register", { ...body, email: wanted })),
    );
    expect(tries.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(copies(berth, wanted)).toBe(1);
  }, 120_000);

  test("of a cell that is killed while accounts are made is neither lost nor doubled", async () => {
    await using berth = await start();
    const emails = Array.from({ length: 120 }, () => newEmail("storm"));
    const made = new Set<string>();
    let isOver = false;
    const register = async (email: string) => {
      const answer = await createClient(berth)
        .post("/api/register", { email, password: PASSWORD, name: "S" })
        .catch(() => undefined);
      if (answer?.status === 201) made.add(email);
    };
    const killing = (async () => {
      for (let n = 0; !isOver; n++) {
        const victim = (await statesOf(berth)).find(({ cell, state }) => cell === 1 + (n % 2) && state === "ok");
        if (victim) process.kill(victim.pid, "SIGKILL");
        await eventually(async () => isOver || (await statesOf(berth)).every(({ state }) => state === "ok"), {
          timeoutMs: 30_000,
        });
      }
    })();
    for (let at = 0; at < emails.length; at += 6) await Promise.all(emails.slice(at, at + 6).map(register));
    isOver = true;
    await killing;
    await eventually(async () => (await statesOf(berth)).every(({ state }) => state === "ok"), { timeoutMs: 30_000 });
    for (const email of emails) {
      expect(copies(berth, email)).toBeLessThanOrEqual(1);
      if (made.has(email)) expect(copies(berth, email)).toBe(1);
    }
    // All can be had now, by those who were refused; those who have one sign in.
    for (const email of emails) {
      const answer = await createClient(berth).post("/api/register", { email, password: PASSWORD, name: "S" });
      if (answer.status !== 201) expect(answer).toMatchObject({ status: 409, body: { code: "USER_EXISTS" } });
      const signIn = await createClient(berth).post("/api/auth/callback/credentials", { email, password: PASSWORD });
      expect(signIn.status).toBe(200);
      expect(copies(berth, email)).toBe(1);
    }
  }, 240_000);
});

test("a service grows into cells as it is, keeps everything through kill -9, and does not shrink", async () => {
  await using berth = await startBerth({ env: { RATE_LIMITS: "off" } });
  const old = createClient(berth);
  await old.join();
  await berth.restart({ env: { CELLS: "2" } });
  expect((await old.get("/api/settings")).status).toBe(200);
  const eve = await createClient(berth).post("/api/register", { ...old.account, password: PASSWORD });
  expect(eve).toMatchObject({ status: 409 });
  const young = createClient(berth);
  let youngId = await young.join();
  for (let n = 0; cellOfId(youngId) === 0 && n < 5; n++) youngId = await young.join({ email: newEmail() });
  expect(cellOfId(youngId)).toBe(1);

  await berth.kill();
  await berth.restart({ keepPorts: true });
  expect((await old.get("/api/settings")).status).toBe(200);
  expect((await young.get("/api/settings")).status).toBe(200);

  const file = join(berth.dir, "copy.db");
  expect((await berth.command("backup", file)).exitCode).toBe(0);
  expect(existsSync(`${file}.1`)).toBe(true);
  await berth.stop();
  await expect(berth.restart({ env: { CELLS: "1" } })).rejects.toThrow("Set CELLS=2 or more");
}, 120_000);

test("a cell takes nothing that its router has not sent, and a client can't pretend to be one", async () => {
  await using berth = await start();
  const accounts = await oneInEachCell(berth);
  const client = accounts.get(1)?.client;
  if (!client) throw new Error("There is no account in cell 1.");
  const learned = Buffer.from(JSON.stringify({ isPlaced: true, learned: { identity: {} } })).toString("base64url");
  const headers = { "x-berth-forwarding": learned, "x-berth-relay": "a.b", "x-berth-elsewhere": "2" };
  const { status, headers: answered } = await client.get("/api/settings", { headers });
  expect(status).toBe(200);
  for (const name of ["x-berth-elsewhere", "x-berth-forwarding"]) expect(answered.has(name)).toBe(false);
  expect((await createClient(berth).get("/api/auth/callback/google?state=x", { headers })).status).not.toBe(500);
  // A mark that no cell has is as good as none.
  const lost = await fetch(`${berth.web}/api/settings`, { headers: { authorization: "Bearer bk_x~__" } });
  expect(lost.status).toBe(401);
}, 60_000);

describe("a program without an account", () => {
  const form = (origin: string, path: string, fields: Record<string, string>) =>
    fetch(`${origin}${path}`, { method: "POST", body: new URLSearchParams(fields) });

  test("is signed in with a code by an account of any cell, which another can't use after it", async () => {
    await using berth = await start();
    const accounts = await oneInEachCell(berth);
    for (const [cell, { client }] of accounts) {
      const asked = await form(berth.web, "/api/auth/device", { client_id: "tool", scope: "read" });
      const { device_code, user_code } = (await asked.json()) as Record<string, string>;
      const shown = await client.post("/api/auth/device/request", { code: user_code });
      expect(shown).toMatchObject({ status: 200, body: { client: "tool" } });
      const decision = { code: user_code, approved: true, scopes: ["read"] };
      expect((await client.post("/api/auth/device/decision", decision)).status).toBe(200);
      for (const { client: other } of accounts.values())
        expect((await other.post("/api/auth/device/decision", decision)).status).toBe(404);
      const grant = "urn:ietf:params:oauth:grant-type:device_code";
      const poll = { client_id: "tool", grant_type: grant, device_code: device_code ?? "" };
      const polled = await form(berth.web, "/api/auth/device/token", poll);
      const { access_token } = (await polled.json()) as { access_token: string };
      expect(cellOfToken(access_token)).toBe(cell);
      const headers = { authorization: `Bearer ${access_token}` };
      expect((await fetch(`${berth.web}/api/agents`, { headers })).status).toBe(200);
      expect((await form(berth.web, "/api/auth/device/token", poll)).status).toBe(400);
    }
  }, 60_000);

  test("that registered itself is connected by an account of any cell", async () => {
    await using berth = await start();
    const accounts = await oneInEachCell(berth);
    const redirect = "https://app.example/back";
    const registered = await createClient(berth).post<{ client_id: string }>("/api/oauth/register", {
      client_name: "App",
      redirect_uris: [redirect],
    });
    const client_id = registered.body.client_id;
    for (const [cell, { client }] of accounts) {
      const verifier = "v".repeat(50);
      const challenge = new Bun.CryptoHasher("sha256").update(verifier).digest("base64url");
      const request = new URLSearchParams({
        ...{ response_type: "code", client_id, redirect_uri: redirect, state: "s", scope: "read" },
        ...{ code_challenge: challenge, code_challenge_method: "S256" },
      }).toString();
      const decided = await client.post<{ redirect: string }>("/api/oauth/decision", {
        ...{ request, approved: true, scopes: ["read"] },
      });
      const code = new URL(decided.body.redirect).searchParams.get("code") ?? "";
      expect(cellOfToken(code)).toBe(cell);
      const exchanged = await form(berth.web, "/api/oauth/token", {
        ...{ grant_type: "authorization_code", client_id, code, redirect_uri: redirect, code_verifier: verifier },
      });
      const tokens = (await exchanged.json()) as { access_token: string; refresh_token: string };
      expect(cellOfToken(tokens.access_token)).toBe(cell);
      const { refresh_token } = tokens;
      const refreshed = await form(berth.web, "/api/oauth/token", {
        ...{ grant_type: "refresh_token", client_id, refresh_token },
      });
      expect(refreshed.status).toBe(200);
    }
  }, 60_000);
});

test("a mailed link to choose a new password works for accounts of any cell, and reveals none", async () => {
  await using berth = await start();
  const accounts = await oneInEachCell(berth);
  for (const { client, id } of accounts.values()) {
    const { email } = client.account;
    const asked = await createClient(berth).post("/api/auth/forgot-password", { email });
    expect(asked.status).toBe(200);
    const outbox = join(berth.dir, "data", ...(cellOfId(id) === 0 ? [] : ["cells", String(cellOfId(id))]), "outbox");
    const token = await eventually(
      async () => {
        for await (const file of new Bun.Glob("*.eml").scan(outbox)) {
          const text = (await Bun.file(join(outbox, file)).text()).replaceAll("=\r\n", "").replaceAll("=3D", "=");
          const found = /reset-password\?token=([\w~-]+)/.exec(text)?.[1];
          if (text.includes(email) && found) return found;
        }
        return undefined;
      },
      { timeoutMs: 20_000 },
    );
    const password = `another ${PASSWORD}`;
    expect((await createClient(berth).post("/api/auth/reset-password", { token, password })).status).toBe(200);
    const signIn = await createClient(berth).post("/api/auth/callback/credentials", { email, password });
    expect(signIn).toMatchObject({ status: 200, body: { user: { id } } });
  }
}, 90_000);

test("a provider and a wallet sign in to the same account again, whatever cell it is in", async () => {
  const baseUrl = "http://berth.example";
  await using oidc = await startOidc([`${baseUrl}/api/auth/callback/oidc`]);
  await using berth = await start({ BASE_URL: baseUrl, ...oidcEnv("OIDC", oidc, "Harbour ID") });
  const cells = new Set<number>();
  for (let n = 0; n < CELLS + 1; n++) {
    oidc.person = newGooglePerson();
    const ids = [];
    for (let time = 0; time < 2; time++) {
      const browser = createClient(berth);
      expectSignedIn(await signInWith(browser, "oidc"));
      ids.push((await settingsOf(browser)).id);
    }
    expect(ids[0]).toBe(ids[1]);
    cells.add(cellOfId(String(ids[0])));

    const wallet = createWallet();
    const found = [];
    for (let time = 0; time < 2; time++) {
      const message = siweMessage(baseUrl, wallet, { nonce: foreignNonce() });
      const proof = { message, signature: await wallet.sign(message) };
      const options = { headers: { accept: "application/json" } };
      const answer = await createClient(berth).post<{ user: { id: string } }>(
        "/api/auth/callback/wallet",
        proof,
        options,
      );
      expect(answer.status).toBe(200);
      found.push(answer.body.user.id);
    }
    expect(found[0]).toBe(found[1]);
    cells.add(cellOfId(String(found[0])));
  }
  expect(cells.size).toBe(CELLS);
}, 90_000);

test("an admin sees and changes the accounts and agents of all cells", async () => {
  await using berth = await start();
  const accounts = await oneInEachCell(berth);
  const root = createClient(berth);
  const made = { email: newEmail("root"), name: "Root" };
  expect((await berth.command("user", "create", made.email, "--admin")).exitCode).toBe(0);
  const link = (await berth.command("user", "reset-password", made.email)).stdout;
  const token = /token=([\w~-]+)/.exec(link)?.[1];
  await createClient(berth).post("/api/auth/reset-password", { token, password: PASSWORD });
  await root.post("/api/auth/callback/credentials", { email: made.email, password: PASSWORD });

  const agents = new Map<string, string>();
  for (const { client, id } of accounts.values()) {
    await client.grant("pro");
    const answer = await client.post<{ agent: { id: string } }>("/api/agents/provision", { name: `of ${id}` });
    agents.set(answer.body.agent.id, id);
  }
  const all = await root.get<{ users: { id: string }[]; total: number }>("/api/admin/users");
  expect(all.body.total).toBe(CELLS + 1);
  expect(all.body.users.map(({ id }) => id)).toEqual(
    expect.arrayContaining([...accounts.values()].map(({ id }) => id)),
  );
  const paged: string[] = [];
  for (let offset = 0; offset < all.body.total; offset++) {
    const page = await root.get<{ users: { id: string }[] }>(`/api/admin/users?limit=1&offset=${offset}`);
    paged.push(...page.body.users.map(({ id }) => id));
  }
  expect(paged.toSorted()).toEqual(all.body.users.map(({ id }) => id).toSorted());

  const listed: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const query: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await root.get<{ agents: { id: string }[]; next: string | null; total: number }>(
      `/api/admin/agents?limit=1${query}`,
    );
    expect(page.body.total).toBe(CELLS);
    listed.push(...page.body.agents.map(({ id }) => id));
    cursor = page.body.next;
  }
  expect(listed.toSorted()).toEqual([...agents.keys()].toSorted());

  for (const [agent, owner] of agents) {
    expect(await root.get(`/api/admin/users/${owner}`)).toMatchObject({ status: 200, body: { id: owner, agents: 1 } });
    expect((await root.post(`/api/admin/agents/${agent}/stop`)).status).toBe(200);
    expect((await root.patch(`/api/admin/users/${owner}`, { name: "Renamed" })).body).toMatchObject({
      name: "Renamed",
    });
  }
  const audit = await root.get<{ entries: { target: { id: string }; actor: { name: string } }[] }>("/api/admin/audit");
  for (const { id } of accounts.values()) {
    expect(audit.body.entries).toContainEqual(
      expect.objectContaining({
        target: expect.objectContaining({ id }),
        actor: expect.objectContaining({ name: made.email }),
      }),
    );
  }
  expect((await root.get("/api/admin/usage?cell=2")).status).toBe(200);
  expect((await root.get("/api/admin/usage?cell=9")).status).toBe(404);
  // Nobody else gets there by naming a cell, and no admin by what a client could send.
  const eve = accounts.get(1)?.client;
  for (const path of ["/api/admin/users", "/api/admin/users?cell=0", `/api/admin/users/${accounts.get(2)?.id}`]) {
    expect((await eve?.get(path))?.status).toBe(403);
    expect((await createClient(berth).get(path)).status).toBe(401);
  }
  const forged = Buffer.from(
    JSON.stringify({ learned: { admin: { isAdmin: true, user: { id: "x" }, scopes: ["read"] } } }),
  );
  const headers = { "x-berth-forwarding": forged.toString("base64url") };
  expect((await createClient(berth).get("/api/admin/users", { headers })).status).toBe(401);
}, 90_000);

test("an admin's keys of model providers are for all cells at once, also after a restart", async () => {
  await using berth = await start();
  const accounts = await oneInEachCell(berth);
  const { email } = accounts.get(0)?.client.account ?? {};
  await berth.command("user", "admin", email ?? "");
  const root = accounts.get(0)?.client;
  const models = async (cell: number) =>
    (await root?.get<{ providers: { id: string; keySource: string }[] }>(`/api/admin/model-providers?cell=${cell}`))
      ?.body;
  const stored = { apiKey: "sk-or-v1-0123456789abcdef0123456789abcdef" };
  expect((await root?.put("/api/admin/model-providers/provider_1", stored))?.status).toBe(200);
  for (const cell of [0, 1, 2]) await eventually(async () => JSON.stringify(await models(cell)).includes("cdef"));
  await berth.restart({ keepPorts: true });
  for (const cell of [0, 1, 2]) expect(JSON.stringify(await models(cell))).toContain("cdef");
}, 90_000);

test("a bot serves one agent of the whole service, and answers in each cell", async () => {
  await using telegram = await spawnTelegram();
  await using upstream = await startUpstream();
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
  const tokens = [0, 1, 2].map((n) => `${100_000 + n}:${"cells-test-token-of-a-bot".padEnd(35, "x")}`);
  await telegram.addBots(tokens.map((token) => ({ token })));
  await using berth = await start({
    CHANNEL_A_API_ROOT: telegram.url,
    PROVIDER_3_BASE_URL: upstream.url,
    MODEL_A: "provider_3:fake-small",
  });
  const accounts = await oneInEachCell(berth);
  const agents = new Map<number, string>();
  for (const [cell, { client }] of accounts) {
    await client.grant("pro");
    const { body } = await client.post<{ agent: { id: string } }>("/api/agents/provision", {
      ...{ name: "Bot", config: { channels: { channel_a: { access: "open" } } } },
    });
    agents.set(cell, body.agent.id);
    const path = `/api/agents/${body.agent.id}/channels/channel_a`;
    const { status } = await client.put(path, { token: tokens[cell], ownerId: "7" });
    expect(status).toBe(200);
  }
  for (const [cell, { client }] of accounts) {
    const path = `/api/agents/${agents.get(cell)}/channels/channel_a`;
    const taken = await client.put(path, { token: tokens[(cell + 1) % CELLS], ownerId: "7" });
    expect(taken).toMatchObject({ status: 409, body: { code: "CHANNEL_IN_USE" } });
  }
  await telegram.usersSay(tokens.map((token, n) => ({ token, chatId: 1_000, text: `hello ${n}` })));
  for (const [n, token] of tokens.entries())
    await eventually(async () => (await telegram.sent(token, 1_000)).some(({ text }) => text === `echo: hello ${n}`));
  // Freed in one cell, it can serve in another.
  const [first, second] = [accounts.get(0)?.client, accounts.get(1)?.client];
  expect((await first?.delete(`/api/agents/${agents.get(0)}/channels/channel_a`))?.status).toBe(200);
  const moved = await second?.put(`/api/agents/${agents.get(1)}/channels/channel_a`, {
    token: tokens[0],
    ownerId: "7",
  });
  expect(moved?.status).toBe(200);
}, 90_000);
