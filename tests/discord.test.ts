// Discord on the whole binary, against a strict fake of Discord's API and gateway.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { type BotOptions, type Discord, type FakeBot, startDiscord, tokenFor } from "./support/discord.ts";
import { eventually, seeded } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let discord: Discord;
let upstream: Upstream;
let berth: Berth;
let owner: Client;
let serial = 0;

beforeAll(async () => {
  discord = await startDiscord();
  upstream = await startUpstream();
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
  berth = await startBerth({
    env: {
      CHANNEL_B_API_ROOT: discord.url,
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:fake-small",
      RATE_LIMITS: "off",
    },
  });
  owner = await member(berth, "enterprise");
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
  await discord?.stop();
});

interface Connected {
  id: string;
  token: string;
  bot: FakeBot;
}

interface States {
  channels: { channel: string; state: string; lastError: string | null }[];
}

const put = (id: string, token: string, ownerId?: string) =>
  owner.put(`/api/agents/${id}/channels/channel_b`, { token, ...(ownerId && { ownerId }) });

/** Creates an agent with its own bot. */
async function connected(options: BotOptions = {}, access = "open", ownerId?: string, config = {}): Promise<Connected> {
  serial += 1;
  const username = `berth_${serial}`;
  const token = tokenFor(String(515_151_515_151_515_000n + BigInt(serial)));
  const bot = discord.addBot(token, { username, ...options });
  const { id } = await provision(owner, `Agent ${serial}`, { channels: { channel_b: { access } }, ...config });
  const { status, body } = await put(id, token, ownerId);
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { success: true, channel: "channel_b", state: "connected", bot: { id: bot.id, username } },
  });
  return { id, token, bot };
}

const shown = (bot: FakeBot, channel: string) => bot.sent(channel).map(({ text }) => text);
const stateOf = async (id: string) => {
  const { body } = await owner.get<States>(`/api/agents/${id}/channels`);
  return body.channels.find(({ channel }) => channel === "channel_b");
};

describe("a bot", () => {
  test("answers direct messages, mentions in a guild, and slash commands", async () => {
    const { bot } = await connected();
    const [dm, guild] = [bot.dm(), bot.channel()];
    bot.userSays(dm, "hello");
    await discord.waitFor(() => shown(bot, dm).length === 1);
    bot.userSays(guild, "not for you");
    const question = bot.userSays(guild, "for you", { mention: true });
    await discord.waitFor(() => shown(bot, guild).length === 1);
    const command = bot.userCommands(guild, "ask", { question: "and this?" });
    await discord.waitFor(() => shown(bot, guild).at(1)?.startsWith("echo"));
    bot.userCommands(dm, "status");
    await discord.waitFor(() => shown(bot, dm).at(1)?.includes("is running"));
    expect(shown(bot, dm)[0]).toBe("echo: hello");
    expect(bot.sent(guild)).toMatchObject([
      { text: expect.stringMatching(/^echo: .*for you$/s), replyTo: question },
      { text: expect.stringMatching(/^echo: .*and this\?$/s), interaction: command, thinking: false },
    ]);
  });

  test("asks its owner with buttons, which decide for the owner alone", async () => {
    upstream.script(({ toolResults, lastUser }) => {
      if (toolResults.length > 0) return "Done.";
      if (!lastUser.includes("Remind me")) return "Hm.";
      return { toolCalls: [{ name: "remind_me", arguments: { text: "tea", inMinutes: 5 } }] };
    });
    const [ada, eve] = ["700000000000000011", "700000000000000012"];
    const { id, bot } = await connected({}, "open", ada, { approvals: { remind_me: "ask" } });
    const dm = bot.dm(ada);
    const statuses = async () =>
      (await owner.get<{ approvals: { status: string }[] }>(`/api/agents/${id}/approvals`)).body.approvals.map(
        ({ status }) => status,
      );
    bot.userSays(dm, "Remind me");
    await discord.waitFor(() => bot.sent(dm).at(-1)?.buttons.length === 2);
    const question = bot.sent(dm).at(-1);
    const [approve] = question?.buttons ?? [];
    expect(approve).toEqual({ label: "Approve", customId: expect.stringMatching(/^\/approve \w+$/) });
    const before = bot.sent(dm).length;
    bot.userPresses(question?.id ?? "", approve?.customId ?? "", eve);
    await discord.waitFor(() => bot.sent(dm).length > before);
    expect(shown(bot, dm).at(-1)).toBe("Only my owner can do that, in a chat of our own.");
    expect(await statuses()).toEqual(["pending"]);
    // The buttons are still there for the owner.
    expect(bot.sent(dm).find(({ id }) => id === question?.id)?.buttons).toHaveLength(2);
    bot.userPresses(question?.id ?? "", approve?.customId ?? "");
    await discord.waitFor(() => shown(bot, dm).at(-1) === "Done.");
    await discord.waitFor(() => bot.sent(dm).every(({ buttons }) => buttons.length === 0));

    bot.userCommands(dm, "ask", { question: "Remind me again" });
    await discord.waitFor(() => bot.sent(dm).some(({ buttons }) => buttons.length === 2));
    const again = bot.sent(dm).find(({ buttons }) => buttons.length === 2);
    bot.userPresses(again?.id ?? "", again?.buttons[0]?.customId ?? "");
    await discord.waitFor(() => shown(bot, dm).filter((text) => text === "Done.").length === 2);
    await discord.waitFor(() => bot.sent(dm).every(({ buttons }) => buttons.length === 0));
    expect(await statuses()).toEqual(["approved", "approved"]);
    expect(bot.sent(dm).find(({ id }) => id === again?.id)?.text).toStartWith("May I do this?");
    upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
  });

  test("works without the privileged intent", async () => {
    const { bot } = await connected({ messageContent: false });
    const guild = bot.channel();
    bot.userSays(guild, "unreadable");
    bot.userSays(guild, "readable", { mention: true });
    await discord.waitFor(() => shown(bot, guild).length === 1);
    expect(shown(bot, guild)[0]).toEndWith("readable");
  });

  test("shows typing, and edits its reply while it grows", async () => {
    const { bot } = await connected();
    const words = Array.from({ length: 40 }, (_, n) => `word${n}`).join(" ");
    upstream.script(() => ({ text: words, paceMs: 60 }));
    const dm = bot.dm();
    bot.userSays(dm, "tell me a story");
    await discord.waitFor(() => shown(bot, dm)[0] === words, 20_000);
    upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
    const [reply, ...more] = bot.sent(dm);
    expect(more).toEqual([]);
    expect(reply?.edits.length).toBeGreaterThan(1);
  });

  test("answers an unknown user's command with a pairing code", async () => {
    const { bot } = await connected({}, "pairing");
    const dm = bot.dm("818181818181818181");
    bot.userCommands(dm, "ask", { question: "let me in" });
    await discord.waitFor(() => shown(bot, dm)[0]?.includes("approve this code"));
    expect(bot.sent(dm)).toMatchObject([{ thinking: false }]);
  });

  test("with an unknown token, or one in use, is rejected", async () => {
    const { token } = await connected();
    const { id } = await provision(owner, "Another");
    expectRefusal(await put(id, tokenFor("616161616161616161")), 400, "INVALID_CHANNEL_TOKEN");
    expectRefusal(await put(id, "no token at all"), 400, "INVALID_CHANNEL_TOKEN");
    expectRefusal(await put(id, token), 409, "CHANNEL_IN_USE");
  });

  test("with a revoked token fails with the reason; other bots go on", async () => {
    const [lost, kept] = [await connected(), await connected()];
    discord.revoke(lost.token);
    await eventually(async () => (await stateOf(lost.id))?.state === "failed");
    expect((await stateOf(lost.id))?.lastError).toContain("does not know this bot token");
    kept.bot.userSays(kept.bot.dm(), "still there?");
    await discord.waitFor(() => shown(kept.bot, kept.bot.dm()).length === 1);
    expect(berth.output().stdout + berth.output().stderr).not.toContain(lost.token);
  });
});

