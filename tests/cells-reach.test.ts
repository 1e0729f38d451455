// Several cells on one machine: whatever comes from outside finds the cell that it is for.
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { cellOfId, cellOfToken } from "../src/kernel/cells/marks.ts";
import { newEmail, PASSWORD } from "./support/accounts.ts";
import { CELLS, folderOf, oneInEachCell, startCells, statesOf } from "./support/cells.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { openGateway } from "./support/gateway-client.ts";
import { startOidc } from "./support/oidc.ts";
import { oidcEnv } from "./support/openid-pair.ts";
import { expectSignedIn, newGooglePerson, settingsOf, signInWith } from "./support/providers.ts";
import { spawnTelegram } from "./support/telegram-control.ts";
import { startUpstream } from "./support/upstream.ts";
import { createWallet, foreignNonce, siweMessage } from "./support/wallets.ts";

test("a cell takes nothing that its router has not sent, and a client can't pretend to be one", async () => {
  await using berth = await startCells();
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
});

describe("a program without an account", () => {
  const form = (origin: string, path: string, fields: Record<string, string>) =>
    fetch(`${origin}${path}`, { method: "POST", body: new URLSearchParams(fields) });

  test("is signed in with a code by an account of any cell, which another can't use after it", async () => {
    await using berth = await startCells();
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
  });

  test("that registered itself is connected by an account of any cell", async () => {
    await using berth = await startCells();
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
  });
});

