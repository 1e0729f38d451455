// What people, their keys and their agents' owners change is in the audit log: by whom, from where, and never with a secret.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { PASSWORD } from "../../tests/support/accounts.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { leaveNote } from "./operator-notes.ts";

let server: TestServer;
let ada: Client;
let adaId: string;
beforeAll(async () => {
  server = await openServer();
  ada = createClient(server.web);
  adaId = await ada.join();
  await server.kernel.database.write([{ sql: "UPDATE users SET is_admin = 1 WHERE id = ?", args: [adaId] }]);
  server.app.accounts.users.invalidate(adaId);
});
afterAll(() => server?.[Symbol.asyncDispose]());

/** The entries that `work` adds, oldest first. */
async function recorded(work: () => Promise<unknown>) {
  const { read } = server.kernel.database;
  const before = Number((await read("SELECT max(seq) AS seq FROM audit_seals")).rows[0]?.seq ?? 0);
  await work();
  const { rows } = await read(
    `SELECT actor_kind, actor_id, actor_name, action, target_name, details, address FROM audit_seals AS s
      JOIN audit_log AS l ON l.id = s.entry_id WHERE s.seq > ? ORDER BY s.seq`,
    [before],
  );
  return rows.map(({ details, action, target_name, ...row }) => ({
    ...row,
    action,
    target_name,
    details: JSON.parse(String(details)) as unknown,
  }));
}
const byAda = () => ({ actor_kind: "user", actor_id: adaId, actor_name: ada.account.email, address: "127.0.0.1" });

test("a person signs up and signs in: a new device is an entry, a known one is not", async () => {
  const person = createClient(server.web);
  const entries = await recorded(() => person.join());
  expect(entries).toMatchObject([
    { action: "user.sign-up", actor_kind: "visitor", address: "127.0.0.1", target_name: person.account.email },
    { action: "user.sign-in", actor_kind: "user", actor_name: person.account.email },
  ]);
  expect(await recorded(() => person.signIn())).toEqual([]);
});

test("the fifth failure in a row is an entry, with the count", async () => {
  const stranger = createClient(server.web);
  const guess = () =>
    stranger.post("/api/auth/callback/credentials", { email: ada.account.email, password: "wrong wrong" });
  expect(
    await recorded(async () => {
      for (let at = 0; at < 4; at++) await guess();
    }),
  ).toEqual([]);
  expect(await recorded(guess)).toMatchObject([
    { action: "user.sign-in-failed", actor_kind: "visitor", target_name: ada.account.email, details: { failures: 5 } },
  ]);
});

test("keys are made and revoked, and a key that changes something is the one who did", async () => {
  let key = { id: "", key: "" };
  const made = await recorded(async () => {
    key = (await ada.post<typeof key>("/api/keys", { name: "script" })).body;
  });
  expect(made).toMatchObject([{ ...byAda(), action: "user.key-create", details: { key: key.id, name: "script" } }]);
  const headers = { authorization: `Bearer ${key.key}` };
  let agent = { id: "" };
  const byKey = await recorded(async () => {
    agent = (await createClient(server.web).post<{ agent: typeof agent }>("/api/agents", { name: "Tide" }, { headers }))
      .body.agent;
  });
  expect(byKey).toMatchObject([
    { action: "agent.create", actor_kind: "key", actor_id: key.id, actor_name: ada.account.email, target_name: "Tide" },
  ]);
  expect(await recorded(() => ada.delete(`/api/keys/${key.id}`))).toMatchObject([{ action: "user.key-delete" }]);
  expect(JSON.stringify([made, byKey])).not.toContain(key.key);
  await ada.delete(`/api/agents/${agent.id}`);
});

test("an agent is made, changed, started, stopped and deleted; secrets are named, never shown", async () => {
  const secret = "sk-secret-of-the-test";
  let id = "";
  const entries = await recorded(async () => {
    id = (await ada.post<{ agent: { id: string } }>("/api/agents", { name: "Harbour" })).body.agent.id;
    await ada.put(`/api/agents/${id}/config`, { instructions: "Be brief.", temperature: 0.4 });
    await ada.put(`/api/agents/${id}/config`, { instructions: "Be kind.", temperature: 0.4 });
    await ada.patch(`/api/agents/${id}`, { name: "Haven" });
    await ada.post("/api/agent", { action: "set-credential", agentId: id, key: "DOCS_TOKEN", value: secret });
    await ada.post("/api/agent", { action: "set-credential", agentId: id, key: "DOCS_TOKEN", value: "" });
    await ada.post(`/api/agents/${id}/stop`);
    await ada.post(`/api/agents/${id}/start`);
    await ada.delete(`/api/agents/${id}`);
  });
  expect(entries.map(({ action, details }) => [action, details])).toEqual([
    ["agent.create", { owner: adaId, model: "model_a" }],
    ["agent.update", { fields: ["instructions", "temperature"] }],
    ["agent.update", { fields: ["instructions"] }],
    ["agent.update", { name: { from: "Harbour", to: "Haven" } }],
    ["secret.set", { key: "DOCS_TOKEN" }],
    ["secret.delete", { key: "DOCS_TOKEN" }],
    ["agent.stop", {}],
    ["agent.start", {}],
    ["agent.delete", { owner: adaId }],
  ]);
  for (const entry of entries) expect(entry).toMatchObject(byAda());
  expect(JSON.stringify(entries)).not.toMatch(new RegExp(`${secret}|Be kind`));
});

