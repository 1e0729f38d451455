// Tests that the agents of a disabled or taken-over account are stopped, log the reason, and stay stopped.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Client, createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { type AgentItem, provision } from "../../tests/support/members.ts";
import { temporaryDir } from "../../tests/support/process.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import type { AuditRecorder } from "../auth/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
  await server.kernel.jobs.start();
});
afterAll(async () => {
  await server?.kernel.jobs.stop();
  await server?.[Symbol.asyncDispose]();
});

interface Owner {
  client: Client;
  id: string;
  agents: AgentItem[];
}
let ada: Owner;
beforeEach(async () => {
  ada = await owner();
});

const administration = () => server.app.accounts.administration;
const unrecorded: AuditRecorder = () => ({ sql: "SELECT 1", args: [] });

/** A user with two running agents. */
async function owner(emailVerified = true): Promise<Owner> {
  const client = createClient(server.web);
  const id = await client.join();
  await administration().update(id, { emailVerified }, unrecorded, { keepAnAdmin: false });
  const subscription = { plan: "enterprise" as const, status: "active" as const, currentPeriodEnd: Date.now() + 1e9 };
  await administration().setSubscription(id, subscription, unrecorded);
  return { client, id, agents: [await provision(client, "First"), await provision(client, "Second")] };
}
const disable = (disabled: boolean, { id } = ada) =>
  administration().update(id, { disabled }, unrecorded, { keepAnAdmin: false });

const rows = async (sql: string, ...args: string[]) => (await server.kernel.database.read(sql, args)).rows;
const states = async ({ id } = ada) =>
  (await rows("SELECT status, wanted FROM agents WHERE user_id = ? ORDER BY id", id)).map(
    ({ status, wanted }) => `${status}, wanted ${wanted}`,
  );
const become = (wanted: string[], of = ada) => eventually(async () => expect(await states(of)).toEqual(wanted) ?? true);
/** The lines of the agents' logs about their life cycle, after their creation. */
const lifecycleLog = async ({ id } = ada) =>
  (
    await rows(
      `SELECT message FROM agent_logs JOIN agents ON agents.id = agent_id
        WHERE user_id = ? AND source = 'lifecycle' AND message NOT LIKE 'create:%' ORDER BY agent_logs.id`,
      id,
    )
  ).map(({ message }) => String(message));
const hashOf = (token: string) => new Bun.CryptoHasher("sha256").update(token).digest("hex");
const DOWN = ["stopped, wanted down", "stopped, wanted down"];
const UP = ["running, wanted up", "running, wanted up"];
const DISABLED = "stop: the agent is stopped, because its owner's account was disabled";
const TAKEN_OVER =
  "stop: the agent is stopped, because its owner's account was taken over by the holder of its email address";

/** Headers of a backend call with a service token in this owner's name, as a request admitted just before has them. */
function granted(action: string, { id: userId }: Owner, agentId?: string, isAdmin = false) {
  const grant = { userId, isAdmin, action, address: "127.0.0.1", ...(agentId !== undefined && { agentId }) };
  return { headers: { authorization: `Bearer ${server.kernel.backend.tokens.sign(grant)}` } };
}
const operate = (operation: string, { id }: AgentItem, of = ada) =>
  createClient(server.backend).post(`/api/agents/${id}/${operation}`, {}, granted(`agent.${operation}`, of, id));

