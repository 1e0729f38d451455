// The REST calls of the Discord fake (version 10). Each rejects a body that Discord would reject or partly ignore.
// https://discord.com/developers/docs/resources/message

import type { BotState, Draft, Interaction } from "./discord-bot.ts";
import { componentsOf } from "./discord-components.ts";
import { DiscordRefusal, invalid, unknown } from "./discord-refusal.ts";
import type { Route } from "./discord-types.ts";
import { type SentFile, sniffed } from "./sent-file.ts";

export interface Call {
  route: Route;
  bot: BotState;
  /** The variable parts of the path. */
  ids: string[];
  body: Record<string, unknown>;
  /** The files of a form, by their number in its field. */
  files: ReadonlyMap<number, SentFile>;
  query: URLSearchParams;
  acknowledgeMs: number;
  gatewayUrl: string;
  identifiesLeft: number;
  mayReadContent: boolean;
}

const ID = "(\\d{15,20})";
const TOKEN = "([\\w-]{20,500})";
/** Method and path of each call, below `/api/v10`. */
export const ROUTES: readonly (readonly [Route, string, RegExp])[] = (
  [
    ["me", "GET", "/users/@me"],
    ["application", "GET", "/applications/@me"],
    ["gateway", "GET", "/gateway/bot"],
    ["openDm", "POST", "/users/@me/channels"],
    ["getMessage", "GET", `/channels/${ID}/messages/${ID}`],
    ["listMessages", "GET", `/channels/${ID}/messages`],
    ["createMessage", "POST", `/channels/${ID}/messages`],
    ["editMessage", "PATCH", `/channels/${ID}/messages/${ID}`],
    ["deleteMessage", "DELETE", `/channels/${ID}/messages/${ID}`],
    ["typing", "POST", `/channels/${ID}/typing`],
    ["putCommands", "PUT", `/applications/${ID}/commands`],
    ["roles", "GET", `/guilds/${ID}/roles`],
    ["acknowledge", "POST", `/interactions/${ID}/${TOKEN}/callback`],
    ["getOriginal", "GET", `/webhooks/${ID}/${TOKEN}/messages/@original`],
    ["editOriginal", "PATCH", `/webhooks/${ID}/${TOKEN}/messages/@original`],
    ["deleteOriginal", "DELETE", `/webhooks/${ID}/${TOKEN}/messages/@original`],
    ["followUp", "POST", `/webhooks/${ID}/${TOKEN}`],
  ] as const
).map(([route, method, path]) => [route, method, new RegExp(`^${path}$`)] as const);

/** Routes that authenticate by the token in their address. */
export const BY_TOKEN: readonly Route[] = ["acknowledge", "getOriginal", "editOriginal", "deleteOriginal", "followUp"];

const SUPPRESS_EMBEDS = 1 << 2;
const SUPPRESS_NOTIFICATIONS = 1 << 12;
const LOADING = 1 << 7;
const MESSAGE_CONTENT_LIMITED = 1 << 19;
const LONGEST = 2000;
const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** How long an interaction's token is valid. */
const TOKEN_MS = 15 * 60_000;

function only(body: Record<string, unknown>, ...known: string[]): void {
  const other = Object.keys(body).find((field) => !known.includes(field));
  if (other !== undefined) throw invalid(other, "UNKNOWN_FIELD", "The fake knows no such field.");
}

function contentOf({ content }: Record<string, unknown>, hasFiles = false): string {
  if (typeof content !== "string") throw invalid("content", "BASE_TYPE_STRING", "Must be a string.");
  if (content.trim() === "" && !hasFiles) throw new DiscordRefusal(400, 50006, "Cannot send an empty message");
  if (content.length > LONGEST) throw invalid("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.");
  return content;
}

function flagsOf({ flags = 0 }: Record<string, unknown>, allowed: number): number {
  if (typeof flags !== "number" || (flags & ~allowed) !== 0) throw invalid("flags", "FLAGS_INVALID", "Invalid flags.");
  return flags;
}

