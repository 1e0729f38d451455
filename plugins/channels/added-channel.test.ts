// Tests that a fourth channel, added from outside by one row before the app is built, works and appears everywhere.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { channelTable, provisioningTable } from "../../channels/documentation.ts";
import { registerChannel } from "../../channels/registry.ts";
import { configurationPage } from "../../src/kernel/config/configuration-page.ts";
import { doctorReport } from "../../src/server/doctor.ts";
import { allSettings } from "../../src/server/settings.ts";
import { ADDED_CHANNEL, addedToken, createAddedChannel } from "../../tests/support/added-channel.ts";
import { createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { type ChannelsFixture, openChannelsFixture } from "./support.test.ts";

const OWNER = "person-1";
const STRANGER = "person-2";

const lantern = createAddedChannel();
let removeChannel: () => void;
let fixture: ChannelsFixture;
let lastBot = 0;

beforeAll(async () => {
  removeChannel = registerChannel(lantern.definition);
  fixture = await openChannelsFixture({ env: { CHANNEL_Y_COLOUR: "red" } });
});
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]();
  removeChannel();
});

async function connectedAgent(config: object = {}) {
  const bot = String(++lastBot);
  const id = await fixture.provision(config);
  const { status, text } = await fixture.connect(id, addedToken(lastBot), { ownerId: OWNER }, ADDED_CHANNEL);
  expect({ status, text }).toMatchObject({ status: 200 });
  await fixture.inState(id, "connected");
  /** Writes to the bot and returns the next text that it sends to this person. */
  const ask = async (person: string, words: string) => {
    const before = lantern.textsTo(bot, person).length;
    await lantern.userSays(bot, person, words);
    return (await eventually(() => lantern.textsTo(bot, person)[before], { timeoutMs: 10_000 })) ?? "";
  };
  return { id, ask, path: `/api/agents/${id}` };
}

