// Tests that an account's agents are removed through the backend before the account is deleted.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createBackendTransport } from "../../../src/kernel/http/backend/backend-transport.ts";
import { subscribe } from "../../../tests/support/account-setup.ts";
import { createClient } from "../../../tests/support/client.ts";
import type { AgentItem } from "../../../tests/support/members.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import type { SessionIdentity } from "../../auth/index.ts";
import type { Agent } from "../agent-store.ts";
import { createAccountDeletionHook } from "./account-deletion.ts";

let server: TestServer;
let identity: SessionIdentity;
let agentId: string;
const request = new Request("http://localhost/api/settings", { method: "DELETE" });

beforeAll(async () => {
  server = await openServer();
  const ada = createClient(server.web);
  const userId = await ada.join();
  await subscribe(server, ada.account.email, "pro");
  agentId = (await ada.post<{ agent: AgentItem }>("/api/agents/provision", { name: "Harbour" })).body.agent.id;
  const user = await server.app.accounts.users.byId(userId);
  if (!user) throw new Error("She has just joined.");
  const at = Date.now();
  const from = { direct: true, address: "127.0.0.1", userAgent: "" };
  const session = { id: "s", userId, ...from, createdAt: at, renewedAt: at, expiresAt: at + 60_000 };
  identity = { user, session, credentialId: "s", isAdmin: false, scopes: new Set() };
});
afterAll(() => server?.[Symbol.asyncDispose]());

const count = async () => Number((await server.kernel.database.read("SELECT count(*) AS n FROM agents")).rows[0]?.n);

function hook(url: string, listed = [agentId]) {
  const agents = { list: async () => listed.map((id) => ({ id }) as Agent) };
  const identities: Parameters<typeof createAccountDeletionHook>[0]["identities"] = {
    createGrant: ({ user, isAdmin }, _, action, id) => ({
      userId: user.id,
      isAdmin,
      action,
      address: "",
      ...(id !== undefined && { agentId: id }),
    }),
  };
  const backend = createBackendTransport(server.kernel.backend.tokens, url);
  return createAccountDeletionHook({ backend, identities, agents })({ user: identity.user, by: identity, request });
}

test("if the backend can't be reached it is 502, and no agent is removed", async () => {
  const refused: Promise<unknown> = hook("http://127.0.0.1:1").catch(({ status, code }) => ({ status, code }));
  expect(await refused).toEqual({ status: 502, code: "BACKEND_UNAVAILABLE" });
  expect(await count()).toBe(1);
});

test("its statements fail the write while the account has an agent that was not listed", async () => {
  const conditions = await hook(server.backend, []);
  await expect(server.kernel.database.write(conditions)).rejects.toThrow("Guard failed: agents");
});

test("the agents are removed, a missing one is ignored, and the write succeeds", async () => {
  await hook(server.backend);
  expect(await count()).toBe(0);
  await server.kernel.database.write(await hook(server.backend));
});
