// What the gateway says, in the port's words. Total: any event either is a message for the agent or is none.
import type { APIAttachment, APIMessage } from "discord.js";
import type { Attachment, BotIdentity, IncomingMessage } from "../../port.ts";
import { interactionMessageId, isSnowflake, timestampOf } from "../ids.ts";
import { attachmentRef } from "../rest/file-download.ts";

/** A message as the gateway brings it. */
export type GatewayMessage = APIMessage & { guild_id?: string; member?: { nick?: string | null } };

/** A slash command, as far as it is read. */
export interface SlashCommand {
  id: string;
  application_id: string;
  token: string;
  channel_id: string;
  guild_id?: string;
  user?: User;
  member?: { user: User; nick?: string | null };
  data: { name: string; options?: { name: string; value?: unknown }[] };
}

interface User {
  id: string;
  username: string;
  global_name?: string | null;
}

/** An ordinary message and an answer to one; all other kinds are the platform's own words. */
const USER_MESSAGE_TYPES = [0, 19];
const APPLICATION_COMMAND = 2;
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isList = (value: unknown) => value === undefined || Array.isArray(value);
const isUser = (value: unknown): value is User =>
  isObject(value) && isSnowflake(value.id) && typeof value.username === "string";

/** Whether something that came from outside has the fields a message is known by. */
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

export function isCommand(value: unknown): value is SlashCommand {
  if (!isObject(value) || value.type !== APPLICATION_COMMAND || !isObject(value.data)) return false;
  const ids = [value.id, value.application_id, value.channel_id];
  const author = isObject(value.member) ? value.member.user : value.user;
  return (
    ids.every(isSnowflake) &&
    typeof value.token === "string" &&
    /^[\w-]{20,1024}$/.test(value.token) &&
    typeof value.data.name === "string" &&
    isList(value.data.options) &&
    isUser(author)
  );
}

/** Whether somebody named a role in a place where the bot was not named otherwise: the role may be its own. */
export const mayMentionByRole = (message: GatewayMessage, bot: BotIdentity) =>
  message.guild_id !== undefined && (message.mention_roles ?? []).length > 0 && !mentionsBot(message, bot);

function mentionsBot(message: GatewayMessage, bot: BotIdentity): boolean {
  return (message.mentions ?? []).some(({ id }) => id === bot.id) || message.referenced_message?.author.id === bot.id;
}

/** The message, or undefined: what bots say (this one too), what the platform says, and what may not be read. */
export function readMessage(message: GatewayMessage, bot: BotIdentity, botRole?: string): IncomingMessage | undefined {
  const { author, channel_id: peer, guild_id: guild } = message;
  if (author.bot || message.webhook_id !== undefined || !USER_MESSAGE_TYPES.includes(message.type ?? 0))
    return undefined;
  const text = textOf(message, bot, botRole);
  if (text === "") return undefined;
  const attachments = (message.attachments ?? []).map((file) => attachmentOf(message, file));
  const byRole = botRole !== undefined && (message.mention_roles ?? []).includes(botRole);
  return {
    platformMessageId: message.id,
    peer,
    sender: { id: author.id, name: message.member?.nick ?? author.global_name ?? author.username },
    text,
    ...(attachments.length > 0 ? { attachments } : {}),
    group: guild !== undefined,
    addressed: guild === undefined || byRole || mentionsBot(message, bot),
    sentAt: timestampOf(message.id),
  };
}

/** `/ask` asks; every other command is the word for it. */
export function readCommand(command: SlashCommand): IncomingMessage | undefined {
  const author = command.member?.user ?? command.user;
  if (!author) return undefined;
  const { name, options = [] } = command.data;
  const given = options.find((option) => option.name === "question")?.value;
  return {
    platformMessageId: interactionMessageId(command.id),
    peer: command.channel_id,
    sender: { id: author.id, name: command.member?.nick ?? author.global_name ?? author.username },
    text: name === "ask" && typeof given === "string" && given.trim() !== "" ? given : `/${name}`,
    group: command.guild_id !== undefined,
    addressed: true,
    sentAt: timestampOf(command.id),
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
  const said = toReadableText(message.content.replace(own, "")) || toReadableText(message.content);
  const forwarded = message.message_snapshots?.map(
    (snapshot) => `[forwarded]\n${toReadableText(snapshot.message.content)}`,
  );
  return [...describeAttachments(message), ...(said === "" ? [] : [said]), ...(forwarded ?? [])].join("\n");
}

/** Names what is no text, so that the agent knows something was sent. */
function describeAttachments(message: GatewayMessage): string[] {
  const files = (message.attachments ?? []).map((file) => `[${kindOf(file)}: ${file.filename}]`);
  const stickers = (message.sticker_items ?? []).map(({ name }) => `[sticker: ${name}]`);
  const { poll } = message;
  const words = poll ? [poll.question.text, ...poll.answers.map((answer) => answer.poll_media.text)] : [];
  return [...files, ...stickers, ...(poll ? [`[poll: ${words.filter(Boolean).join(" / ")}]`] : [])];
}

function kindOf({ content_type: type = "" }: APIAttachment): Attachment["kind"] {
  const [kind] = type.split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}

function attachmentOf(message: GatewayMessage, file: APIAttachment): Attachment {
  return {
    kind: kindOf(file),
    ref: attachmentRef(message, file),
    mimeType: file.content_type?.split(";", 1)[0] ?? "application/octet-stream",
    ...(Number.isSafeInteger(file.size) ? { size: file.size } : {}),
    name: file.filename,
  };
}
