// Slack on the whole binary, against a strict fake of Slack's Web API and Socket Mode.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { eventually, seeded } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type AppOptions, type FakeApp, newAppId, type Slack, startSlack, tokensFor } from "./support/slack.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let slack: Slack;
let upstream: Upstream;
let berth: Berth;
let owner: Client;
let serial = 0;

beforeAll(async () => {
  slack = await startSlack({ confirmMs: 1_000 });
  upstream = await startUpstream();
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
  berth = await startBerth({
    env: {
      CHANNEL_D_API_ROOT: slack.url,
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
  await slack?.stop();
});

interface Connected {
  id: string;
  tokens: ReturnType<typeof tokensFor>;
  app: FakeApp;
}

interface States {
  channels: { channel: string; state: string; lastError: string | null; link: string | null }[];
}

const put = (id: string, credentials: object, ownerId?: string) =>
  owner.put(`/api/agents/${id}/channels/channel_d`, { credentials, ...(ownerId && { ownerId }) });

/** Creates an agent with its own app. */
async function connected(access = "open", ownerId?: string, config = {}, options: AppOptions = {}): Promise<Connected> {
  serial += 1;
  const username = `berth_${serial}`;
  const appId = newAppId();
  const tokens = tokensFor(appId);
  const app = slack.addApp(tokens, { username, ...options });
  const { id } = await provision(owner, `Agent ${serial}`, { channels: { channel_d: { access } }, ...config });
  const { status, body } = await put(id, tokens, ownerId);
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { success: true, channel: "channel_d", state: "connected", bot: { id: appId, username } },
  });
  return { id, tokens, app };
}

const shown = (app: FakeApp, channel: string) => app.sent(channel).map(({ text }) => text);
const stateOf = async (id: string) => {
  const { body } = await owner.get<States>(`/api/agents/${id}/channels`);
  return body.channels.find(({ channel }) => channel === "channel_d");
};

function resumePoint(id: string): string | undefined {
  using db = new Database(join(berth.dir, "data", "berth.db"), { readonly: true });
  const sql = "SELECT resume FROM channel_connections WHERE agent_id = ?";
  return db.query<{ resume: string | null }, [string]>(sql).get(id)?.resume ?? undefined;
}

describe("a bot", () => {
  test("answers direct messages, mentions in their thread, and commands without a slash", async () => {
    const { app } = await connected();
    const [dm, channel] = [app.dm(), app.channel()];
    app.userSays(dm, "hello");
    await slack.waitFor(() => shown(app, dm).length === 1);
    app.userSays(channel, "not for you");
    const question = app.userSays(channel, "for you", { mention: true, twice: true });
    await slack.waitFor(() => shown(app, channel).length === 1);
    const thread = question.split(":")[1] ?? "";
    app.userSays(channel, "and this?", { mention: true, thread });
    await slack.waitFor(() => shown(app, channel).length === 2);
    app.userSays(dm, "!status");
    await slack.waitFor(() => shown(app, dm).length === 2);
    app.userSays(dm, "!help");
    await slack.waitFor(() => shown(app, dm).length === 3);
    expect(shown(app, dm)[0]).toBe("echo: hello");
    expect(shown(app, dm)[1]).toContain("is running");
    expect(shown(app, dm)[2]).toContain("!reset");
    expect(shown(app, dm)[2]).not.toContain("/reset");
    // The mention came as two events, and is one message.
    expect(app.sent(channel)).toMatchObject([
      { text: expect.stringMatching(/for you$/), thread },
      { text: expect.stringMatching(/and this\?$/), thread },
    ]);
  });

  test("passes names, languages and files on, and sends files back", async () => {
    const seen: string[] = [];
    upstream.script(({ lastUser }) => {
      seen.push(lastUser);
      return { text: "Gesehen." };
    });
    const { id, app } = await connected();
    app.person("U0PERSON1", { name: "Ada", locale: "de-DE" });
    const dm = app.dm();
    app.userSays(dm, "read this", {
      files: [{ name: "notes.txt", type: "text/plain", bytes: new TextEncoder().encode("the tide turns at six") }],
    });
    await slack.waitFor(() => shown(app, dm).length === 1);
    expect(seen.at(-1)).toContain("the tide turns at six");
    const { body } = await owner.get<{ messages: { sender: string; user?: string }[] }>(`/api/agents/${id}/messages`);
    expect(JSON.stringify(body)).toContain("notes.txt");
    app.userSays(dm, "!help");
    await slack.waitFor(() => shown(app, dm).length === 2);
    expect(shown(app, dm)[1]).toContain("ein neues Gespräch");
    upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
  });

  test("asks its owner with buttons, which decide for the owner alone", async () => {
    upstream.script(({ toolResults, lastUser }) => {
      if (toolResults.length > 0) return "Done.";
      if (!lastUser.includes("Remind me")) return "Hm.";
      return { toolCalls: [{ name: "remind_me", arguments: { text: "tea", inMinutes: 5 } }] };
    });
    const [ada, eve] = ["U0000000AD", "U0000000EV"];
    const { id, app } = await connected("open", ada, { approvals: { remind_me: "ask" } });
    const dm = app.dm(ada);
    const statuses = async () =>
      (await owner.get<{ approvals: { status: string }[] }>(`/api/agents/${id}/approvals`)).body.approvals.map(
        ({ status }) => status,
      );
    app.userSays(dm, "Remind me");
    await slack.waitFor(() => app.sent(dm).at(-1)?.buttons.length === 2);
    const question = app.sent(dm).at(-1);
    const [approve] = question?.buttons ?? [];
    expect(approve).toEqual({ label: "Approve", value: expect.stringMatching(/^\/approve \w+$/) });
    const before = app.sent(dm).length;
    app.userPresses(question?.id ?? "", approve?.value ?? "", eve);
    await slack.waitFor(() => app.sent(dm).length > before);
    expect(shown(app, dm).at(-1)).toBe("Only my owner can do that, in a chat of our own.");
    expect(await statuses()).toEqual(["pending"]);
    expect(app.sent(dm).find((one) => one.id === question?.id)?.buttons).toHaveLength(2);
    app.userPresses(question?.id ?? "", approve?.value ?? "");
    await slack.waitFor(() => shown(app, dm).at(-1) === "Done.");
    await slack.waitFor(() => app.sent(dm).every(({ buttons }) => buttons.length === 0));
    expect(await statuses()).toEqual(["approved"]);
    upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
  });

  test("shows typing, and edits its reply while it grows", async () => {
    const { app } = await connected();
    const words = Array.from({ length: 60 }, (_, n) => `word${n}`).join(" ");
    upstream.script(() => ({ text: words, delayMs: 2_500, paceMs: 60 }));
    const dm = app.dm();
    app.userSays(dm, "tell me a story");
    await slack.waitFor(() => shown(app, dm)[0] === words, 20_000);
    upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
    const [reply, ...more] = app.sent(dm);
    expect(more).toEqual([]);
    expect(reply?.edits.length).toBeGreaterThan(0);
    // In a direct message the answer stands beside the status, which is then removed.
    await slack.waitFor(() => app.statuses(dm).at(-1)?.status === "");
    expect(app.statuses(dm)[0]?.status).toBe("is typing…");
  });

  test("what a model writes mentions nobody", async () => {
    upstream.script(() => ({ text: "Hey <!channel> and <@U0000000EV> & [all](https://a.example/?b=1&c=<d>)" }));
    const { app } = await connected();
    const dm = app.dm();
    app.userSays(dm, "hello");
    await slack.waitFor(() => shown(app, dm).length === 1);
    upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
    const [sent] = app.sent(dm);
    expect(sent?.raw).toStartWith("Hey &lt;!channel&gt; and &lt;@U0000000EV&gt; &amp; ");
    expect(sent?.raw).not.toMatch(/<[!@#]/);
  });

  test("is refused with the token that is wrong, and when it serves another agent", async () => {
    const { tokens } = await connected();
    const other = tokensFor(newAppId());
    slack.addApp(other);
    const { id } = await provision(owner, "Another");
    expectRefusal(await put(id, tokens), 409, "CHANNEL_IN_USE");
    const issue = async (credentials: object) => {
      const answer = await put(id, credentials);
      expectRefusal(answer, 400, "INVALID_CHANNEL_TOKEN");
      return (answer.body as { issues: object[] }).issues[0];
    };
    const strange = tokensFor(newAppId());
    expect(await issue({ ...tokens, botToken: strange.botToken })).toMatchObject({ path: "credentials.botToken" });
    expect(await issue({ ...tokens, appToken: strange.appToken })).toMatchObject({ path: "credentials.appToken" });
    expect(await issue({ ...tokens, appToken: other.appToken })).toEqual({
      path: "credentials.appToken",
      message: "The two tokens are of different apps. Copy both from the same app.",
    });
    expect(await issue({ botToken: tokens.appToken, appToken: tokens.botToken })).toMatchObject({
      message: expect.stringContaining("other token"),
    });
    const poor = tokensFor(newAppId());
    slack.addApp(poor, { scopes: ["chat:write", "im:history", "users:read"] });
    expect(await issue(poor)).toEqual({
      path: "credentials.botToken",
      message: "This bot token lacks files:read and files:write. Add that to the app, and install it again.",
    });
  });

  test("with revoked tokens fails with the reason, without asking again; other bots go on", async () => {
    const [lost, uninstalled, kept] = [await connected(), await connected(), await connected()];
    slack.revoke(lost.tokens.botToken);
    slack.revoke(lost.tokens.appToken);
    uninstalled.app.sends({ type: "app_uninstalled" });
    for (const { id } of [lost, uninstalled]) {
      await eventually(async () => (await stateOf(id))?.state === "failed");
      expect((await stateOf(id))?.lastError).toContain("Slack does not take this app's tokens");
    }
    const calls = slack.calls.length;
    kept.app.userSays(kept.app.dm(), "still there?");
    await slack.waitFor(() => shown(kept.app, kept.app.dm()).length === 1);
    expect(slack.calls.slice(calls).filter(({ route }) => route === "apps.connections.open")).toEqual([]);
    const output = berth.output().stdout + berth.output().stderr;
    for (const token of Object.values(lost.tokens)) expect(output).not.toContain(token);
  });
});

describe("a connection", () => {
  test("is replaced before Slack closes it, without a message lost or answered twice", async () => {
    const { id, app } = await connected();
    const dm = app.dm();
    const { opened } = app;
    app.warns("warning", 300);
    for (let n = 0; n < 30; n++) {
      app.userSays(dm, `message ${n}`);
      await slack.waitFor(() => app.unconfirmed === 0);
    }
    await slack.waitFor(() => shown(app, dm).length === 30, 20_000);
    expect(shown(app, dm)).toEqual(Array.from({ length: 30 }, (_, n) => `echo: message ${n}`));
    expect(app.opened).toBe(opened + 1);
    // A change of connections is no change of the state.
    expect(await stateOf(id)).toMatchObject({ state: "connected", lastError: null });
  });

  test("that fails to be replaced once is replaced at the next try", async () => {
    const { app } = await connected();
    slack.fail("apps.connections.open", { status: 500 }, { app: app.id });
    app.warns("refresh_requested", 5_000);
    const dm = app.dm();
    app.userSays(dm, "in between");
    await slack.waitFor(() => shown(app, dm).length === 1);
    const { opened } = app;
    await slack.waitFor(() => app.opened === opened + 1);
  });

  test("that is cut is opened again, and what was not confirmed comes again", async () => {
    const { app } = await connected();
    const dm = app.dm();
    app.drops();
    app.userSays(dm, "while it is down");
    await slack.waitFor(() => shown(app, dm).length === 1, 20_000);
    expect(shown(app, dm)).toEqual(["echo: while it is down"]);
    expect(app.unconfirmed).toBe(0);
  });

  test("messages that Slack has given up are fetched after an outage, in conversations and threads", async () => {
    const { id, app } = await connected();
    const [dm, channel] = [app.dm(), app.channel()];
    app.userSays(dm, "one");
    const thread = app.userSays(channel, "two", { mention: true }).split(":")[1] ?? "";
    await slack.waitFor(() => shown(app, dm).length === 1 && shown(app, channel).length === 1);
    await eventually(() => resumePoint(id)?.includes(`${channel}:${thread}`));
    await berth.kill();
    await slack.waitFor(() => app.connected === 0);
    app.userSays(dm, "three");
    app.userSays(channel, "four", { mention: true, thread });
    app.userSays(channel, "five", { mention: true });
    app.givesUp();
    await berth.restart({ keepPorts: true });
    await slack.waitFor(() => shown(app, dm).length === 2 && shown(app, channel).length === 3, 20_000);
    expect(shown(app, dm)).toEqual(["echo: one", "echo: three"]);
    // The two threads are conversations of their own, so their order is open.
    expect(app.sent(channel).map(({ thread: at, text }) => [text.split(" ").at(-1), at === thread])).toEqual(
      expect.arrayContaining([
        ["two", true],
        ["four", true],
        ["five", false],
      ]),
    );
  });
});

test("kill -9: messages from before and during the outage are answered once", async () => {
  const random = seeded();
  console.log(`slack crash test: seed ${random.seed}`);
  const { app } = await connected();
  const dms = Array.from({ length: 4 }, (_, n) => app.dm(`U0CRASH0${n}`));
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: random.integer(5, 60) }));
  const say = (from: number, to: number) => {
    for (let n = from; n < to; n++) for (const dm of dms) app.userSays(dm, `message ${n}`);
  };
  for (let kill = 0; kill < 3; kill++) {
    say(kill * 8, kill * 8 + 4);
    await slack.waitFor(() => app.sent(dms[0]).length > kill * 8 + random.integer(0, 2), 20_000);
    await berth.kill();
    await slack.waitFor(() => app.connected === 0);
    say(kill * 8 + 4, kill * 8 + 8);
    await berth.restart({ keepPorts: true });
  }
  const expected = Array.from({ length: 24 }, (_, n) => `echo: message ${n}`);
  await slack.waitFor(() => dms.every((dm) => app.sent(dm).length >= expected.length), 30_000);
  for (const dm of dms) expect(shown(app, dm)).toEqual(expected);
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
});

