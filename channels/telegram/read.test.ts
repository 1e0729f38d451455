// Which updates are messages for the agent, and what they say.
import { describe, expect, test } from "bun:test";
import { isUpdate, readUpdate } from "./read.ts";

const bot = { id: "42", username: "Helper_Bot" };
const ada = { id: 7, is_bot: false, first_name: "Ada", last_name: "L" };
const privately = { id: 7, type: "private", first_name: "Ada" };
const group = { id: -100123, type: "supergroup", title: "Team" };

function read(message: Record<string, unknown>) {
  const update: unknown = {
    update_id: 1,
    message: { message_id: 5, date: 1_700_000_000, chat: privately, from: ada, ...message },
  };
  if (!isUpdate(update)) throw new Error("not an update");
  return readUpdate(update, bot);
}
const text = (message: Record<string, unknown>) => read(message)?.text;
const inGroup = (words: string, entities: unknown[] = [], more: Record<string, unknown> = {}) =>
  read({ chat: group, text: words, entities, ...more });

test("a private text is read whole", () => {
  expect(read({ text: "hello" })).toEqual({
    platformMessageId: "7:5",
    peer: "7",
    sender: { id: "7", name: "Ada L" },
    text: "hello",
    group: false,
    addressed: true,
    sentAt: 1_700_000_000_000,
  });
});

describe("what is no text is named", () => {
  test.each([
    [{ photo: [{}] }, "[photo]"],
    [{ photo: [{}], caption: "look" }, "[photo]\nlook"],
    [{ voice: {} }, "[voice message]"],
    [{ document: { file_name: "a.pdf" }, caption: "read" }, "[document: a.pdf]\nread"],
    [{ animation: {}, document: { file_name: "a.gif" } }, "[animation]"],
    [{ sticker: { emoji: "👍" } }, "[sticker: 👍]"],
    [
      { venue: { title: "Cafe", address: "Street 1" }, location: { latitude: 1, longitude: 2 } },
      "[place: Cafe, Street 1]",
    ],
    [{ location: { latitude: 1.5, longitude: 2 } }, "[location: 1.5, 2]"],
    [{ poll: { question: "Tea?", options: [{ text: "yes" }, { text: "no" }] } }, "[poll: Tea? / yes / no]"],
    [{ dice: { emoji: "🎲", value: 4 } }, "[dice: 🎲 4]"],
    [
      {
        rich_message: {
          blocks: [
            { type: "p", text: ["a ", { type: "bold", text: "b" }] },
            { type: "p", text: "c" },
          ],
        },
      },
      "[formatted message]\na b\nc",
    ],
  ])("%p", (message, expected) => {
    expect(text(message)).toBe(expected);
  });
});

describe("not for the agent:", () => {
  test.each([
    ["a bot", { from: { ...ada, is_bot: true }, text: "hi" }],
    ["itself", { from: { id: 42, is_bot: true, first_name: "Helper" }, text: "hi" }],
    ["nobody", { from: undefined, text: "hi" }],
    ["a channel", { chat: { id: -5, type: "channel" }, text: "hi" }],
    ["a service message", { chat: group, new_chat_members: [ada] }],
  ])("%s", (_, message) => {
    expect(read(message)).toBeUndefined();
  });

  test("an edit", () => {
    const update: unknown = {
      update_id: 1,
      edited_message: { message_id: 5, date: 1, chat: privately, from: ada, text: "x" },
    };
    expect(isUpdate(update) && readUpdate(update, bot)).toBeUndefined();
  });
});

describe("in a group the bot is addressed", () => {
  const mention = (offset: number, length: number) => [{ type: "mention", offset, length }];

  test("by its name, in any case, also in a caption", () => {
    expect(inGroup("@helper_bot hi", mention(0, 11))).toMatchObject({ group: true, addressed: true, peer: "-100123" });
    expect(
      read({ chat: group, photo: [{}], caption: "@Helper_Bot", caption_entities: mention(0, 11) })?.addressed,
    ).toBe(true);
    expect(inGroup("👍 @Helper_Bot", mention(3, 11))?.addressed).toBe(true);
    expect(inGroup("Helper!", [{ type: "text_mention", offset: 0, length: 6, user: { id: 42 } }])?.addressed).toBe(
      true,
    );
  });

  test("by an answer to it, but not by the topic it opened", () => {
    const own = { message_id: 4, from: { id: 42 } };
    expect(inGroup("yes", [], { reply_to_message: own })?.addressed).toBe(true);
    expect(inGroup("yes", [], { reply_to_message: { ...own, forum_topic_created: {} } })?.addressed).toBe(false);
    expect(inGroup("yes", [], { reply_to_message: { message_id: 4, from: { id: 43 } } })?.addressed).toBe(false);
  });

  test("by a command that names it, which then reads like any command", () => {
    const command = (length: number) => [{ type: "bot_command", offset: 0, length }];
    expect(inGroup("/reset@helper_bot now", command(17))).toMatchObject({ addressed: true, text: "/reset now" });
    expect(inGroup("/reset@other_bot now", command(16))).toMatchObject({
      addressed: false,
      text: "/reset@other_bot now",
    });
    expect(inGroup("/reset", command(6))?.addressed).toBe(false);
  });

  test("and not by others' names or a name that only looks like its own", () => {
    expect(inGroup("hi all")?.addressed).toBe(false);
    expect(inGroup("@helper_bot2 hi", mention(0, 12))?.addressed).toBe(false);
    expect(inGroup("mail me@helper_bot")?.addressed).toBe(false);
  });
});

test("a topic is a conversation of its own, a thread of answers is not", () => {
  expect(inGroup("x", [], { is_topic_message: true, message_thread_id: 9 })?.peer).toBe("-100123:9");
  expect(inGroup("x", [], { message_thread_id: 9 })?.peer).toBe("-100123");
});

test.each([
  [null],
  [[]],
  ["x"],
  [{}],
  [{ update_id: "1" }],
  [{ update_id: 1, message: 3 }],
  [{ update_id: 1, message: { chat: {} } }],
])("%p is no update", (value) => {
  expect(isUpdate(value)).toBe(false);
});