describe("an added channel", () => {
  test("takes a message in and sends the reply out", async () => {
    const { id, ask, path } = await connectedAgent();
    expect(await ask(OWNER, "hello")).toContain("Hello");
    expect(await fixture.channel(id)).toMatchObject({
      channel: ADDED_CHANNEL,
      mode: "gateway",
      bot: { username: expect.stringMatching(/^red_lantern_/) },
    });
    const { body } = await fixture.owner.get<{ messages: { platform: string }[] }>(`${path}/messages`);
    expect(body.messages.map(({ platform }) => platform)).toEqual([ADDED_CHANNEL, ADDED_CHANNEL]);
  });

  test("pairs strangers and obeys the settings of its agents", async () => {
    const { ask } = await connectedAgent({ channels: { [ADDED_CHANNEL]: { access: "pairing" } } });
    const code = /\b[A-HJ-NP-Z2-9]{6}\b/.exec(await ask(STRANGER, "hello"))?.[0] ?? "";
    expect(await ask(OWNER, `/approve ${code}`)).toContain("can talk to me now");
    const settings = { channels: { [ADDED_CHANNEL]: { access: "everybody" } } };
    const { status, text } = await fixture.owner.post("/api/agents/provision", { name: "Harbour", config: settings });
    expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining(`channels.${ADDED_CHANNEL}`) });
  });

  test("without buttons asks its owner in words, which decide", async () => {
    const { ask, path } = await connectedAgent({ approvals: { remember: "ask" } });
    const question = await ask(OWNER, "Please remember that I like green tea.");
    expect(question).toMatch(/^May I do this\?\n\n.*green tea.*\n\n\/approve (\w{6})\n\/deny \1$/s);
    const code = /\/approve (\w+)/.exec(question)?.[1] ?? "";
    expect(await ask(OWNER, `/approve ${code}`)).toContain("Approved: Remember");
    const { body } = await fixture.owner.get<{ approvals: { status: string }[] }>(`${path}/approvals`);
    expect(body.approvals).toMatchObject([{ status: "approved" }]);
  });

  test("has its own rule for the ids of owners", async () => {
    const id = await fixture.provision();
    const refused = await fixture.connect(id, addedToken(++lastBot), { ownerId: "42" }, ADDED_CHANNEL);
    expect(refused).toMatchObject({ status: 400, text: expect.stringContaining("This is person- and a number.") });
  });

  test("keeps its tokens out of configurations", async () => {
    const config = { instructions: `say ${addedToken(99)}` };
    const { status, body } = await fixture.owner.post("/api/agents/provision", { name: "Harbour", config });
    expect({ status, body }).toMatchObject({ status: 400, body: { code: "SECRET_IN_CONFIG" } });
  });

  test("is in the summary of credentials and in the message for an unknown channel", async () => {
    const { id } = await connectedAgent();
    const { body } = await fixture.owner.get<{ credentials: object }>(`/api/agent?action=credentials&agentId=${id}`);
    expect(body.credentials).toMatchObject({ [ADDED_CHANNEL]: true, channel_a: false });
    const unknown = await fixture.connect(id, "token", {}, "channel_none");
    expect(unknown).toMatchObject({ status: 404, text: expect.stringContaining(ADDED_CHANNEL) });
  });

  test("is provisioned with its own fields", async () => {
    const anonymous = createClient(fixture.origin);
    const token = addedToken(++lastBot);
    const { status, body } = await anonymous.post<Record<string, unknown>>("/api/provision", {
      lanternToken: token,
      channelYUserId: OWNER,
    });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        channelAToken: null,
        channelYToken: "********kkkk",
        metadata: { channels: { channel_a: "disabled", [ADDED_CHANNEL]: "enabled" } },
      },
    });
    const [row] = await fixture.rows(
      "SELECT owner_id FROM channel_connections WHERE agent_id = ?",
      String(body.agentId),
    );
    expect(row).toEqual({ owner_id: OWNER });
    const refused = await anonymous.post("/api/provision", { channelYToken: token, channelYRegion: "north" });
    expect(refused).toMatchObject({ status: 400, body: { code: "UNSUPPORTED_FIELD" } });
    const none = await anonymous.post("/api/provision", {});
    expect(none).toMatchObject({ status: 400, text: expect.stringContaining("channelYToken") });
  });

  test("goes along when an agent is exported and imported", async () => {
    const { ask, path } = await connectedAgent();
    await ask(OWNER, "hello");
    const { body: exported } = await fixture.owner.get<{ sessions: { platform: string }[] }>(`${path}/export`);
    expect(exported.sessions).toMatchObject([{ platform: ADDED_CHANNEL }]);
    expect((await fixture.owner.post("/api/agents/import", exported)).status).toBe(201);
    const wrong = { ...exported, sessions: [{ ...exported.sessions[0], platform: "channel_none" }] };
    const { status, text } = await fixture.owner.post("/api/agents/import", wrong);
    expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining(ADDED_CHANNEL) });
  });

  test("is connected again when a backup is restored", async () => {
    const { id, ask, path } = await connectedAgent();
    const { body: reset } = await fixture.owner.post<{ backupPath: string }>(`${path}/reset-memory`);
    expect((await fixture.owner.delete(`${path}/channels/${ADDED_CHANNEL}`)).status).toBe(200);
    const { status, text } = await fixture.owner.post(`${path}/rollback`, { backupPath: reset.backupPath });
    expect({ status, text }).toMatchObject({ status: 200 });
    expect(await fixture.inState(id, "connected")).toMatchObject({ channel: ADDED_CHANNEL });
    expect(await ask(OWNER, "hello")).toContain("Hello");
  });

  test("is in the API document", async () => {
    const document = await (await fetch(`${fixture.origin}/swagger/json`)).text();
    for (const name of ["channelYToken", "lanternToken", "channelYUserId", "lanternUserId"]) {
      expect(document).toContain(`"${name}"`);
    }
    expect(document).toContain(` or ${ADDED_CHANNEL}; with`);
    expect(document).toContain(`"${ADDED_CHANNEL}"`);
  });

  test("has its variables in berth doctor, with its own checks", () => {
    const report = (env: Record<string, string>) =>
      doctorReport(env, fixture.dir, { dotenv: false, terminal: false, all: true });
    expect(report({}).text).toMatch(/CHANNEL_Y_COLOUR +default +white/);
    const { text, exitCode } = report({ CHANNEL_Y_COLOUR: "green" });
    expect({ text, exitCode }).toEqual({ text: expect.stringContaining("CHANNEL_Y_COLOUR: found"), exitCode: 1 });
    expect(report({ CHANNEL_Y_COLOUR: "red" }).text).toContain("! CHANNEL_Y_COLOUR: red means danger.");
  });

  test("has its variables on the page of the configuration, after those of the other channels", () => {
    const page = configurationPage(allSettings);
    expect(page).toContain("| `CHANNEL_Y_COLOUR` | `white` | Colour of the lanterns. |");
    expect(page.indexOf("CHANNEL_Y_COLOUR")).toBeGreaterThan(page.indexOf("CHANNEL_C_APP_SECRET"));
    expect(page.indexOf("CHANNEL_Y_COLOUR")).toBeLessThan(page.indexOf("MAINNET_RPC_URL"));
  });

  test("is in the tables of the documents", () => {
    expect(channelTable()).toContain(`| Lantern (\`${ADDED_CHANNEL}\`) | from the lantern keeper |`);
    expect(provisioningTable()).toContain("| `channelYUserId` (`lanternUserId`) | the owner's id on Lantern |");
  });
});

test("a channel can't be added twice", () => {
  expect(() => registerChannel(lantern.definition)).toThrow(ADDED_CHANNEL);
});
