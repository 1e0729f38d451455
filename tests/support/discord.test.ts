// Tests the Discord fake: it is as strict as Discord wherever an adapter could be wrong.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Discord, type FakeBot, startDiscord, tokenFor } from "./discord.ts";
import { spawnDiscord } from "./discord-control.ts";
import { createWatch } from "./eventually.ts";

const TOKEN = tokenFor("515151515151515151");
const AGENT = "DiscordBot (https://example.com, 1.0)";

let discord: Discord;
let bot: FakeBot;

beforeEach(async () => {
  discord = await startDiscord();
  bot = discord.addBot(TOKEN);
});
afterEach(() => discord.stop());

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${discord.url}/v10${path}`, {
    method,
    headers: { authorization: `Bot ${TOKEN}`, "user-agent": AGENT, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const { code, ...rest } = (text === "" ? {} : JSON.parse(text)) as { code?: number; id?: string };
  return { status: response.status, code, id: rest.id };
}

describe("calls", () => {
  test.each([
    ["an empty message", { content: " " }, 50006],
    ["2,001 characters", { content: "x".repeat(2001) }, 50035],
    ["a nonce of 26 characters", { content: "x", nonce: "n".repeat(26) }, 50035],
    ["a mention of a kind that is none", { content: "x", allowed_mentions: { parse: ["all"] } }, 50035],
    ["a flag that bots can't set", { content: "x", flags: 128 }, 50035],
    ["an answer to nothing", { content: "x", message_reference: { message_id: "123456789012345678" } }, 50035],
    ["a field that is none", { text: "x", content: "x" }, 50035],
  ])("%s is refused", async (_, body, code) => {
    expect(await call("POST", `/channels/${bot.dm()}/messages`, body)).toMatchObject({ status: 400, code });
    expect(bot.sent()).toEqual([]);
  });

  const button = { type: 2, style: 2, label: "Yes", custom_id: "yes" };
  const row = (...components: object[]) => ({ type: 1, components });
  const many = (count: number) => Array.from({ length: count }, (_, n) => ({ ...button, custom_id: `${n}` }));
  test.each([
    ["six rows", many(6).map((one) => row(one))],
    ["a row without buttons", [row()]],
    ["six buttons in a row", [row(...many(6))]],
    ["a button outside a row", [button]],
    ["a label of 81 characters", [row({ ...button, label: "l".repeat(81) })]],
    ["no label", [row({ ...button, label: "" })]],
    ["an id of 101 characters", [row({ ...button, custom_id: "i".repeat(101) })]],
    ["the same id twice", [row(button), row(button)]],
    ["an unknown style", [row({ ...button, style: 7 })]],
    ["an unknown field", [row({ ...button, text: "Yes" })]],
  ])("components with %s are refused", async (_, components) => {
    const path = `/channels/${bot.dm()}/messages`;
    expect(await call("POST", path, { content: "x", components })).toMatchObject({ status: 400, code: 50035 });
    const { id } = await call("POST", path, { content: "x", components: [row(...many(5))] });
    expect(await call("PATCH", `${path}/${id}`, { components })).toMatchObject({ status: 400, code: 50035 });
    expect(bot.sent().map(({ buttons }) => buttons.length)).toEqual([5]);
  });

  test("a pressed button is acknowledged by a deferred update, once; only then its message can be edited by it", async () => {
    const path = `/channels/${bot.dm()}/messages`;
    const { id: messageId = "" } = await call("POST", path, { content: "x", components: [row(button)] });
    expect(() => bot.userPresses(messageId, "no")).toThrow();
    const id = bot.userPresses(messageId, "yes");
    const callback = `/interactions/${id}/${discord.tokenOf(id)}/callback`;
    const original = `/webhooks/${bot.applicationId}/${discord.tokenOf(id)}/messages/@original`;
    expect(await call("PATCH", original, { components: [] })).toMatchObject({ status: 404, code: 10015 });
    expect(await call("POST", callback, { type: 5 })).toMatchObject({ status: 400 });
    expect(await call("POST", callback, { type: 6 })).toMatchObject({ status: 204 });
    expect(await call("POST", callback, { type: 6 })).toMatchObject({ status: 400, code: 40060 });
    expect(await call("PATCH", original, { components: [] })).toMatchObject({ status: 200, id: messageId });
    expect(bot.sent()).toMatchObject([{ text: "x", buttons: [], edits: [] }]);
    expect(() => bot.userPresses(messageId, "yes")).toThrow();
  });

  test("the same enforced nonce returns the same message", async () => {
    const path = `/channels/${bot.dm()}/messages`;
    const body = { content: "once", nonce: "n", enforce_nonce: true };
    const [first, second] = [await call("POST", path, body), await call("POST", path, body)];
    expect(second.id).toBe(first.id);
    await call("POST", path, { ...body, enforce_nonce: false });
    expect(bot.sent().length).toBe(2);
  });

  test.each([
    ["another token", { authorization: `Bot ${tokenFor("616161616161616161")}` }, 401],
    ["none", { authorization: "" }, 401],
    ["a user agent that is none", { "user-agent": "curl" }, 403],
  ])("%s is turned away", async (_, headers, status) => {
    expect((await call("GET", "/users/@me", undefined, headers)).status).toBe(status);
  });

  test("reject edits of others' messages and unknown channels", async () => {
    const dm = bot.dm();
    const messageId = bot.userSays(dm, "mine");
    const body = { content: "x" };
    expect(await call("PATCH", `/channels/${dm}/messages/${messageId}`, body)).toMatchObject({
      status: 403,
      code: 50005,
    });
    expect(await call("PATCH", `/channels/${dm}/messages/${bot.id}`, body)).toMatchObject({ status: 404, code: 10008 });
    expect(await call("POST", `/channels/${bot.id}/messages`, body)).toMatchObject({ status: 404, code: 10003 });
  });

  test("enforce rate limits and announce them in headers", async () => {
    discord.set({ rates: true });
    const statuses = [];
    for (let n = 0; n < 6; n++) {
      statuses.push((await call("POST", `/channels/${bot.dm()}/messages`, { content: `${n}` })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect(discord.stats().tooMany).toBe(1);
  });
});

/** Opens a gateway connection that sends exactly the given messages. */
async function connection() {
  const watch = createWatch();
  const heard: { op: number; t?: string; s?: number; d?: unknown }[] = [];
  const state = { code: 0 };
  const socket = new WebSocket(`${discord.url.replace("http", "ws").replace("/api", "/gateway")}?v=10&encoding=json`);
  socket.onmessage = ({ data }) => {
    heard.push(JSON.parse(String(data)));
    watch.changed();
  };
  socket.onclose = ({ code }) => {
    state.code = code;
    watch.changed();
  };
  await watch.waitFor(() => heard.length === 1);
  const say = (op: number, d: unknown) => socket.send(JSON.stringify({ op, d }));
  const identify = (more: object = {}) => say(2, { token: TOKEN, intents: 4608, properties: { os: "x" }, ...more });
  return { heard, state, say, identify, waitFor: watch.waitFor, close: (code: number) => socket.close(code) };
}

describe("the gateway", () => {
  test.each([
    ["an unknown token", { token: "x" }, 4004],
    ["unknown intents", { intents: 1 << 30 }, 4013],
    ["no properties", { properties: undefined }, 4002],
  ])("%s ends it", async (_, more, code) => {
    const one = await connection();
    one.identify(more);
    await one.waitFor(() => one.state.code === code);
  });

  test("closes a connection with a privileged intent that the bot may not use", async () => {
    discord.addBot(TOKEN, { messageContent: false });
    const one = await connection();
    one.identify({ intents: 1 << 15 });
    await one.waitFor(() => one.state.code === 4014);
  });

  test("closes a connection that does not identify first, or identifies twice", async () => {
    const [early, twice] = [await connection(), await connection()];
    early.say(3, {});
    await early.waitFor(() => early.state.code === 4003);
    twice.identify();
    await twice.waitFor(() => twice.heard.some(({ t }) => t === "READY"));
    twice.identify();
    await twice.waitFor(() => twice.state.code === 4005);
  });

  test("resumes a session with the missed events, unless it was closed with 1000", async () => {
    const first = await connection();
    first.identify();
    await first.waitFor(() => first.heard.some(({ t }) => t === "READY"));
    const { session_id } = (first.heard.at(-1)?.d ?? {}) as { session_id?: string };
    first.close(4200);
    await discord.waitFor(() => bot.connected === 0);
    bot.userSays(bot.dm(), "missed");
    const second = await connection();
    second.say(6, { token: TOKEN, session_id, seq: 1 });
    await second.waitFor(() => second.heard.some(({ t }) => t === "RESUMED"));
    expect(second.heard.map(({ t }) => t)).toEqual([undefined, "MESSAGE_CREATE", "RESUMED"]);
    second.close(1000);
    await discord.waitFor(() => bot.connected === 0);
    const third = await connection();
    third.say(6, { token: TOKEN, session_id, seq: 3 });
    await third.waitFor(() => third.heard.some(({ op, d }) => op === 9 && d === false));
  });

  test("rejects a second IDENTIFY that follows at once", async () => {
    const [one, two] = [await connection(), await connection()];
    one.identify();
    await one.waitFor(() => one.heard.some(({ t }) => t === "READY"));
    two.identify();
    await two.waitFor(() => two.heard.some(({ op }) => op === 9));
  });
});

test("runs as a program that is controlled over HTTP", async () => {
  await using alone = await spawnDiscord();
  await alone.addBots([{ token: TOKEN }]);
  const dm = await alone.bot(TOKEN, "dm");
  expect(await alone.bot(TOKEN, "userSays", dm, "hello")).toMatch(/^\d{15,20}$/);
  expect(await alone.stats()).toMatchObject({ bots: 1, connected: 0, sent: 0 });
  await expect(alone.bot("nobody", "dm")).rejects.toThrow("No bot has this token");
});