test("webhooks, files and schedules are made, changed and deleted", async () => {
  const { body } = await ada.post<{ agent: { id: string } }>("/api/agents", { name: "Pier" });
  const agent = body.agent.id;
  const entries = await recorded(async () => {
    const url = "https://hooks.example.com/services/T0/secret-part";
    const hook = (await ada.post<{ id: string }>("/api/webhooks", { url, types: ["agent.status"] })).body.id;
    await ada.patch(`/api/webhooks/${hook}`, { active: false });
    await ada.post(`/api/webhooks/${hook}/rotate`);
    await ada.delete(`/api/webhooks/${hook}`);
    const form = new FormData();
    form.append("file", new File(["The quay is long."], "quay.txt", { type: "text/plain" }));
    const headers = { cookie: ada.cookie ?? "" };
    const sent = await fetch(`${server.web}/api/agents/${agent}/files`, { method: "POST", body: form, headers });
    const file = ((await sent.json()) as { file: { id: string } }).file.id;
    await ada.delete(`/api/agents/${agent}/files/${file}`);
    const path = `/api/agents/${agent}/schedules`;
    const plan = { name: "Weather", prompt: "Say the weather.", cron: "0 9 * * *" };
    const { id } = (await ada.post<{ schedule: { id: string } }>(path, plan)).body.schedule;
    await ada.patch(`${path}/${id}`, { enabled: false });
    await ada.delete(`${path}/${id}`);
  });
  expect(entries.map(({ action, target_name, details }) => [action, target_name, details])).toEqual([
    ["webhook.create", "hooks.example.com", { types: ["agent.status"], allEvents: true }],
    ["webhook.update", "hooks.example.com", { fields: ["active"], active: false }],
    ["webhook.rotate", "hooks.example.com", {}],
    ["webhook.delete", "hooks.example.com", {}],
    ["file.create", "quay.txt", { agent, origin: "owner", size: 17, isAddress: false }],
    ["file.delete", "quay.txt", { agent }],
    ["schedule.create", "Weather", { agent, origin: "owner" }],
    ["schedule.update", "Weather", { agent, fields: ["enabled"] }],
    ["schedule.delete", "Weather", { agent }],
  ]);
  for (const entry of entries) expect(entry).toMatchObject(byAda());
  expect(JSON.stringify(entries)).not.toMatch(/secret-part|the weather/);
  await ada.delete(`/api/agents/${agent}`);
});

test("what a command did beside the service is noted, also over a kill in the middle", async () => {
  const { config } = server.kernel;
  const note = (name: string) => ({
    action: "backup.restore",
    target: { kind: "backup", id: name, name },
    details: { files: 2 },
    operator: "root",
    at: "2030-01-31T09:00:00.000Z",
  });
  const entries = await recorded(async () => {
    leaveNote(config.dataDir, note("one"));
    leaveNote(config.dataDir, note("two"));
    // A kill has cut the last line off.
    appendFileSync(join(config.dataDir, "operator-notes.jsonl"), '{"action":"back');
    await server.app.commands["audit.take-notes"]?.({});
    await server.app.commands["audit.take-notes"]?.({});
  });
  const by = { actor_kind: "command", actor_name: "root", action: "backup.restore" };
  expect(entries).toMatchObject([
    { ...by, target_name: "one", details: { files: 2, at: "2030-01-31T09:00:00.000Z" } },
    { ...by, target_name: "two" },
  ]);
});

test("a password and an address are changed, and an account deleted by its owner", async () => {
  const person = createClient(server.web);
  const id = await person.join();
  const { email } = person.account;
  const entries = await recorded(async () => {
    await person.post("/api/settings/password", { currentPassword: person.account.password, newPassword: PASSWORD });
    await person.post("/api/settings", { email: `new-${email}`, currentPassword: PASSWORD });
    await person.delete("/api/settings", { password: PASSWORD });
  });
  expect(entries.filter(({ action }) => action !== "user.sign-in")).toMatchObject([
    { action: "user.password", actor_id: id },
    { action: "user.email", details: { email: { from: email, to: `new-${email}` } } },
    { action: "user.delete", actor_id: id, target_name: `new-${email}` },
  ]);
});

test("a command's changes are its operator's", async () => {
  const entries = await recorded(
    () => server.app.commands["vault.rotate"]?.({ operator: "root" }) ?? Promise.resolve(),
  );
  expect(entries).toMatchObject([{ action: "vault.rotate", actor_kind: "command", actor_name: "root" }]);
});

test("all of it is one whole chain", async () => {
  await server.kernel.audit.seal();
  expect(await server.app.commands["audit.verify"]?.({})).toMatchObject({ ok: true, breaks: [] });
});
