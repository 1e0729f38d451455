// The state of one bot in the Telegram fake: its chats and messages, the actions of users, and the bot's own calls.

import type { SentFile } from "./sent-file.ts";
import type { Entity } from "./telegram-markup.ts";
import { bad, TelegramRefusal } from "./telegram-params.ts";
import { createUpdates, type UpdatesOptions } from "./telegram-updates.ts";

export interface User {
  id: number;
  is_bot: boolean;
  first_name: string;
  username?: string;
  language_code?: string;
}

export interface Chat {
  id: number;
  type: "private" | "group" | "supergroup";
  title?: string;
  first_name?: string;
  username?: string;
  is_forum?: true;
}

export interface Message {
  message_id: number;
  from: User;
  chat: Chat;
  /** Seconds. */
  date: number;
  text?: string;
  entities?: Entity[];
  message_thread_id?: number;
  is_topic_message?: true;
  edit_date?: number;
  reply_to_message?: Omit<Message, "reply_to_message">;
  reply_markup?: object;
  document?: object;
  photo?: object[];
  voice?: object;
  audio?: object;
  video_note?: object;
  sticker?: object;
  caption?: string;
}

/** A message of the bot in its current form. Times are epoch ms. */
export interface SentMessage {
  messageId: number;
  chatId: number;
  /** Without markup; empty for a file. */
  text: string;
  file?: SentFile;
  entities: Entity[];
  parseMode?: string;
  threadId?: number;
  replyTo?: number;
  at: number;
  /** Whether the response to the call was written to an open connection. */
  delivered: boolean;
  edits: { text: string; at: number }[];
  /** The buttons that it shows now. */
  buttons: { text: string; data: string }[];
  deleted: boolean;
}

export interface Draft {
  chatId: number;
  draftId: number;
  text: string;
  at: number;
  threadId?: number;
}

/** Options of a user's message. Default: a private message of the user whose id is the chat's. */
export interface Says {
  from?: Partial<User> & { id: number };
  /** Required for a negative chat id; `true` is a supergroup. */
  group?: boolean | { title?: string; type?: "group" | "supergroup"; forum?: boolean };
  threadId?: number;
  /** Id of the message that this one replies to. */
  replyTo?: number;
  /** Seconds. Default: now. */
  date?: number;
  /** The kind of a file's message. Default: a document. */
  as?: "photo" | "voice" | "audio" | "video_note" | "sticker";
}

/** A file that a user sent. */
export interface StoredFile {
  file_id: string;
  file_unique_id: string;
  file_size: number;
  file_path: string;
  bytes: Uint8Array;
}

export type BotState = ReturnType<typeof createBot>;

