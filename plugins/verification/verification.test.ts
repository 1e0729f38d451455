// Tests when challenges, verifications and authenticators end: by time, change of owner, deletion, or reclaim of the
// account.
import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from "bun:test";
import { MINUTE } from "../../src/kernel/util/time.ts";
import { subscribe } from "../../tests/support/account-setup.ts";
import { createAuthenticator } from "../../tests/support/authenticator.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { type Mailbox, openMailbox } from "../../tests/support/mailbox.ts";
import type { AgentItem } from "../../tests/support/members.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";

const PAGE = "http://berth.example";

let mailbox: Mailbox;
let server: TestServer;
beforeAll(async () => {
  mailbox = await openMailbox();
  server = await openServer({ env: { BASE_URL: PAGE, SMTP_URL: mailbox.url } });
  await server.kernel.jobs.start();
});
afterEach(() => setSystemTime());
afterAll(async () => {
  await server?.kernel.jobs.stop();
  await server?.[Symbol.asyncDispose]();
  await mailbox?.[Symbol.asyncDispose]();
});

interface Owner {
  client: Client;
  userId: string;
  path: string;
  id: string;
}

async function owner(): Promise<Owner> {
  const client = createClient(server.web);
  const userId = await client.join();
  await subscribe(server, client.account.email, "pro");
  const { id } = (await client.post<{ agent: AgentItem }>("/api/agents", { name: "Harbour" })).body.agent;
  return { client, userId, id, path: `/api/agents/${id}` };
}

async function challenge({ client, path }: Owner) {
  const body = { verificationType: "webauthn" };
  return (await client.post<{ options: { challenge: string } }>(`${path}/verification/challenge`, body)).body;
}
const verify = ({ client, path }: Owner, signature: string) =>
  client.post(`${path}/verify`, { verificationType: "webauthn", signature });
const recordOf = async ({ client, path }: Owner) =>
  (await client.get<{ verified: boolean; metadata: unknown }>(`${path}/verification`)).body;

async function verifiedOwner(): Promise<Owner> {
  const ada = await owner();
  const key = createAuthenticator(PAGE);
  expect((await verify(ada, key.register((await challenge(ada)).options))).status).toBe(200);
  return ada;
}
const rows = async (table: string, column: string, value: string) =>
  (await server.kernel.database.read(`SELECT * FROM ${table} WHERE ${column} = ?`, [value])).rows;

test("a challenge can be used for ten minutes and not a millisecond longer", async () => {
  const ada = await owner();
  const now = Date.now();
  setSystemTime(now);
  const signature = createAuthenticator(PAGE).register((await challenge(ada)).options);
  setSystemTime(now + 10 * MINUTE);
  const { error } = expectRefusal(await verify(ada, signature), 400, "VERIFICATION_FAILED");
  expect(error).toContain("no open challenge");
  setSystemTime(now + 10 * MINUTE - 1);
  expect((await verify(ada, signature)).status).toBe(200);
});

test("a new owner of an agent gets neither its verification nor its open challenge", async () => {
  const [ada, eve] = [await verifiedOwner(), await owner()];
  await challenge(ada);
  const handOver = { sql: "UPDATE agents SET user_id = ? WHERE id = ?", args: [eve.userId, ada.id] };
  await server.kernel.database.write([handOver]);
  expect(await rows("agents", "id", ada.id)).toMatchObject([
    { verified: 0, verification_type: null, verifier_address: null, verified_at: null, verification_metadata: null },
  ]);
  expect(await rows("verification_challenges", "agent_id", ada.id)).toEqual([]);
});

test("another change of the agent keeps its verification", async () => {
  const ada = await verifiedOwner();
  expect((await ada.client.patch(ada.path, { name: "Pier" })).status).toBe(200);
  expect(await recordOf(ada)).toMatchObject({ verified: true });
});

test("challenges are deleted with their agent, authenticators with their user", async () => {
  const ada = await verifiedOwner();
  await challenge(ada);
  expect((await ada.client.delete(ada.path)).status).toBe(200);
  expect(await rows("verification_challenges", "agent_id", ada.id)).toEqual([]);
  expect(await rows("webauthn_credentials", "user_id", ada.userId)).toHaveLength(1);
  expect((await ada.client.delete("/api/settings", { password: ada.client.account.password })).status).toBe(200);
  expect(await rows("webauthn_credentials", "user_id", ada.userId)).toEqual([]);
});

test("reclaiming an account removes the former holder's authenticators and verifications", async () => {
  const formerHolder = await verifiedOwner();
  const { email } = formerHolder.client.account;
  const client = createClient(server.web);
  await client.post("/api/auth/forgot-password", { email });
  const token = await mailbox.token(email, "reset-password");
  expect((await client.post("/api/auth/reset-password", { token, password: "a new horse battery" })).status).toBe(200);
  expect(await rows("webauthn_credentials", "user_id", formerHolder.userId)).toEqual([]);
  await eventually(async () => (await rows("agents", "id", formerHolder.id))[0]?.verified === 0);
});

test("no user has more than twenty authenticators", async () => {
  const ada = await verifiedOwner();
  const another = async () => {
    const body = { verificationType: "webauthn", register: true };
    const { options } = (
      await ada.client.post<{ options: { challenge: string } }>(`${ada.path}/verification/challenge`, body)
    ).body;
    return verify(ada, createAuthenticator(PAGE).register(options));
  };
  for (let registered = 1; registered < 20; registered++) expect((await another()).status).toBe(200);
  expectRefusal(await another(), 400, "VERIFICATION_FAILED");
  expect(await rows("webauthn_credentials", "user_id", ada.userId)).toHaveLength(20);
});
