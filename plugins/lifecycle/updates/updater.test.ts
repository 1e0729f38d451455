// Tests that changes of an agent are refused while an update that may be undone is under way.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { plugin } from "../../../src/kernel/plugin.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { provision } from "../../../tests/support/members.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { lifecycle } from "../index.ts";

const checked = Promise.withResolvers<void>();
const slow = plugin("slow-runtime", (host) => {
  host.use(lifecycle).carry({ version: "2.2.0", check: () => checked.promise });
  return { service: {} };
});
let server: TestServer;
let ada: Client;
beforeAll(async () => {
  server = await openServer({ plugins: [slow], env: { SIGNUP_TRIAL: "pro:7d" } });
  ada = createClient(server.web);
  await ada.join();
});
afterAll(() => server?.[Symbol.asyncDispose]());

test("an owner's changes are refused during an update, and accepted after it was undone", async () => {
  const { id } = await provision(ada, "Harbour", { instructions: "old" });
  const changes = () => [
    ada.put(`/api/agents/${id}/config`, { instructions: "new" }),
    ada.patch(`/api/agents/${id}`, { name: "Renamed" }),
    ada.post("/api/agent", { agentId: id, action: "set-credential", key: "provider_5", value: "sk-new-0123456789" }),
    ada.post("/api/agent", { agentId: id, action: "create-session" }),
    ada.delete(`/api/agents/${id}/channels/channel_a`),
  ];
  const updated = ada.post(`/api/agents/${id}/update`, { version: "2.2.0" });
  const version = async () =>
    (await ada.get<{ agent: { runtimeVersion: string } }>(`/api/agents/${id}`)).body.agent.runtimeVersion;
  await eventually(async () => (await version()) === "2.2.0", { what: "the new runtime is tried" });
  for (const change of changes()) expectRefusal(await change, 409, "OPERATION_IN_PROGRESS");
  checked.reject(new Error("not well"));
  expectRefusal(await updated, 500, "UPDATE_ROLLED_BACK");
  const answers = await Promise.all(changes());
  // 404: no bot is connected.
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404]);
  expect((await ada.get(`/api/agents/${id}`)).body).toMatchObject({ agent: { name: "Renamed" } });
  expect((await ada.get(`/api/agents/${id}/config`)).body).toMatchObject({ config: { instructions: "new" } });
});

test("an unreadable or invalid body is refused with the failure body", async () => {
  const { id } = await provision(ada, "Strict");
  const failure = { success: false, status: "error" };
  for (const [operation, body] of [
    ["update", { image: 5 }],
    ["rollback", {}],
  ] as const) {
    expect(expectRefusal(await ada.post(`/api/agents/${id}/${operation}`, body), 400)).toMatchObject(failure);
  }
  const headers = { cookie: ada.cookie, "content-type": "application/json" };
  for (const origin of [server.web, server.backend]) {
    const answer = await fetch(`${origin}/api/agents/${id}/update`, { method: "POST", headers, body: "{nope" });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ ...failure, code: "INVALID_JSON" });
  }
});