export function createBot(token: string, username: string, options: UpdatesOptions) {
  const id = Number(token.split(":")[0]);
  const me: User = { id, is_bot: true, first_name: username, username };
  const updates = createUpdates(100_000_000 + (id % 1_000) * 1_000_000, options);
  const chats = new Map<number, Chat>();
  const messages = new Map<string, Message>();
  const blocked = new Set<number>();
  /** Groups that became supergroups, by their old id. */
  const upgraded = new Map<number, number>();
  const sent: SentMessage[] = [];
  const sentById = new Map<string, SentMessage>();
  let nextMessageId = 1;

  const key = (chatId: number, messageId: number) => `${chatId}/${messageId}`;

  function chatFor(chatId: number, from: User, group: Says["group"]): Chat {
    if (chatId < 0 !== Boolean(group)) throw new Error("Groups have negative ids, private chats positive ones.");
    const known = chats.get(chatId);
    if (known) return known;
    const { title = "A group", type = "supergroup", forum = false } = typeof group === "object" ? group : {};
    const chat: Chat = group
      ? { id: chatId, type, title, ...(forum ? { is_forum: true } : {}) }
      : {
          id: chatId,
          type: "private",
          first_name: from.first_name,
          ...(from.username ? { username: from.username } : {}),
        };
    chats.set(chatId, chat);
    return chat;
  }

  function add(message: Message): Message {
    messages.set(key(message.chat.id, message.message_id), message);
    return message;
  }

  /** Adds a user's message with these fields; its update is undefined if the bot does not take messages. */
  function incoming(chatId: number, fields: Partial<Message>, says: Says) {
    const from: User = { is_bot: false, first_name: "Ada", ...says.from, id: says.from?.id ?? Math.abs(chatId) };
    blocked.delete(chatId);
    const message = add({
      message_id: nextMessageId++,
      from,
      chat: chatFor(chatId, from, says.group ?? chatId < 0),
      date: says.date ?? Math.floor(Date.now() / 1000),
      ...(says.threadId === undefined ? {} : { message_thread_id: says.threadId, is_topic_message: true }),
      ...(says.replyTo === undefined ? {} : { reply_to_message: quoted(chatId, says.replyTo) }),
      ...fields,
    });
    return { updateId: updates.create("message", message)?.update_id, messageId: message.message_id };
  }

  function quoted(chatId: number, messageId: number) {
    const message = messages.get(key(chatId, messageId));
    if (!message) throw bad("message to be replied not found");
    const { reply_to_message: _, ...rest } = message;
    return rest;
  }

  return {
    token,
    id,
    username,
    me,
    updates,
    sent,
    drafts: [] as Draft[],
    actions: [] as { chatId: number; action: string; at: number }[],
    commands: new Map<string, object[]>(),
    /** Pressed buttons that are not answered yet. */
    pressed: new Set<string>(),
    files: new Map<string, StoredFile>(),

    says(chatId: number, text: string, says: Says = {}) {
      if (text === "" || text.length > 4096) throw new Error("Users send 1 to 4096 characters in one message.");
      const entities = entitiesOf(text);
      return incoming(chatId, { text, ...(entities.length > 0 ? { entities } : {}) }, says);
    },
    /** Presses a button of one of the bot's messages; a person can press one whose message has lost it meanwhile. */
    presses(
      chatId: number,
      messageId: number,
      data: string,
      from?: Partial<User> & { id: number },
    ): number | undefined {
      const message = messages.get(key(chatId, messageId));
      if (!message || !sentById.has(key(chatId, messageId))) throw new Error("The bot has sent no such message.");
      const query = { id: crypto.randomUUID(), chat_instance: String(chatId), message, data };
      this.pressed.add(query.id);
      const user = { is_bot: false, first_name: "Ada", ...from, id: from?.id ?? Math.abs(chatId) };
      return updates.create("callback_query", { ...query, from: user })?.update_id;
    },
    edits(chatId: number, messageId: number, text: string): number | undefined {
      const message = messages.get(key(chatId, messageId));
      if (!message || message.from.is_bot) throw new Error("Users edit their own messages.");
      const edited = add({ ...message, text, edit_date: Math.floor(Date.now() / 1000) });
      return updates.create("edited_message", edited)?.update_id;
    },
    deletes(chatId: number, messageId: number): void {
      if (!messages.delete(key(chatId, messageId))) throw new Error("Unknown message.");
      const own = sentById.get(key(chatId, messageId));
      if (own) own.deleted = true;
    },
    sendsFile(chatId: number, name: string, bytes: Uint8Array, caption: string | undefined, says: Says = {}) {
      const unique = Bun.hash(`${name}${this.files.size}`).toString(36);
      const about = { file_id: `file-${unique}`, file_unique_id: unique, file_size: bytes.length };
      this.files.set(about.file_id, { ...about, file_path: `documents/${name}`, bytes });
      const fields = fileFields(about, name, says.as);
      return incoming(chatId, { ...fields, ...(caption === undefined ? {} : { caption }) }, says);
    },
    /** The chat that a call names; throws if it is unknown to the bot, or the bot was blocked, or the group was upgraded. */
    chat(chatId: number): Chat {
      const chat = chats.get(chatId);
      if (!chat) throw bad("chat not found");
      const migrate_to_chat_id = upgraded.get(chatId);
      if (migrate_to_chat_id !== undefined) {
        const why = "Bad Request: group chat was upgraded to a supergroup chat";
        throw new TelegramRefusal(400, why, { migrate_to_chat_id });
      }
      if (!blocked.has(chatId)) return chat;
      const why = chat.type === "private" ? "bot was blocked by the user" : `bot was kicked from the ${chat.type} chat`;
      throw new TelegramRefusal(403, `Forbidden: ${why}`);
    },
    upgrade(chatId: number, to: number): void {
      const chat = chats.get(chatId);
      if (chat?.type !== "group") throw new Error("Only a group becomes a supergroup.");
      chats.set(to, { ...chat, id: to, type: "supergroup" });
      upgraded.set(chatId, to);
    },
    block(chatId: number): void {
      blocked.add(chatId);
    },
    hasThread(chatId: number, threadId: number): boolean {
      for (const { chat, message_thread_id: thread } of messages.values()) {
        if (chat.id === chatId && thread === threadId) return true;
      }
      return false;
    },
    message: (chatId: number, messageId: number) => messages.get(key(chatId, messageId)),
    quoted,
    /** Adds a message of the bot; returns it and its record. */
    post(chat: Chat, fields: Partial<Message>, record: Pick<SentMessage, "text" | "entities" | "parseMode" | "file">) {
      const now = Date.now();
      const message = add({
        message_id: nextMessageId++,
        from: me,
        chat,
        date: Math.floor(now / 1000),
        ...fields,
        ...(record.file ? {} : { text: record.text }),
        ...(record.entities.length > 0 ? { entities: record.entities } : {}),
      });
      const { message_thread_id: threadId, reply_to_message: reply } = message;
      const entry: SentMessage = {
        messageId: message.message_id,
        chatId: chat.id,
        ...record,
        ...(threadId === undefined ? {} : { threadId }),
        ...(reply === undefined ? {} : { replyTo: reply.message_id }),
        at: now,
        delivered: false,
        edits: [],
        buttons: [],
        deleted: false,
      };
      sent.push(entry);
      sentById.set(key(chat.id, entry.messageId), entry);
      return { message, entry };
    },
    /** The bot's own message with this id; undefined for messages of others, which it can't change. */
    own(chatId: number, messageId: number): { message: Message; entry: SentMessage } | undefined {
      const message = messages.get(key(chatId, messageId));
      const entry = sentById.get(key(chatId, messageId));
      return message && entry && !entry.deleted ? { message, entry } : undefined;
    },
    replace: add,
    remove(chatId: number, messageId: number): void {
      messages.delete(key(chatId, messageId));
    },
  };
}

