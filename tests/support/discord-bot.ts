// The state of one bot in the Discord fake: its channels and messages, the actions of users, and the bot's own calls.

import { type ActionRow, shownButtons } from "./discord-components.ts";
import { DiscordRefusal, unknown } from "./discord-refusal.ts";
import type { FileObject, Message, Says, SentMessage, User } from "./discord-types.ts";
import type { SentFile } from "./sent-file.ts";

export interface Channel {
  id: string;
  guildId: string | undefined;
  userId: string | undefined;
  closed: boolean;
}

export interface Interaction {
  id: string;
  token: string;
  channelId: string;
  at: number;
  acknowledged: boolean;
  /** Whether it is the press of a button; else a slash command. */
  isPress: boolean;
  /** Id of the message that answers the command, or that has the button. */
  original: string | undefined;
}

export interface StoredFile {
  bytes: Uint8Array;
  name: string;
  type: string | undefined;
  signature: string;
}

/** A validated message of the bot. */
export interface Draft {
  content: string;
  nonce?: string | number;
  enforceNonce: boolean;
  replyTo?: string;
  flags: number;
  components?: ActionRow[];
  interaction?: string;
  thinking?: boolean;
  files?: readonly SentFile[];
}

/** The flag of a message that was recorded in the client. */
const VOICE_MESSAGE = 1 << 13;

export type BotState = ReturnType<typeof createBot>;

interface BotSettings {
  token: string;
  id: string;
  username: string;
  origin(): string;
  dispatch(t: string, d: object, kind: "guild" | "dm" | "any", about: string, scrubbed?: object): void;
}

/** Types of interactions. */
const APPLICATION_COMMAND = 2;
const MESSAGE_COMPONENT = 3;
const EPOCH = 1_420_070_400_000n;
let count = 0n;

/** Ids that contain their creation time: https://discord.com/developers/docs/reference#snowflakes */
export const snowflake = () => String(((BigInt(Date.now()) - EPOCH) << 22n) | (count++ & 0x3fffffn));

