// Stores the envelopes of a bot's connections in order, and confirms each one only once its message is stored.
// https://docs.slack.dev/apis/events-api/using-socket-mode#acknowledge
import { type Binding, ChannelError, type IncomingMessage, type RecordTraffic, type Sink } from "../../port.ts";
import { isObject } from "../../shared/is-object.ts";
import { detailOf } from "../bot.ts";
import { TOKEN_REFUSED, toChannelError } from "../errors.ts";
import { isDirect, peerId } from "../ids.ts";
import type { WebApi } from "../web-api.ts";
import {
  isAddressed,
  mentionedUsers,
  type PressedButton,
  readMessage,
  readPress,
  type SlackMessage,
  toMessage,
  toPress,
} from "./messages.ts";
import { fetchMissed } from "./missed-messages.ts";
import type { People, Person } from "./people.ts";
import { createRecentConversations, parseResumePoint } from "./resume-state.ts";
import type { Envelope } from "./socket.ts";

/** Envelopes that may wait to be stored, at most. */
const MAX_QUEUED_ENVELOPES = 1_000;
/** Mentioned people whose names are looked up for one message. */
const MAX_NAMES = 5;

export interface EventQueueDeps {
  api: WebApi;
  people: People;
  /** Shows a message without its buttons. */
  removeButtons(binding: Binding, press: PressedButton): void;
  onUnreadableEvent(binding: Binding, event: string): void;
  traffic?: RecordTraffic | undefined;
}

interface QueuedEnvelope extends Envelope {
  confirm(): void;
}

/** What an envelope holds for the agent. */
type Content = { message: SlackMessage } | { press: PressedButton } | undefined;

export type EventQueue = ReturnType<typeof createEventQueue>;

export function createEventQueue(
  { api, people, removeButtons, onUnreadableEvent, traffic }: EventQueueDeps,
  binding: Binding,
  sink: Sink,
  stop: AbortController,
) {
  const bot = detailOf(binding.bot);
  const conversations = createRecentConversations(parseResumePoint(binding.resume));
  let queue: QueuedEnvelope[] = [];
  let isCaughtUp = false;
  let running: Promise<void> | undefined;
  let failure: ChannelError | undefined;

  function fail(reason: ChannelError): void {
    failure ??= reason;
    stop.abort();
  }

  /**
   * An app may be installed in several workspaces; what is for another bot of it is confirmed and dropped. In a channel that
   * two workspaces share, `team_id` may be the other one, so the authorizations count.
   */
  function isForThisBot({ api_app_id: app, team_id: team, authorizations }: Record<string, unknown>): boolean {
    const teams = Array.isArray(authorizations) ? authorizations.filter(isObject).map((one) => one.team_id) : [team];
    return app === binding.bot.id && (teams.length === 0 || teams.includes(bot.team));
  }

  function contentOf({ type, payload }: Envelope): Content {
    if (type === "interactive") {
      const press = isObject(payload) && payload.api_app_id === binding.bot.id ? toPress(payload) : undefined;
      return press && { press };
    }
    if (type !== "events_api" || !isObject(payload)) return undefined;
    const { event } = payload;
    if (!isObject(event) || typeof event.type !== "string") return void onUnreadableEvent(binding, type);
    if (!isForThisBot(payload)) return undefined;
    if (event.type === "app_uninstalled" || event.type === "tokens_revoked") {
      return void fail(new ChannelError("refused", TOKEN_REFUSED, "bot"));
    }
    if (event.type !== "message" && event.type !== "app_mention") return undefined;
    const message = toMessage(event);
    return message && message.user !== bot.user ? { message } : undefined;
  }

  async function namesOf(ids: readonly string[]): Promise<Map<string, Person>> {
    const names = new Map<string, Person>();
    for (const id of ids) names.set(id, await people.find(binding, id, stop.signal));
    return names;
  }

  async function read(message: SlackMessage): Promise<IncomingMessage> {
    const mentioned = mentionedUsers(message, bot).slice(0, MAX_NAMES);
    return readMessage(message, bot, binding.bot.username, await namesOf([message.user, ...mentioned]));
  }

  /** Notes a stored message, so that an outage after it is made up for from there. */
  function record(message: SlackMessage): boolean {
    const { channel, ts, thread } = message;
    const addressed = isAddressed(message, bot);
    const inPlace = conversations.record(channel, ts, addressed);
    const hangsOn = thread ?? (addressed && !isDirect(channel) ? ts : undefined);
    const inThread = hangsOn !== undefined && conversations.record(peerId(channel, hangsOn), ts, addressed);
    return inPlace || inThread;
  }

  async function accept(messages: readonly SlackMessage[], presses: readonly PressedButton[]) {
    const incoming: IncomingMessage[] = [];
    for (const message of messages) incoming.push(await read(message));
    const pressed = new Map<PressedButton, IncomingMessage>();
    for (const press of presses) pressed.set(press, readPress(press, await namesOf([press.user])));
    const all = [...incoming, ...pressed.values()];
    if (all.length > 0) await sink.accept(all);
    for (const [press, message] of pressed) {
      if ((await sink.mayAnswer?.(message)) ?? true) removeButtons(binding, press);
    }
    if (messages.filter(record).length > 0) sink.saveResumePoint(JSON.stringify(conversations.all()));
  }

  async function store(): Promise<void> {
    try {
      if (!isCaughtUp) {
        const missed = await fetchMissed(api, binding, conversations.all(), stop.signal);
        await accept(
          missed.filter(({ user }) => user !== bot.user),
          [],
        );
        isCaughtUp = true;
      }
      while (queue.length > 0 && !stop.signal.aborted) {
        const batch = queue;
        queue = [];
        const contents = batch.map(contentOf);
        await accept(
          contents.flatMap((content) => (content && "message" in content ? [content.message] : [])),
          contents.flatMap((content) => (content && "press" in content ? [content.press] : [])),
        );
        for (const envelope of batch) envelope.confirm();
      }
    } catch (cause) {
      const text = "The messages could not be stored; Slack will send them again.";
      const known = toChannelError(cause, "bot");
      const isSlack = cause instanceof ChannelError || (cause instanceof Error && /^Slack/.test(cause.name));
      fail(isSlack ? known : new ChannelError("unreachable", text, "bot", undefined, { cause }));
    }
  }

  function run(): void {
    running ??= store().finally(() => {
      running = undefined;
      // An envelope came after the last look at the queue.
      if (queue.length > 0 && !stop.signal.aborted) run();
    });
  }

  return {
    failure: () => failure,
    /** The first connection is open: fetches what was missed, before anything that comes over it. */
    start: run,
    enqueue(envelope: Envelope, confirm: () => void): void {
      traffic?.(binding.agentId, 0, envelope.bytes);
      queue.push({ ...envelope, confirm });
      if (queue.length > MAX_QUEUED_ENVELOPES) {
        fail(new ChannelError("unreachable", "Messages come faster than they can be stored.", "bot"));
      }
      run();
    },
    drain: async () => {
      while (running) await running;
    },
  };
}