test("a mailed link to choose a new password works for accounts of any cell, and reveals none", async () => {
  await using berth = await startCells();
  const accounts = await oneInEachCell(berth);
  for (const { client, id } of accounts.values()) {
    const { email } = client.account;
    const asked = await createClient(berth).post("/api/auth/forgot-password", { email });
    expect(asked.status).toBe(200);
    const outbox = join(folderOf(berth, cellOfId(id)), "outbox");
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
});

test("a provider and a wallet sign in to the same account again, whatever cell it is in", async () => {
  const baseUrl = "http://berth.example";
  await using oidc = await startOidc([`${baseUrl}/api/auth/callback/oidc`]);
  await using berth = await startCells({ BASE_URL: baseUrl, ...oidcEnv("OIDC", oidc, "Harbour ID") });
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
});

test("a bot serves one agent of the whole service, and answers in each cell", async () => {
  await using telegram = await spawnTelegram();
  await using upstream = await startUpstream();
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
  const tokens = [0, 1, 2].map((n) => `${100_000 + n}:${"cells-test-token-of-a-bot".padEnd(35, "x")}`);
  await telegram.addBots(tokens.map((token) => ({ token })));
  await using berth = await startCells({
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
  // Wanted by an agent of each cell at once, it serves one of them.
  await first?.delete(`/api/agents/${agents.get(0)}/channels/channel_a`);
  const wanted = `100009:${"cells-test-token-of-a-bot".padEnd(35, "x")}`;
  await telegram.addBots([{ token: wanted }]);
  for (let n = 0; n < 5; n++) {
    const answers = await Promise.all(
      [...accounts].map(async ([cell, { client }]) => {
        const path = `/api/agents/${agents.get(cell)}/channels/channel_a`;
        return { client, path, status: (await client.put(path, { token: wanted, ownerId: "7" })).status };
      }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const winner = answers.find(({ status }) => status === 200);
    await winner?.client.delete(winner.path);
  }
});

test("streams, sockets, uploads and video of an agent work wherever it is, and end with their caller", async () => {
  await using upstream = await startUpstream();
  upstream.script(() => ({ text: "one two three", delayMs: 5 }));
  await using berth = await startCells({ PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" });
  const accounts = await oneInEachCell(berth);
  const ports = new Set<string>();
  for (const { client } of accounts.values()) {
    await client.grant("pro");
    const { body } = await client.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Stream" });
    const { id } = body.agent;

    const events: string[] = [];
    for await (const { event } of client.sse("/api/agent", { message: "streamed", agentId: id })) events.push(event);
    expect(events).toContain("delta");
    expect(events.at(-1)).toBe("reply");

    const socket = openGateway(berth, id, { cookie: client.cookie });
    expect((await socket.next("status")).status).toBe("running");
    socket.send({ type: "chat", id: "1", message: "over the socket" });
    expect((await socket.next("reply")).reply).toContain("one two three");
    socket.close();

    // A body that is longer than what the router holds.
    const bytes = new Uint8Array(3 * 1024 * 1024).fill(97);
    const form = new FormData();
    form.append("file", new Blob([bytes], { type: "text/plain" }), "long.txt");
    const uploaded = await fetch(`${berth.web}/api/agents/${id}/uploads`, {
      ...{ method: "POST", body: form },
      headers: { cookie: client.cookie, origin: berth.web },
    });
    expect(uploaded.status).toBe(201);
    const { id: uploadId } = (await uploaded.json()) as { id: string };
    const back = await client.fetch("GET", `/api/agents/${id}/uploads/${uploadId}`);
    expect((await back.arrayBuffer()).byteLength).toBe(bytes.byteLength);

    const stream = await client.put<{ rtmpServer: string; hls: string }>(`/api/agents/${id}/stream`, {});
    ports.add(new URL(stream.body.rtmpServer.replace("rtmp:", "http:")).port);
    const playlist = await fetch(`${berth.web}${new URL(stream.body.hls).pathname}`);
    // It is not on the air, but known.
    expect([200, 404]).toContain(playlist.status);

    const leave = new AbortController();
    const live = await client.fetch("GET", "/api/events", undefined, { signal: leave.signal });
    expect(live.status).toBe(200);
    leave.abort();
  }
  expect(ports.size).toBe(CELLS);
});

test("sign-ups of an address are counted together, whatever mark a client invents", async () => {
  await using berth = await startCells({ RATE_LIMITS: '{"sign-up":"5/m"}' });
  const marks = [undefined, "~AB", "~AC", "~__"];
  const statuses = await Promise.all(
    Array.from({ length: 24 }, async (_, n) => {
      const mark = marks[n % marks.length];
      const headers = mark === undefined ? {} : { cookie: `berth_session=x${mark}` };
      const body = { email: newEmail("limited"), password: PASSWORD, name: "L" };
      return (await createClient(berth).post("/api/register", body, { headers })).status;
    }),
  );
  expect(statuses.filter((status) => status === 201)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(19);
});

test("each cell shows its metrics, to those who may read them", async () => {
  await using berth = await startCells({ METRICS_TOKEN: "a token for metrics" });
  const read = (path: string, token?: string) =>
    fetch(`${berth.backend}${path}`, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
  for (const path of ["/metrics", "/metrics?cell=1", "/metrics?cell=2"]) {
    const answer = await read(path, "a token for metrics");
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("berth_http_seconds");
    expect((await read(path)).status).toBe(403);
    expect((await read(path, "another")).status).toBe(403);
  }
});

test("SIGTERM, also to all processes at once, lets turns of every cell finish", async () => {
  await using upstream = await startUpstream();
  await using berth = await startCells({ PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" });
  const accounts = await oneInEachCell(berth);
  const agents: [Client, string][] = [];
  for (const { client } of accounts.values()) {
    await client.grant("pro");
    const { body } = await client.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Slow" });
    agents.push([client, body.agent.id]);
  }
  upstream.script(() => ({ text: "finished", delayMs: 1_500 }));
  const before = upstream.open;
  const answers = agents.map(([client, agentId]) =>
    client.post<{ reply: string }>("/api/chat", { message: "Take your time", agentId }),
  );
  await eventually(() => upstream.open === before + CELLS);
  for (const { cell, pid } of await statesOf(berth)) if (cell > 0) process.kill(pid, "SIGTERM");
  expect(await berth.stop()).toBe(0);
  expect(berth.output().stderr).not.toContain("the process of a cell ended");
  for (const answer of await Promise.all(answers))
    expect(answer).toMatchObject({ status: 200, body: { reply: "finished" } });
});