function checkMentions({ allowed_mentions: allowed }: Record<string, unknown>): void {
  if (allowed === undefined) return;
  if (typeof allowed !== "object" || allowed === null)
    throw invalid("allowed_mentions", "DICT_TYPE_CONVERT", "No object.");
  const { parse = [], replied_user: replied = false, ...other } = allowed as Record<string, unknown>;
  only(other, "users", "roles");
  const kinds: unknown[] = ["users", "roles", "everyone"];
  if (!Array.isArray(parse) || !parse.every((kind) => kinds.includes(kind)))
    throw invalid("allowed_mentions", "BASE_TYPE_CHOICES", "Not a kind of mention.");
  if (typeof replied !== "boolean") throw invalid("allowed_mentions", "BASE_TYPE_BOOLEAN", "Must be a boolean.");
}

const IS_VOICE_MESSAGE = 1 << 13;

/** https://discord.com/developers/docs/resources/message#voice-messages */
function checkVoice(described: Record<string, unknown>, files: Call["files"], content: unknown): void {
  const { duration_secs: seconds, waveform } = described;
  if (content !== undefined && content !== "")
    throw new DiscordRefusal(400, 50159, "Voice messages do not support additional content.");
  const points = typeof waveform === "string" ? Buffer.from(waveform, "base64").length : 0;
  if (typeof seconds !== "number" || seconds <= 0 || points === 0 || points > 256)
    throw new DiscordRefusal(400, 50162, "Voice messages must have supporting metadata.");
  for (const { bytes } of files.values())
    if (sniffed(bytes) !== "audio/ogg")
      throw new DiscordRefusal(400, 50160, "Voice messages must have an audio attachment.");
}

/** Each file has one entry in `attachments`, with its name: https://discord.com/developers/docs/reference#uploading-files */
function filesOf({ body, files }: Pick<Call, "body" | "files">): SentFile[] {
  const { attachments = [], flags } = body;
  const isVoice = (Number(flags ?? 0) & IS_VOICE_MESSAGE) !== 0;
  if (isVoice && files.size !== 1)
    throw new DiscordRefusal(400, 50161, "Voice messages must have a single audio attachment.");
  if (!Array.isArray(attachments)) throw invalid("attachments", "LIST_TYPE_CONVERT", "Only iterables may be used.");
  const described = attachments.map((one: Record<string, unknown>) => {
    only(one, "id", "filename", "description", ...(isVoice ? ["duration_secs", "waveform"] : []));
    const { id, filename, description } = one;
    if (isVoice) checkVoice(one, files, body.content);
    const file = files.get(Number(id));
    if (!file || file.name !== filename)
      throw invalid("attachments", "ATTACHMENT_NOT_FOUND", `No file ${id} of this name.`);
    if (description !== undefined && (typeof description !== "string" || description.length > 1024))
      throw invalid("attachments", "BASE_TYPE_MAX_LENGTH", "Must be 1024 or fewer in length.");
    return isVoice ? { ...file, as: "voice" } : file;
  });
  if (described.length !== files.size)
    throw invalid("attachments", "ATTACHMENT_NOT_FOUND", "Each file needs an entry.");
  for (const { bytes } of described) {
    if (bytes.length > MAX_FILE_BYTES) throw new DiscordRefusal(413, 40005, "Request entity too large");
    if (bytes.length === 0) throw new DiscordRefusal(400, 50006, "Cannot send an empty message");
  }
  return described;
}