export function createBot({ token, id, username, origin, dispatch }: BotSettings) {
  const applicationId = id;
  const roleId = snowflake();
  const me: User = { id, username, global_name: null, discriminator: "0", avatar: null, bot: true };
  const channels = new Map<string, Channel>();
  const messages = new Map<string, Message>();
  const sent = new Map<string, SentMessage>();
  const byNonce = new Map<string, string>();
  const interactions = new Map<string, Interaction>();
  const files = new Map<string, StoredFile>();
  const typing: { channelId: string; at: number }[] = [];
  const state = { commands: [] as { name: string; description: string }[] };

  const user = (from: string, name = "Ada"): User => ({
    id: from,
    username: name.toLowerCase(),
    global_name: name,
    discriminator: "0",
    avatar: null,
  });

  function channelNamed(channelId: string): Channel {
    const channel = channels.get(channelId);
    if (!channel) throw unknown(10003, "Channel");
    return channel;
  }

  /** The channel that a call of the bot names; throws if it is closed to the bot. */
  function reachable(channelId: string): Channel {
    const channel = channelNamed(channelId);
    if (!channel.closed) return channel;
    if (channel.userId) throw new DiscordRefusal(403, 50007, "Cannot send messages to this user");
    throw new DiscordRefusal(403, 50001, "Missing Access");
  }

  function messageIn(channelId: string, messageId: string): Message {
    const message = messages.get(messageId);
    if (message?.channel_id !== channelId) throw unknown(10008, "Message");
    return message;
  }

  const fileUrl = (fileId: string, name: string, signature: string) =>
    `${origin()}/attachments/${fileId}/${encodeURIComponent(name)}?ex=ffffffff&is=0&hm=${signature}`;

  function attach(given: Says["files"] = []): FileObject[] {
    return given.map(({ name, type, bytes }) => {
      const fileId = snowflake();
      files.set(fileId, { bytes, name, type, signature: "first" });
      const url = fileUrl(fileId, name, "first");
      const typed = type === undefined ? {} : { content_type: type };
      return { id: fileId, filename: name, ...typed, size: bytes.length, url, proxy_url: url };
    });
  }

  /** The message as a bot without the message content intent gets it. */
  function scrubbed(message: Message): Message {
    const mine = message.author.id === id || message.mentions.some((mentioned) => mentioned.id === id);
    return message.guild_id === undefined || mine ? message : { ...message, content: "", attachments: [] };
  }

  function announce(t: string, message: Message): void {
    const kind = message.guild_id === undefined ? "dm" : "guild";
    dispatch(t, message, kind, message.id, scrubbed(message));
  }

  function make(channel: Channel, author: User, content: string, more: Partial<Message>): Message {
    const message: Message = {
      id: snowflake(),
      channel_id: channel.id,
      ...(channel.guildId === undefined ? {} : { guild_id: channel.guildId }),
      author,
      content,
      timestamp: new Date().toISOString(),
      edited_timestamp: null,
      tts: false,
      mention_everyone: false,
      mentions: [],
      mention_roles: [],
      attachments: [],
      embeds: [],
      components: [],
      pinned: false,
      type: 0,
      flags: 0,
      ...more,
    };
    messages.set(message.id, message);
    return message;
  }

  function referring(channelId: string, replyTo: string | undefined): Partial<Message> {
    const answered = replyTo === undefined ? undefined : messages.get(replyTo);
    if (replyTo === undefined) return {};
    const message_reference = { message_id: replyTo, channel_id: channelId };
    return { type: 19, message_reference, referenced_message: answered ?? null };
  }

  /** A person does something with the bot that Discord reports as an interaction. */
  function interact(
    channelId: string,
    from: string | undefined,
    given: { original?: string; type: number; fields: object },
  ) {
    const channel = channelNamed(channelId);
    const author = user(from ?? channel.userId ?? "700000000000000001");
    const interaction: Interaction = {
      id: snowflake(),
      token: `aW50ZXJhY3Rpb246${crypto.randomUUID().replaceAll("-", "").repeat(4)}`,
      channelId,
      at: performance.now(),
      acknowledged: false,
      isPress: given.type === MESSAGE_COMPONENT,
      original: given.original,
    };
    interactions.set(interaction.id, interaction);
    const d = {
      id: interaction.id,
      application_id: applicationId,
      type: given.type,
      token: interaction.token,
      version: 1,
      channel_id: channelId,
      channel: { id: channelId, type: channel.guildId === undefined ? 1 : 0 },
      ...(channel.guildId === undefined
        ? { user: author, context: 1 }
        : { guild_id: channel.guildId, member: { user: author, roles: [] }, context: 0 }),
      ...given.fields,
    };
    dispatch("INTERACTION_CREATE", d, "any", interaction.id);
    return interaction.id;
  }

  return {
    id,
    applicationId,
    roleId,
    me,
    token,
    username,
    channels,
    messages,
    sent,
    interactions,
    files,
    typing,
    state,
    channelNamed,
    reachable,
    messageIn,

    dm(userId = "700000000000000001") {
      const known = [...channels.values()].find((channel) => channel.userId === userId);
      if (known) return known.id;
      const channel = { id: snowflake(), guildId: undefined, userId, closed: false };
      channels.set(channel.id, channel);
      return channel.id;
    },
    channel(guildId = "900000000000000001") {
      const channel = { id: snowflake(), guildId, userId: undefined, closed: false };
      channels.set(channel.id, channel);
      return channel.id;
    },

    says(channelId: string, text: string, says: Says = {}) {
      const channel = channelNamed(channelId);
      const from = says.from ?? channel.userId ?? "700000000000000001";
      const author = { ...user(from, says.name), ...(says.isBot ? { bot: true as const } : {}) };
      const answered = says.replyTo === undefined ? undefined : messages.get(says.replyTo);
      const mentions = Object.entries(says.naming ?? {}).map(([userId, name]) => user(userId, name));
      if (says.mention || answered?.author.id === id) mentions.unshift(me);
      const named = `${says.mention ? `<@${id}> ` : ""}${says.mentionRole ? `<@&${roleId}> ` : ""}${text}`;
      const message = make(channel, author, named, {
        mentions,
        mention_roles: says.mentionRole ? [roleId] : [],
        attachments: attach(says.files),
        flags: says.isVoice ? VOICE_MESSAGE : 0,
        ...referring(channelId, says.replyTo),
      });
      announce("MESSAGE_CREATE", message);
      return message.id;
    },
    edits(messageId: string, text: string) {
      const message = messages.get(messageId);
      if (!message) throw new Error("Unknown message.");
      message.content = text;
      message.edited_timestamp = new Date().toISOString();
      announce("MESSAGE_UPDATE", message);
    },
    removes(messageId: string) {
      const message = messages.get(messageId);
      messages.delete(messageId);
      sent.delete(messageId);
      if (!message) return;
      const { id, channel_id, guild_id } = message;
      dispatch("MESSAGE_DELETE", { id, channel_id, guild_id }, guild_id === undefined ? "dm" : "guild", id);
    },
    repeats(messageId: string) {
      const message = messages.get(messageId);
      if (message) announce("MESSAGE_CREATE", message);
    },
    userCommands(channelId: string, name: string, options: Record<string, string> = {}, from?: string) {
      const given = Object.entries(options).map(([name, value]) => ({ name, type: 3, value }));
      const data = { id: snowflake(), name, type: 1, ...(given.length > 0 ? { options: given } : {}) };
      return interact(channelId, from, { type: APPLICATION_COMMAND, fields: { data } });
    },
    userPresses(messageId: string, customId: string, from?: string) {
      const message = messages.get(messageId);
      const buttons = message && sent.has(messageId) ? shownButtons(message.components) : [];
      if (!message || !buttons.some((button) => button.customId === customId))
        throw new Error("No message of the bot shows this button.");
      const { guild_id, ...shown } = message;
      const data = { custom_id: customId, component_type: 2, id: 2 };
      const given = { original: messageId, type: MESSAGE_COMPONENT, fields: { message: shown, data } };
      return interact(message.channel_id, from, given);
    },

    /** Messages after a given one, newest first; responses of the REST API have no guild id. */
    list(channel: Channel, after: bigint, limit: number) {
      return [...messages.values()]
        .filter((message) => message.channel_id === channel.id && BigInt(message.id) > after)
        .slice(0, limit)
        .reverse()
        .map(({ guild_id, ...message }) => message);
    },
    /** Adds a message of the bot; returns the earlier message if the nonce was used before. */
    writes(channel: Channel, draft: Draft): Message {
      const key = draft.nonce === undefined ? undefined : `${channel.id} ${draft.nonce}`;
      const before = key !== undefined && draft.enforceNonce ? messages.get(byNonce.get(key) ?? "") : undefined;
      if (before) return before;
      const message = make(channel, me, draft.content, {
        flags: draft.flags,
        components: draft.components ?? [],
        ...(draft.nonce === undefined ? {} : { nonce: draft.nonce }),
        ...referring(channel.id, draft.replyTo),
      });
      if (key !== undefined) byNonce.set(key, message.id);
      sent.set(message.id, {
        id: message.id,
        channelId: channel.id,
        text: draft.content,
        ...(draft.replyTo === undefined ? {} : { replyTo: draft.replyTo }),
        flags: draft.flags,
        at: Date.now(),
        edits: [],
        buttons: shownButtons(message.components),
        files: [...(draft.files ?? [])],
        ...(draft.interaction === undefined ? {} : { interaction: draft.interaction }),
        thinking: draft.thinking ?? false,
      });
      announce("MESSAGE_CREATE", message);
      return message;
    },
    /** Changes the given fields of a message and leaves the others. */
    rewrites(message: Message, changes: Pick<Partial<Draft>, "content" | "flags" | "components" | "files">): Message {
      const { content = message.content, flags = message.flags, components = message.components, files } = changes;
      Object.assign(message, { content, flags, components });
      message.edited_timestamp = new Date().toISOString();
      const shown = sent.get(message.id);
      if (shown && files) shown.files = [...files];
      if (shown) Object.assign(shown, { text: content, flags, thinking: false, buttons: shownButtons(components) });
      if (changes.content !== undefined) shown?.edits.push({ text: content, at: Date.now() });
      announce("MESSAGE_UPDATE", message);
      return message;
    },
    filesExpire() {
      for (const file of files.values()) file.signature = "second";
      for (const message of messages.values()) {
        for (const attached of message.attachments) {
          attached.url = fileUrl(attached.id, attached.filename, "second");
          attached.proxy_url = attached.url;
        }
      }
    },
  };
}