test("when Slack is down and asks to wait, its bots come back spread over time and with few calls", async () => {
  const bots = await Promise.all(Array.from({ length: 20 }, () => connected()));
  const before = slack.stats();
  slack.set({ down: "broken" });
  await eventually(async () => slack.stats().turnedAway - before.turnedAway >= 20, { timeoutMs: 30_000 });
  const perBot = slack.stats().turnedAway - before.turnedAway;
  // Each bot that is down asks at most a few times.
  expect(perBot).toBeLessThan(bots.length * 6 + 60);
  slack.set({ down: false });
  await slack.waitFor(() => bots.every(({ app }) => app.connected === 1), 60_000);
  const { returned } = slack.stats();
  expect(Math.max(...returned) - Math.min(...returned)).toBeGreaterThan(50);
  const [{ app }] = bots as [Connected];
  const dm = app.dm();
  slack.fail("chat.postMessage", { status: 429, retryAfter: 2 }, { app: app.id });
  const calls = slack.calls.length;
  app.userSays(dm, "hello");
  await slack.waitFor(() => shown(app, dm).length === 1, 20_000);
  const posts = await slack.waitFor(() => {
    const made = slack.calls.slice(calls).filter((call) => call.route === "chat.postMessage" && call.app === app.id);
    return made.length > 1 && made.every(({ status }) => status > 0) ? made : undefined;
  });
  expect(posts.map(({ status }) => status)).toEqual([429, 200]);
  expect((posts[1]?.at ?? 0) - (posts[0]?.at ?? 0)).toBeGreaterThanOrEqual(1_900);
});
