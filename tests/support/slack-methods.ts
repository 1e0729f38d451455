// The methods of the Slack fake's Web API. It refuses unknown arguments, wrong types, and blocks that Slack would refuse.
// https://docs.slack.dev/reference/methods
import { type AppState, type Message, shownFile, shownMessage, slackId } from "./slack-app.ts";
import { requireBlocks } from "./slack-blocks.ts";
import { SlackRefusal } from "./slack-refusal.ts";
import type { Route } from "./slack-types.ts";

type Kind = "text" | "number" | "boolean" | "object" | "list";
/** With `!` the argument is required. */
type Arguments = Readonly<Record<string, Kind | `${Kind}!`>>;
type Args = Readonly<Record<string, unknown>>;

interface Method {
  token: "bot" | "app";
  scope?: string;
  args: Arguments;
  run(app: AppState, args: Args, origin: string): Record<string, unknown>;
}

const MAX_TEXT_LENGTH = 4_000;
const TIMESTAMP = /^\d{10}\.\d{6}$/;

const invalid = (message: string) =>
  new SlackRefusal("invalid_arguments", { response_metadata: { messages: [`[ERROR] ${message}`] } });

function requireChannel(app: AppState, id: unknown) {
  const channel = app.channels.get(String(id));
  if (!channel) throw new SlackRefusal("channel_not_found");
  return channel;
}

function requireOpen(app: AppState, id: unknown) {
  const channel = requireChannel(app, id);
  if (channel.isClosed) throw new SlackRefusal(channel.kind === "im" ? "channel_not_found" : "is_archived");
  return channel;
}

function requireThread(app: AppState, channel: string, ts: unknown): string | undefined {
  if (ts === undefined) return undefined;
  if (!TIMESTAMP.test(String(ts))) throw invalid("thread_ts is no timestamp");
  const root = app.messages.get(`${channel}:${ts}`);
  if (!root) throw new SlackRefusal("thread_not_found");
  // "Never use a reply's ts value; use its parent instead."
  if (root.thread !== undefined) throw new SlackRefusal("cannot_reply_to_message");
  return String(ts);
}

function requireText(args: Args): string {
  const text = String(args.text ?? "");
  if (text === "" && args.blocks === undefined) throw new SlackRefusal("no_text");
  if (text.length > MAX_TEXT_LENGTH) throw new SlackRefusal("msg_too_long");
  return text;
}

function requireMetadata(given: unknown): Record<string, unknown> | undefined {
  if (given === undefined) return undefined;
  const { event_type: type, event_payload: payload, ...rest } = given as Record<string, unknown>;
  const isValid = typeof type === "string" && typeof payload === "object" && Object.keys(rest).length === 0;
  if (!isValid) throw new SlackRefusal("invalid_metadata_format");
  return given as Record<string, unknown>;
}

/** A page of messages; history is the newest first, a thread the oldest first with its root. */
function page(app: AppState, messages: Message[], args: Args): Record<string, unknown> {
  const limit = Number(args.limit ?? 100);
  if (limit < 1 || limit > 999) throw new SlackRefusal("invalid_limit");
  const from = Number(args.cursor ?? 0);
  const shown = messages.slice(from, from + limit).map((message) => ({
    ...shownMessage(app, message),
    ...(args.include_all_metadata === true && message.metadata ? { metadata: message.metadata } : {}),
  }));
  const hasMore = from + limit < messages.length;
  return {
    messages: shown,
    has_more: hasMore,
    ...(hasMore ? { response_metadata: { next_cursor: String(from + limit) } } : {}),
  };
}

const PAGE: Arguments = {
  ...{ channel: "text!", oldest: "text", latest: "text", inclusive: "boolean" },
  ...{ limit: "number", cursor: "text", include_all_metadata: "boolean" },
};

