// An owner lists the people of an agent, copies what it has of one of them, and erases them from it: from this agent alone.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { insertAgent } from "../../../tests/support/records.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import type { Receipt } from "../person/receipt.ts";
import { CHANNEL, filesOf, ID, MARK, OTHER, planter } from "../support.test.ts";

let server: TestServer;
let owner: Client;
let ownerId: string;
beforeAll(async () => {
  server = await openServer();
  owner = createClient(server.web);
  ownerId = await owner.join();
});
afterAll(() => server[Symbol.asyncDispose]());

const newAgent = () => insertAgent(server.kernel.database, { userId: ownerId });
const plantIn = (agentId: string, ...given: Parameters<ReturnType<typeof planter>>) =>
  planter(server.kernel, agentId)(...given);
async function plantInOrder(agentId: string, ...messages: [sender: string, mark: string][]): Promise<void> {
  for (const [n, [sender, mark]] of messages.entries()) await plantIn(agentId, sender, mark, { at: 10 + n });
}
const personOf = (agentId: string, id = ID) => `/api/agents/${agentId}/people/telegram/${id}`;
const erase = (agentId: string, id = ID) => owner.delete<Receipt>(personOf(agentId, id));
const rows = async (sql: string, ...args: string[]) => (await server.kernel.database.read(sql, args)).rows;
const verify = async (receipt: Receipt) => server.app.commands["person.verify"]?.({ receipt: JSON.stringify(receipt) });

interface Listed {
  people: { channel: string; id: string; name: string; messages: number }[];
  hasMore: boolean;
}
const listed = async (agentId: string, query = "") =>
  (await owner.get<Listed>(`/api/agents/${agentId}/people${query}`)).body;

describe("the list", () => {
  test("has who wrote last first, with their latest name, and not the owner", async () => {
    const agentId = await newAgent();
    await plantInOrder(agentId, [ID, MARK], [ID, "renamed"], [OTHER, "other"]);
    const own =
      "INSERT INTO inbox (id, agent_id, session_id, platform, sender_id, sender_name, by_owner, content, received_at) VALUES (?, ?, 's', ?, ?, '', 1, '', 1)";
    await server.kernel.database.write([
      { sql: own, args: ["1", agentId, CHANNEL, "owner"] },
      { sql: own, args: ["2", agentId, "web", ownerId] },
      {
        sql: `INSERT INTO channel_connections (agent_id, channel, bot_id, bot_username, token_digest, callback_id, callback_secret, created_at)
          VALUES (?, ?, 'bot', 'bot', '', 'c', '', 1)`,
        args: [agentId, CHANNEL],
      },
      {
        sql: "INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, created_at) VALUES (?, ?, 'asks', 'Grace', 'asks', 5)",
        args: [agentId, CHANNEL],
      },
    ]);
    const { people, hasMore } = await listed(agentId);
    expect(people).toMatchObject([
      { channel: CHANNEL, id: OTHER, name: "other Name", messages: 1 },
      { channel: CHANNEL, id: ID, name: "renamed Name", messages: 2 },
      { channel: CHANNEL, id: "asks", name: "Grace", messages: 0 },
    ]);
    expect(hasMore).toBe(false);
  });

  test("is read in pages, and searched by any name that they had, and by the id", async () => {
    const agentId = await newAgent();
    await plantInOrder(agentId, [ID, "Ada"], [ID, "Countess"], [OTHER, "other"]);
    expect(await listed(agentId, "?limit=1")).toMatchObject({ people: [{ id: OTHER }], hasMore: true });
    expect(await listed(agentId, "?limit=1&offset=1")).toMatchObject({ people: [{ id: ID }], hasMore: false });
    expect((await listed(agentId, "?query=ADA")).people).toMatchObject([{ id: ID, name: "Countess Name" }]);
    expect((await listed(agentId, `?query=${OTHER.slice(-4)}`)).people).toMatchObject([{ id: OTHER }]);
    expect((await listed(agentId, "?query=nobody")).people).toEqual([]);
  });

  test("is for the owner alone", async () => {
    const agentId = await newAgent();
    const stranger = createClient(server.web);
    await stranger.join();
    for (const path of [
      `/api/agents/${agentId}/people`,
      `${personOf(agentId)}/export`,
      `/api/agents/${agentId}/erasures`,
    ])
      expect(await stranger.get(path)).toMatchObject({ status: 404, body: { code: "AGENT_NOT_FOUND" } });
    expect(await stranger.delete(personOf(agentId))).toMatchObject({ status: 404, body: { code: "AGENT_NOT_FOUND" } });
  });
});

describe("a copy", () => {
  test("has what this agent has of the person, and is in the audit log without a name", async () => {
    const [agentId, another] = [await newAgent(), await newAgent()];
    await plantIn(agentId, ID, MARK);
    await plantIn(agentId, OTHER, "otherotherother");
    await plantIn(another, ID, "elsewhereelsewhere");
    const response = await owner.fetch("GET", `${personOf(agentId)}/export`);
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="person.tar.gz"');
    const text = gunzipSync(await response.arrayBuffer()).toString();
    expect(text).toContain(`agents/${agentId}.json`);
    expect(text).toContain(MARK);
    expect(text).not.toContain("otherotherother");
    expect(text).not.toContain("elsewhereelsewhere");
    const details = JSON.stringify({ agent: agentId });
    const found = await rows("SELECT * FROM audit_log WHERE action = 'person.export' AND details = ?", details);
    expect(found).toMatchObject([{ actor_kind: "user", actor_name: owner.account.email, target_name: "" }]);
  });

  test("of somebody unknown is refused, and of a channel that does not exist", async () => {
    const agentId = await newAgent();
    expect(await owner.get(`${personOf(agentId, "404")}/export`)).toMatchObject({
      status: 404,
      body: { code: "PERSON_NOT_FOUND" },
    });
    expect((await owner.get(`/api/agents/${agentId}/people/fax/1/export`)).status).toBe(400);
    expect((await owner.get(`/api/agents/${agentId}/people/account/${ownerId}/export`)).status).toBe(400);
  });
});