describe("disabling an account", () => {
  test("stops its agents and logs why; other accounts' agents keep running", async () => {
    const bob = await owner();
    await disable(true);
    await become(DOWN);
    await eventually(async () => expect(await lifecycleLog()).toEqual([DISABLED, DISABLED]) ?? true);
    expect(await states(bob)).toEqual(UP);
    expect(await lifecycleLog(bob)).toEqual([]);
  });

  test.each(["start", "restart", "update"])("then %s is refused for every caller", async (operation) => {
    await disable(true);
    await become(DOWN);
    for (const agent of ada.agents) {
      const refused = expectRefusal(await operate(operation, agent), 409, "ACCOUNT_DISABLED");
      expect(refused).toMatchObject({ success: false, status: "error" });
    }
    expect(await states()).toEqual(DOWN);
  });

  test.each(["stop", "repair", "reset-memory"])("then %s still works, and leaves them stopped", async (operation) => {
    await disable(true);
    await become(DOWN);
    for (const agent of ada.agents) expect((await operate(operation, agent)).status).toBe(200);
    expect(await states()).toEqual(DOWN);
  });

  test("an agent that is started at the same time is stopped too", async () => {
    const [first, second] = ada.agents;
    if (!first || !second) throw new Error("The owner has two agents.");
    await Promise.all([operate("restart", first), disable(true), operate("start", second), operate("update", first)]);
    await become(DOWN);
  });

  test("no agent can be provisioned in it", async () => {
    await disable(true);
    await become(DOWN);
    const options = granted("agent.provision", ada);
    const answer = await createClient(server.backend).post("/api/agents", { name: "Third" }, options);
    expectRefusal(answer, 401, "UNAUTHORIZED");
    expect(await states()).toEqual(DOWN);
  });

  test("enabling it starts no agent; its owner can", async () => {
    await disable(true);
    await become(DOWN);
    await disable(false);
    await ada.client.signIn();
    expect(await states()).toEqual(DOWN);
    const [first] = ada.agents;
    expect((await ada.client.post(`/api/agents/${first?.id}/start`)).status).toBe(200);
    expect(await states()).toEqual(["active, wanted up", "stopped, wanted down"]);
  });

  test("an account that is enabled before its agents were stopped keeps them running", async () => {
    await server.kernel.jobs.stop();
    await disable(true);
    await disable(false);
    await server.kernel.jobs.start();
    await eventually(async () => (await rows("SELECT 1 FROM jobs WHERE kind = 'auth.disabled'")).length === 0);
    expect(await states()).toEqual(UP);
  });
});

test("at a start of Berth, agents of a disabled account that should come up, or were being updated, are stopped", async () => {
  const dir = temporaryDir();
  try {
    const ids = await leftBehind(dir.path);
    await using again = await openServer({ dir: dir.path });
    await again.app.start();
    const read = "SELECT id, status, wanted FROM agents ORDER BY id";
    await eventually(async () => {
      const { rows: found } = await again.kernel.database.read(read);
      const seen = found.map(({ id, status, wanted }) => `${id} ${status}, wanted ${wanted}`);
      expect(seen).toEqual(ids.map((id) => `${id} stopped, wanted down`));
      return true;
    });
    expect((await again.kernel.database.read("SELECT 1 FROM agent_updates")).rows).toEqual([]);
  } finally {
    dir.remove();
  }
});

/**
 * Writes what a kill leaves of an account that was just disabled: an agent in error, and one in the middle of an
 * update.
 */
async function leftBehind(dir: string): Promise<string[]> {
  await using before = await openServer({ dir, env: { SIGNUP_TRIAL: "pro:7d" } });
  const client = createClient(before.web);
  const userId = await client.join();
  const [failed, updated] = [(await provision(client, "Failed")).id, (await provision(client, "Updated")).id];
  await before.kernel.database.write([
    { sql: "UPDATE agents SET status = 'error' WHERE id = ?", args: [failed] },
    {
      sql: `INSERT INTO agent_updates (agent_id, backup_path, previous_version, previous_status, started_at)
        VALUES (?, 'backups/none.json.gz', '1.0.0', 'running', 1)`,
      args: [updated],
    },
    { sql: "UPDATE users SET disabled_at = 1 WHERE id = ?", args: [userId] },
  ]);
  return [failed, updated];
}

