// Reads the messages and button presses of Slack's envelopes.
// https://docs.slack.dev/reference/events/message
import { bracketNote } from "../../../src/kernel/util/text/quoted-text.ts";
import type { Attachment, IncomingMessage } from "../../port.ts";
import { isObject } from "../../shared/is-object.ts";
import type { BotDetail } from "../bot.ts";
import { isChannel, isDirect, isTimestamp, isUser, messageId, peerId, timeOf } from "../ids.ts";
import type { Person } from "./people.ts";

/** A person's message, with the fields that are read. */
export interface SlackMessage {
  channel: string;
  ts: string;
  user: string;
  text: string;
  thread?: string;
  /** The author of the message that a thread hangs on. */
  threadAuthor?: string;
  files: readonly Record<string, unknown>[];
  /** The texts of messages of others that this one passes on. */
  shared: readonly string[];
}

/** A press of a button of the bot. */
export interface PressedButton {
  channel: string;
  /** The message with the button. */
  ts: string;
  thread?: string;
  user: string;
  /** The text that the button stands for. */
  value: string;
  /** When it was pressed; the same when Slack sends the press again. */
  pressedAt: string;
  /** The message's text and blocks, to show it without buttons. */
  text: string;
  blocks: readonly Record<string, unknown>[];
}

/** Subtypes that are messages of people; the others tell of edits, deletions, and who came and went. */
const MESSAGE_SUBTYPES: readonly unknown[] = [undefined, "file_share", "thread_broadcast", "me_message"];

/** The message of an event, or of a page of messages, whose `channel` then comes from the caller. */
export function toMessage(event: unknown, inChannel?: string): SlackMessage | undefined {
  if (!isObject(event)) return undefined;
  const { subtype, bot_id: botId, hidden, ts, user, text, files, attachments } = event;
  const channel = inChannel ?? event.channel;
  if (!MESSAGE_SUBTYPES.includes(subtype) || botId !== undefined || hidden === true) return undefined;
  if (!isChannel(channel) || !isTimestamp(ts) || !isUser(user)) return undefined;
  const { thread_ts: thread, parent_user_id: threadAuthor } = event;
  return {
    ...{ channel, ts, user, text: typeof text === "string" ? text : "" },
    ...(isTimestamp(thread) && thread !== ts ? { thread } : {}),
    ...(typeof threadAuthor === "string" ? { threadAuthor } : {}),
    files: Array.isArray(files) ? files.filter(isObject) : [],
    shared: Array.isArray(attachments) ? attachments.filter(isObject).flatMap(sharedText) : [],
  };
}

const sharedText = ({ is_share: isShare, is_msg_unfurl: isMessage, text }: Record<string, unknown>) =>
  (isShare === true || isMessage === true) && typeof text === "string" && text !== "" ? [text] : [];

/** The press of an interactive envelope; undefined for other interactions. */
export function toPress(payload: unknown): PressedButton | undefined {
  if (!isObject(payload) || payload.type !== "block_actions") return undefined;
  const { channel, message, user, actions } = payload;
  const [action] = Array.isArray(actions) ? actions.filter(isObject) : [];
  if (!isObject(channel) || !isObject(message) || !isObject(user) || !action) return undefined;
  const { ts, thread_ts: thread, text, blocks } = message;
  const { value, action_ts: pressedAt } = action;
  if (!isChannel(channel.id) || !isTimestamp(ts) || !isUser(user.id)) return undefined;
  if (typeof value !== "string" || typeof pressedAt !== "string" || !/^[\d.]{1,32}$/.test(pressedAt)) return undefined;
  return {
    ...{ channel: channel.id, ts, user: user.id, value, pressedAt },
    ...(isTimestamp(thread) && thread !== ts ? { thread } : {}),
    text: typeof text === "string" ? text : "",
    blocks: Array.isArray(blocks) ? blocks.filter(isObject) : [],
  };
}

/** The people that a message mentions, without the bot. */
export const mentionedUsers = ({ text, shared }: SlackMessage, { user }: BotDetail): string[] => {
  const found = [text, ...shared].flatMap((one) => [...one.matchAll(USER_MENTION)].map(([, id = ""]) => id));
  return [...new Set(found)].filter((id) => id !== user);
};

const isMentioned = ({ text }: Pick<SlackMessage, "text">, { user }: BotDetail): boolean =>
  new RegExp(`<@${user}(?:\\|[^>]*)?>`).test(text);

/** Whether the message is for the bot: private, a mention, or in a thread that the bot began. */
export const isAddressed = (message: SlackMessage, bot: BotDetail): boolean =>
  isDirect(message.channel) || isMentioned(message, bot) || message.threadAuthor === bot.user;

/** The names of people by their ids. */
export type Names = ReadonlyMap<string, Person>;

