// Tests the state of the first run, from an empty instance to a person who has done it all.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { becomeFirstAdmin, createMember } from "../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { provision } from "../../tests/support/members.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";

let server: TestServer;
let root: Client;
beforeAll(async () => {
  server = await openServer();
  root = createClient(server.web);
  await becomeFirstAdmin(server, root);
});
afterAll(() => server[Symbol.asyncDispose]());

interface State {
  steps: { id: string; status: string }[];
  next: string | null;
  complete: boolean;
  agent: { name: string } | null;
  canMakeAgents: boolean;
}
const stateOf = async (client: Client) => (await client.get<State>("/api/setup")).body;
const statuses = ({ steps }: State) => Object.fromEntries(steps.map(({ id, status }) => [id, status]));

test("an admin begins with the model, and other people with an agent", async () => {
  const state = await stateOf(root);
  expect(state).toMatchObject({ next: "model", complete: false, agent: null, canMakeAgents: true, serving: "demo" });
  expect(statuses(state)).toEqual({ account: "done", model: "open", agent: "open", talk: "open", channel: "open" });
  const { client } = await createMember(server);
  expect(await stateOf(client)).toMatchObject({ next: "agent", canMakeAgents: false });
  expect(statuses(await stateOf(client))).not.toHaveProperty("model");
});

test("what was skipped is kept, of this account alone, and can be taken up again", async () => {
  const skip = (steps: string[]) => root.put<State>("/api/setup/skipped", { steps });
  expect((await skip(["model", "model", "channel"])).body).toMatchObject({ next: "agent" });
  expect(statuses(await stateOf(root))).toMatchObject({ model: "skipped", channel: "skipped", agent: "open" });
  const { client } = await createMember(server);
  expect(statuses(await stateOf(client))).toMatchObject({ channel: "open" });
  expect(statuses((await skip(["model"])).body)).toMatchObject({ model: "skipped", channel: "open" });
  expectRefusal(await skip(["account"]), 400, "INVALID_INPUT");
  expectRefusal(await createClient(server.web).get("/api/setup"), 401, "UNAUTHORIZED");
});

test("steps are done by what exists", async () => {
  await provision(root, "Harbour");
  expect(await stateOf(root)).toMatchObject({ next: "talk", agent: { name: "Harbour" } });
  expect((await root.post("/api/agent", { message: "Hello" })).status).toBe(200);
  expect(statuses(await stateOf(root))).toMatchObject({ agent: "done", talk: "done", channel: "open" });
});

test("goes with its account", async () => {
  const { client, id } = await createMember(server);
  await client.put("/api/setup/skipped", { steps: ["agent"] });
  await server.kernel.database.write([{ sql: "DELETE FROM users WHERE id = ?", args: [id] }]);
  const { rows } = await server.kernel.database.read("SELECT 1 FROM setup_skips WHERE user_id = ?", [id]);
  expect(rows).toEqual([]);
});
