// One app of the Slack fake: its conversations, messages and files, and what its people do.
import type { SocketMode } from "./slack-socket.ts";
import type { Button, FakeApp, Says, Sent } from "./slack-types.ts";

export interface StoredFile {
  id: string;
  name: string;
  type: string;
  bytes: Uint8Array;
  isVoice: boolean;
  /** By a person, or completed by the bot. */
  isShared: boolean;
}

export interface Message {
  channel: string;
  ts: string;
  user: string;
  text: string;
  thread: string | undefined;
  blocks: readonly Record<string, unknown>[];
  metadata: Record<string, unknown> | undefined;
  files: StoredFile[];
  shares: string | undefined;
  edits: string[];
}

interface Channel {
  id: string;
  kind: "im" | "channel";
  user: string | undefined;
  isClosed: boolean;
}

export interface AppState {
  readonly id: string;
  readonly team: string;
  readonly botUser: string;
  readonly botId: string;
  readonly username: string;
  readonly scopes: readonly string[];
  readonly channels: Map<string, Channel>;
  /** By `channel:timestamp`. */
  readonly messages: Map<string, Message>;
  readonly files: Map<string, StoredFile>;
  readonly statuses: { channel: string; thread: string; status: string }[];
  readonly people: Map<string, { name?: string; locale?: string }>;
  post(message: Pick<Message, "channel" | "user" | "text"> & Partial<Message>): Message;
  nextTs(): string;
}

let lastMicros = 0;
let serial = 0;
/** Ids in Slack's form, such as U01ABC…. */
export const slackId = (letter: string) => `${letter}0${(++serial).toString(36).toUpperCase().padStart(8, "0")}`;

export function createAppState(options: Pick<AppState, "id" | "team" | "username" | "scopes" | "botUser">): AppState {
  const messages = new Map<string, Message>();
  const state: AppState = {
    ...options,
    botId: slackId("B"),
    channels: new Map(),
    messages,
    files: new Map(),
    statuses: [],
    people: new Map(),
    nextTs() {
      lastMicros = Math.max(lastMicros + 1, Date.now() * 1000);
      return `${Math.floor(lastMicros / 1e6)}.${String(lastMicros % 1e6).padStart(6, "0")}`;
    },
    post(given) {
      const message: Message = {
        ...{ ts: state.nextTs(), thread: undefined, blocks: [], metadata: undefined, files: [], shares: undefined },
        ...{ edits: [] },
        ...given,
      };
      messages.set(`${message.channel}:${message.ts}`, message);
      return message;
    },
  };
  return state;
}

/** A message as events and pages show it. */
export function shownMessage(state: AppState, message: Message): Record<string, unknown> {
  const { ts, user, text, thread, blocks, files, shares } = message;
  const root = thread === undefined ? undefined : state.messages.get(`${message.channel}:${thread}`);
  return {
    type: "message",
    ...{ ts, user, text, team: state.team },
    ...(user === state.botUser ? { bot_id: state.botId, app_id: state.id } : { client_msg_id: `c-${ts}` }),
    ...(thread === undefined ? {} : { thread_ts: thread, parent_user_id: root?.user }),
    ...(blocks.length > 0 ? { blocks } : {}),
    ...(shares === undefined ? {} : { attachments: [{ is_share: true, text: shares, author_name: "Eve" }] }),
    ...(files.length > 0 ? { files: files.map(shownFile), subtype: "file_share" } : {}),
  };
}

export const shownFile = ({ id, name, type, bytes, isVoice }: StoredFile) => ({
  ...{ id, name, title: name, mimetype: type, size: bytes.length, mode: "hosted", user_team: "T" },
  ...(isVoice ? { subtype: "slack_audio" } : {}),
});

export const plainText = (text: string) =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

