// Every route that writes, against an agent or an account that is deleted between authentication and write: the answer
// says that it is gone or has changed, and never 500.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { becomeFirstAdmin, createMember } from "../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { createDeletionRaces, type DeletionRaces } from "../../tests/support/deletion-races.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { startTelegram, type Telegram } from "../../tests/support/telegram.ts";

let telegram: Telegram;
let server: TestServer;
let admin: Client;
let races: DeletionRaces;
const routes: { side: "web" | "backend"; method: string; path: string }[] = [];

beforeAll(async () => {
  telegram = await startTelegram();
  const env = {
    WALLET_PLATFORM: "local",
    CHANNEL_A_API_ROOT: telegram.url,
    MAINNET_RPC_URL: NOWHERE,
    TESTNET_RPC_URL: NOWHERE,
  };
  server = await openServer({ env });
  await server.app.start();
  admin = createClient(server.web);
  await becomeFirstAdmin(server, admin);
  for (const side of ["web", "backend"] as const) {
    const { body } = await createClient(server[side]).get<{ paths: Record<string, object> }>("/swagger/json");
    for (const [path, operations] of Object.entries(body.paths))
      for (const method of Object.keys(operations))
        if (!STREAMS.has(path)) routes.push({ side, method: method.toUpperCase(), path });
  }
  races = createDeletionRaces(server);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await telegram?.stop();
});

/** Answers without an end. */
const STREAMS = new Set(["/api/events"]);

/** Nothing listens here, so that calls to the chain fail at once. */
const NOWHERE = "http://127.0.0.1:9";

interface Person {
  client: Client;
  userId: string;
  agentId: string;
  sessionId: string;
  subdomain: string;
}

/** A new account with an agent that has a session and a public page. */
async function person(): Promise<Person> {
  const { client, id: userId } = await createMember(server, { plan: "pro", verified: true });
  const { body } = await client.post<{ agent: { id: string } }>("/api/agents", { name: "Harbour" });
  const agentId = body.agent.id;
  const opening = { action: "create-session", agentId };
  const { body: session } = await client.post<{ sessionId: string }>("/api/agent", opening);
  const page = await client.put<{ subdomain: string }>(`/api/agents/${agentId}/public`, { enabled: true });
  return { client, userId, agentId, sessionId: session.sessionId, subdomain: page.body.subdomain };
}

const deletions = {
  agent: ({ agentId }: Person) => [{ sql: "DELETE FROM agents WHERE id = ?", args: [agentId] }],
  account: ({ userId }: Person) => [
    { sql: "DELETE FROM agents WHERE user_id = ?", args: [userId] },
    { sql: "DELETE FROM users WHERE id = ?", args: [userId] },
  ],
};

const password = "correct horse battery";
const address = `0x${"1".repeat(40)}`;

/** Bodies that a route accepts; several where one route does several things. Routes without any get an empty body. */
const BODIES: Record<string, (who: Person) => object[]> = {
  "POST /api/settings": ({ userId }) => [
    { name: "Grace" },
    { email: `new-${userId}@example.com`, currentPassword: password },
  ],
  "PATCH /api/settings": () => [{ notifications: { billing: false } }],
  "DELETE /api/settings": () => [{ password }],
  "POST /api/settings/password": () => [{ currentPassword: password, newPassword: "another horse battery" }],
  "POST /api/keys": () => [{ name: "key" }],
  "POST /api/settings/2fa": () => [{ password }],
  "POST /api/settings/2fa/confirm": () => [{ code: "123456" }],
  "DELETE /api/settings/2fa": () => [{ password, code: "123456" }],
  "POST /api/agents": () => [{ name: "Second", config: {} }],
  "POST /api/agents/provision": () => [{ name: "Second", config: {} }],
  "PATCH /api/agents/{id}": () => [{ name: "Renamed", config: { instructions: "Be brief." } }],
  "PUT /api/agents/{id}": () => [{ name: "Renamed", model: "model_b" }],
  "PUT /api/agents/{id}/config": () => [{ instructions: "Be brief." }],
  "POST /api/agents/{id}/config/restore": () => [{ version: 1 }],
  "PUT /api/agents/{id}/cache": () => [{ enabled: true }],
  "PUT /api/agents/{id}/channels/{channel}": () => [{ token: newBot() }],
  "POST /api/agents/{id}/channels/{channel}/pairings": () => [{ code: "ABCDEF" }],
  "PUT /api/agents/{id}/public": () => [{ enabled: true, greeting: "Ahoy" }],
  "POST /a/{subdomain}/messages": () => [{ message: "hello" }],
  "POST /api/agents/{id}/visits": () => [{ message: "hello", visitor: "v".repeat(22) }],
  "POST /api/deployments": ({ agentId }) => [{ agentId, config: { instructions: "Be brief." } }],
  "POST /api/agents/{id}/deploy": () => [{ config: { instructions: "Be brief." } }],
  "POST /api/agents/import": () => [{ format: "berth.agent/1", name: "Tug", model: "model_a", config: {} }],
  "POST /api/agent": ({ agentId, sessionId }) => [
    { agentId, message: "hello" },
    { agentId, message: "hello", sessionId },
    { agentId, action: "create-session" },
    { agentId, action: "update-skill", skillId: "clock", enabled: false },
    { agentId, action: "set-credential", key: "provider_1", value: "sk-or-v1-0123456789abcdef" },
  ],
  "POST /api/chat": ({ agentId }) => [{ agentId, message: "hello" }],
  "POST /api/agents/{id}/turns": () => [{ platform: "api", message: "hello" }],
  "PUT /api/agents/{id}/skills/{skillId}": () => [{ enabled: false }],
  "PUT /api/agents/{id}/credentials/{key}": () => [{ value: "sk-or-v1-0123456789abcdef" }, { value: "" }],
  "POST /api/provision": () => [{ name: "Bot", channelAToken: newBot() }],
  "POST /api/agents/{id}/verification/challenge": () => [
    { verificationType: "webauthn" },
    { verificationType: "name_service" },
  ],
  "POST /api/agents/{id}/rollback": () => [{ backupPath: "backups/none.json.gz" }],
  "POST /api/wallet": () => [{ action: "create" }, { action: "get_seed" }],
  "POST /api/wallet/create": ({ userId }) => [{ email: `${userId}@example.com` }],
  "PUT /api/wallet/policy": () => [{ perDay: "5" }],
  "POST /api/wallet/send": () => [{ to: address, amount: "1" }],
  "POST /api/webhooks": () => [{ url: "https://hooks.example/x" }],
  "PATCH /api/webhooks/{id}": () => [{ description: "mine" }],
  "PATCH /api/admin/users/{id}": () => [{ name: "Grace" }, { disabled: true }, { isAdmin: true }],
  "PUT /api/admin/users/{id}/subscription": () => [{ plan: "starter" }],
  "POST /api/auth/forgot-password": ({ client }) => [{ email: client.account.email }],
  "POST /api/auth/callback/credentials": ({ client }) => [{ email: client.account.email, password }],
};

