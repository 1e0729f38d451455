// Reads the content of a Telegram message: text, names of media, files, and the message it replies to or forwards.
import type { Message, MessageOrigin, User } from "grammy/types";
import { bracketNote, oneLine, plainName } from "../../src/kernel/util/text/quoted-text.ts";
import type { Attachment, BotIdentity } from "../port.ts";
import { isObject } from "../shared/is-object.ts";

/** Telegram offers several sizes of a photo; larger ones tell a model nothing more. */
const MAX_PICTURE_BYTES = 5_000_000;
/** Characters quoted from another message. */
const MAX_QUOTE_LENGTH = 300;

export const nameOf = ({ first_name: first, last_name: last }: User) => [first, last].filter(Boolean).join(" ");

/**
 * The message that this one replies to. The message that opened a topic does not count: all in the topic refer to it.
 */
export function repliedMessage({ reply_to_message: replied }: Message): Message | undefined {
  return replied?.forum_topic_created ? undefined : replied;
}

/** The text of a message, after the name of its media in brackets; undefined for a service message. */
export function contentOf(message: Message): string | undefined {
  if (message.text !== undefined) return message.text;
  const note = describe(message);
  if (note === undefined) return undefined;
  const words = message.caption ?? (message.rich_message ? richMessageText(message.rich_message) : undefined);
  return words ? `${note}\n${words}` : note;
}

/**
 * A note that names the media of a message for the agent. Specific kinds come first, because some messages also carry
 * a general one.
 */
function describe(message: Message): string | undefined {
  if (message.animation) return bracketNote("animation");
  if (message.live_photo) return bracketNote("live photo");
  if (message.photo) return bracketNote("photo");
  if (message.video) return bracketNote("video");
  if (message.video_note) return bracketNote("video message");
  if (message.voice) return bracketNote("voice message");
  if (message.audio) return bracketNote("audio", message.audio.title ?? message.audio.file_name);
  if (message.document) return bracketNote("document", message.document.file_name);
  if (message.paid_media) return bracketNote("paid media");
  if (message.sticker) return bracketNote("sticker", message.sticker.emoji);
  if (message.story) return bracketNote("story");
  if (message.contact) return bracketNote("contact", `${message.contact.first_name} ${message.contact.phone_number}`);
  if (message.venue) return bracketNote("place", `${message.venue.title}, ${message.venue.address}`);
  if (message.location) return bracketNote("location", `${message.location.latitude}, ${message.location.longitude}`);
  if (message.poll)
    return bracketNote("poll", [message.poll.question, ...message.poll.options.map((o) => o.text)].join(" / "));
  if (message.checklist) return bracketNote("checklist", message.checklist.title);
  if (message.dice) return bracketNote("dice", `${message.dice.emoji} ${message.dice.value}`);
  if (message.game) return bracketNote("game", message.game.title);
  if (message.rich_message) return bracketNote("formatted message");
  return undefined;
}

/** All strings of a rich message, in order. */
function richMessageText(value: unknown, depth = 0): string {
  if (typeof value === "string") return value;
  if (depth > 16) return "";
  if (Array.isArray(value)) return value.map((item) => richMessageText(item, depth + 1)).join(depth < 2 ? "\n" : "");
  if (!isObject(value)) return "";
  return ["text", "blocks", "items", "cells"].map((key) => richMessageText(value[key], depth + 1)).join("");
}

/** The message's own file, else that of the message it replies to. What the agent has said in a voice message it knows. */
export function attachmentsOf(message: Message, bot: Pick<BotIdentity, "id">): Attachment[] {
  const own = fileOf(message);
  const replied = repliedMessage(message);
  if (own) return [own];
  if (replied?.voice && String(replied.from?.id) === bot.id) return [];
  const quoted = replied && fileOf(replied);
  if (!quoted) return [];
  // A recording there was not spoken for this message.
  const { voice: _, ...file } = quoted;
  return [file];
}

interface FileFields {
  file_id?: string;
  file_size?: number;
  mime_type?: string;
  file_name?: string;
}

/** The file of a message. Specific kinds come first, as in `describe`. */
function fileOf(message: Message): Attachment | undefined {
  const { animation, photo, video, video_note: note, voice, audio, document, sticker } = message;
  if (animation) return file("video", animation, "video/mp4");
  if (photo) {
    const fitting = photo.findLast(({ file_size: size = 0 }) => size <= MAX_PICTURE_BYTES);
    return file("image", fitting ?? photo[0] ?? {}, "image/jpeg");
  }
  if (video) return file("video", video, "video/mp4");
  if (note) return file("video", note, "video/mp4");
  if (voice) return asVoice(file("audio", voice, "audio/ogg"));
  if (audio) return file("audio", audio, "audio/mpeg");
  if (document) return file("document", document, "application/octet-stream");
  if (!sticker || sticker.is_animated || sticker.is_video) return undefined;
  const picture = file("image", sticker, "image/webp");
  return picture && { ...picture, optional: true };
}

const asVoice = (attachment: Attachment | undefined) => attachment && { ...attachment, voice: true as const };

function file(kind: Attachment["kind"], given: FileFields, defaultMimeType: string): Attachment | undefined {
  const { file_id: ref, file_size: size, mime_type: mimeType = defaultMimeType, file_name: name } = given;
  if (typeof ref !== "string") return undefined;
  return { kind, ref, mimeType, ...(size === undefined ? {} : { size }), ...(name === undefined ? {} : { name }) };
}

/** A line that quotes the replied message or names the author of a forwarded one; empty for others and for commands. */
export function contextLineOf(message: Message, bot: BotIdentity, text: string): string {
  const { forward_origin: origin, quote } = message;
  if (origin) return `[forwarded from ${plainName(authorOf(origin))}]\n`;
  if (text.startsWith("/")) return "";
  const replied = repliedMessage(message);
  const words = quote?.text ?? (replied && contentOf(replied));
  if (!words) return "";
  const author = replied?.from ? plainName(nameOf(replied.from)) : "a message";
  const by = String(replied?.from?.id) === bot.id ? "your message" : author;
  return `${bracketNote(`in answer to ${by}`, shorten(words))}\n`;
}

/** Whether words or files of somebody other than the sender and the bot come with it. */
export function quotesOthers(message: Message, bot: BotIdentity): boolean {
  const { forward_origin: origin, quote, from, external_reply: external, via_bot: inlineBot } = message;
  const isOwn = (id: number | undefined) => id !== undefined && (id === from?.id || String(id) === bot.id);
  if (origin) return origin.type !== "user" || origin.sender_user.id !== from?.id;
  // Their names are in the text, and somebody else has written them.
  if (message.contact || message.venue || message.game) return true;
  // The text of an inline query's result is its bot's.
  if (inlineBot && String(inlineBot.id) !== bot.id) return true;
  const replied = repliedMessage(message);
  // A quote without the message that it is from belongs to another chat.
  return replied ? !isOwn(replied.from?.id) : quote !== undefined || external !== undefined;
}

function authorOf(origin: MessageOrigin): string {
  if (origin.type === "user") return nameOf(origin.sender_user);
  if (origin.type === "hidden_user") return origin.sender_user_name;
  const chat = origin.type === "chat" ? origin.sender_chat : origin.chat;
  return ("title" in chat && chat.title) || "";
}

function shorten(text: string): string {
  const line = oneLine(text);
  return line.length > MAX_QUOTE_LENGTH ? `${line.slice(0, MAX_QUOTE_LENGTH).toWellFormed()}…` : line;
}
