// Accounts that move between the cells of one machine, with the whole binary: what was given out goes on working, and nothing is lost.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { cellOfId } from "../src/kernel/cells/marks.ts";
import { newEmail, PASSWORD } from "./support/accounts.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { countAccounts, folderOf, statesOf } from "./support/cells.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { openGateway } from "./support/gateway-client.ts";
import { startReceiver } from "./support/receiver.ts";
import { takeEvents } from "./support/sse.ts";
import { type SpawnedTelegram, spawnTelegram } from "./support/telegram-control.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const TOKEN = `100000:${"cells-move-token-of-a-bot".padEnd(35, "x")}`;
const CHAT = 1_000;
/** Milliseconds after which a process is killed while an account moves. */
const KILLS = [500, 1_100, 1_500];
let berth: Berth;
let telegram: SpawnedTelegram;
let upstream: Upstream;
beforeAll(async () => {
  telegram = await spawnTelegram();
  await telegram.addBots([{ token: TOKEN }]);
  upstream = await startUpstream();
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
  berth = await startBerth({
    env: {
      ...{ CELLS: "2", RATE_LIMITS: "off", OUTBOUND_ALLOW: "127.0.0.1/32", CHANNEL_A_API_ROOT: telegram.url },
      ...{ PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" },
    },
    readyMs: 60_000,
  });
});
afterAll(async () => {
  await berth[Symbol.asyncDispose]();
  await telegram[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function accountIn(cell: number): Promise<{ client: Client; id: string }> {
  for (;;) {
    const client = createClient(berth);
    const id = await client.join({ email: newEmail() });
    if (cellOfId(id) === cell) return { client, id };
  }
}

async function move(account: string, cell: number): Promise<{ from: number; to: number; ms: number }> {
  const { exitCode, stdout, stderr } = await berth.command("cells", "move", account, String(cell), "--json");
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

test("an account moves with all that is theirs, and back, and everything that was given out goes on working", async () => {
  const { client, id } = await accountIn(0);
  const { email } = client.account;
  await client.grant("pro");
  const provisioned = await client.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Ann" });
  const agentId = provisioned.body.agent.id;
  const ask = (message: string) => client.post<{ reply: string; sessionId: string }>("/api/chat", { message, agentId });
  const { body: first } = await ask("Hello");
  const { body: made } = await client.post<{ key: string }>("/api/keys", { name: "k", scopes: ["read", "write"] });
  const headers = { authorization: `Bearer ${made.key}` };
  const page = { enabled: true, greeting: "Ahoy!" };
  const { body: shown } = await client.put<{ url: string }>(`/api/agents/${agentId}/public`, page);
  /** The agent has another name each time. */
  const usage = async () =>
    JSON.stringify((await client.get<object>("/api/usage")).body).replaceAll(/"(?:before|after) \d"/g, '"Ann"');
  const before = await usage();
  const { client: stranger } = await accountIn(1);
  const names: unknown[] = [];
  const [joined] = await takeEvents(client, "/api/events?types=agent.created&lastEventId=0", 1);
  let lastEventId = joined?.id ?? "";
  // The agent gets a name while no reader is there, before each move and after it.
  const rename = async (name: string) =>
    expect((await client.patch(`/api/agents/${agentId}`, { name })).status).toBe(200);

  for (const [target, marks] of [
    [1, "of the other cell"],
    [0, "of its own"],
    [1, "of the other cell, again"],
  ] as const) {
    await rename(`before ${names.length}`);
    expect(await move(id, target), marks).toMatchObject({ from: 1 - target, to: target });
    await rename(`after ${names.length}`);
    const seen = await takeEvents(client, "/api/events?types=agent.updated", 2, { "last-event-id": lastEventId });
    names.push(...seen.map(({ data }) => JSON.parse(data).data.name));
    lastEventId = seen.at(-1)?.id ?? "";
    expect(countAccounts(berth, target, email), marks).toBe(1);
    expect(countAccounts(berth, 1 - target, email), marks).toBe(0);
    expect((await client.get<{ user: { id: string } }>("/api/auth/session")).body.user.id).toBe(id);
    for (const origin of [berth.web, berth.backend]) {
      expect((await fetch(`${origin}/api/agents/${agentId}`, { headers })).status, marks).toBe(200);
    }
    expect((await stranger.get(new URL(shown.url).pathname)).status, marks).toBe(200);
    expect((await stranger.get(`/api/agents/${agentId}`)).status, marks).toBe(404);
    const again = createClient(berth);
    const signedIn = await again.post<{ user: { id: string } }>("/api/auth/callback/credentials", {
      email,
      password: client.account.password,
    });
    expect(signedIn.body.user?.id, marks).toBe(id);
    expect(await usage(), marks).toEqual(before);
    const taken = await createClient(berth).post("/api/register", { email, password: PASSWORD, name: "Eve" });
    expect(taken, marks).toMatchObject({ status: 409, body: { code: "USER_EXISTS" } });
  }
  expect(names).toEqual([0, 2, 4].flatMap((n) => [`before ${n}`, `after ${n}`]));
  const { body: second, status } = await ask("Are you still there?");
  expect({ status, reply: second.reply, sessionId: second.sessionId }).toMatchObject({
    status: 200,
    sessionId: first.sessionId,
    reply: expect.any(String),
  });

  // In cell 0's log, wherever the account is.
  const { client: admin } = await accountIn(0);
  expect((await berth.command("user", "admin", admin.account.email)).stderr).toBe("");
  const { body: moves } = await admin.get<{ entries: object[] }>(`/api/admin/audit?user=${id}&action=user.move`);
  expect(moves.entries).toMatchObject(
    [0, 1, 0].map((from) => ({ actor: { kind: "command" }, target: { id, name: email }, details: { cell: { from } } })),
  );
  const copy = join(berth.dir, "copy.tar.gz");
  expect((await berth.command("person", "export", "--account", email, "--out", copy)).stderr).toBe("");
  expect(
    gunzipSync(await Bun.file(copy).bytes())
      .toString()
      .match(/"user\.move"/g)?.length,
  ).toBe(3);

  // Once it is deleted, the cell that it has left forgets it.
  const erased = await berth.command("person", "erase", "--account", email, "--yes");
  expect(JSON.parse(erased.stdout).deleted.keptInCells, erased.stderr).toBeGreaterThan(5);
  await eventually(() => [0, 1].every((cell) => tracesOf(cell, id, email) === 0), { timeoutMs: 20_000 });
});

test("sockets, large bodies, webhooks and admins find an account that has left a cell other than the first", async () => {
  const { client, id } = await accountIn(1);
  await client.grant("pro");
  const { body } = await client.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Ann" });
  const agentId = body.agent.id;
  await using receiver = startReceiver();
  expect((await client.post("/api/webhooks", { url: `${receiver.url}/hook`, types: ["agent.*"] })).status).toBe(201);
  const { client: admin, id: adminId } = await accountIn(0);
  expect((await berth.command("user", "admin", admin.account.email)).stderr).toBe("");
  await move(id, 0);

  const socket = openGateway(berth, agentId, { cookie: client.cookie });
  expect((await socket.next("status")).status).toBe("running");
  socket.send({ type: "chat", id: "1", message: "over the socket" });
  expect((await socket.next("reply")).reply).toContain("over the socket");
  socket.close();

  const form = new FormData();
  form.append("file", new Blob(["a".repeat(3 * 1024 * 1024)], { type: "text/plain" }), "long.txt");
  const uploaded = await fetch(`${berth.web}/api/agents/${agentId}/uploads`, {
    ...{ method: "POST", body: form },
    headers: { cookie: client.cookie, origin: berth.web },
  });
  expect(uploaded.status).toBe(201);

  expect((await client.post(`/api/agents/${agentId}/stop`)).status).toBe(200);
  await receiver.take(1, ({ message }) => message.type === "agent.status");
  const types = receiver.received.map(({ id: delivery, message }) => `${message.type} ${delivery}`);
  expect(new Set(types).size).toBe(types.length);

  // Also an admin whose own account has moved.
  for (const target of [undefined, 1, 0]) {
    if (target !== undefined) await move(adminId, target);
    expect(await admin.get(`/api/admin/users/${id}`)).toMatchObject({ status: 200, body: { id } });
  }
  await client.delete(`/api/agents/${agentId}`);
});

test("an agent made without an account is claimed by one of the other cell, once, with its bot", async () => {
  const token = `100001:${"cells-move-token-of-another".padEnd(35, "x")}`;
  await telegram.addBots([{ token }]);
  const { body: made } = await createClient(berth).post<{ agentId: string; metadata: { claimUrl: string } }>(
    "/api/provision",
    { channelAToken: token, channelAUserId: CHAT },
  );
  const link = { token: new URL(made.metadata.claimUrl).searchParams.get("token") };
  const { client: claimer } = await accountIn(1 - cellOfId(made.agentId));
  const { client: late } = await accountIn(cellOfId(made.agentId));
  for (const client of [claimer, late]) await client.grant("pro");
  const [claimed, second] = await Promise.all(
    [claimer, claimer].map((client) => client.post("/api/provision/claim", link)),
  );
  expect([claimed?.status, second?.status].toSorted()).toEqual([200, 404]);
  expect(await late.post("/api/provision/claim", link)).toMatchObject({ body: { code: "CLAIM_NOT_FOUND" } });
  expect((await claimer.get(`/api/agents/${made.agentId}`)).status).toBe(200);
  expect((await late.get(`/api/agents/${made.agentId}`)).status).toBe(404);
  await telegram.userSays(token, CHAT, "are you mine?");
  await eventually(async () => (await telegram.sent(token, CHAT)).some(({ text }) => text.includes("are you mine?")), {
    timeoutMs: 20_000,
  });
  await claimer.delete(`/api/agents/${made.agentId}`);
});

test("a bot answers each message once and in order while its account moves, and the account is whole after each kill -9", async () => {
  const { client, id } = await accountIn(0);
  const { email } = client.account;
  await client.grant("pro");
  const { body } = await client.post<{ agent: { id: string } }>("/api/agents/provision", {
    ...{ name: "Bot", config: { channels: { channel_a: { access: "open" } } } },
  });
  const path = `/api/agents/${body.agent.id}/channels/channel_a`;
  expect((await client.put(path, { token: TOKEN, ownerId: "7" })).status).toBe(200);
  let said = 0;
  let isOver = false;
  const talking = (async () => {
    while (!isOver) {
      await telegram.userSays(TOKEN, CHAT, `message ${said++}`);
      await Bun.sleep(1_100);
    }
  })();
  const replies = async () => (await telegram.sent(TOKEN, CHAT)).map(({ text }) => text);
  const answered = (count: number) =>
    eventually(async () => new Set(await replies()).size >= count, { timeoutMs: 30_000 });
  await answered(3);
  for (const target of [1, 0, 1]) {
    await move(id, target);
    await answered(said + 1);
  }
  const inOrder = Array.from({ length: said }, (_, n) => `echo: message ${n}`);
  await answered(said);
  expect((await replies()).slice(0, inOrder.length)).toEqual(inOrder);

  let at = 1;
  for (const [n, delayMs] of KILLS.entries()) {
    const moving = move(id, 1 - at).catch(() => undefined);
    await Bun.sleep(delayMs);
    // One of the cells in turn, and the first process, with which all end.
    const states = await statesOf(berth).catch(() => []);
    if (n % 3 === 2) await berth.kill();
    else if (states[1]?.state === "ok") process.kill(states[1].pid, "SIGKILL");
    await moving;
    if (!berth.running) await berth.restart({ keepPorts: true });
    await eventually(async () => (await statesOf(berth)).every(({ state }) => state === "ok"), { timeoutMs: 30_000 });
    await eventually(() => movesUnderWay() === 0, { timeoutMs: 30_000 });
    const counts = [0, 1].map((cell) => countAccounts(berth, cell, email));
    expect(counts.toSorted(), `killed after ${delayMs} ms`).toEqual([0, 1]);
    at = counts.indexOf(1);
    expect((await client.get(path)).status).toBe(200);
    await answered(said + 1);
  }
  isOver = true;
  await talking;
  await answered(said);
  const all = await replies();
  const missing = Array.from({ length: said }, (_, n) => `echo: message ${n}`).filter((text) => !all.includes(text));
  expect(missing).toEqual([]);
});

function movesUnderWay(): number {
  using database = new Database(join(folderOf(berth, 0), "berth.db"), { readonly: true });
  return database.query<{ n: number }, []>("SELECT count(*) AS n FROM account_moves").get()?.n ?? -1;
}

/** As somebody does who has the file. */
function changeAuditLog(cell: number): void {
  using database = new Database(join(folderOf(berth, cell), "berth.db"));
  database.run("PRAGMA busy_timeout = 5000");
  const triggers = database
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'audit_log'",
    )
    .all();
  database.transaction(() => {
    for (const { name } of triggers) database.run(`DROP TRIGGER ${name}`);
    database.run("UPDATE audit_log SET actor_name = 'nobody' WHERE id = (SELECT min(id) FROM audit_log)");
    for (const { sql } of triggers) database.run(sql);
  })();
}

/** Rows in a cell that say where the account is, and places of the directory that name it. */
function tracesOf(cell: number, id: string, email: string): number {
  using database = new Database(join(folderOf(berth, cell), "berth.db"), { readonly: true });
  const sql = `SELECT (SELECT count(*) FROM moving_accounts WHERE account_id = ?1) + (SELECT count(*) FROM moved_keys WHERE account_id = ?1)
    + (SELECT count(*) FROM places WHERE name IN (?1, ?2) AND until IS NULL) AS n`;
  return database.query<{ n: number }, [string, string]>(sql).get(id, email)?.n ?? -1;
}

test("a command finds an account that has moved, and a wrong one is told", async () => {
  const { client } = await accountIn(0);
  const { email } = client.account;
  expect(await move(email, 1)).toMatchObject({ to: 1 });
  await client.grant("pro");
  expect((await client.get<{ plan: string }>("/api/settings")).status).toBe(200);
  await expect(move(email, 7)).rejects.toThrow("There is no such cell: they are 0 to 1.");
  await expect(move("nobody@example.com", 1)).rejects.toThrow("There is no account with this email.");
});

test("the last cell is removed: its accounts move, all that it gave out goes on working, and it can be opened again", async () => {
  const { client, id } = await accountIn(1);
  await client.grant("pro");
  const provisioned = await client.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Ann" });
  const path = `/api/agents/${provisioned.body.agent.id}`;
  const { client: admin } = await accountIn(0);
  expect((await berth.command("user", "admin", admin.account.email)).stderr).toBe("");
  const entries = async () => (await admin.get<{ total: number }>(`/api/admin/audit?actor=${id}`)).body.total;
  const before = await entries();
  expect(before).toBeGreaterThan(0);
  const { cells } = (await admin.get<{ cells: unknown }>("/api/admin/usage")).body;
  expect(cells).toMatchObject({ asked: 2 });

  expect((await berth.command("cells", "remove", "0")).stderr).toContain("Cell 0 has the directory of all cells");
  changeAuditLog(1);
  // Interrupted, and repeated.
  const begun = berth.command("cells", "remove", "1");
  await eventually(() => movesUnderWay() > 0, { timeoutMs: 20_000 });
  const states = await statesOf(berth);
  if (states[1]?.state === "ok") process.kill(states[1].pid, "SIGKILL");
  await begun;
  const refused = await berth.command("cells", "remove", "1");
  expect(refused.stderr).toContain("The audit log of cell 1 is not as it was written (entry ");
  expect((await statesOf(berth)).length).toBe(2);
  const removed = await berth.command("cells", "remove", "1", "--broken-audit");
  expect(removed.stdout).toContain("Cell 1 is removed");
  const { body: said } = await admin.get<{ entries: { details: object }[] }>(
    "/api/admin/audit?action=cluster.cell-remove",
  );
  expect(said.entries).toMatchObject([{ details: { auditLog: expect.stringContaining("this entry was changed") } }]);
  expect(await statesOf(berth)).toMatchObject([{ cell: 0, state: "ok" }]);
  expect(cellOfId(id)).toBe(1);
  const check = async () => {
    expect((await client.get(path)).status).toBe(200);
    expect((await client.get<{ user: { id: string } }>("/api/auth/session")).body.user.id).toBe(id);
    expect(countAccounts(berth, 0, client.account.email)).toBe(1);
    expect(await entries()).toBe(before);
    expect((await fetch(`${berth.web}/api/settings`, { headers: { authorization: "Bearer bk_x~AB" } })).status).toBe(
      401,
    );
  };
  await check();
  expect((await admin.get<{ cells: unknown }>("/api/admin/usage")).body.cells).toMatchObject({ asked: 1 });
  const verified = await berth.command("audit", "verify");
  expect(verified.exitCode, verified.stderr + verified.stdout).toBe(0);
  expect(verified.stdout).not.toContain("to be sealed");

  for (const count of ["1", "2"]) {
    await berth.restart({ keepPorts: true, env: { CELLS: count } });
    await eventually(async () => (await client.get(path)).status === 200, { timeoutMs: 30_000 });
    await check();
  }
  expect(await move(id, 1)).toMatchObject({ from: 0, to: 1 });
  expect((await client.get(path)).status).toBe(200);
});