const newBot = () => {
  const token = `${Math.floor(Math.random() * 1e9)}:${crypto.randomUUID().replaceAll("-", "")}`;
  telegram.addBot(token);
  return token;
};

/** The path with ids of this person's things, some of which are made here. */
async function pathFor(path: string, { client, userId, agentId, subdomain }: Person): Promise<string> {
  const make = async (list: string, body: object) => (await client.post<{ id: string }>(list, body)).body.id;
  let id = agentId;
  if (path.startsWith("/api/admin/")) id = userId;
  if (path.startsWith("/api/keys/")) id = await make("/api/keys", { name: "key" });
  if (path.startsWith("/api/webhooks/")) id = await make("/api/webhooks", { url: "https://hooks.example/x" });
  const values: Record<string, string> = {
    ...{ id, subdomain, userId: agentId, channel: "channel_a", senderId: "42", skillId: "clock", key: "provider_1" },
    ...{ deliveryId: crypto.randomUUID(), callbackId: crypto.randomUUID() },
  };
  return path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "x");
}

/** The most writes of one request that are tried. */
const MAX_WRITES = 6;

/** Routes of an agent; an account is deleted with its agents, so only the others are raced against an account's deletion. */
const OF_AGENT = /^\/(?:a\/|api\/(?:agents\/\{|instance\/|agent$|chat$|deployments$))/;

const RACES = {
  agent: { routes: () => routes.filter(({ path }) => OF_AGENT.test(path)), expectedHits: 60 },
  account: { routes: () => routes.filter(({ path }) => !OF_AGENT.test(path)), expectedHits: 35 },
};

for (const victim of ["agent", "account"] as const) {
  test(`no route answers 500 to the deletion of its ${victim} between authentication and write`, async () => {
    const answers: string[] = [];
    const hits = new Set<string>();
    let unused: Person | undefined;
    for (const { side, method, path } of RACES[victim].routes()) {
      const route = `${method} ${path}`;
      for (let variant = 0; variant < (BODIES[route]?.(NOBODY).length ?? 1); variant++) {
        for (let nth = 1; nth <= MAX_WRITES; nth++) {
          const who: Person = unused ?? (await person());
          const target = await pathFor(path, who);
          const body = BODIES[route]?.(who)[variant];
          const cookie = path.startsWith("/api/admin/") ? admin.cookie : who.client.cookie;
          const { answer, hit } = await races.race(nth, deletions[victim](who), () =>
            createClient(server[side]).fetch(method, target, body, { headers: { cookie } }),
          );
          const text = await answer.text();
          unused = hit || method !== "GET" ? undefined : who;
          if (!hit) break;
          hits.add(`${side} ${route} ${variant} ${nth}`);
          if (answer.status === 500) answers.push(`${side} ${route} #${variant} write ${nth}: ${text}`);
        }
      }
    }
    expect(answers).toEqual([]);
    expect(hits.size).toBeGreaterThan(RACES[victim].expectedHits);
  });
}

const NOBODY: Person = { client: createClient(""), userId: "", agentId: "", sessionId: "", subdomain: "" };
