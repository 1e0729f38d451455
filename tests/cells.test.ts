// Several cells on one machine, with the whole binary: each account is in one of them, and each name is there once.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { testedBlocks } from "../site/tested-blocks.ts";
import { cellOfId, cellOfToken } from "../src/kernel/cells/marks.ts";
import { newEmail, PASSWORD } from "./support/accounts.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { copies, countAccounts, folderOf, oneInEachCell, startCells, statesOf } from "./support/cells.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { outputDifference } from "./support/shown-output.ts";

test("accounts spread over the cells, and everything of an account is where it is", async () => {
  await using berth = await startCells();
  const accounts = await oneInEachCell(berth);
  expect([...accounts.keys()].toSorted()).toEqual([0, 1, 2]);
  for (const [cell, { client, id }] of accounts) {
    const { email } = client.account;
    expect(cellOfToken(client.cookie)).toBe(cell);
    expect(countAccounts(berth, cell, email)).toBe(1);
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
  // The page shows two cells.
  const [shown] = testedBlocks(import.meta.path, "docs/cluster.md", 1);
  const table = (await berth.command("cells")).stdout.trimEnd().split("\n");
  expect(table).toHaveLength(4);
  expect(outputDifference(shown.code, table.slice(0, 3).join("\n"))).toBeUndefined();
});

describe("a name", () => {
  test("is had once: by another sign-up, a changed address, twenty at once", async () => {
    await using berth = await startCells();
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
  });

  test("of a cell that is killed while accounts are made is neither lost nor doubled", async () => {
    await using berth = await startCells();
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
  });
});

/** Somebody who wrote to agents of every cell is erased with a receipt of each, all in one file, which can be verified. */
async function expectReceipts(berth: Berth, owners: readonly Client[]): Promise<void> {
  for (const [cell, owner] of owners.entries()) {
    await owner.grant("pro");
    const { body } = await owner.post<{ agent: { id: string } }>("/api/agents/provision", { name: `of ${cell}` });
    using database = new Database(join(folderOf(berth, cell), "berth.db"));
    database.run("PRAGMA busy_timeout = 5000");
    database.run(
      "INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, created_at) VALUES (?, 'channel_a', '4711', '', '4711', 1)",
      [body.agent.id],
    );
  }
  const file = join(berth.dir, "receipts.json");
  const person = ["--channel", "telegram", "--id", "4711"];
  expect(await berth.command("person", "erase", ...person, "--out", file, "--yes")).toMatchObject({ exitCode: 0 });
  const receipts = (await Bun.file(file).json()) as { deleted: object; by: object }[];
  expect(receipts.map(({ deleted }) => deleted)).toEqual(owners.map(() => ({ pairings: 1 })));
  const genuine = owners.map((_, at) => `This service made receipt ${at + 1}, and it is as it was.\n`);
  expect(await berth.command("person", "verify", file)).toMatchObject({ exitCode: 0, stdout: genuine.join("") });
  const [first, ...others] = receipts;
  await Bun.write(file, JSON.stringify([first, ...others.map((one) => ({ ...one, deleted: {} }))]));
  const { exitCode, stdout } = await berth.command("person", "verify", file);
  expect({ exitCode, stdout }).toEqual({
    exitCode: 1,
    stdout: `${genuine[0]}Receipt 2 is not as this service made it, or another service did.\n`,
  });
}

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

  await expectReceipts(berth, [old, young]);

  await berth.kill();
  await berth.restart({ keepPorts: true });
  expect((await old.get("/api/settings")).status).toBe(200);
  expect((await young.get("/api/settings")).status).toBe(200);

  const file = join(berth.dir, "copy.db");
  expect((await berth.command("backup", file)).exitCode).toBe(0);
  expect(existsSync(`${file}.1`)).toBe(true);
  const archive = join(berth.dir, "all.tar.gz");
  expect((await berth.command("backup", archive)).exitCode).toBe(0);
  await berth.stop();
  // What is made after the backup is gone after the restore, the rest is there, in both cells.
  await berth.restart({ keepPorts: true });
  const late = createClient(berth);
  await late.join();
  await berth.stop();
  expect(await berth.command("restore", archive)).toMatchObject({ exitCode: 0 });
  await berth.restart({ keepPorts: true });
  for (const [client, status] of [
    [old, 200],
    [young, 200],
    [late, 401],
  ] as const)
    expect((await client.get("/api/settings")).status).toBe(status);
  await berth.stop();
  await expect(berth.restart({ env: { CELLS: "1" } })).rejects.toThrow("Set CELLS=2 or more");
});

test("the first process killed again and again while accounts are made loses and doubles none", async () => {
  await using berth = await startCells();
  const made: string[] = [];
  const tried: string[] = [];
  for (let round = 0; round < 3; round++) {
    let isKilled = false;
    const registering = (async () => {
      for (let n = 0; n < 25 && !isKilled; n++) {
        const emails = [0, 1, 2].map(() => newEmail("first"));
        tried.push(...emails);
        await Promise.all(
          emails.map(async (email) => {
            const body = { email, password: PASSWORD, name: "F" };
            const answer = await createClient(berth)
              .post("/api/register", body)
              .catch(() => undefined);
            if (answer?.status === 201) made.push(email);
          }),
        );
      }
    })();
    const before = made.length;
    await eventually(() => made.length > before + 4 + round * 3, { timeoutMs: 20_000 });
    await berth.kill();
    isKilled = true;
    await registering;
    await berth.restart({ keepPorts: true });
  }
  expect(made.length).toBeGreaterThan(10);
  for (const email of tried) {
    const body = { email, password: PASSWORD, name: "F" };
    const again = await createClient(berth).post("/api/register", body);
    expect(again.status).toBe(copies(berth, email) === 1 && again.status === 409 ? 409 : 201);
    if (made.includes(email)) expect(again.status).toBe(409);
    expect(copies(berth, email)).toBe(1);
    expect((await createClient(berth).post("/api/auth/callback/credentials", body)).status).toBe(200);
  }
});
