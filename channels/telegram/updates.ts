// Converts Telegram's updates into the port's messages. Updates that are not for the agent become undefined.
import type { CallbackQuery, Message, MessageEntity, Update } from "grammy/types";
import type { BotIdentity, IncomingMessage, Sink } from "../port.ts";
import { isObject } from "../shared/is-object.ts";
import { attachmentsOf, contentOf, contextLineOf, nameOf, quotesOthers, repliedMessage } from "./message-content.ts";
import { messageId, peerId } from "./peer.ts";

/** The only kinds of updates that are requested. */
export const ALLOWED_UPDATES: ["message", "callback_query"] = ["message", "callback_query"];

const isOptional = (value: unknown, type: "string" | "object") =>
  value === undefined || (typeof value === type && value !== null);

/** Whether a value from outside has the fields that `readUpdate` relies on. */
export function isUpdate(value: unknown): value is Update {
  if (!isObject(value) || !Number.isSafeInteger(value.update_id)) return false;
  const { message, callback_query: pressed } = value;
  if (pressed !== undefined) {
    return (
      isObject(pressed) &&
      typeof pressed.id === "string" &&
      isObject(pressed.from) &&
      isOptional(pressed.data, "string")
    );
  }
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

/**
 * The message of an update. Undefined for service messages, posts of channels, messages of bots, edits, and commands
 * for another bot.
 */
export function readUpdate(update: Update, bot: BotIdentity): IncomingMessage | undefined {
  if (update.callback_query) return readPressedButton(update.callback_query);
  const message: Message | undefined = update.message;
  const sender = message && senderOf(message);
  if (!message || !sender) return undefined;
  const content = contentOf(message);
  const group = message.chat.type !== "private";
  const text = content === undefined ? undefined : stripBotName(bot.username, content, group);
  if (text === undefined) return undefined;
  const attachments = attachmentsOf(message, bot);
  const quotes = quotesOthers(message, bot);
  return {
    platformMessageId: messageId(message.chat.id, message.message_id),
    peer: peerId(message.chat.id, message.is_topic_message ? message.message_thread_id : undefined),
    sender,
    ...languageOf(message.sender_chat ? undefined : message.from),
    text: contextLineOf(message, bot, text) + text,
    ...(quotes ? { quotesOthers: true } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
    group,
    addressed: !group || isAddressed(message, bot),
    sentAt: message.date * 1000,
  };
}

/** Whether the presser may answer the question below which the button is. */
export async function isAnswer(sink: Pick<Sink, "mayAnswer">, pressed: CallbackQuery): Promise<boolean> {
  const message = readPressedButton(pressed);
  return message !== undefined && ((await sink.mayAnswer?.(message)) ?? true);
}

/** The answer that a button stands for, as a message of the person who pressed it. */
function readPressedButton({ id, from, message, data }: CallbackQuery): IncomingMessage | undefined {
  if (!message || data === undefined || from.is_bot) return undefined;
  const { chat } = message;
  const thread = "is_topic_message" in message && message.is_topic_message ? message.message_thread_id : undefined;
  return {
    platformMessageId: `button:${id}`,
    peer: peerId(chat.id, thread),
    sender: { id: String(from.id), name: nameOf(from) },
    ...languageOf(from),
    text: data,
    group: chat.type !== "private",
    addressed: true,
    sentAt: Date.now(),
  };
}

/** The language of the person's app (IETF tag). */
const languageOf = (from: Message["from"]) =>
  typeof from?.language_code === "string" ? { language: from.language_code.slice(0, 35) } : {};

/** The author: a person, or the group itself if an anonymous admin writes. */
function senderOf({ from, chat, sender_chat: by }: Message): IncomingMessage["sender"] | undefined {
  if (chat.type === "channel") return undefined;
  // Posts of a linked channel are forwarded into its group automatically.
  if (by && by.id !== chat.id) return undefined;
  if (by) return { id: String(by.id), name: ("title" in by && by.title) || "" };
  if (!from || from.is_bot) return undefined;
  return { id: String(from.id), name: nameOf(from) };
}

function isAddressed(message: Message, bot: BotIdentity): boolean {
  if (String(repliedMessage(message)?.from?.id) === bot.id) return true;
  const text = message.text ?? message.caption ?? "";
  const entities = message.entities ?? message.caption_entities ?? [];
  return entities.some((entity) => mentionsBot(entity, text, bot));
}

function mentionsBot(entity: MessageEntity, text: string, bot: BotIdentity): boolean {
  const mention = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
  const handle = `@${bot.username.toLowerCase()}`;
  if (entity.type === "mention") return mention === handle;
  if (entity.type === "bot_command") return mention.endsWith(handle);
  return entity.type === "text_mention" && String(entity.user.id) === bot.id;
}

/** `/reset@our_bot now` means `/reset now`; undefined for a command that names another bot of the group. */
function stripBotName(username: string, text: string, group: boolean): string | undefined {
  const [command = "", suffix] = /^\/\w{1,64}@(\w{1,64})/.exec(text) ?? [];
  if (suffix === undefined) return text;
  if (suffix.toLowerCase() !== username.toLowerCase()) return group ? undefined : text;
  return command.slice(0, -suffix.length - 1) + text.slice(command.length);
}
