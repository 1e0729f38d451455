// Several cells on one machine: admins reach all of them.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newEmail, PASSWORD } from "./support/accounts.ts";
import type { Berth } from "./support/berth.ts";
import { CELLS, oneInEachCell, startCells } from "./support/cells.ts";
import { createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";

test("an admin sees and changes the accounts and agents of all cells", async () => {
  await using berth = await startCells();
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
  for (const [agent, owner] of agents) {
    const client = [...accounts.values()].find(({ id }) => id === owner)?.client;
    const reason = { reason: "It sends advertising." };
    expect((await root.post(`/api/admin/users/${owner}/freeze`, reason)).body).toMatchObject({ frozen: reason });
    const frozen = await client?.patch("/api/settings", { name: "Eve" });
    expect(frozen).toMatchObject({ status: 403, body: { code: "ACCOUNT_FROZEN" } });
    expect((await berth.command("user", "unfreeze", client?.account.email ?? "")).stdout).toContain("goes on");
    expect((await berth.command("agent", "freeze", agent, "--reason", "Look.")).stdout).toContain("is frozen");
    expect((await client?.post(`/api/agents/${agent}/start`))?.body).toMatchObject({ code: "AGENT_FROZEN" });
    expect((await root.post(`/api/admin/agents/${agent}/unfreeze`)).body).toMatchObject({ status: "stopped" });
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
});

describe("an account in each cell, with admins in two of them", () => {
  let berth: Berth;
  let accounts: Awaited<ReturnType<typeof oneInEachCell>>;
  function accountOf(cell: number) {
    const found = accounts.get(cell);
    if (!found) throw new Error("There is an account in each cell.");
    return found;
  }
  const clientOf = (cell: number) => accountOf(cell).client;

  beforeAll(async () => {
    berth = await startCells();
    accounts = await oneInEachCell(berth);
    for (const cell of [1, 2]) await berth.command("user", "admin", clientOf(cell).account.email);
  });
  afterAll(() => berth?.[Symbol.asyncDispose]());

  test("figures are of all cells, and with `cell` of one", async () => {
    const root = clientOf(1);
    for (const { client, id } of accounts.values()) {
      await root.put(`/api/admin/users/${id}/subscription`, { plan: "pro", days: 30 });
      await client.post("/api/agents/provision", { name: "Counted" });
    }
    const everyCell = { asked: CELLS, missing: [] };
    interface Overview {
      agents: { total: number };
      users: { total: number };
      database: { bytes: number };
      cells?: object;
    }
    // Counts are some seconds old.
    await eventually(
      async () => (await root.get<Overview>("/api/admin/overview")).body.agents.total === CELLS || undefined,
    );
    const { body: whole } = await root.get<Overview>("/api/admin/overview");
    expect(whole).toMatchObject({ cells: everyCell, users: { total: accounts.size } });
    const parts = await Promise.all(
      Array.from({ length: CELLS }, (_, cell) => root.get<Overview>(`/api/admin/overview?cell=${cell}`)),
    );
    for (const { body } of parts) {
      expect(body).toMatchObject({ agents: { total: 1 } });
      expect(body).not.toHaveProperty("cells");
      expect(whole.database.bytes).toBeGreaterThan(body.database.bytes);
    }
    expect((await root.get<{ total: number }>("/api/admin/users?cell=2")).body.total).toBe(1);
    for (const report of ["agents", "usage", "channels", "providers", "jobs", "figures", "storage", "versions"]) {
      expect(await root.get(`/api/admin/${report}`)).toMatchObject({ status: 200, body: { cells: everyCell } });
      expect((await root.get<object>(`/api/admin/${report}?cell=1`)).body).not.toHaveProperty("cells");
    }
    expect((await root.get<{ agents: object[] }>("/api/admin/agents?cell=1")).body.agents).toHaveLength(1);
  });

  test("of two admins who end each other's rights at once, in two cells, one is left", async () => {
    const demote = (by: number, of: number) =>
      clientOf(by).patch(`/api/admin/users/${accountOf(of).id}`, { isAdmin: false });
    const answers = await Promise.all([demote(1, 2), demote(2, 1)]);
    const isAdmin = async (cell: number) => (await clientOf(cell).get("/api/admin/users")).status === 200;
    const left = (await isAdmin(1)) ? 1 : 2;
    expect([await isAdmin(1), await isAdmin(2)].filter((one) => one)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const wish of [{ isAdmin: false }, { disabled: true }]) {
      const refused = await clientOf(left).patch(`/api/admin/users/${accountOf(left).id}`, wish);
      expect(refused).toMatchObject({ status: 409, body: { code: "LAST_ADMIN" } });
    }
    // With another one in another cell, the last of its cell can go.
    expect((await clientOf(left).patch(`/api/admin/users/${accountOf(0).id}`, { isAdmin: true })).status).toBe(200);
    expect((await clientOf(0).delete(`/api/admin/users/${accountOf(left).id}`)).status).toBe(200);
    const own = await clientOf(0).patch(`/api/admin/users/${accountOf(0).id}`, { isAdmin: false });
    expect(own).toMatchObject({ status: 409, body: { code: "LAST_ADMIN" } });
  });
});

test("an admin's keys of model providers are for all cells at once, also after a restart", async () => {
  await using berth = await startCells();
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
});

test("secrets of all cells are sealed again under a new root key", async () => {
  const [first, second] = ["the first root key of this test", "the second root key of this test"];
  await using berth = await startCells({ SECRET_KEY: first });
  const accounts = await oneInEachCell(berth);
  for (const { client } of accounts.values()) {
    await client.grant("pro");
    const { body } = await client.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Sealed" });
    const put = await client.put(`/api/agents/${body.agent.id}/stream`, {});
    expect(put.status).toBe(200);
  }
  await berth.restart({ env: { SECRET_KEY: second, SECRET_KEY_PREVIOUS: first } });
  const rotated = await berth.command("vault", "rotate");
  expect(rotated).toMatchObject({ exitCode: 0 });
  expect(rotated.stdout).toContain(`stream keys: ${CELLS} sealed again`);
  await berth.restart({ env: { SECRET_KEY: second, SECRET_KEY_PREVIOUS: "" } });
  for (const { client } of accounts.values()) {
    const { email, password } = client.account;
    expect((await client.post("/api/auth/callback/credentials", { email, password })).status).toBe(200);
  }
});