export const METHODS: Readonly<Partial<Record<Route, Method>>> = {
  "auth.test": {
    token: "bot",
    args: {},
    run: ({ team, botUser, botId, username }) => ({
      ...{ url: "https://fake.slack.com/", team: "Fake", team_id: team },
      ...{ user: username, user_id: botUser, bot_id: botId, is_enterprise_install: false },
    }),
  },
  "bots.info": {
    token: "bot",
    scope: "users:read",
    args: { bot: "text!", team_id: "text" },
    run({ id, botId, botUser, username }, { bot }) {
      if (bot !== botId) throw new SlackRefusal("bot_not_found");
      return { bot: { id: botId, app_id: id, user_id: botUser, name: username, deleted: false } };
    },
  },
  "users.info": {
    token: "bot",
    scope: "users:read",
    args: { user: "text!", include_locale: "boolean" },
    run({ people }, { user, include_locale: withLocale }) {
      const { name = `Person ${user}`, locale = "en-US" } = people.get(String(user)) ?? {};
      const profile = { display_name: name, real_name: name };
      return {
        user: { id: user, name: String(user).toLowerCase(), profile, ...(withLocale === true ? { locale } : {}) },
      };
    },
  },
  "apps.connections.open": {
    token: "app",
    scope: "connections:write",
    args: {},
    run: ({ id }, _, origin) => ({ url: `${origin.replace("http", "ws")}/link/?ticket=${id}-${crypto.randomUUID()}` }),
  },
  "chat.postMessage": {
    token: "bot",
    scope: "chat:write",
    args: {
      ...{ channel: "text!", text: "text", blocks: "list", thread_ts: "text", metadata: "object" },
      ...{ unfurl_links: "boolean", unfurl_media: "boolean", reply_broadcast: "boolean", mrkdwn: "boolean" },
    },
    run(app, args) {
      const { id: channel } = requireOpen(app, args.channel);
      const text = requireText(args);
      const blocks = requireBlocks(args.blocks);
      const metadata = requireMetadata(args.metadata);
      const thread = requireThread(app, channel, args.thread_ts);
      const message = app.post({ channel, user: app.botUser, text, blocks, metadata, thread });
      return { channel, ts: message.ts, message: shownMessage(app, message) };
    },
  },
  "chat.update": {
    token: "bot",
    scope: "chat:write",
    args: { channel: "text!", ts: "text!", text: "text", blocks: "list", metadata: "object" },
    run(app, args) {
      const { id: channel } = requireOpen(app, args.channel);
      const message = app.messages.get(`${channel}:${args.ts}`);
      if (!message) throw new SlackRefusal("message_not_found");
      if (message.user !== app.botUser) throw new SlackRefusal("cant_update_message");
      const text = requireText(args);
      if (text !== message.text) message.edits.push(message.text);
      message.text = text;
      if (args.blocks !== undefined) message.blocks = requireBlocks(args.blocks);
      if (args.metadata !== undefined) message.metadata = requireMetadata(args.metadata);
      return { channel, ts: message.ts, text };
    },
  },
  "conversations.history": {
    token: "bot",
    scope: "im:history",
    args: PAGE,
    run(app, args) {
      const { id: channel } = requireChannel(app, args.channel);
      const oldest = Number(args.oldest ?? 0);
      const found = [...app.messages.values()].filter(
        (one) => one.channel === channel && one.thread === undefined && Number(one.ts) > oldest,
      );
      return page(app, found.reverse(), args);
    },
  },
  "conversations.replies": {
    token: "bot",
    scope: "im:history",
    args: { ...PAGE, ts: "text!" },
    run(app, args) {
      const { id: channel } = requireChannel(app, args.channel);
      const root = app.messages.get(`${channel}:${args.ts}`);
      if (!root) throw new SlackRefusal("thread_not_found");
      const oldest = Number(args.oldest ?? 0);
      const replies = [...app.messages.values()].filter(
        (one) => one.channel === channel && one.thread === args.ts && Number(one.ts) > oldest,
      );
      return page(app, [root, ...replies], args);
    },
  },
  "assistant.threads.setStatus": {
    token: "bot",
    scope: "chat:write",
    args: { channel_id: "text!", thread_ts: "text!", status: "text!", loading_messages: "list" },
    run(app, args) {
      const { id: channel } = requireOpen(app, args.channel_id);
      if (!app.messages.has(`${channel}:${args.thread_ts}`)) throw new SlackRefusal("invalid_thread_ts");
      app.statuses.push({ channel, thread: String(args.thread_ts), status: String(args.status) });
      return {};
    },
  },
  "files.info": {
    token: "bot",
    scope: "files:read",
    args: { file: "text!" },
    run(app, { file: id }, origin) {
      const file = app.files.get(String(id));
      if (!file?.isShared) throw new SlackRefusal("file_not_found");
      return { file: { ...shownFile(file), url_private_download: `${origin}/files/${file.id}/${file.name}` } };
    },
  },
  "files.getUploadURLExternal": {
    token: "bot",
    scope: "files:write",
    args: { filename: "text!", length: "number!", alt_txt: "text", snippet_type: "text" },
    run(app, { filename, length }, origin) {
      if (Number(length) < 1) throw invalid("length");
      const id = slackId("F");
      const bytes = new Uint8Array(Number(length));
      app.files.set(id, { id, name: String(filename), type: "", bytes, isVoice: false, isShared: false });
      return { upload_url: `${origin}/upload/${app.id}/${id}`, file_id: id };
    },
  },
  "files.completeUploadExternal": {
    token: "bot",
    scope: "files:write",
    args: {
      files: "list!",
      channel_id: "text",
      channels: "text",
      thread_ts: "text",
      initial_comment: "text",
      blocks: "list",
    },
    run(app, args) {
      const { id: channel } = requireOpen(app, args.channel_id ?? args.channels);
      const thread = requireThread(app, channel, args.thread_ts);
      const files = (args.files as { id: string; title?: string }[]).map(({ id }) => {
        const file = app.files.get(id);
        if (!file || file.isShared || file.type === "") throw new SlackRefusal("file_not_found");
        file.isShared = true;
        return file;
      });
      app.post({ channel, user: app.botUser, text: String(args.initial_comment ?? ""), thread, files });
      return { files: files.map(({ id, name }) => ({ id, title: name })) };
    },
  },
};