function draftOf({ bot, body: given, files: sent }: Pick<Call, "bot" | "body" | "files">, channelId: string): Draft {
  const { attachments: _, ...body } = given;
  const files = filesOf({ body: given, files: sent });
  only(
    body,
    "content",
    "nonce",
    "enforce_nonce",
    "message_reference",
    "allowed_mentions",
    "flags",
    "tts",
    "components",
  );
  checkMentions(body);
  const { nonce, enforce_nonce: enforceNonce = false, message_reference: reference } = body;
  if (nonce !== undefined && typeof nonce !== "number" && (typeof nonce !== "string" || nonce.length > 25))
    throw invalid("nonce", "NONCE_TYPE_TOO_LONG", "Must be 25 or fewer in length.");
  if (typeof enforceNonce !== "boolean") throw invalid("enforce_nonce", "BASE_TYPE_BOOLEAN", "Must be a boolean.");
  const draft: Draft = {
    content: contentOf(body, files.length > 0),
    files,
    enforceNonce,
    flags: flagsOf(body, SUPPRESS_EMBEDS | SUPPRESS_NOTIFICATIONS | IS_VOICE_MESSAGE),
    components: componentsOf(body) ?? [],
    ...(nonce === undefined ? {} : { nonce }),
  };
  if (reference === undefined) return draft;
  const { message_id: messageId, fail_if_not_exists: fails = true } = reference as Record<string, unknown>;
  if (typeof messageId !== "string" || !/^\d{15,20}$/.test(messageId))
    throw invalid("message_reference", "NUMBER_TYPE_COERCE", "Is not a snowflake.");
  if (bot.messages.get(messageId)?.channel_id === channelId) return { ...draft, replyTo: messageId };
  if (fails) throw invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message");
  return draft;
}

function interactionOf({ bot, ids }: Call): Interaction {
  const [, token = ""] = ids;
  const found = [...bot.interactions.values()].find((one) => one.token === token);
  if (!found || performance.now() - found.at > TOKEN_MS) throw new DiscordRefusal(401, 50027, "Invalid Webhook Token");
  if (!found.acknowledged) throw unknown(10015, "Webhook");
  return found;
}

function originalOf(call: Call) {
  const { bot } = call;
  const interaction = interactionOf(call);
  const message = bot.messages.get(interaction.original ?? "");
  if (!message) throw unknown(10008, "Message");
  return message;
}

function acknowledge({ bot, ids, body, acknowledgeMs }: Call): Response {
  only(body, "type", "data");
  const [id = "", token] = ids;
  const interaction = bot.interactions.get(id);
  const late = interaction && !interaction.acknowledged && performance.now() - interaction.at > acknowledgeMs;
  if (!interaction || interaction.token !== token || late) throw unknown(10062, "interaction");
  if (interaction.acknowledged) throw new DiscordRefusal(400, 40060, "Interaction has already been acknowledged.");
  // A deferred update of the button's message, or a deferred answer.
  if (body.type !== (interaction.isPress ? 6 : 5))
    throw invalid("type", "BASE_TYPE_CHOICES", "The fake knows deferred updates and answers alone.");
  interaction.acknowledged = true;
  if (interaction.isPress) return new Response(null, { status: 204 });
  const channel = bot.channelNamed(interaction.channelId);
  const draft = { content: "", enforceNonce: false, flags: LOADING, interaction: id, thinking: true };
  interaction.original = bot.writes(channel, draft).id;
  return new Response(null, { status: 204 });
}

function rewrite(call: Call, message: ReturnType<typeof originalOf>): Response {
  const { bot, body } = call;
  only(body, "content", "allowed_mentions", "flags", "components", "attachments");
  const files = filesOf(call);
  checkMentions(body);
  if (message.author.id !== bot.id)
    throw new DiscordRefusal(403, 50005, "Cannot edit a message authored by another user");
  const components = componentsOf(body);
  const changes = {
    ...(body.content === undefined && components ? {} : { content: contentOf(body, files.length > 0) }),
    ...(files.length > 0 && { files }),
    flags: body.flags === undefined ? message.flags & ~LOADING : flagsOf(body, SUPPRESS_EMBEDS),
    ...(components && { components }),
  };
  return Response.json(bot.rewrites(message, changes));
}