const types: Record<string, string> = {
  pdf: "application/pdf",
  txt: "text/plain",
  png: "image/png",
  ogg: "audio/ogg",
  mp3: "audio/mpeg",
};

/** The field of a message that holds a file of this kind. */
function fileFields(
  about: { file_id: string; file_unique_id: string; file_size: number },
  name: string,
  as: Says["as"],
) {
  const mime_type = types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  const picture = { ...about, width: 1280, height: 960 };
  const sound = { ...about, duration: 3, mime_type };
  if (as === "photo") {
    const small = { ...picture, file_id: `${about.file_id}-s`, file_size: 900, width: 90, height: 67 };
    return { photo: [small, picture] };
  }
  if (as === "voice") return { voice: sound };
  if (as === "audio") return { audio: { ...sound, file_name: name } };
  if (as === "video_note") return { video_note: { ...about, duration: 3, length: 240 } };
  if (as === "sticker") {
    return { sticker: { ...picture, type: "regular", is_animated: false, is_video: false, emoji: "👍" } };
  }
  return { document: { ...about, file_name: name, mime_type } };
}

/** The entities for commands and mentions that Telegram adds to messages of users. */
function entitiesOf(text: string): Entity[] {
  const found: Entity[] = [];
  for (const match of text.matchAll(/(?<![\w/@])(?:(\/[A-Za-z0-9_]{1,64}(?:@\w{3,32})?)|(@\w{3,32}))/g)) {
    found.push({ type: match[1] ? "bot_command" : "mention", offset: match.index, length: match[0].length });
  }
  return found;
}
