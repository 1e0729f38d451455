// Converts the gateway's events into the port's messages. Events that are not for the agent become undefined.
import type { APIAttachment, APIMessage } from "discord.js";
import { bracketNote } from "../../../src/kernel/util/text/quoted-text.ts";
import type { Attachment, BotIdentity, IncomingMessage } from "../../port.ts";
import { isObject } from "../../shared/is-object.ts";
import { buttonMessageId, interactionMessageId, isSnowflake, timestampOf } from "../ids.ts";
import { attachmentRef } from "../rest/file-download.ts";

/** A message as the gateway sends it. */
export type GatewayMessage = APIMessage & { guild_id?: string; member?: { nick?: string | null } };

/** The fields that Berth reads of anything that a person does with the bot beside writing. */
export interface Interaction {
  id: string;
  application_id: string;
  token: string;
  channel_id: string;
  guild_id?: string;
  user?: User;
  member?: { user: User; nick?: string | null };
  /** Of the person's app, such as `de` or `pt-BR`. */
  locale?: string;
}

export interface SlashCommand extends Interaction {
  data: { name: string; options?: { name: string; value?: unknown }[] };
}

export interface PressedButton extends Interaction {
  /** The message that has the button. */
  message: { id: string };
  data: { custom_id: string };
}

interface User {
  id: string;
  username: string;
  global_name?: string | null;
}

/** Ordinary messages and replies; all other types are made by Discord. */
const USER_MESSAGE_TYPES = [0, 19];
/** https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-object-interaction-type */
const APPLICATION_COMMAND = 2;
const MESSAGE_COMPONENT = 3;
const BUTTON = 2;
/** The flag of a message that was recorded in the client (discord.com/developers/docs/resources/message#message-object-message-flags). */
const VOICE_MESSAGE = 1 << 13;
const isList = (value: unknown) => value === undefined || Array.isArray(value);
const isUser = (value: unknown): value is User =>
  isObject(value) && isSnowflake(value.id) && typeof value.username === "string";

/** Whether a value from outside has the fields that `readMessage` relies on. */
export function isMessage(value: unknown): value is GatewayMessage {
  return (
    isObject(value) &&
    isSnowflake(value.id) &&
    isSnowflake(value.channel_id) &&
    isUser(value.author) &&
    typeof value.content === "string" &&
    isList(value.mentions) &&
    isList(value.mention_roles) &&
    isList(value.attachments)
  );
}

function isInteraction(value: Record<string, unknown>): boolean {
  const ids = [value.id, value.application_id, value.channel_id];
  const author = isObject(value.member) ? value.member.user : value.user;
  return (
    ids.every(isSnowflake) && typeof value.token === "string" && /^[\w-]{20,1024}$/.test(value.token) && isUser(author)
  );
}

export function isCommand(value: unknown): value is SlashCommand {
  if (!isObject(value) || value.type !== APPLICATION_COMMAND || !isObject(value.data)) return false;
  return typeof value.data.name === "string" && isList(value.data.options) && isInteraction(value);
}

export function isPressedButton(value: unknown): value is PressedButton {
  if (!isObject(value) || value.type !== MESSAGE_COMPONENT || !isObject(value.data)) return false;
  const { component_type: type, custom_id: text } = value.data;
  const hasMessage = isObject(value.message) && isSnowflake(value.message.id);
  return type === BUTTON && typeof text === "string" && hasMessage && isInteraction(value);
}

/** Whether a message mentions a role, which may be the bot's, and does not mention the bot otherwise. */
export const mayMentionByRole = (message: GatewayMessage, bot: BotIdentity) =>
  message.guild_id !== undefined && (message.mention_roles ?? []).length > 0 && !mentionsBot(message, bot);

function mentionsBot(message: GatewayMessage, bot: BotIdentity): boolean {
  return (message.mentions ?? []).some(({ id }) => id === bot.id) || message.referenced_message?.author.id === bot.id;
}

