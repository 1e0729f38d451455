// Tests a channel whose bots need several credentials, added from outside: how they are given, judged, sealed and shown.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { registerChannel } from "../../channels/registry.ts";
import {
  ADDED_PAIR_CHANNEL,
  addedToken,
  createAddedChannel,
  withTwoCredentials,
} from "../../tests/support/added-channel.ts";
import { type ChannelsFixture, openChannelsFixture } from "./support.test.ts";

const lantern = createAddedChannel();
let removeChannel: () => void;
let fixture: ChannelsFixture;
let lastBot = 500;

beforeAll(async () => {
  removeChannel = registerChannel(withTwoCredentials(lantern.definition));
  fixture = await openChannelsFixture();
});
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]();
  removeChannel();
});

const path = (id: string, rest = "") => `/api/agents/${id}/channels/${ADDED_PAIR_CHANNEL}${rest}`;
const check = (id: string, body: object) => fixture.owner.post<Record<string, unknown>>(path(id, "/check"), body);
const OIL = "whale oil of a good year";

describe("several credentials", () => {
  test("are listed with their names, so that a page can ask for them", async () => {
    const { body } = await fixture.owner.get<{ channels: { channel: string; credentials: object | null }[] }>(
      "/api/channels",
    );
    expect(body.channels.find(({ channel }) => channel === ADDED_PAIR_CHANNEL)?.credentials).toEqual([
      { name: "botToken", label: "Bot token", isSecret: true, isOptional: false, example: null },
      { name: "matches", label: "Matches", isSecret: false, isOptional: true, example: "12" },
      { name: "oil", label: "Oil", isSecret: true, isOptional: false, example: null },
    ]);
    expect(body.channels[0]?.credentials).toBeNull();
  });

  test("connect a bot, are sealed together, and leave no trace in clear", async () => {
    const id = await fixture.provision();
    const credentials = { botToken: addedToken(++lastBot), oil: OIL, matches: 3 };
    const { status, text } = await fixture.owner.put(path(id), { credentials });
    expect({ status, text }).toMatchObject({ status: 200 });
    await fixture.inState(id, "connected");
    await lantern.userSays(String(lastBot), "person-1", "hello");
    const [stored] = await fixture.rows("SELECT kind, sealed FROM credentials WHERE owner_id = ?", id);
    expect(stored?.kind).toBe(ADDED_PAIR_CHANNEL);
    const rows = JSON.stringify([
      stored,
      await fixture.rows("SELECT * FROM channel_connections WHERE agent_id = ?", id),
    ]);
    expect(rows).not.toContain("whale");
    await fixture.restart();
    expect(await fixture.inState(id, "connected")).toMatchObject({ channel: ADDED_PAIR_CHANNEL });
    const { body } = await fixture.owner.get<{ credentials: object }>(`/api/agent?action=credentials&agentId=${id}`);
    expect(body.credentials).toMatchObject({ [ADDED_PAIR_CHANNEL]: true });
  });

  test("come back with a backup", async () => {
    const id = await fixture.provision();
    await fixture.owner.put(path(id), { credentials: { botToken: addedToken(++lastBot), oil: OIL } });
    await fixture.inState(id, "connected");
    const { body } = await fixture.owner.post<{ backupPath: string }>(`/api/agents/${id}/reset-memory`);
    expect((await fixture.owner.delete(path(id))).status).toBe(200);
    const { status, text } = await fixture.owner.post(`/api/agents/${id}/rollback`, { backupPath: body.backupPath });
    expect({ status, text }).toMatchObject({ status: 200 });
    expect(await fixture.inState(id, "connected")).toMatchObject({ channel: ADDED_PAIR_CHANNEL });
  });

  test("are one text of JSON for set-credential, and an empty one disconnects", async () => {
    const id = await fixture.provision();
    const set = (value: string) =>
      fixture.owner.post("/api/agent", { action: "set-credential", agentId: id, key: ADDED_PAIR_CHANNEL, value });
    expect((await set(JSON.stringify({ botToken: addedToken(++lastBot), oil: OIL }))).status).toBe(200);
    await fixture.inState(id, "connected");
    expect((await set("")).status).toBe(200);
    expect(await fixture.channel(id)).toBeUndefined();
    expect(await set(addedToken(lastBot))).toMatchObject({ status: 400, text: expect.stringContaining("botToken") });
  });

  test("are judged one by one before the platform is asked", async () => {
    const id = await fixture.provision();
    expect(await check(id, { credentials: { botToken: "lamp" } })).toMatchObject({
      status: 400,
      body: {
        code: "INVALID_CHANNEL_TOKEN",
        problem: "start",
        problems: { botToken: "start", oil: "missing" },
        issues: [{ path: "credentials.botToken" }, { path: "credentials.oil", message: "Give this: Oil." }],
      },
    });
    const swapped = { botToken: addedToken(1), oil: addedToken(1), matches: "many" };
    expect((await check(id, { credentials: swapped })).body).toMatchObject({
      problems: { matches: "invalid", oil: "other_field" },
    });
    const { status, body } = await check(id, { credentials: { botToken: addedToken(1), oil: OIL } });
    expect({ status, body }).toMatchObject({ status: 200, body: { ok: true, bot: { id: "1" } } });
  });

  test("that the platform refuses are named", async () => {
    const id = await fixture.provision();
    const refused = await fixture.owner.put(path(id), { credentials: { botToken: addedToken(2), oil: "water" } });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "INVALID_CHANNEL_TOKEN", issues: [{ path: "credentials.oil", message: "Water does not burn." }] },
    });
  });

  test.each([
    [{}, "credentials.botToken"],
    [{ credentials: { lamp: "x", botToken: addedToken(3), oil: OIL } }, "There is no such credential here."],
    [{ token: "[]" }, "several values"],
    [
      { credentials: { botToken: addedToken(3), oil: "o".repeat(2_048), matches: "1".repeat(2_048) } },
      "over 4096 characters",
    ],
  ])("are refused as %j", async (body, words) => {
    const refused = await fixture.owner.put(path(await fixture.provision()), body);
    expect(refused).toMatchObject({ status: 400, text: expect.stringContaining(words) });
  });

  test("are not for a channel that takes one token", async () => {
    const id = await fixture.provision();
    for (const body of [{ credentials: { botToken: "x" } }, {}]) {
      const refused = await fixture.owner.put(`/api/agents/${id}/channels/channel_a`, body);
      expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "token" }] } });
    }
  });

  test("need an agent that exists: provisioning does not know the channel", async () => {
    const { body } = await fixture.owner.post<{ metadata: { channels: object } }>("/api/provision", {});
    expect(body).toMatchObject({ code: "CHANNEL_TOKEN_REQUIRED" });
    expect(JSON.stringify(body)).not.toContain(ADDED_PAIR_CHANNEL);
    const id = await fixture.provision();
    const summary = await fixture.owner.get<{ credentials: object }>(`/api/agent?action=credentials&agentId=${id}`);
    expect(Object.keys(summary.body.credentials)).not.toContain(ADDED_PAIR_CHANNEL);
  });
});