export function createFakeApp(state: AppState, socketMode: SocketMode, changed: () => void): FakeApp {
  const { id: appId, team, botUser } = state;
  const find = (id: string) => {
    const message = state.messages.get(id);
    if (!message) throw new Error(`There is no message ${id}.`);
    return message;
  };
  const channelOf = (id: string) => {
    const channel = state.channels.get(id);
    if (!channel) throw new Error(`There is no conversation ${id}.`);
    return channel;
  };
  const typeOf = (channel: string) => channelOf(channel).kind;

  function dispatch(event: Record<string, unknown>, about: string, forTeam = team): void {
    const eventId = `Ev${about.replace(/\W/g, "")}${event.type === "app_mention" ? "M" : ""}`;
    const authorizations = [{ team_id: forTeam, user_id: botUser, is_bot: true, is_enterprise_install: false }];
    const common = { token: "fake", team_id: team, api_app_id: appId, type: "event_callback", authorizations };
    socketMode.push(
      "events_api",
      { ...common, event, event_id: eventId, event_time: Math.floor(Date.now() / 1000) },
      about,
    );
  }

  function dispatchMessage(message: Message, isTwice: boolean): void {
    const { channel, ts } = message;
    const event = { ...shownMessage(state, message), channel, event_ts: ts, channel_type: typeOf(channel) };
    dispatch(event, `${channel}:${ts}`);
    if (!isTwice) return;
    const { channel_type: _, subtype: __, ...mention } = event as Record<string, unknown>;
    dispatch({ ...mention, type: "app_mention" }, `${channel}:${ts}`);
  }

  function toSent(message: Message): Sent {
    const { channel, ts, text, thread, edits, blocks, files } = message;
    const [file] = files;
    return {
      id: `${channel}:${file?.id ?? ts}`,
      ...{ channel, ts, text: plainText(text), raw: text, thread, edits: edits.map(plainText) },
      buttons: blocks.flatMap(buttonsOf),
      ...(file && {
        file: { as: "file", name: file.name, type: file.type, bytes: file.bytes, caption: plainText(text) },
      }),
    };
  }

  return {
    ...{ id: appId, botUser, team },
    dm(user = "U0PERSON1") {
      const known = [...state.channels.values()].find((one) => one.user === user);
      if (known) return known.id;
      const id = slackId("D");
      state.channels.set(id, { id, kind: "im", user, isClosed: false });
      return id;
    },
    channel() {
      const id = slackId("C");
      state.channels.set(id, { id, kind: "channel", user: undefined, isClosed: false });
      return id;
    },
    person: (user, about) => void state.people.set(user, about),
    userSays(channel, text, says: Says = {}) {
      const user = says.from ?? channelOf(channel).user ?? "U0PERSON1";
      const files = (says.files ?? []).map(({ name, type, bytes, isVoice = false }): StoredFile => {
        const file = { id: slackId("F"), name, type, bytes, isVoice, isShared: true };
        state.files.set(file.id, file);
        return file;
      });
      const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
      const words = says.mention ? `<@${botUser}> ${escaped}` : escaped;
      const message = state.post({ channel, user, text: words, thread: says.thread, files, shares: says.shares });
      dispatchMessage(message, says.twice ?? false);
      changed();
      return `${channel}:${message.ts}`;
    },
    userEdits(id, text) {
      const message = find(id);
      const before = shownMessage(state, message);
      message.text = text;
      const { channel, ts } = message;
      const event = { type: "message", subtype: "message_changed", hidden: true, channel, ts: state.nextTs() };
      dispatch({ ...event, message: shownMessage(state, message), previous_message: before }, `${channel}:${ts}`);
    },
    userDeletes(id) {
      const fileId = /:(F\w+)$/.exec(id)?.[1];
      const found = fileId ? [...state.messages.values()].find(({ files }) => files[0]?.id === fileId) : find(id);
      if (!found) throw new Error(`There is no message ${id}.`);
      const { channel, ts, files } = found;
      state.messages.delete(`${channel}:${ts}`);
      for (const file of files) state.files.delete(file.id);
      const event = { type: "message", subtype: "message_deleted", hidden: true, channel, deleted_ts: ts };
      dispatch({ ...event, ts: state.nextTs() }, `${channel}:${ts}`);
      changed();
    },
    userPresses(id, value, from) {
      const message = find(id);
      const { channel, ts, text, blocks, thread } = message;
      const user = from ?? channelOf(channel).user ?? "U0PERSON1";
      const element = blocks.flatMap(elementsOf).find((one) => one.value === value);
      if (!element) throw new Error(`The message ${id} has no such button.`);
      const shown = { ts, text, blocks, user: botUser, ...(thread === undefined ? {} : { thread_ts: thread }) };
      socketMode.push(
        "interactive",
        {
          ...{ type: "block_actions", api_app_id: appId, team: { id: team }, user: { id: user, team_id: team } },
          ...{ channel: { id: channel }, message: shown, trigger_id: "1.2.3", response_url: "https://unused.invalid/" },
          actions: [{ type: "button", action_id: element.action_id, value, action_ts: state.nextTs() }],
        },
        id,
      );
      changed();
    },
    repeats(id) {
      dispatchMessage(find(id), false);
    },
    closes(channel) {
      channelOf(channel).isClosed = true;
    },
    sent: (channel) =>
      [...state.messages.values()]
        .filter((one) => one.user === botUser && (channel === undefined || one.channel === channel))
        .map(toSent),
    statuses: (channel) => state.statuses.filter((one) => channel === undefined || one.channel === channel),
    get connected() {
      return socketMode.connected;
    },
    get opened() {
      return socketMode.count.opened;
    },
    get unconfirmed() {
      return socketMode.unconfirmed;
    },
    hold: socketMode.hold,
    release: socketMode.release,
    drops: socketMode.drops,
    warns: (reason = "warning", closeAfterMs = 200) => socketMode.warns(reason, closeAfterMs),
    silent: socketMode.silent,
    nextConnection: socketMode.nextConnection,
    givesUp: socketMode.givesUp,
    sends: (event, forTeam) => dispatch(event, `x:${state.nextTs()}`, forTeam),
  };
}

const elementsOf = (block: Record<string, unknown>) =>
  (Array.isArray(block.elements) ? block.elements : []) as Record<string, unknown>[];

const buttonsOf = (block: Record<string, unknown>): Button[] =>
  block.type === "actions"
    ? elementsOf(block).map(({ text, value }) => ({
        label: String((text as { text: unknown }).text),
        value: String(value),
      }))
    : [];