function putCommands({ bot, ids, body }: Call): Response {
  if (ids[0] !== bot.applicationId) throw unknown(10002, "Application");
  const commands = Object.values(body) as Record<string, unknown>[];
  if (commands.length > 100) throw invalid("_", "BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.");
  for (const { name, description, options = [], ...other } of commands) {
    only(other, "type", "contexts", "integration_types");
    for (const one of [{ name, description }, ...(options as Record<string, unknown>[])]) {
      if (
        typeof one.name !== "string" ||
        !/^[-_\p{L}\p{N}]{1,32}$/u.test(one.name) ||
        one.name !== one.name.toLowerCase()
      )
        throw invalid("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid");
      if (typeof one.description !== "string" || one.description.length < 1 || one.description.length > 100)
        throw invalid("description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.");
    }
  }
  if (new Set(commands.map(({ name }) => name)).size < commands.length)
    throw invalid("name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique");
  bot.state.commands = commands.map(({ name, description }) => ({
    name: String(name),
    description: String(description),
  }));
  return Response.json(commands);
}

/** Runs a call; throws `DiscordRefusal`. */
export function runCall(call: Call): Response {
  const { route, bot, ids, body } = call;
  const [first = "", second = ""] = ids;
  switch (route) {
    case "me":
      return Response.json(bot.me);
    case "application": {
      const flags = call.mayReadContent ? MESSAGE_CONTENT_LIMITED : 0;
      return Response.json({ id: bot.applicationId, name: bot.username, bot: bot.me, flags });
    }
    case "gateway": {
      const session_start_limit = {
        total: 1000,
        remaining: call.identifiesLeft,
        reset_after: 3_600_000,
        max_concurrency: 1,
      };
      return Response.json({ url: call.gatewayUrl, shards: 1, session_start_limit });
    }
    case "openDm":
      only(body, "recipient_id");
      return Response.json({ id: bot.dm(String(body.recipient_id)), type: 1 });
    case "getMessage":
      bot.reachable(first);
      return Response.json(bot.messageIn(first, second));
    case "listMessages": {
      const limit = Number(call.query.get("limit") ?? 50);
      if (!Number.isInteger(limit) || limit < 1 || limit > 100)
        throw invalid("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.");
      return Response.json(bot.list(bot.reachable(first), BigInt(call.query.get("after") ?? 0), limit));
    }
    case "createMessage":
      return Response.json(bot.writes(bot.reachable(first), draftOf(call, first)));
    case "editMessage":
      bot.reachable(first);
      return rewrite(call, bot.messageIn(first, second));
    case "deleteMessage":
      bot.removes(bot.messageIn(first, second).id);
      return new Response(null, { status: 204 });
    case "typing":
      bot.typing.push({ channelId: bot.reachable(first).id, at: Date.now() });
      return new Response(null, { status: 204 });
    case "putCommands":
      return putCommands(call);
    case "roles":
      return Response.json([
        { id: first, name: "@everyone" },
        { id: bot.roleId, name: bot.username, managed: true, tags: { bot_id: bot.id } },
      ]);
    case "acknowledge":
      return acknowledge(call);
    case "getOriginal":
      return Response.json(originalOf(call));
    case "editOriginal":
      return rewrite(call, originalOf(call));
    case "deleteOriginal":
      bot.removes(originalOf(call).id);
      return new Response(null, { status: 204 });
    case "followUp": {
      const interaction = interactionOf(call);
      const { nonce, enforce_nonce, ...rest } = body;
      if (nonce !== undefined || enforce_nonce !== undefined)
        throw invalid("nonce", "UNKNOWN_FIELD", "Not for webhooks.");
      const draft = { ...draftOf({ ...call, body: rest }, interaction.channelId), interaction: interaction.id };
      return Response.json(bot.writes(bot.channelNamed(interaction.channelId), draft));
    }
    case "file":
      throw unknown(0, "route");
  }
}
