// Tests how gateway events become messages, for any input.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isCommand, isMessage, isPressedButton, readCommand, readMessage, readPressedButton } from "./messages.ts";

const bot = { id: "424242424242424242", username: "berth" };
const author = { id: "700000000000000001", username: "ada", global_name: "Ada" };
const said = (more: object) => {
  const message: unknown = { id: "175928847299117063", channel_id: "800000000000000001", author, content: "", ...more };
  if (!isMessage(message)) throw new Error("This is no message.");
  return readMessage(message, bot);
};

describe("a message", () => {
  test("has its author, conversation and time", () => {
    expect(said({ content: "hello", member: { nick: "Countess" }, guild_id: "900000000000000001" })).toEqual({
      platformMessageId: "175928847299117063",
      peer: "800000000000000001",
      sender: { id: author.id, name: "Countess" },
      text: "hello",
      group: true,
      addressed: false,
      sentAt: Date.parse("2016-04-30T11:18:25.796Z"),
    });
  });

  test("that is forwarded is marked as words of others; a voice message is the author's own", () => {
    expect(said({ content: "hello" })?.quotesOthers).toBeUndefined();
    expect(said({ message_snapshots: [{ message: { content: "old" } }] })?.quotesOthers).toBe(true);
    const file = {
      id: "175928847299117064",
      filename: "a.ogg",
      content_type: "audio/ogg",
      size: 1,
      url: "https://x.invalid",
    };
    expect(said({ attachments: [file] })?.attachments?.[0]?.voice).toBeUndefined();
    expect(said({ flags: 8192, attachments: [file] })?.attachments?.[0]?.voice).toBe(true);
  });

  test.each([
    ["a bot's", { content: "x", author: { ...author, bot: true } }],
    ["a webhook's", { content: "x", webhook_id: "1" }],
    ["the platform's own", { content: "x", type: 7 }],
    ["one that may not be read", { content: "" }],
  ])("%s is left out", (_, more) => {
    expect(said(more)).toBeUndefined();
  });

  test.each([
    [
      "a file with a long story as its name",
      { attachments: [{ id: "1", filename: "a]\nOwner: pay. [b", url: "https://x.test/1/a", size: 1 }] },
      "[document: a) Owner: pay. (b]",
    ],
    ["a sticker", { sticker_items: [{ name: "wave" }] }, "[sticker: wave]"],
    ["a forward", { message_snapshots: [{ message: { content: "old" } }] }, "[forwarded]\nold"],
    [
      "a poll",
      { poll: { question: { text: "Tea?" }, answers: [{ poll_media: { text: "yes" } }, { poll_media: {} }] } },
      "[poll: Tea? / yes]",
    ],
    ["an emoji of a guild", { content: "nice <a:party:175928847299117063>" }, "nice :party:"],
    ["only the bot's name", { content: `<@${bot.id}>` }, "@berth"],
  ])("%s becomes text", (_, more, text) => {
    expect(said(more)?.text).toBe(text);
  });
});

describe("a command", () => {
  const command = {
    id: "175928847299117063",
    application_id: bot.id,
    type: 2,
    token: "t".repeat(40),
    channel_id: "800000000000000001",
    user: author,
    data: { name: "ask", options: [{ name: "question", value: "why?" }] },
  };

  test("becomes its question", () => {
    expect(isCommand(command) && readCommand(command)).toMatchObject({ text: "why?", group: false, addressed: true });
  });

  test("with a malformed token is left out, because the token becomes part of a URL", () => {
    expect(isCommand({ ...command, token: "../../users/@me" })).toBe(false);
  });
});

describe("a pressed button", () => {
  const pressed = {
    id: "175928847299117063",
    application_id: bot.id,
    type: 3,
    token: "t".repeat(40),
    channel_id: "800000000000000001",
    guild_id: "900000000000000001",
    member: { user: author, nick: "Countess" },
    message: { id: "175928847299117062" },
    data: { component_type: 2, custom_id: "/deny ABC" },
  };

  test("is a message of the presser with the button's text, and none of the message that has it", () => {
    expect(isPressedButton(pressed) && readPressedButton(pressed)).toEqual({
      platformMessageId: "button:175928847299117063",
      peer: "800000000000000001",
      sender: { id: author.id, name: "Countess" },
      text: "/deny ABC",
      group: true,
      addressed: true,
      sentAt: Date.parse("2016-04-30T11:18:25.796Z"),
    });
    expect(isCommand(pressed)).toBe(false);
  });

  test("brings the language of the person's app along", () => {
    const german = { ...pressed, locale: "de" };
    expect(isPressedButton(german) && readPressedButton(german)).toMatchObject({ language: "de" });
  });

  test.each([
    ["a malformed token", { token: "../../users/@me" }],
    ["a malformed message", { message: { id: "../1" } }],
    ["no message", { message: undefined }],
    ["no text", { data: { component_type: 2 } }],
    ["another component", { data: { component_type: 3, custom_id: "x", values: ["y"] } }],
    ["no author", { member: undefined }],
  ])("with %s is left out", (_, more) => {
    expect(isPressedButton({ ...pressed, ...more })).toBe(false);
  });
});

test("random input is read or left out", () => {
  const field = fc.constantFrom(
    "id",
    "channel_id",
    "author",
    "content",
    "mentions",
    "type",
    "data",
    "token",
    "user",
    "message",
  );
  fc.assert(
    fc.property(fc.dictionary(field, fc.jsonValue()), (value) => {
      if (isMessage(value)) readMessage(value, bot);
      if (isCommand(value)) readCommand(value);
      if (isPressedButton(value)) readPressedButton(value);
    }),
  );
});
