// Tests `POST /api/deployments`: saves a configuration byte for byte and starts the agent, for its owner only.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { subscribe } from "../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { type AgentItem, provision } from "../../tests/support/members.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";

let server: TestServer;
let ada: Client;
let agent: AgentItem;
beforeAll(async () => {
  server = await openServer();
  ada = await owner();
});
beforeEach(async () => {
  agent = await provision(ada, "Harbour", { instructions: "Be brief." });
});
afterAll(() => server[Symbol.asyncDispose]());

async function owner(): Promise<Client> {
  const client = createClient(server.web);
  await client.signUp();
  await subscribe(server, client.account.email, "enterprise");
  await client.signIn();
  return client;
}
const deploy = (body: object, headers: Record<string, string> = {}, client = ada) =>
  client.post<{ success: boolean; status: string; agent: { id: string; status: string } }>("/api/deployments", body, {
    headers,
  });
const configOf = async () => (await ada.get(`/api/agents/${agent.id}/config`)).text;
const stop = () => ada.post(`/api/agents/${agent.id}/stop`, {});

test("200 for an agent that is up: it gets the new configuration and keeps its status", async () => {
  const { status, body } = await deploy({ agentId: agent.id, config: { instructions: "Be kind." } });
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { success: true, status: "running", agent: { id: agent.id, status: "running" } },
  });
  expect(await configOf()).toBe('{"config":{"instructions":"Be kind."},"status":"ok"}');
});

test("201 for a stopped agent or one in error, then 200; without a configuration the present one stays", async () => {
  for (const before of ["stopped", "error"]) {
    await stop();
    await server.kernel.database.write([
      { sql: "UPDATE agents SET status = ? WHERE id = ?", args: [before, agent.id] },
    ]);
    // A change by the service makes it forget the cached row, which the SQL above has bypassed.
    await ada.patch(`/api/agents/${agent.id}`, { name: "Harbour" });
    const first = await deploy({ agentId: agent.id });
    expect({ status: first.status, body: first.body }).toMatchObject({ status: 201, body: { status: "active" } });
    expect((await deploy({ agentId: agent.id, config: null })).status).toBe(200);
  }
  expect(await configOf()).toBe('{"config":{"instructions":"Be brief."},"status":"ok"}');
});

test("stores the configuration byte for byte, once under an Idempotency-Key", async () => {
  await stop();
  const config = '{ "b":1.50, "2":[], "__proto__":{"x":1e999} }';
  const send = () =>
    fetch(`${server.web}/api/deployments`, {
      method: "POST",
      body: `{"agentId":"${agent.id}","config":${config}}`,
      headers: { cookie: ada.cookie, "content-type": "application/json", "idempotency-key": `key-${agent.id}` },
    });
  const deployed = await send();
  expect(deployed.status).toBe(201);
  expect(await deployed.json()).toMatchObject({ warnings: [{ path: "2" }, { path: "b" }, { path: "__proto__" }] });
  expect((await send()).status).toBe(201);
  expect(await configOf()).toBe(`{"config":${config},"status":"ok"}`);
  const { body } = await ada.get<{ versions: unknown[] }>(`/api/agents/${agent.id}/config/versions`);
  expect(body.versions).toHaveLength(2);
});

test("a refused configuration changes nothing and starts nothing", async () => {
  await stop();
  expectRefusal(await deploy({ agentId: agent.id, config: [] }), 400, "INVALID_CONFIG");
  expectRefusal(await deploy({ agentId: agent.id, config: { temperature: "hot" } }), 400, "INVALID_INPUT");
  for (const body of [{}, { agentId: 1 }, { agentId: "" }, { config: {} }]) {
    const { issues } = expectRefusal(await deploy(body), 400, "INVALID_INPUT");
    expect(issues?.map(({ path }) => path)).toEqual(["agentId"]);
  }
  expect(await configOf()).toBe('{"config":{"instructions":"Be brief."},"status":"ok"}');
  expect((await ada.get(`/api/agents/${agent.id}`)).body).toMatchObject({ agent: { status: "stopped" } });
});

test("is for the owner only: the same 404 for a foreign and a missing agent, 401 without a session; a key needs `write`", async () => {
  const eve = await owner();
  const foreign = await deploy({ agentId: agent.id, config: { instructions: "Obey Eve." } }, {}, eve);
  expectRefusal(foreign, 404, "AGENT_NOT_FOUND");
  for (const id of [Bun.randomUUIDv7(), `${agent.id}/../${agent.id}`, "..", "%2e"]) {
    expect((await deploy({ agentId: id }, {}, eve)).text).toBe(foreign.text);
  }
  expectRefusal(await deploy({ agentId: agent.id }, {}, createClient(server.web)), 401, "UNAUTHORIZED");
  const { body } = await ada.post<{ key: string }>("/api/keys", { name: "reads", scopes: ["read"] });
  const key = { authorization: `Bearer ${body.key}` };
  expectRefusal(await deploy({ agentId: agent.id }, key, createClient(server.web)), 403, "MISSING_SCOPE");
  expect(await configOf()).toContain("Be brief.");
});
