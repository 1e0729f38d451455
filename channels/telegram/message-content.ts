// What a message carries: its words, the names of what is no text, its files, and what it answers or passes on.
import type { Message, MessageOrigin, User } from "grammy/types";
import type { Attachment, BotIdentity } from "../port.ts";

/** Pictures come in several sizes; one larger than this tells a model no more. */
const MAX_PICTURE_BYTES = 5_000_000;
/** Characters of a message that is answered. */
const MAX_QUOTE_LENGTH = 300;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

export const nameOf = ({ first_name: first, last_name: last }: User) => [first, last].filter(Boolean).join(" ");

/** The message that this one answers. In a topic every message "answers" the one that opened the topic, which counts as none. */
export function repliedMessage({ reply_to_message: answered }: Message): Message | undefined {
  return answered?.forum_topic_created ? undefined : answered;
}

/** The words of a message, with what is no text named in brackets before them; undefined for a service message. */
export function contentOf(message: Message): string | undefined {
  if (message.text !== undefined) return message.text;
  const mark = describe(message);
  if (mark === undefined) return undefined;
  const words = message.caption ?? (message.rich_message ? richMessageText(message.rich_message) : undefined);
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
function richMessageText(value: unknown, depth = 0): string {
  if (typeof value === "string") return value;
  if (depth > 16 || !isObject(value)) return "";
  if (Array.isArray(value)) return value.map((item) => richMessageText(item, depth + 1)).join(depth < 2 ? "\n" : "");
  return ["text", "blocks", "items", "cells"].map((key) => richMessageText(value[key], depth + 1)).join("");
}

/** Its own files, else those of the message it answers. */
export function attachmentsOf(message: Message): Attachment[] {
  const own = fileOf(message);
  const answered = repliedMessage(message);
  const file = own ?? (answered && fileOf(answered));
  return file ? [file] : [];
}

interface FileFields {
  file_id?: string;
  file_size?: number;
  mime_type?: string;
  file_name?: string;
}

/** Specific kinds first, as in `describe`. */
function fileOf(message: Message): Attachment | undefined {
  const { animation, photo, video, video_note: note, voice, audio, document, sticker } = message;
  if (animation) return file("video", animation, "video/mp4");
  if (photo) {
    const fitting = photo.findLast(({ file_size: size = 0 }) => size <= MAX_PICTURE_BYTES);
    return file("image", fitting ?? photo[0] ?? {}, "image/jpeg");
  }
  if (video) return file("video", video, "video/mp4");
  if (note) return file("video", note, "video/mp4");
  if (voice) return file("audio", voice, "audio/ogg");
  if (audio) return file("audio", audio, "audio/mpeg");
  if (document) return file("document", document, "application/octet-stream");
  if (!sticker || sticker.is_animated || sticker.is_video) return undefined;
  const picture = file("image", sticker, "image/webp");
  return picture && { ...picture, optional: true };
}

function file(kind: Attachment["kind"], given: FileFields, defaultMimeType: string): Attachment | undefined {
  const { file_id: ref, file_size: size, mime_type: mimeType = defaultMimeType, file_name: name } = given;
  if (typeof ref !== "string") return undefined;
  return { kind, ref, mimeType, ...(size === undefined ? {} : { size }), ...(name === undefined ? {} : { name }) };
}

/** A line that says what a message answers, or whose words it passes on; empty for one that does neither, and for a command. */
export function contextLineOf(message: Message, bot: BotIdentity, text: string): string {
  const { forward_origin: origin, quote } = message;
  if (origin) return `[forwarded from ${oneLine(authorOf(origin))}]\n`;
  if (text.startsWith("/")) return "";
  const answered = repliedMessage(message);
  const words = quote?.text ?? (answered && contentOf(answered));
  if (!words) return "";
  const by =
    String(answered?.from?.id) === bot.id ? "your message" : oneLine(answered?.from ? nameOf(answered.from) : "");
  return `[in answer to ${by || "a message"}: ${oneLine(words)}]\n`;
}

function authorOf(origin: MessageOrigin): string {
  if (origin.type === "user") return nameOf(origin.sender_user);
  if (origin.type === "hidden_user") return origin.sender_user_name;
  const chat = origin.type === "chat" ? origin.sender_chat : origin.chat;
  return ("title" in chat && chat.title) || "somebody";
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_QUOTE_LENGTH ? `${line.slice(0, MAX_QUOTE_LENGTH).toWellFormed()}…` : line;
}
