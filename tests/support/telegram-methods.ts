// The methods of the Bot API that Berth calls, with Telegram's rules, limits and error messages.
// https://core.telegram.org/bots/api#available-methods

import type { BotState, SentMessage } from "./telegram-bot.ts";
import { FILE_METHODS, fileOf } from "./telegram-files.ts";
import {
  bad,
  flag,
  formatted,
  integer,
  type Params,
  requireKnown,
  strings,
  structure,
  text,
} from "./telegram-params.ts";
import type { Rates } from "./telegram-rates.ts";

export interface Call {
  bot: BotState;
  params: Params;
  signal: AbortSignal;
  rates: Rates;
  drafts: boolean;
}

export interface Outcome {
  result: unknown;
  description?: string;
  /** The message that the call sent, to record whether the response arrived. */
  entry?: SentMessage;
}

interface Method {
  parameters: readonly string[];
  run(call: Call): Outcome | Promise<Outcome>;
}

const done: Outcome = { result: true };

const actions = [
  ...["typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "upload_document"],
  ...["choose_sticker", "find_location", "record_video_note", "upload_video_note"],
];

interface Keyboard {
  inline_keyboard: { text: string; callback_data: string }[][];
}

/** The inline keyboard of a call: rows of buttons with a text and 1 to 64 bytes of data. */
function keyboard(params: Params): Keyboard | undefined {
  const markup = structure(params, "reply_markup") as Partial<Keyboard> | undefined;
  if (markup === undefined) return undefined;
  if (!Array.isArray(markup.inline_keyboard)) throw bad("object expected as reply markup");
  for (const button of markup.inline_keyboard.flat()) {
    if (typeof button.text !== "string" || button.text === "")
      throw bad("text buttons are unallowed in the inline keyboard");
    const bytes = Buffer.byteLength(button.callback_data ?? "");
    if (bytes < 1 || bytes > 64) throw bad("BUTTON_DATA_INVALID");
  }
  return { inline_keyboard: markup.inline_keyboard };
}

const buttonsOf = (markup: Keyboard | undefined) =>
  (markup?.inline_keyboard ?? []).flat().map(({ text, callback_data: data }) => ({ text, data }));

const methods: Record<string, Method> = {
  getMe: {
    parameters: [],
    run: ({ bot }) => ({
      result: {
        ...bot.me,
        can_join_groups: true,
        can_read_all_group_messages: true,
        supports_inline_queries: false,
        can_connect_to_business: false,
        has_main_web_app: false,
        has_topics_enabled: false,
        allows_users_to_create_topics: false,
      },
    }),
  },
  getUpdates: {
    parameters: ["offset", "limit", "timeout", "allowed_updates"],
    async run({ bot, params, signal }) {
      const limit = integer(params, "limit") ?? 100;
      const seconds = Math.min(Math.max(integer(params, "timeout") ?? 0, 0), 50);
      const kinds = strings(params, "allowed_updates");
      const offset = integer(params, "offset") ?? 0;
      const waiting = bot.updates.poll(offset, Math.min(Math.max(limit, 1), 100), seconds * 1000, signal);
      bot.updates.allow(kinds);
      return { result: await waiting };
    },
  },
  setWebhook: {
    parameters: [
      ...["url", "certificate", "ip_address", "max_connections"],
      ...["allowed_updates", "drop_pending_updates", "secret_token"],
    ],
    run({ bot, params }) {
      const url = text(params, "url") ?? "";
      if (flag(params, "drop_pending_updates")) bot.updates.drop();
      if (url === "") {
        bot.updates.hook(undefined);
        return { result: true, description: "Webhook was deleted" };
      }
      requireAddress(url);
      const secret = text(params, "secret_token");
      const maxConnections = integer(params, "max_connections") ?? 40;
      if (maxConnections < 1 || maxConnections > 100) throw bad("max_connections must be between 1 and 100");
      if (secret !== undefined && secret.length > 256) throw bad("secret token is too long");
      if (secret !== undefined && !/^[A-Za-z0-9_-]+$/.test(secret))
        throw bad("secret token contains unallowed characters");
      bot.updates.allow(strings(params, "allowed_updates"));
      bot.updates.hook({ url, maxConnections, ...(secret === undefined ? {} : { secret }) });
      return { result: true, description: "Webhook was set" };
    },
  },
  deleteWebhook: {
    parameters: ["drop_pending_updates"],
    run({ bot, params }) {
      const was = bot.updates.webhook() !== undefined;
      if (flag(params, "drop_pending_updates")) bot.updates.drop();
      bot.updates.hook(undefined);
      return { result: true, description: was ? "Webhook was deleted" : "Webhook is already deleted" };
    },
  },
  getWebhookInfo: {
    parameters: [],
    run({ bot }) {
      const hook = bot.updates.webhook();
      const error = bot.updates.lastError();
      const kinds = bot.updates.allowed();
      const pending = { has_custom_certificate: false, pending_update_count: bot.updates.pending() };
      return {
        result: {
          url: hook?.url ?? "",
          ...pending,
          ...(hook ? { max_connections: hook.maxConnections, ip_address: "127.0.0.1" } : {}),
          ...(kinds.length > 0 ? { allowed_updates: kinds } : {}),
          ...(hook && error ? { last_error_date: error.date, last_error_message: error.message } : {}),
        },
      };
    },
  },
  sendMessage: {
    parameters: [
      ...["business_connection_id", "chat_id", "message_thread_id", "text", "parse_mode", "entities"],
      ...["link_preview_options", "disable_notification", "protect_content", "message_effect_id"],
      ...["reply_parameters", "reply_markup", "allow_paid_broadcast"],
    ],
    run({ bot, params, rates }) {
      const chat = bot.chat(chatId(params));
      const content = formatted(params);
      const place = placeOf(bot, params, chat.id);
      const markup = keyboard(params);
      rates.take(bot.id, chat);
      const fields = { ...place, ...(markup === undefined ? {} : { reply_markup: markup }) };
      const { message, entry } = bot.post(chat, fields, content);
      entry.buttons = buttonsOf(markup);
      return { result: message, entry };
    },
  },
  ...Object.fromEntries(
    Object.entries(FILE_METHODS).map(([name, method]): [string, Method] => [
      name,
      {
        parameters: ["chat_id", "message_thread_id", "caption", "duration", "reply_parameters", method.field],
        async run({ bot, params, rates }) {
          const chat = bot.chat(chatId(params));
          const place = placeOf(bot, params, chat.id);
          const { file, fields } = await fileOf(method, params);
          rates.take(bot.id, chat);
          const { message, entry } = bot.post(chat, { ...place, ...fields }, { text: "", entities: [], file });
          return { result: message, entry };
        },
      },
    ]),
  ),
  answerCallbackQuery: {
    parameters: ["callback_query_id", "text", "show_alert", "url", "cache_time"],
    run({ bot, params }) {
      if (!bot.pressed.delete(text(params, "callback_query_id") ?? "")) {
        throw bad("query is too old and response timeout expired or query ID is invalid");
      }
      return done;
    },
  },
  editMessageReplyMarkup: {
    parameters: ["business_connection_id", "chat_id", "message_id", "inline_message_id", "reply_markup"],
    run({ bot, params }) {
      const chat = bot.chat(chatId(params));
      const own = bot.own(chat.id, integer(params, "message_id") ?? 0);
      if (!own) throw bad("message to edit not found");
      const { reply_markup: before, ...rest } = own.message;
      const markup = keyboard(params);
      if (Bun.deepEquals(before, markup)) throw bad("message is not modified");
      const message = bot.replace({ ...rest, ...(markup === undefined ? {} : { reply_markup: markup }) });
      own.entry.buttons = buttonsOf(markup);
      return { result: message };
    },
  },
  editMessageText: {
    parameters: [
      ...["business_connection_id", "chat_id", "message_id", "inline_message_id", "text", "parse_mode"],
      ...["entities", "link_preview_options", "reply_markup"],
    ],
    run({ bot, params, rates }) {
      const chat = bot.chat(chatId(params));
      const messageId = integer(params, "message_id");
      if (messageId === undefined) throw bad("message identifier is not specified");
      const own = bot.own(chat.id, messageId);
      if (!own) throw bad(bot.message(chat.id, messageId) ? "message can't be edited" : "message to edit not found");
      const { text, entities, parseMode } = formatted(params);
      const markup = structure(params, "reply_markup");
      const { message, entry } = own;
      if (text === message.text && Bun.deepEquals([entities, markup], [message.entities ?? [], message.reply_markup])) {
        const same = "specified new message content and reply markup are exactly the same as a current content";
        throw bad(`message is not modified: ${same} and reply markup of the message`);
      }
      rates.take(bot.id, chat);
      const { entities: _, reply_markup: __, ...rest } = message;
      const edited = {
        ...rest,
        text,
        edit_date: Math.floor(Date.now() / 1000),
        ...(entities.length > 0 ? { entities } : {}),
        ...(markup === undefined ? {} : { reply_markup: markup }),
      };
      entry.edits.push({ text, at: Date.now() });
      Object.assign(entry, { text, entities }, parseMode === undefined ? {} : { parseMode });
      return { result: bot.replace(edited) };
    },
  },
  deleteMessage: {
    parameters: ["chat_id", "message_id"],
    run({ bot, params }) {
      const chat = bot.chat(chatId(params));
      const own = bot.own(chat.id, integer(params, "message_id") ?? 0);
      if (!own) throw bad("message to delete not found");
      own.entry.deleted = true;
      bot.remove(chat.id, own.entry.messageId);
      return done;
    },
  },
  sendMessageDraft: {
    parameters: [
      "chat_id",
      "message_thread_id",
      "draft_id",
      "text",
      "parse_mode",
      "entities",
      "can_stop",
      "keep_on_stop",
    ],
    run({ bot, params, rates, drafts }) {
      const chat = bot.chat(chatId(params));
      if (!drafts || chat.type !== "private") throw bad("TEXTDRAFT_PEER_INVALID");
      const draftId = integer(params, "draft_id");
      if (!draftId) throw bad("DRAFT_ID_INVALID");
      const { text } = formatted(params, true);
      const threadId = integer(params, "message_thread_id");
      rates.takeDraft(bot.id);
      const thread = threadId === undefined ? {} : { threadId };
      bot.drafts.push({ chatId: chat.id, draftId, text, at: Date.now(), ...thread });
      return done;
    },
  },
  sendChatAction: {
    parameters: ["business_connection_id", "chat_id", "message_thread_id", "action"],
    run({ bot, params }) {
      const chat = bot.chat(chatId(params));
      const action = text(params, "action") ?? "";
      if (!actions.includes(action)) throw bad("wrong parameter action in request");
      bot.actions.push({ chatId: chat.id, action, at: Date.now() });
      return done;
    },
  },
  setMyCommands: {
    parameters: ["commands", "scope", "language_code"],
    run({ bot, params }) {
      const list = structure(params, "commands");
      if (!Array.isArray(list) || list.length > 100) throw bad("commands must be a list of at most 100 commands");
      for (const item of list) {
        const { command, description } = Object(item);
        if (typeof command !== "string" || !/^[a-z0-9_]{1,32}$/.test(command)) throw bad("BOT_COMMAND_INVALID");
        const length = typeof description === "string" ? description.length : 0;
        if (length < 1 || length > 256) throw bad("BOT_COMMAND_DESCRIPTION_INVALID");
      }
      bot.commands.set(scopeOf(params), list);
      return done;
    },
  },
  getMyCommands: {
    parameters: ["scope", "language_code"],
    run: ({ bot, params }) => ({ result: bot.commands.get(scopeOf(params)) ?? [] }),
  },
  deleteMyCommands: {
    parameters: ["scope", "language_code"],
    run({ bot, params }) {
      bot.commands.delete(scopeOf(params));
      return done;
    },
  },
  getFile: {
    parameters: ["file_id"],
    run({ bot, params }) {
      const file = bot.files.get(text(params, "file_id") ?? "");
      if (!file) throw bad("invalid file_id");
      if (file.file_size > 20 * 1024 * 1024) throw bad("file is too big");
      const { bytes: _, ...about } = file;
      return { result: about };
    },
  },
};

const byName = new Map(Object.entries(methods).map(([name, method]) => [name.toLowerCase(), { name, ...method }]));

/** Finds a method, ignoring case. Undefined if there is none, which Telegram answers with 404. */
export const methodNamed = (name: string) => byName.get(name.toLowerCase());

/** Runs one call; throws `TelegramRefusal`. */
export async function runMethod(method: Method & { name: string }, call: Call): Promise<Outcome> {
  requireKnown(method.name, call.params, method.parameters);
  return method.run(call);
}

function chatId(params: Params): number {
  const value = params.chat_id;
  if (value === undefined || value === null || value === "") throw bad("chat_id is empty");
  if (typeof value === "string" && value.startsWith("@")) throw bad("chat not found");
  return integer(params, "chat_id") ?? 0;
}

/** The thread of a message, and the message that it answers. */
function placeOf(bot: BotState, params: Params, chatId: number) {
  const threadId = integer(params, "message_thread_id");
  if (threadId !== undefined && !bot.hasThread(chatId, threadId)) throw bad("message thread not found");
  const reply = quotedBy(bot, params, chatId);
  return {
    ...(threadId === undefined ? {} : { message_thread_id: threadId, is_topic_message: true as const }),
    ...(reply === undefined ? {} : { reply_to_message: reply }),
  };
}

function quotedBy(bot: BotState, params: Params, chatId: number) {
  const reply = structure(params, "reply_parameters");
  if (reply === undefined) return undefined;
  const known = ["message_id", "chat_id", "allow_sending_without_reply", "quote", "quote_parse_mode", "quote_position"];
  const fields: Params = Object.fromEntries(Object.entries(reply));
  requireKnown("reply_parameters", fields, known);
  const messageId = integer(fields, "message_id");
  if (messageId === undefined) throw bad("can't parse reply parameters: message_id is required");
  if (flag(fields, "allow_sending_without_reply") && !bot.message(chatId, messageId)) return undefined;
  return bot.quoted(chatId, messageId);
}

/** Telegram requires https; the fake also accepts http on this machine. */
function requireAddress(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const local = parsed?.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(parsed.hostname);
  if (parsed?.protocol !== "https:" && !local) {
    throw bad("bad webhook: An HTTPS URL must be provided for webhook");
  }
  const ports = ["", "443", "80", "88", "8443"];
  if (!local && !ports.includes(parsed?.port ?? "")) {
    throw bad("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443");
  }
}

function scopeOf(params: Params): string {
  return JSON.stringify([structure(params, "scope") ?? { type: "default" }, text(params, "language_code") ?? ""]);
}
