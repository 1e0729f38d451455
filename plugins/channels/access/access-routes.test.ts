// Tests the routes by which an owner decides who may talk: the rule and its lists, people by their ids, and the events.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createClient } from "../../../tests/support/client.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { type ChannelsFixture, openChannelsFixture } from "../support.test.ts";

let fixture: ChannelsFixture;
let next = 9_000;
beforeAll(async () => {
  fixture = await openChannelsFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function connectedAgent(config: object = {}, ownerId?: number) {
  const token = `${++next}:${"s".repeat(35)}`;
  const bot = fixture.telegram.addBot(token, { username: `people_${next}` });
  const id = await fixture.provision(config);
  await fixture.connect(id, token, ownerId === undefined ? {} : { ownerId });
  const path = `/api/agents/${id}/channels/channel_a`;
  const change = (body: object) => fixture.owner.put<Record<string, unknown>>(`${path}/access`, body);
  const decide = (person: string | number, body: object) =>
    fixture.owner.put<Record<string, unknown>>(`${path}/pairings/${person}`, body);
  const people = async () =>
    (
      await fixture.owner.get<{ pairings: { senderId: string; status: string; name: string }[]; total: number }>(
        `${path}/pairings`,
      )
    ).body;
  const answers = async (person: number, words: string) => {
    const before = bot.sent(person).length;
    bot.userSays(person, words);
    await fixture.telegram.waitFor(() => bot.sent(person).length > before);
    return bot.sent(person)[before]?.text ?? "";
  };
  const events = async () =>
    (
      await fixture.rows("SELECT data FROM events WHERE agent_id = ? AND type = 'channel.pairing' ORDER BY seq", id)
    ).map(({ data }) => JSON.parse(String(data)) as { senderId: string; status: string; name: string });
  return { id, bot, path, change, decide, people, answers, events };
}

describe("the rule and its lists", () => {
  test("are shown with what is in force", async () => {
    const { path } = await connectedAgent();
    const shown = async () => (await fixture.owner.get(`${path}/access`)).body;
    const empty = { channel: "channel_a", chosen: null, owner: null, owners: [], allow: [], groups: "mention" };
    expect(await shown()).toEqual({ ...empty, access: "pairing", hasGroups: true });
    const owned = await connectedAgent({ channels: { channel_a: { groups: "off" } } }, 42);
    expect((await fixture.owner.get(`${owned.path}/access`)).body).toMatchObject({
      access: "owner",
      owner: "42",
      groups: "off",
    });
  });

  test("change alone: the values of the rest of the configuration stay as they were written", async () => {
    const text =
      '{"big": 12345678901234567890,"channels": {"channel_b": {"access": "open"},"channel_a":{"new":1}},  "a": "ä" }';
    const { id, change } = await connectedAgent();
    await fixture.owner.put(`/api/agents/${id}/config`, JSON.parse('{"a":1}'));
    await fixture.kernel.database.write([
      { sql: "UPDATE agent_configs SET body = ? WHERE agent_id = ?", args: [text, id] },
    ]);
    const { status, body } = await change({ access: "allowlist", allow: ["77", 78, "77"], groups: "all" });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { access: "allowlist", chosen: "allowlist", allow: ["77", "78"], groups: "all" },
    });
    const [newest] = await fixture.rows(
      "SELECT body FROM agent_configs WHERE agent_id = ? ORDER BY version DESC LIMIT 1",
      id,
    );
    expect(newest?.body).toBe(
      '{"big": 12345678901234567890,"channels": {"channel_b": {"access": "open"},"channel_a":{"new":1,"access":"allowlist","allow":["77","78"],"groups":"all"}},"a": "ä"}',
    );
    expect((await change({ access: null, allow: [], groups: null })).body).toMatchObject({ chosen: null, allow: [] });
    const [after] = await fixture.rows(
      "SELECT body FROM agent_configs WHERE agent_id = ? ORDER BY version DESC LIMIT 1",
      id,
    );
    expect(after?.body).toContain('"channel_a":{"new":1}');
  });

  test("tell by an event what has changed, and by none where nothing has", async () => {
    const { id, change } = await connectedAgent();
    for (const body of [{ access: "open" }, { access: "open" }, { owner: 42 }, { owner: 42 }]) await change(body);
    const rows = await fixture.rows(
      "SELECT data FROM events WHERE agent_id = ? AND type = 'agent.updated' ORDER BY seq",
      id,
    );
    expect(rows.map(({ data }) => JSON.parse(String(data)).changed)).toEqual([["config"], ["channels"]]);
  });

  test("changes at the same time are all kept", async () => {
    const { id, change } = await connectedAgent();
    await Promise.all([change({ allow: [7] }), change({ owners: [8] }), fixture.configure(id, { timezone: "UTC" })]);
    const { body } = await change({ groups: "off" });
    expect(body).toMatchObject({ groups: "off" });
    expect((await fixture.rows("SELECT max(version) AS v FROM agent_configs WHERE agent_id = ?", id))[0]?.v).toBe(5);
  });

  test("an imported configuration still counts as imported", async () => {
    const { id, change } = await connectedAgent();
    await fixture.kernel.database.write([
      { sql: "UPDATE agent_configs SET imported = 1 WHERE agent_id = ?", args: [id] },
    ]);
    await change({ access: "open" });
    const rows = await fixture.rows("SELECT imported FROM agent_configs WHERE agent_id = ?", id);
    expect(rows.map(({ imported }) => imported)).toEqual([1, 1]);
  });

  test("the owner of the bot is set and removed, in force at once", async () => {
    const { change, answers, bot } = await connectedAgent();
    expect((await change({ owner: 51 })).body).toMatchObject({ owner: "51", access: "owner" });
    expect(await answers(51, "/pair")).toContain("No one is waiting");
    expect((await change({ owner: null })).body).toMatchObject({ owner: null, access: "pairing" });
    expect(await answers(51, "hello")).toContain("ask my owner");
    expect(bot.sent(51)).toHaveLength(2);
  });

  test("refuses ids that are none, foreign agents, and an owner without a bot", async () => {
    const { path, change } = await connectedAgent();
    expect(await change({ allow: ["42", "@ada"] })).toMatchObject({
      status: 400,
      body: { issues: [{ path: "allow.1" }] },
    });
    expect(await change({ access: "everybody" })).toMatchObject({ status: 400 });
    const stranger = createClient(fixture.origin);
    await stranger.join();
    expect((await stranger.put(`${path}/access`, { access: "open" })).status).toBe(404);
    expect((await stranger.get(`${path}/access`)).status).toBe(404);
    const id = await fixture.provision();
    const none = await fixture.owner.put(`/api/agents/${id}/channels/channel_a/access`, { owner: 1 });
    expect(none).toMatchObject({ status: 404, body: { code: "CHANNEL_NOT_CONNECTED" } });
    fixture.updating = id;
    const busy = await fixture.owner.put(`/api/agents/${id}/channels/channel_a/access`, { access: "open" });
    expect(busy).toMatchObject({ status: 409, body: { code: "OPERATION_IN_PROGRESS" } });
    fixture.updating = "";
  });
});

