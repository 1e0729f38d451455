// What an update says, in the port's words. Total: any update either is a message for the agent or is none.
import type { Message, MessageEntity, Update } from "grammy/types";
import type { BotIdentity, IncomingMessage } from "../channel.ts";
import { messageId, peerId } from "./peer.ts";

/** The only updates that are asked for. */
export const WANTED: ["message"] = ["message"];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isOptional = (value: unknown, type: "string" | "object") =>
  value === undefined || (typeof value === type && value !== null);

/** Whether something that came from outside has the fields an update is known by. */
export function isUpdate(value: unknown): value is Update {
  if (!isObject(value) || !Number.isSafeInteger(value.update_id)) return false;
  const message = value.message;
  if (message === undefined) return true;
  return (
    isObject(message) &&
    isObject(message.chat) &&
    Number.isSafeInteger(message.chat.id) &&
    Number.isSafeInteger(message.message_id) &&
    Number.isSafeInteger(message.date) &&
    isOptional(message.text, "string") &&
    isOptional(message.caption, "string") &&
    isOptional(message.from, "object")
  );
}

/** The message in an update, or undefined: service messages, channel posts, bots (itself too) and edits are not for the agent. */
export function readUpdate(update: Update, bot: BotIdentity): IncomingMessage | undefined {
  const message: Message | undefined = update.message;
  if (!message?.from || message.from.is_bot || message.chat.type === "channel") return undefined;
  const content = readContent(message);
  if (content === undefined) return undefined;
  const group = message.chat.type !== "private";
  const name = [message.from.first_name, message.from.last_name].filter(Boolean).join(" ");
  return {
    platformMessageId: messageId(message.chat.id, message.message_id),
    peer: peerId(message.chat.id, message.is_topic_message ? message.message_thread_id : undefined),
    sender: { id: String(message.from.id), name },
    text: withoutCommandSuffix(content, bot.username),
    group,
    addressed: !group || isAddressed(message, bot),
    sentAt: message.date * 1000,
  };
}

function readContent(message: Message): string | undefined {
  if (message.text !== undefined) return message.text;
  const mark = describe(message);
  if (mark === undefined) return undefined;
  const words = message.caption ?? (message.rich_message ? wordsOf(message.rich_message) : undefined);
  return words ? `[${mark}]\n${words}` : `[${mark}]`;
}

/** Names what is no text, so that the agent knows something was sent. Specific kinds first: some come with a general one beside. */
function describe(message: Message): string | undefined {
  const named = (kind: string, detail: string | undefined) => (detail ? `${kind}: ${detail}` : kind);
  if (message.animation) return "animation";
  if (message.live_photo) return "live photo";
  if (message.photo) return "photo";
  if (message.video) return "video";
  if (message.video_note) return "video message";
  if (message.voice) return "voice message";
  if (message.audio) return named("audio", message.audio.title ?? message.audio.file_name);
  if (message.document) return named("document", message.document.file_name);
  if (message.paid_media) return "paid media";
  if (message.sticker) return named("sticker", message.sticker.emoji);
  if (message.story) return "story";
  if (message.contact) return named("contact", `${message.contact.first_name} ${message.contact.phone_number}`);
  if (message.venue) return named("place", `${message.venue.title}, ${message.venue.address}`);
  if (message.location) return named("location", `${message.location.latitude}, ${message.location.longitude}`);
  if (message.poll)
    return named("poll", [message.poll.question, ...message.poll.options.map((o) => o.text)].join(" / "));
  if (message.checklist) return named("checklist", message.checklist.title);
  if (message.dice) return named("dice", `${message.dice.emoji} ${message.dice.value}`);
  if (message.game) return named("game", message.game.title);
  if (message.rich_message) return "formatted message";
  return undefined;
}

/** The readable strings of a rich message, in order. */
function wordsOf(value: unknown, depth = 0): string {
  if (typeof value === "string") return value;
  if (depth > 16 || !isObject(value)) return "";
  if (Array.isArray(value)) return value.map((item) => wordsOf(item, depth + 1)).join(depth < 2 ? "\n" : "");
  return ["text", "blocks", "items", "cells"].map((key) => wordsOf(value[key], depth + 1)).join("");
}

function isAddressed(message: Message, bot: BotIdentity): boolean {
  const answered = message.reply_to_message;
  // In a topic every message "answers" the one that opened the topic.
  if (answered && !answered.forum_topic_created && String(answered.from?.id) === bot.id) return true;
  const text = message.text ?? message.caption ?? "";
  const entities = message.entities ?? message.caption_entities ?? [];
  return entities.some((entity) => names(entity, text, bot));
}

function names(entity: MessageEntity, text: string, bot: BotIdentity): boolean {
  const said = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
  const handle = `@${bot.username.toLowerCase()}`;
  if (entity.type === "mention") return said === handle;
  if (entity.type === "bot_command") return said.endsWith(handle);
  return entity.type === "text_mention" && String(entity.user.id) === bot.id;
}

/** `/reset@our_bot now` means `/reset now`; a command for another bot keeps its name. */
function withoutCommandSuffix(text: string, username: string): string {
  const [command = "", suffix] = /^\/\w{1,64}@(\w{1,64})/.exec(text) ?? [];
  return suffix?.toLowerCase() === username.toLowerCase()
    ? command.slice(0, -suffix.length - 1) + text.slice(command.length)
    : text;
}
