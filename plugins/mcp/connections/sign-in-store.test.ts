// Tests that sign-ins are sealed, bound to their server's address, and removed with the account that made them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPluginHost, type PluginHost } from "../../../tests/support/plugin-host.ts";
import { insertAgent } from "../../../tests/support/records.ts";
import { createSignInStore, type SignInStore } from "./sign-in-store.ts";

let opened: PluginHost;
let store: SignInStore;
beforeAll(async () => {
  opened = await openPluginHost();
  store = createSignInStore(opened.kernel);
});
afterAll(() => opened?.[Symbol.asyncDispose]());

const TOKENS = { access_token: "canary-access", refresh_token: "canary-refresh", token_type: "Bearer" };
const rows = async () =>
  (await opened.kernel.database.read("SELECT * FROM mcp_sign_ins")).rows.map((row) => ({ ...row }));

test("a sign-in opens for its agent, server and address alone, and is sealed in its row", async () => {
  const { database } = opened.kernel;
  const [agentId, other] = [await insertAgent(database), await insertAgent(database)];
  const key = { agentId, name: "mail", digest: "one" };
  await store.save(key, { tokens: TOKENS, state: "canary-state" });
  expect(await store.load(key)).toMatchObject({ tokens: TOKENS });
  expect(await store.load({ ...key, digest: "two" })).toEqual({});
  expect(await store.load({ ...key, name: "other" })).toEqual({});
  expect(await store.findByState("canary-state")).toEqual({ agentId, name: "mail" });
  expect(await store.findByState("other")).toBeUndefined();
  expect(JSON.stringify(await rows())).not.toContain("canary");

  await database.write([{ sql: "UPDATE mcp_sign_ins SET agent_id = ?", args: [other] }]);
  expect(store.load({ ...key, agentId: other })).rejects.toThrow("belongs to another place");
  await database.write([{ sql: "DELETE FROM mcp_sign_ins", args: [] }]);
});

test("sign-ins go with a transfer of the agent, a reclaim of the account, and the agent", async () => {
  const { database } = opened.kernel;
  const agentId = await insertAgent(database);
  const userId = String((await database.read("SELECT user_id FROM agents WHERE id = ?", [agentId])).rows[0]?.user_id);
  const key = { agentId, name: "mail", digest: "one" };
  for (const gone of [
    store.forgetAgentStatement(agentId),
    store.forgetUserStatement(userId),
    store.forgetStatement(agentId, "mail"),
    { sql: "DELETE FROM agents WHERE id = ?", args: [agentId] },
  ]) {
    await store.save(key, { tokens: TOKENS });
    expect(await rows()).toHaveLength(1);
    await database.write([gone]);
    expect(await rows()).toEqual([]);
  }
  // An agent that is gone gets none.
  await store.save(key, { tokens: TOKENS });
  expect(await rows()).toEqual([]);
});