describe("the link of the owner", () => {
  const linkOf = async (path: string) =>
    (await fixture.owner.post<{ code: string; link: string; sendsCode: boolean }>(`${path}/owner-link`, {})).body;

  test("makes the one who opens it the owner, once, who can talk at once", async () => {
    const { id, path, answers, events, bot } = await connectedAgent();
    const { code, link, sendsCode } = await linkOf(path);
    expect({ link, sendsCode }).toEqual({ link: `https://t.me/${bot.username}?start=${code}`, sendsCode: true });
    expect(await answers(71, `/start ${code}`)).toContain("You are my owner here now");
    expect(await fixture.channel(id)).toMatchObject({ ownerId: "71" });
    expect(await events()).toMatchObject([{ senderId: "71", status: "approved" }]);
    expect(await answers(71, "hello")).toContain("Hello");
    // Used up, and the rule is for owners alone now.
    bot.userSays(72, `/start ${code}`);
    expect(await answers(71, "again")).toContain("again");
    expect(bot.sent(72)).toEqual([]);
  });

  test("is replaced by a newer one, and only of a connected bot", async () => {
    const { path, answers } = await connectedAgent();
    const old = await linkOf(path);
    await linkOf(path);
    expect(await answers(73, old.code)).toContain("ask my owner");
    const id = await fixture.provision();
    const none = await fixture.owner.post(`/api/agents/${id}/channels/channel_a/owner-link`, {});
    expect(none).toMatchObject({ status: 404, body: { code: "CHANNEL_NOT_CONNECTED" } });
    const stranger = createClient(fixture.origin);
    await stranger.join();
    expect((await stranger.post(`${path}/owner-link`, {})).status).toBe(404);
  });
});