describe("an erasure", () => {
  test("leaves nothing of the person in this agent, and everything in others", async () => {
    const [agentId, another] = [await newAgent(), await newAgent()];
    const mark = "onlyinthisagent";
    await plantIn(agentId, ID, mark);
    await plantIn(agentId, OTHER, "otherotherother");
    await plantIn(another, ID, "elsewhereelsewhere");
    const folder = server.kernel.config.dataDir;
    const before = filesOf(folder, "elsewhereelsewhere").length;
    const { status, body: receipt } = await erase(agentId);
    expect(status).toBe(200);
    expect(receipt.deleted).toMatchObject({ messages: 2, received: 1, conversations: 1, files: 1, memories: 1 });
    expect(filesOf(folder, mark)).toEqual([]);
    expect(filesOf(folder, "elsewhereelsewhere").length).toBe(before);
    expect((await listed(agentId)).people).toMatchObject([{ id: OTHER }]);
    expect((await listed(another)).people).toMatchObject([{ id: ID, messages: 1 }]);
  });

  test("has a receipt that names the agent, but neither the person nor the owner, and that can be verified", async () => {
    const agentId = await newAgent();
    await plantIn(agentId, ID, MARK);
    const { body: receipt } = await erase(agentId);
    expect(receipt).toMatchObject({ agent: agentId, by: { kind: "owner", name: "" }, person: { channel: CHANNEL } });
    const text = JSON.stringify(receipt);
    for (const name of [ID, owner.account.email, MARK]) expect(text).not.toContain(name);
    expect(await verify(receipt)).toEqual({ genuine: [true] });
    expect(await verify({ ...receipt, agent: "another" })).toEqual({ genuine: [false] });
    const check = async (file: string) => {
      const { status, body } = await owner.post(`/api/agents/${agentId}/erasures/verify`, { receipt: file });
      return status === 200 ? body : { status, code: (body as { code: string }).code };
    };
    expect(await check(text)).toEqual({ genuine: true });
    expect(await check(JSON.stringify(receipt, null, 2))).toEqual({ genuine: true });
    expect(await check(text.replace('"received":1', '"received":2'))).toEqual({ genuine: false });
    expect(await check(text.replace("{", '{"id":"another",'))).toEqual({ genuine: false });
    expect(await check("hello")).toEqual({ status: 400, code: "UNREADABLE_RECEIPT" });
    const { agent: _, ...rest } = receipt;
    expect(await verify(rest)).toEqual({ genuine: [false] });
    const list = await owner.get<{ erasures: { receipt: Receipt }[] }>(`/api/agents/${agentId}/erasures`);
    expect(list.body.erasures).toMatchObject([{ id: receipt.id, receipt }]);
    const older = await owner.get<object>(`/api/agents/${agentId}/erasures?cursor=${receipt.id}`);
    expect(older.body).toEqual({ erasures: [], count: 0, nextCursor: null });
    // Who asked for it is in the audit log alone, which forgets it after its time.
    expect(await rows("SELECT actor, subject FROM erasures WHERE id = ?", receipt.id)).toMatchObject([
      { actor: "{}", subject: null },
    ]);
    const recorded = await rows(
      "SELECT * FROM audit_log WHERE action = 'person.erase' AND instr(details, ?) > 0",
      receipt.id,
    );
    expect(recorded).toMatchObject([{ actor_kind: "user", actor_id: ownerId, actor_name: owner.account.email }]);
  });

  test("is answered with the receipt of then, until the person comes back; another agent's says nothing", async () => {
    const [agentId, another] = [await newAgent(), await newAgent()];
    await plantIn(agentId, ID, MARK);
    const { body: receipt } = await erase(agentId);
    expect((await erase(agentId)).body).toEqual(receipt);
    expect(await erase(another)).toMatchObject({ status: 404, body: { code: "PERSON_NOT_FOUND" } });
    await plantIn(agentId, ID, MARK);
    const again = await erase(agentId);
    expect(again.body.id).not.toBe(receipt.id);
  });

  test("makes the others wait for the files once in ten minutes, and its receipt says until when they are not scrubbed", async () => {
    const agentId = await newAgent();
    await plantIn(agentId, ID, MARK);
    await plantIn(agentId, OTHER, MARK);
    await erase(agentId);
    const { body: receipt } = await erase(agentId, OTHER);
    const [pages] = receipt.remains.filter(({ what }) => what.includes("unused parts"));
    expect(Date.parse(pages?.until ?? "")).toBeGreaterThan(Date.now());
    expect(await rows("SELECT run_at FROM jobs WHERE kind = 'privacy.scrub'")).toMatchObject([
      { run_at: Date.parse(pages?.until ?? "") },
    ]);
  });

  test("is repeated after a restored backup for this agent only", async () => {
    const [agentId, another] = [await newAgent(), await newAgent()];
    await plantIn(agentId, "5550001", MARK);
    await erase(agentId, "5550001");
    await plantIn(agentId, "5550001", MARK, { at: 10 });
    await plantIn(another, "5550001", MARK, { at: 10 });
    await server.app.commands["person.reapply"]?.({ operator: "ada" });
    expect((await listed(agentId)).people).toEqual([]);
    expect((await listed(another)).people).toMatchObject([{ id: "5550001" }]);
  });
});