export function readMessage(message: SlackMessage, bot: BotDetail, username: string, names: Names): IncomingMessage {
  const { channel, ts, user, thread, files, shared } = message;
  const isGroup = !isDirect(channel);
  const addressed = isAddressed(message, bot);
  const { name = user, locale } = names.get(user) ?? {};
  const attachments = files.flatMap(toAttachment);
  return {
    platformMessageId: messageId(channel, ts),
    // A mention in a channel begins a thread, which is a conversation of its own.
    peer: peerId(channel, thread ?? (isGroup && addressed ? ts : undefined)),
    sender: { id: user, name },
    ...(locale === undefined ? {} : { language: locale }),
    text: [
      ...files.map(describeFile),
      ...readableText(message.text, bot, username, names),
      ...shared.map((text) => `[forwarded]\n${toPlainText(text, bot, username, names)}`),
    ].join("\n"),
    ...(shared.length > 0 ? { quotesOthers: true as const } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(thread === undefined ? {} : { repliesTo: messageId(channel, thread) }),
    group: isGroup,
    addressed,
    sentAt: timeOf(ts),
  };
}

export function readPress(press: PressedButton, names: Names): IncomingMessage {
  const { channel, ts, thread, user, value, pressedAt } = press;
  const { name = user, locale } = names.get(user) ?? {};
  return {
    platformMessageId: messageId(channel, ts, pressedAt),
    peer: peerId(channel, thread),
    sender: { id: user, name },
    ...(locale === undefined ? {} : { language: locale }),
    text: value,
    group: !isDirect(channel),
    addressed: true,
    sentAt: timeOf(pressedAt),
  };
}

const USER_MENTION = /<@([UW][A-Z0-9]{6,20})(?:\|[^>]*)?>/g;
/** Slack keeps texts that begin with / for itself, so people write commands with an exclamation mark. */
const COMMAND = /^!(?=[a-z][\w-]{0,63}(?:\s|$))/i;

/** The words without the mention that they begin with; none if nothing is left. */
function readableText(text: string, bot: BotDetail, username: string, names: Names): string[] {
  const own = new RegExp(`^\\s*<@${bot.user}(?:\\|[^>]*)?>[ ,:]*`);
  const words = toPlainText(text.replace(own, ""), bot, username, names).trim().replace(COMMAND, "/");
  const shown = words === "" ? toPlainText(text, bot, username, names).trim() : words;
  return shown === "" ? [] : [shown];
}

/**
 * Replaces Slack's marks for people, channels, groups and links by what they show.
 * https://docs.slack.dev/messaging/formatting-message-text#retrieving-messages
 */
function toPlainText(text: string, bot: BotDetail, username: string, names: Names): string {
  return text
    .replace(USER_MENTION, (_, id: string) => `@${id === bot.user ? username : (names.get(id)?.name ?? "someone")}`)
    .replace(/<#[CG][A-Z0-9]{6,20}(?:\|([^>]*))?>/g, (_, name?: string) => `#${name || "channel"}`)
    .replace(/<!subteam\^[A-Z0-9]+(?:\|([^>]*))?>/g, (_, name?: string) => name || "@group")
    .replace(/<!(here|channel|everyone)(?:\|[^>]*)?>/g, "@$1")
    .replace(/<!date\^[^>|]*\|([^>]*)>/g, "$1")
    .replace(/<((?:https?|mailto|tel):[^>|\s]{1,4096})(?:\|([^>]*))?>/g, (_, url: string, label?: string) =>
      label === undefined || label === "" || url === label || url.replace(/^\w+:/, "") === label
        ? (label ?? url)
        : `${label} (${url})`,
    )
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

function kindOf({ mimetype }: Record<string, unknown>): Attachment["kind"] {
  const [kind] = String(mimetype ?? "").split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}

const isVoice = ({ subtype }: Record<string, unknown>) => subtype === "slack_audio";

function describeFile(file: Record<string, unknown>): string {
  const { name, mode } = file;
  if (mode === "tombstone" || mode === "hidden_by_limit") return bracketNote("deleted file");
  return bracketNote(isVoice(file) ? "voice message" : kindOf(file), typeof name === "string" ? name : undefined);
}

function toAttachment(file: Record<string, unknown>): Attachment[] {
  const { id, name, mimetype, size, mode } = file;
  if (typeof id !== "string" || mode === "tombstone" || mode === "hidden_by_limit") return [];
  return [
    {
      kind: isVoice(file) ? "audio" : kindOf(file),
      ref: id,
      mimeType: typeof mimetype === "string" ? mimetype.slice(0, 200) : "application/octet-stream",
      ...(Number.isSafeInteger(size) ? { size: Number(size) } : {}),
      ...(typeof name === "string" ? { name } : {}),
      ...(isVoice(file) ? { voice: true as const } : {}),
    },
  ];
}