test("kill -9: messages from before and during the outage are answered once, in a resumed session", async () => {
  const random = seeded();
  console.log(`discord crash test: seed ${random.seed}`);
  const { bot } = await connected();
  const dms = Array.from({ length: 5 }, (_, n) => bot.dm(String(919_191_919_191_919_000n + BigInt(n))));
  const [waiting = "", ...others] = dms;
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: random.integer(5, 60) }));
  const say = (from: number, to: number) => {
    for (let n = from; n < to; n++) for (const dm of others) bot.userSays(dm, `message ${n}`);
  };
  bot.userSays(waiting, "hello");
  await discord.waitFor(() => shown(bot, waiting).length === 1);
  for (let kill = 0; kill < 3; kill++) {
    say(kill * 8, kill * 8 + 4);
    await discord.waitFor(() => bot.sent(others[0]).length > kill * 8 + random.integer(0, 2), 20_000);
    await berth.kill();
    await discord.waitFor(() => bot.connected === 0);
    say(kill * 8 + 4, kill * 8 + 8);
    await berth.restart({ keepPorts: true });
  }
  const expected = Array.from({ length: 24 }, (_, n) => `echo: message ${n}`);
  await discord.waitFor(() => others.every((dm) => bot.sent(dm).length >= expected.length), 30_000);
  for (const dm of others) expect(shown(bot, dm)).toEqual(expected);
  expect(bot).toMatchObject({ identifies: 1, resumes: 3 });
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
});

test("kill -9 with an old resume point: Discord sends answered messages again, and they are not answered again", async () => {
  const { id, bot } = await connected();
  const dm = bot.dm("919191919191919777");
  const database = () => new Database(join(berth.dir, "data", "berth.db"));
  const resumePoint = () => {
    using db = database();
    return (
      db.query<{ resume: string | null }, [string]>("SELECT resume FROM channel_connections WHERE agent_id = ?").get(id)
        ?.resume ?? undefined
    );
  };
  const early = await eventually(resumePoint);
  for (let n = 0; n < 3; n++) bot.userSays(dm, `message ${n}`);
  await discord.waitFor(() => shown(bot, dm).length === 3);
  await berth.kill();
  await discord.waitFor(() => bot.connected === 0);
  using db = database();
  db.run("UPDATE channel_connections SET resume = ? WHERE agent_id = ?", [early, id]);
  db.close();
  await berth.restart({ keepPorts: true });
  await discord.waitFor(() => bot.resumes === 1, 20_000);
  bot.userSays(dm, "and now?");
  await discord.waitFor(() => shown(bot, dm).length > 3, 20_000);
  expect(shown(bot, dm)).toEqual(["echo: message 0", "echo: message 1", "echo: message 2", "echo: and now?"]);
});