/** Runs a method with the arguments of a form. */
export function runMethod(route: Route, app: AppState, args: Args, origin: string): Response {
  const method = METHODS[route];
  if (!method) throw new SlackRefusal("unknown_method");
  const { scope, args: known } = method;
  if (scope !== undefined && method.token === "bot" && !app.scopes.includes(scope)) {
    throw new SlackRefusal("missing_scope", { needed: scope, provided: app.scopes.join(",") });
  }
  for (const [name, value] of Object.entries(args)) {
    const kind = known[name]?.replace("!", "");
    if (kind === undefined) throw invalid(`unknown argument ${name}`);
    if (!isOfKind(value, kind as Kind)) throw invalid(`${name} is no ${kind}`);
  }
  for (const [name, kind] of Object.entries(known)) {
    if (kind.endsWith("!") && args[name] === undefined) throw invalid(`missing required field: ${name}`);
  }
  return Response.json({ ok: true, ...method.run(app, args, origin) });
}

function isOfKind(value: unknown, kind: Kind): boolean {
  if (kind === "list") return Array.isArray(value);
  if (kind === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return kind === "text" ? typeof value === "string" : typeof value === kind;
}

/** The values of a form; those that are no text by the method's arguments are JSON. */
export function readArgs(route: Route, form: URLSearchParams): Record<string, unknown> {
  const known = METHODS[route]?.args ?? {};
  const read = (name: string, text: string): unknown => {
    const kind = known[name]?.replace("!", "");
    if (kind === undefined || kind === "text") return text;
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  };
  return Object.fromEntries([...form].map(([name, text]) => [name, read(name, text)]));
}