/** The message; undefined for messages of bots and of Discord itself, and for those whose content may not be read. */
export function readMessage(message: GatewayMessage, bot: BotIdentity, botRole?: string): IncomingMessage | undefined {
  const { author, channel_id: peer, guild_id: guild } = message;
  if (author.bot || message.webhook_id !== undefined || !USER_MESSAGE_TYPES.includes(message.type ?? 0))
    return undefined;
  const text = textOf(message, bot, botRole);
  if (text === "") return undefined;
  const attachments = attachmentsOf(message, bot);
  const byRole = botRole !== undefined && (message.mention_roles ?? []).includes(botRole);
  return {
    platformMessageId: message.id,
    peer,
    sender: { id: author.id, name: message.member?.nick ?? author.global_name ?? author.username },
    text,
    ...((message.message_snapshots ?? []).length > 0 ? { quotesOthers: true } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
    group: guild !== undefined,
    addressed: guild === undefined || byRole || mentionsBot(message, bot),
    sentAt: timestampOf(message.id),
  };
}

/** The question of `/ask`; every other command becomes its name as text. */
export function readCommand(command: SlashCommand): IncomingMessage | undefined {
  const { name, options = [] } = command.data;
  const question = options.find((option) => option.name === "question")?.value;
  const text = name === "ask" && typeof question === "string" && question.trim() !== "" ? question : `/${name}`;
  return toMessage(command, interactionMessageId(command.id), text);
}

/** The answer that a button stands for, as a message of the person who pressed it. */
export const readPressedButton = (pressed: PressedButton): IncomingMessage | undefined =>
  toMessage(pressed, buttonMessageId(pressed.id), pressed.data.custom_id);

function toMessage(interaction: Interaction, platformMessageId: string, text: string): IncomingMessage | undefined {
  const { id, channel_id: peer, guild_id: guild, member, user, locale } = interaction;
  const author = member?.user ?? user;
  if (!author) return undefined;
  return {
    platformMessageId,
    peer,
    sender: { id: author.id, name: member?.nick ?? author.global_name ?? author.username },
    // Only interactions name it.
    ...(typeof locale === "string" && { language: locale.slice(0, 35) }),
    text,
    group: guild !== undefined,
    addressed: true,
    sentAt: timestampOf(id),
  };
}

function textOf(message: GatewayMessage, bot: BotIdentity, botRole: string | undefined): string {
  const own = new RegExp(`^\\s*<@(?:!?${bot.id}${botRole === undefined ? "" : `|&${botRole}`})>[ ,:]*`);
  const known = new Map((message.mentions ?? []).map((user) => [user.id, user.global_name ?? user.username]));
  const toReadableText = (text: string) =>
    text
      .replace(
        /<@!?(\d{15,20})>/g,
        (_, id: string) => `@${id === bot.id ? bot.username : (known.get(id) ?? "someone")}`,
      )
      .replace(/<@&\d{15,20}>/g, "@role")
      .replace(/<a?(:\w{2,32}:)\d{15,20}>/g, "$1")
      .trim();
  const words = toReadableText(message.content.replace(own, "")) || toReadableText(message.content);
  const forwarded = message.message_snapshots?.map(
    (snapshot) => `[forwarded]\n${toReadableText(snapshot.message.content)}`,
  );
  return [...describeAttachments(message, bot), ...(words === "" ? [] : [words]), ...(forwarded ?? [])].join("\n");
}

/** The message's own files, else those of the message that it replies to. */
function attachmentsOf(message: GatewayMessage, bot: BotIdentity): Attachment[] {
  const { attachments = [] } = message;
  if (attachments.length > 0) return attachments.map((file) => attachmentOf(message, file));
  const replied = repliedMessage(message, bot);
  if (!replied) return [];
  const { id, channel_id } = replied;
  // Without its flags: a recording there was not spoken for this message.
  return (replied.attachments ?? []).map((file) => attachmentOf({ id, channel_id }, file));
}

/** The message that this one replies to, if it has files and this one has none. */
function repliedMessage(message: GatewayMessage, bot: BotIdentity): APIMessage | undefined {
  const { attachments = [], referenced_message: replied } = message;
  const isReadable =
    isObject(replied) && isSnowflake(replied.id) && isSnowflake(replied.channel_id) && isList(replied.attachments);
  if (attachments.length > 0 || !isReadable) return undefined;
  // What the agent has said in a voice message it knows.
  return isUser(replied.author) && replied.author.id === bot.id && isVoice(replied) ? undefined : replied;
}

const isVoice = ({ flags = 0 }: { flags?: number }) => (flags & VOICE_MESSAGE) !== 0;

/** Names files, stickers and polls, so that the agent knows of them. */
function describeAttachments(message: GatewayMessage, bot: BotIdentity): string[] {
  const files = (message.attachments ?? []).map((file) => bracketNote(kindOf(file), file.filename));
  const replied = (repliedMessage(message, bot)?.attachments ?? []).map((file) =>
    bracketNote(`in answer to a message with ${kindOf(file)}`, file.filename),
  );
  const stickers = (message.sticker_items ?? []).map(({ name }) => bracketNote("sticker", name));
  const { poll } = message;
  const words = poll ? [poll.question.text, ...poll.answers.map((answer) => answer.poll_media.text)] : [];
  return [...files, ...replied, ...stickers, ...(poll ? [bracketNote("poll", words.filter(Boolean).join(" / "))] : [])];
}

function kindOf({ content_type: type = "" }: APIAttachment): Attachment["kind"] {
  const [kind] = type.split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}

function attachmentOf(message: Pick<APIMessage, "id" | "channel_id" | "flags">, file: APIAttachment): Attachment {
  return {
    kind: kindOf(file),
    ref: attachmentRef(message, file),
    mimeType: file.content_type?.split(";", 1)[0] ?? "application/octet-stream",
    ...(Number.isSafeInteger(file.size) ? { size: file.size } : {}),
    name: file.filename,
    ...(isVoice(message) ? { voice: true } : {}),
  };
}