describe("a takeover", () => {
  /** Resets the password by a link, as the holder of the email address does. */
  async function reset(of: Owner): Promise<void> {
    const { email } = of.client.account;
    const link = await administration().resetPassword(of.id, unrecorded, "link");
    const token = new URL(link ?? "").searchParams.get("token");
    const answer = await createClient(server.web).post("/api/auth/reset-password", {
      token,
      password: "another horse",
    });
    expect({ email, status: answer.status }).toEqual({ email, status: 200 });
  }

  /** Adds credentials of the account and of an agent, a bot, and a person who is paired with it. */
  async function furnish({ id, client, agents: [first] }: Owner): Promise<void> {
    const agentId = first?.id ?? "";
    const set = (body: object) =>
      client.post("/api/agent", { action: "set-credential", value: "sk-stranger", ...body });
    for (const key of ["provider_1", "provider_5"]) expect((await set({ agentId, key })).status).toBe(200);
    const { seal } = server.kernel.vault;
    await server.kernel.database.write([
      {
        sql: `INSERT INTO credentials (owner_kind, owner_id, kind, sealed, updated_at)
          VALUES ('user', ?1, 'provider_4', 'x', 1), ('agent', ?2, 'channel_a', ?3, 1)`,
        args: [id, agentId, seal("7:token", `agent:${agentId}:credential:channel_a`)],
      },
      {
        sql: `INSERT INTO channel_connections (agent_id, channel, bot_id, bot_username, token_digest, owner_id,
          callback_id, callback_secret, created_at) VALUES (?1, 'channel_a', ?1, 'bot', 'd', '7', ?1, ?2, 1)`,
        args: [agentId, seal("secret", `channel-callback:${agentId}`)],
      },
      {
        sql: `INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, approved_at, created_at)
          VALUES (?, 'channel_a', '8', 'Eve', '8', 1, 1)`,
        args: [agentId],
      },
    ]);
  }
  async function rowsLeft({ id }: Owner) {
    const [row] = await rows(
      `SELECT (SELECT count(*) FROM credentials WHERE owner_id = ?1 OR owner_id IN (SELECT id FROM agents WHERE user_id = ?1)) AS credentials,
        (SELECT count(*) FROM channel_connections JOIN agents ON agents.id = agent_id WHERE user_id = ?1) AS connections,
        (SELECT count(*) FROM pairings JOIN agents ON agents.id = agent_id WHERE user_id = ?1) AS pairings`,
      id,
    );
    return { credentials: row?.credentials, connections: row?.connections, pairings: row?.pairings };
  }

  test("stops the agents that a stranger may have left, and logs why; they stay, and can be started", async () => {
    const stranger = await owner(false);
    await reset(stranger);
    await become(DOWN, stranger);
    const cleared = expect.stringContaining("Look at its configuration before you start it");
    await eventually(
      async () => expect(await lifecycleLog(stranger)).toEqual([TAKEN_OVER, TAKEN_OVER, cleared, cleared]) ?? true,
    );
    await stranger.client.signIn({ password: "another horse" });
    const [first] = stranger.agents;
    expect((await stranger.client.post(`/api/agents/${first?.id}/start`)).status).toBe(200);
    expect(await states(stranger)).toEqual(["active, wanted up", "stopped, wanted down"]);
    expect(await states(ada)).toEqual(UP);
  });

  test("replaces the agents' gateway tokens, so that a token the stranger has seen is invalid", async () => {
    const stranger = await owner(false);
    const [first] = stranger.agents;
    const token = async () =>
      (await stranger.client.get<{ token: string }>(`/api/agents/${first?.id}/token`)).body.token;
    const shown = await token();
    await reset(stranger);
    await stranger.client.signIn({ password: "another horse" });
    await eventually(async () => (await token()) !== shown);
    expect(await rows("SELECT 1 FROM gateway_tokens WHERE hash = ?", hashOf(shown))).toEqual([]);
  });

  test("removes credentials, bots and pairings of the account's agents, and of no others", async () => {
    const stranger = await owner(false);
    const kept = await rowsLeft(ada);
    for (const one of [stranger, ada]) await furnish(one);
    expect(await rowsLeft(stranger)).toEqual({ credentials: 4, connections: 1, pairings: 1 });
    await reset(stranger);
    // The takeover's own write deletes all but the bot's token.
    expect((await rowsLeft(stranger)).credentials).toBeLessThanOrEqual(1);
    await eventually(
      async () => expect(await rowsLeft(stranger)).toEqual({ credentials: 0, connections: 0, pairings: 0 }) ?? true,
    );
    const [first] = stranger.agents;
    await stranger.client.signIn({ password: "another horse" });
    const { body } = await stranger.client.get(`/api/agent?action=credentials&agentId=${first?.id}`);
    expect(JSON.stringify(body)).not.toContain("true");
    expect(kept).toEqual({ credentials: 0, connections: 0, pairings: 0 });
    expect(await rowsLeft(ada)).toEqual({ credentials: 4, connections: 1, pairings: 1 });
  });

  test("does not happen when a verified account gets a new password", async () => {
    await reset(ada);
    await eventually(
      async () => (await rows("SELECT 1 FROM jobs WHERE kind = 'lifecycle.strangers-out'")).length === 0,
    );
    expect(await states()).toEqual(UP);
    expect(await lifecycleLog()).toEqual([]);
  });

  test("agents that are created after it keep running, however late the others are stopped", async () => {
    const stranger = await owner(false);
    await server.kernel.jobs.stop();
    await reset(stranger);
    await stranger.client.signIn({ password: "another horse" });
    await provision(stranger.client, "Third");
    await server.kernel.jobs.start();
    await become([...DOWN, "running, wanted up"], stranger);
  });
});
