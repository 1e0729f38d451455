import { describe, expect, test } from "bun:test";
import { mentionedUsers, readMessage, readPress, toMessage, toPress } from "./messages.ts";

const BOT = { user: "U0BERTH001", team: "T0000001" };
const event = {
  ...{ type: "message", channel: "C0000001", user: "U0ADA00001", text: "hello", ts: "1700000000.000100" },
  ...{ channel_type: "channel", client_msg_id: "c1" },
};
const read = (changes: object) => {
  const message = toMessage({ ...event, ...changes });
  if (!message) throw new Error("It is no message.");
  return readMessage(message, BOT, "berth", new Map([["U0ADA00001", { name: "Ada", locale: "de-DE" }]]));
};

describe("a message", () => {
  test("in a channel has its author, language, time and place", () => {
    expect(read({})).toEqual({
      platformMessageId: "C0000001:1700000000.000100",
      peer: "C0000001",
      sender: { id: "U0ADA00001", name: "Ada" },
      language: "de-DE",
      text: "hello",
      group: true,
      addressed: false,
      sentAt: 1_700_000_000_000,
    });
  });

  test("that mentions the bot begins a thread, and its words are those after the mention", () => {
    expect(read({ text: "<@U0BERTH001> what is up?" })).toMatchObject({
      peer: "C0000001:1700000000.000100",
      addressed: true,
      text: "what is up?",
    });
    expect(read({ text: "<@U0BERTH001>" })).toMatchObject({ addressed: true, text: "@berth" });
    expect(read({ text: "&lt;@U0BERTH001&gt;" })).toMatchObject({ addressed: false, text: "<@U0BERTH001>" });
  });

  test("in a thread names the thread; in one that the bot began it is addressed", () => {
    const thread = { thread_ts: "1699999999.000001" };
    expect(read({ ...thread, parent_user_id: "U0ADA00001" })).toMatchObject({
      ...{ peer: "C0000001:1699999999.000001", repliesTo: "C0000001:1699999999.000001", addressed: false },
    });
    expect(read({ ...thread, parent_user_id: BOT.user })).toMatchObject({ addressed: true });
    expect(read({ thread_ts: event.ts })).toMatchObject({ peer: "C0000001" });
  });

  test("in private is always addressed", () => {
    expect(read({ channel: "D0000001" })).toMatchObject({ peer: "D0000001", group: false, addressed: true });
  });

  test.each([
    ["!help", "/help"],
    ["<@U0BERTH001> !reset now", "/reset now"],
    ["!approve ABC123", "/approve ABC123"],
    ["!!", "!!"],
    ["!important? yes", "!important? yes"],
    [
      "see <https://a.example/x|the page> &amp; <https://b.example>",
      "see the page (https://a.example/x) & https://b.example",
    ],
    ["<!here> <#C0000002|general> <@U0ADA00001> <@U0EVE00001>", "@here #general @Ada @someone"],
    ["<mailto:a@b.example|a@b.example>", "a@b.example"],
    ["<!subteam^S012345|@crew> <!date^1^x|today>", "@crew today"],
  ])("%j reads %j", (text, words) => {
    expect(read({ text })).toMatchObject({ text: words });
  });

  test("that passes another on says so", () => {
    const attachments = [{ is_share: true, text: "buy &lt;now&gt;" }, { text: "a preview of a link" }];
    expect(read({ attachments })).toMatchObject({ text: "hello\n[forwarded]\nbuy <now>", quotesOthers: true });
  });

  test("has its files, and names those that are gone", () => {
    const files = [
      { id: "F0000001", name: "a.png", mimetype: "image/png", size: 7 },
      { id: "F0000002", name: "v.m4a", mimetype: "audio/mp4", subtype: "slack_audio", size: 9 },
      { id: "F0000003", mode: "tombstone" },
    ];
    expect(read({ subtype: "file_share", text: "", files })).toMatchObject({
      text: "[image: a.png]\n[voice message: v.m4a]\n[deleted file]",
      attachments: [
        { kind: "image", ref: "F0000001", mimeType: "image/png", size: 7, name: "a.png" },
        { kind: "audio", ref: "F0000002", voice: true },
      ],
    });
  });

  test("mentions people, whose names are looked up", () => {
    const message = toMessage({ ...event, text: "<@U0BERTH001> ask <@U0EVE00001|eve> and <@U0EVE00001>" });
    expect(message && mentionedUsers(message, BOT)).toEqual(["U0EVE00001"]);
  });

  test.each([
    { subtype: "message_changed" },
    { subtype: "message_deleted" },
    { subtype: "channel_join" },
    { bot_id: "B0000001" },
    { hidden: true },
    { user: undefined },
    { user: "eve" },
    { ts: "now" },
    { ts: 5 },
    { channel: "general" },
  ])("%j is none", (changes) => {
    expect(toMessage({ ...event, ...changes })).toBeUndefined();
  });
});

describe("a press", () => {
  const press = {
    ...{ type: "block_actions", user: { id: "U0ADA00001" }, channel: { id: "D0000001" } },
    message: { ts: "1700000000.000100", text: "May I?", blocks: [{ type: "section" }, { type: "actions" }] },
    actions: [{ type: "button", action_id: "choice_0", value: "/approve ABC", action_ts: "1700000005.000200" }],
  };

  test("is a message of its own by who pressed, once for each press", () => {
    const read = toPress(press);
    expect(read && readPress(read, new Map())).toEqual({
      platformMessageId: "D0000001:1700000000.000100:1700000005.000200",
      peer: "D0000001",
      sender: { id: "U0ADA00001", name: "U0ADA00001" },
      text: "/approve ABC",
      group: false,
      addressed: true,
      sentAt: 1_700_000_005_000,
    });
  });

  test.each([
    { type: "view_submission" },
    { actions: [] },
    { actions: [{ value: 5, action_ts: "1" }] },
    { actions: [{ value: "x", action_ts: "../x" }] },
    { message: {} },
    { user: { id: "eve" } },
    { channel: undefined },
  ])("%j is none", (changes) => {
    expect(toPress({ ...press, ...changes })).toBeUndefined();
  });
});