describe("people", () => {
  test("who ask appear by an event, without their code, and are approved by their id", async () => {
    const { decide, answers, events, people } = await connectedAgent();
    const asked = await answers(61, "hello");
    const code = /\*?([A-HJ-NP-Z2-9]{6})/.exec(asked)?.[1] ?? "";
    await eventually(async () => (await events()).length === 1);
    expect(await events()).toMatchObject([{ senderId: "61", name: "Ada", status: "pending" }]);
    expect(JSON.stringify(await events())).not.toContain(code);
    expect((await decide(61, { status: "approved" })).body).toEqual({
      success: true,
      senderId: "61",
      status: "approved",
    });
    await eventually(async () => (await events()).at(-1)?.status === "approved");
    expect(await answers(61, "hello")).toContain("Hello");
    expect(await people()).toMatchObject({ total: 1, pairings: [{ senderId: "61", status: "approved", name: "Ada" }] });
  });

  test("are strangers again as soon as they are erased", async () => {
    const { decide, answers } = await connectedAgent();
    await decide(66, { status: "approved" });
    expect(await answers(66, "hello")).toContain("Hello");
    await fixture.app.commands["person.erase"]?.({ channel: "telegram", id: "66", operator: "ada" });
    expect(await answers(66, "hello")).toContain("ask my owner");
  });

  test("are refused for a week, and approved after all", async () => {
    const { decide, answers, people, bot } = await connectedAgent();
    await answers(62, "hello");
    expect((await decide(62, { status: "denied" })).status).toBe(200);
    expect(await people()).toMatchObject({ pairings: [{ status: "denied", code: null }] });
    bot.userSays(62, "hello?");
    await decide(62, { status: "approved" });
    expect(await answers(62, "hello")).toBeDefined();
    await decide(62, { status: "denied" });
    expect(await people()).toMatchObject({ pairings: [{ status: "denied" }] });
  });

  test("who are unknown are added by their id, which undoes a removal; as owner one obeys them", async () => {
    const { decide, answers, people, path, events } = await connectedAgent();
    expect((await decide(63, { status: "approved", name: "Bo" })).status).toBe(200);
    expect(await people()).toMatchObject({ pairings: [{ senderId: "63", name: "Bo", status: "approved" }] });
    expect(await answers(63, "hello")).toContain("Hello");
    expect((await fixture.owner.delete(`${path}/pairings/63`)).status).toBe(200);
    await eventually(async () => (await events()).at(-1)?.status === "removed");
    expect(await answers(63, "hello")).toContain("ask my owner");
    await decide(63, { status: "approved", owner: true });
    expect(
      await fixture.channel(
        (await fixture.rows("SELECT agent_id AS id FROM pairings WHERE sender_id = '63'"))[0]?.id as string,
      ),
    ).toMatchObject({ ownerId: "63" });
    expect(await decide("@bo", { status: "approved" })).toMatchObject({
      status: 400,
      body: { issues: [{ path: "senderId" }] },
    });
    expect(await decide(99, { status: "denied" })).toMatchObject({ status: 404, body: { code: "PAIRING_NOT_FOUND" } });
  });

  test("are listed page by page, and not without bound", async () => {
    const { id, decide, path } = await connectedAgent();
    await fixture.kernel.database.write([
      {
        sql: `INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, approved_at, created_at)
          SELECT ?, 'channel_a', value, 'P', '', 1, value FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 1000) SELECT value FROM n)`,
        args: [id],
      },
    ]);
    const page = await fixture.owner.get(`${path}/pairings?limit=2&offset=3`);
    expect(page.body).toMatchObject({ count: 2, total: 1000, pairings: [{ senderId: "4" }, { senderId: "5" }] });
    expect((await fixture.owner.get(`${path}/pairings?limit=none`)).status).toBe(400);
    expect(await decide(5_000, { status: "approved" })).toMatchObject({
      status: 409,
      body: { code: "TOO_MANY_PEOPLE" },
    });
    expect((await decide(7, { status: "approved" })).status).toBe(200);
  });
});
