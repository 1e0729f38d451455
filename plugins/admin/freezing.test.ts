// Tests the freeze of accounts and agents: what ends at once, what waits, what its owner can still do, and how it goes on.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { becomeFirstAdmin, verifyEmail } from "../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { type InteractionFixture, openInteractionFixture } from "../interaction/support.test.ts";

const REASON = "It sends advertising.";

let fixture: InteractionFixture;
let admin: Client;
let ada: Client & { userId: string };
let agentId: string;
beforeAll(async () => {
  fixture = await openInteractionFixture();
  admin = createClient(fixture.origin);
  await becomeFirstAdmin(fixture, admin);
});
beforeEach(async () => {
  fixture.upstream.reset();
  ada = await fixture.member();
  agentId = await fixture.provision(ada);
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

const freezeUser = (id = ada.userId) => admin.post(`/api/admin/users/${id}/freeze`, { reason: REASON });
const unfreezeUser = (id = ada.userId) => admin.post(`/api/admin/users/${id}/unfreeze`);
const freezeAgent = (id = agentId) => admin.post(`/api/admin/agents/${id}/freeze`, { reason: REASON });
const unfreezeAgent = (id = agentId) => admin.post(`/api/admin/agents/${id}/unfreeze`);
const agentOf = async (id = agentId) =>
  (
    await ada.get<{ agent: { status: string; statusReason: string | null; frozen: object | null } }>(
      `/api/agents/${id}`,
    )
  ).body.agent;
const chat = (message: string) => ada.post<{ reply: string }>("/api/agent", { agentId, message });
const stateOf = async (id = agentId) =>
  (await fixture.rows("SELECT status, wanted, thawed_status AS thawed FROM agents WHERE id = ?", id))[0];
const auditOf = async (target: string) =>
  (await fixture.rows("SELECT action, actor_name, details FROM audit_log WHERE target_id = ? ORDER BY id", target))
    .map(({ action, actor_name, details }) => ({ action, by: actor_name, details: JSON.parse(String(details)) }))
    .filter(({ action }) => String(action).includes("freeze"));
const eventsOf = async (userId: string) =>
  (await fixture.rows("SELECT type, data FROM events WHERE user_id = ? ORDER BY seq", userId)).map(({ type, data }) =>
    `${type} ${JSON.parse(String(data)).reason ?? ""}`.trim(),
  );

describe("an agent", () => {
  test("is frozen in the middle of a turn: the turn ends at once, its message stays, and is answered when it goes on", async () => {
    fixture.upstream.script(() => new Promise(() => undefined));
    const answer = chat("Are you there?");
    await eventually(() => fixture.upstream.open === 1);
    const begun = performance.now();
    expect(await freezeAgent()).toMatchObject({ status: 200, body: { status: "stopped", reason: REASON } });
    expectRefusal(await answer, 409, "AGENT_FROZEN");
    await eventually(() => fixture.upstream.open === 0);
    expect(performance.now() - begun).toBeLessThan(1_000);
    const pending = "SELECT content FROM inbox WHERE agent_id = ? AND status = 'pending'";
    expect(await fixture.rows(pending, agentId)).toEqual([{ content: "Are you there?" }]);

    fixture.upstream.script("Now I am.");
    expect(await unfreezeAgent()).toMatchObject({ status: 200, body: { status: "running", reason: null } });
    await eventually(async () => (await fixture.rows(pending, agentId)).length === 0);
    const replies = "SELECT content FROM messages WHERE agent_id = ? AND role = 'assistant'";
    expect(await fixture.rows(replies, agentId)).toEqual([{ content: "Now I am." }]);
  });

  test("shows its owner why, and refuses whatever would make it act", async () => {
    const { body } = await ada.post<{ schedule: { id: string } }>(`/api/agents/${agentId}/schedules`, {
      prompt: "Say hello.",
      cron: "0 9 * * *",
    });
    await freezeAgent();
    expect(await agentOf()).toMatchObject({
      status: "stopped",
      statusReason: REASON,
      frozen: { reason: REASON, account: false },
    });
    const refusals = [
      chat("Hello"),
      ada.post(`/api/agents/${agentId}/conversations`, { message: "Hello" }),
      ada.post(`/api/agents/${agentId}/schedules/${body.schedule.id}/run`),
      ...["start", "restart", "update", "repair"].map((operation) => ada.post(`/api/agents/${agentId}/${operation}`)),
    ];
    for (const refused of await Promise.all(refusals)) expectRefusal(refused, 409, "AGENT_FROZEN");
    // An admin is told what to do, not whom to ask.
    const byAdmin = await admin.post<{ message: string }>(`/api/admin/agents/${agentId}/start`);
    expectRefusal(byAdmin, 409, "AGENT_FROZEN");
    expect(byAdmin.body.message).toBe("This agent is frozen. It goes on by itself once you unfreeze it.");
    expect(fixture.upstream.chats).toEqual([]);
    // Its owner's account is not frozen.
    expect((await ada.patch(`/api/agents/${agentId}`, { name: "Port" })).status).toBe(200);
  });

  test("is as it was afterwards: stopped if its owner stopped it before or meanwhile, and does not start by itself", async () => {
    const other = await fixture.provision(ada);
    await ada.post(`/api/agents/${agentId}/stop`);
    for (const id of [agentId, other]) await freezeAgent(id);
    expect(await stateOf(other)).toEqual({ status: "stopped", wanted: "down", thawed: "running" });
    await ada.post(`/api/agents/${other}/stop`);
    for (const id of [agentId, other]) {
      await unfreezeAgent(id);
      expect(await stateOf(id)).toEqual({ status: "stopped", wanted: "down", thawed: null });
    }
  });

  test("is frozen once, however often it is asked for, with one entry of the audit log and one event", async () => {
    await Promise.all([freezeAgent(), freezeAgent(), freezeAgent()]);
    await unfreezeAgent();
    await unfreezeAgent();
    const owner = ada.account.email;
    expect(await auditOf(agentId)).toEqual([
      { action: "agent.freeze", by: "owner@example.com", details: { owner, reason: REASON } },
      { action: "agent.unfreeze", by: "owner@example.com", details: { owner } },
    ]);
    const states = (await eventsOf(ada.userId)).filter((type) => type.startsWith("agent.status"));
    expect(states).toEqual([`agent.status ${REASON}`, "agent.status"]);
    const lines = () =>
      fixture.rows(
        "SELECT message FROM agent_logs WHERE agent_id = ? AND message LIKE '%freeze:%' ORDER BY id",
        agentId,
      );
    await eventually(async () => (await lines()).length === 2);
    expect(await lines()).toEqual([
      { message: `freeze: the operator has paused the agent: ${REASON}` },
      { message: "unfreeze: the operator has ended a freeze" },
    ]);
  });

  test("that is frozen again for another reason has that one", async () => {
    await freezeAgent();
    const since = "SELECT frozen_at, thawed_status FROM agents WHERE id = ?";
    const before = await fixture.rows(since, agentId);
    const reason = "It sends viruses.";
    expect(await admin.post(`/api/admin/agents/${agentId}/freeze`, { reason })).toMatchObject({ body: { reason } });
    expect(await agentOf()).toMatchObject({ statusReason: reason, frozen: { reason } });
    expect(await fixture.rows(since, agentId)).toEqual(before);
    expect((await auditOf(agentId)).map(({ details }) => details.reason)).toEqual([REASON, reason]);
    expect(await unfreezeAgent()).toMatchObject({ body: { status: "running", reason: null } });
  });

  test("that was in an error is tried again when it goes on", async () => {
    await fixture.kernel.database.write([
      { sql: "UPDATE agents SET status = 'error' WHERE id = ?", args: [agentId], after: () => undefined },
    ]);
    await freezeAgent();
    expect(await stateOf()).toEqual({ status: "stopped", wanted: "down", thawed: "error" });
    await unfreezeAgent();
    await eventually(async () => (await stateOf())?.status === "active");
  });

  test("can be deleted by its owner", async () => {
    await freezeAgent();
    expect((await ada.delete(`/api/agents/${agentId}`)).status).toBe(200);
  });

  test("needs a reason, an admin, and an agent", async () => {
    expectRefusal(await admin.post(`/api/admin/agents/${agentId}/freeze`, { reason: " " }), 400, "INVALID_INPUT");
    expectRefusal(await ada.post(`/api/admin/agents/${agentId}/freeze`, { reason: REASON }), 403, "ADMIN_REQUIRED");
    const unknown = await freezeAgent("nope");
    expectRefusal(unknown, 404, "AGENT_NOT_FOUND");
    expect(unknown.text).toContain("There is no agent with this id.");
  });
});

describe("an account", () => {
  test("is frozen with its agents, reads, and changes nothing", async () => {
    const key = await ada.post<{ key: string }>("/api/keys", { name: "k", scopes: ["read", "write", "chat"] });
    const keyed = { headers: { authorization: `Bearer ${key.body.key}` } };
    const program = createClient(fixture.origin);
    expect(await freezeUser()).toMatchObject({ status: 200, body: { frozen: { reason: REASON } } });

    expect(await agentOf()).toMatchObject({ status: "stopped", frozen: { reason: REASON, account: true } });
    const { body: settings } = await ada.get<{ frozen: object }>("/api/settings");
    expect(settings.frozen).toMatchObject({ reason: REASON });
    for (const path of [`/api/agents/${agentId}/logs`, `/api/agents/${agentId}/export`, "/api/usage", "/api/keys"])
      expect((await ada.get(path)).status).toBe(200);
    expect((await program.get("/api/agents", keyed)).status).toBe(200);

    const text = `The operator of this service has frozen this account: ${REASON.slice(0, -1)}. You can read and export everything in it, erase people, delete agents, API keys and the account, and sign out.`;
    const refusals = [
      chat("Hello"),
      ada.patch("/api/settings", { name: "Eve" }),
      ada.post("/api/keys", { name: "more", scopes: ["read"] }),
      ada.post("/api/agents/provision", { name: "Another" }),
      ada.post(`/api/agents/${agentId}/start`),
      ada.put(`/api/agents/${agentId}/config`, {}),
      program.post("/v1/chat/completions", { model: "fake-small", messages: [{ role: "user", content: "Hi" }] }, keyed),
      program.post("/api/agent", { agentId, message: "Hi" }, keyed),
    ];
    for (const refused of await Promise.all(refusals)) {
      expect(refused.status).toBe(403);
      expect(refused.text).toContain("ACCOUNT_FROZEN");
      expect(refused.text).toContain(text);
    }
    expect(fixture.upstream.chats).toEqual([]);
  });

  test("still answers people who want a copy of their data, or want it deleted", async () => {
    await fixture.kernel.database.write([
      {
        sql: `INSERT INTO inbox (id, agent_id, session_id, platform, sender_id, sender_name, by_owner, content, received_at)
          VALUES (?, ?, 's', 'public', 'eve', 'Eve', 0, 'Hello', 1)`,
        args: [Bun.randomUUIDv7(), agentId],
      },
    ]);
    await freezeUser();
    const person = `/api/agents/${agentId}/people/visitor/eve`;
    expect((await ada.get(`${person}/export`)).status).toBe(200);
    expect(await ada.delete(person)).toMatchObject({ status: 200, body: { deleted: { received: 1 } } });
    expect(await fixture.rows("SELECT id FROM inbox WHERE agent_id = ?", agentId)).toEqual([]);
    expect(fixture.upstream.chats).toEqual([]);
    expect(await agentOf()).toMatchObject({ status: "stopped", frozen: { reason: REASON } });
    expectRefusal(await ada.delete(`/api/agents/${agentId}/channels/channel_a`), 403, "ACCOUNT_FROZEN");
  });

  test("can be left: signing out, ending keys, deleting agents and the account", async () => {
    const key = await ada.post<{ id: string }>("/api/keys", { name: "k", scopes: ["read"] });
    await freezeUser();
    expect((await ada.delete(`/api/keys/${key.body.id}`)).status).toBe(200);
    expect((await ada.delete(`/api/agents/${agentId}`)).status).toBe(200);
    expect((await ada.post("/api/auth/signout")).status).toBe(200);
    // Signing in is still possible.
    await ada.signIn();
    expect((await ada.delete("/api/settings", { password: ada.account.password })).status).toBe(200);
    expect(await fixture.rows("SELECT id FROM users WHERE id = ?", ada.userId)).toEqual([]);
  });

  test("goes on with its agents, but for those that are frozen themselves", async () => {
    const other = await fixture.provision(ada);
    await freezeAgent(other);
    await freezeUser();
    await freezeUser();
    await unfreezeUser();
    expect(await stateOf()).toEqual({ status: "running", wanted: "up", thawed: null });
    expect(await agentOf(other)).toMatchObject({ status: "stopped", frozen: { reason: REASON, account: false } });
    fixture.upstream.script("Hello again.");
    expect((await chat("Hello")).body.reply).toBe("Hello again.");
    expect((await eventsOf(ada.userId)).filter((type) => type.startsWith("user."))).toEqual([
      ...["user.created", "user.updated", `user.frozen ${REASON}`, "user.unfrozen"],
    ]);
    expect(await auditOf(ada.userId)).toEqual([
      { action: "user.freeze", by: "owner@example.com", details: { reason: REASON } },
      { action: "user.unfreeze", by: "owner@example.com", details: {} },
    ]);
  });

  test("is not frozen by a command for a reason that the API would refuse, and its agents neither", async () => {
    const { email } = ada.account;
    const { commands } = fixture.app;
    for (const freeze of [
      (reason: string) => commands["user.freeze"]?.({ email, reason }),
      (reason: string) => commands["agent.freeze"]?.({ id: agentId, reason }),
    ]) {
      await expect(freeze("x".repeat(501))).rejects.toThrow("at most 500 characters");
      await expect(freeze(" ")).rejects.toThrow("Say why");
    }
    expect(await agentOf()).toMatchObject({ status: "running" });
    expect(await commands["user.freeze"]?.({ email, reason: ` ${"x".repeat(500)} ` })).toMatchObject({ email });
  });

  test("that is frozen again for another reason has that one, and its agents have", async () => {
    await freezeUser();
    const reason = "It was sold.";
    const again = await admin.post(`/api/admin/users/${ada.userId}/freeze`, { reason });
    expect(again).toMatchObject({ status: 200, body: { frozen: { reason } } });
    expect(await agentOf()).toMatchObject({ statusReason: reason, frozen: { reason, account: true } });
    expect((await auditOf(ada.userId)).map(({ details }) => details.reason)).toEqual([REASON, reason]);
    await unfreezeUser();
    expect(await stateOf()).toEqual({ status: "running", wanted: "up", thawed: null });
  });

  test("that is disabled while it is frozen keeps its agents stopped", async () => {
    await freezeUser();
    await admin.patch(`/api/admin/users/${ada.userId}`, { disabled: true });
    await eventually(async () => (await stateOf())?.thawed === "stopped");
    await unfreezeUser();
    expect(await stateOf()).toEqual({ status: "stopped", wanted: "down", thawed: null });
  });

  test("of an admin has no rights of an admin; the own one and that of the last admin can't be frozen", async () => {
    const { body: own } = await admin.get<{ id: string }>("/api/settings");
    expectRefusal(await freezeUser(own.id), 409, "OWN_ACCOUNT");
    await admin.patch(`/api/admin/users/${ada.userId}`, { isAdmin: true });
    expect((await ada.get("/api/admin/users")).status).toBe(200);
    await freezeUser();
    expectRefusal(await ada.get("/api/admin/users"), 403, "ADMIN_REQUIRED");
    // The frozen admin does not count as another one.
    expectRefusal(await admin.patch(`/api/admin/users/${own.id}`, { isAdmin: false }), 409, "LAST_ADMIN");
    await unfreezeUser();
    const frozenByAda = await ada.post(`/api/admin/users/${own.id}/freeze`, { reason: REASON });
    expect(frozenByAda.status).toBe(200);
    await ada.post(`/api/admin/users/${own.id}/unfreeze`);
    await admin.patch(`/api/admin/users/${ada.userId}`, { isAdmin: false });
  });

  test("is found by its state in the list of accounts", async () => {
    await freezeUser();
    const { body } = await admin.get<{ users: { id: string; frozen: { reason: string } }[] }>(
      "/api/admin/users?status=frozen&limit=1",
    );
    expect(body.users).toMatchObject([{ id: ada.userId, frozen: { reason: REASON } }]);
    expect(await admin.get(`/api/admin/agents?owner=${ada.userId}`)).toMatchObject({
      body: { agents: [{ status: "stopped", reason: REASON, frozen: "account" }] },
    });
  });
});

describe("its owner gets a mail", () => {
  /** The subjects of the owner's mails about freezes, in any order. */
  const subjects = (): string[] => {
    const outbox = join(fixture.kernel.config.dataDir, "outbox");
    const mails = existsSync(outbox) ? readdirSync(outbox).map((name) => readFileSync(join(outbox, name), "utf8")) : [];
    return mails
      .filter((mail) => mail.includes(`To: ${ada.account.email}`))
      .map((mail) => /^Subject: (.+(?:\r?\n .+)*)/m.exec(mail)?.[1]?.replace(/\r?\n/g, "") ?? "")
      .filter((subject) => /fr(?:o|ee)ze/.test(subject))
      .sort();
  };
  const arrive = (expected: string[]) => eventually(() => subjects().length === expected.length && subjects());
  beforeEach(() => verifyEmail(fixture, ada.account.email));

  test("when the account is frozen, and one when that ends, however often it is asked for", async () => {
    await Promise.all([freezeUser(), freezeUser()]);
    await admin.post(`/api/admin/users/${ada.userId}/freeze`, { reason: "Another reason." });
    await unfreezeUser();
    await unfreezeUser();
    const expected = ["Your account at berth.example is frozen", "Your account at berth.example is no longer frozen"];
    expect(await arrive(expected)).toEqual(expected);
  });

  test("when an agent is frozen, and when it goes on; none while the account's own freeze holds it", async () => {
    await Promise.all([freezeAgent(), freezeAgent()]);
    await admin.post(`/api/admin/agents/${agentId}/freeze`, { reason: "Another reason." });
    await unfreezeAgent();
    await unfreezeAgent();
    const one = [
      "The operator of berth.example has ended the freeze of your agent Harbour",
      "The operator of berth.example has frozen your agent Harbour",
    ];
    expect(await arrive(one)).toEqual(one);
    await freezeAgent();
    await freezeUser();
    await unfreezeAgent();
    const more = [...one, one[1] ?? "", "Your account at berth.example is frozen"];
    expect(await arrive(more)).toEqual(more);
  });
});
