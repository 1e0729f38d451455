// Stores the gateway's events in order, and saves the resume point only once they are stored.
import type { GatewayDispatchPayload } from "discord.js";
import type { BoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { type Binding, ChannelError, type IncomingMessage, type RecordTraffic, type Sink } from "../../port.ts";
import type { ButtonPresses } from "../delivery/buttons.ts";
import type { Interactions } from "../delivery/interactions.ts";
import { isRefusal, toChannelError } from "../errors.ts";
import { buttonMessageId, lowestIdAt } from "../ids.ts";
import type { RestClients } from "../rest/rest-clients.ts";
import type { GatewaySession } from "./gateway-connection.ts";
import {
  type GatewayMessage,
  isCommand,
  isMessage,
  isPressedButton,
  mayMentionByRole,
  readCommand,
  readMessage,
  readPressedButton,
} from "./messages.ts";
import { createRecentConversations, type RecentConversation, type ResumeState } from "./resume-state.ts";

/** Events that may wait to be stored, at most. */
const MAX_QUEUED_EVENTS = 1_000;
/** The age up to which missed messages are fetched; Telegram keeps updates as long. */
const LOOKBACK_MS = DAY;
/** Discord's largest page of messages. */
const PAGE_SIZE = "100";

export interface EventQueueDeps {
  clients: RestClients;
  interactions: Interactions;
  buttonPresses: ButtonPresses;
  /** Channels known to be direct messages. */
  directMessageChannels: BoundedMap<true>;
  /** The role that Discord made for the bot in a guild. */
  findBotRole(binding: Binding, guild: string, signal: AbortSignal): Promise<string | undefined>;
  /** Called for a malformed event. */
  onUnreadableEvent(binding: Binding, event: string): void;
  traffic?: RecordTraffic | undefined;
}

interface QueuedEvent {
  payload: GatewayDispatchPayload;
  session: GatewaySession | undefined;
  onStored: (() => void) | undefined;
}

export function createEventQueue(
  {
    clients,
    interactions,
    buttonPresses,
    directMessageChannels,
    findBotRole,
    onUnreadableEvent,
    traffic,
  }: EventQueueDeps,
  binding: Binding,
  sink: Sink,
  stop: AbortController,
  resumeState: ResumeState | undefined,
) {
  const places = createRecentConversations(resumeState?.places ?? []);
  let application = resumeState?.app ?? "";
  let current: GatewaySession | undefined = resumeState;
  let queue: QueuedEvent[] = [];
  /** The last stored event and its session. */
  let stored = { session: current, seq: current?.seq ?? 0 };
  let savedResumePoint = "";
  let running: Promise<void> | undefined;
  let failure: ChannelError | undefined;

  function fail(reason: ChannelError): void {
    failure ??= reason;
    stop.abort();
  }

  /**
   * Saves the resume point, before the events of commands that wait for their answer: only the event has their token.
   */
  function saveResumePoint(): void {
    const { session } = stored;
    if (!session) return;
    const { id, url } = session;
    const seq = interactions.resumableSequence(id, stored.seq);
    const now: ResumeState = { id, url, seq, app: application, places: places.all() };
    const text = JSON.stringify(now);
    if (text === savedResumePoint) return;
    savedResumePoint = text;
    sink.saveResumePoint(text);
  }

  async function read({ t, d }: { t: string; d: unknown }): Promise<IncomingMessage | undefined> {
    if (t === "INTERACTION_CREATE") {
      if (isPressedButton(d)) return readPressedButton(d);
      return isCommand(d) ? readCommand(d) : undefined;
    }
    if (!isMessage(d)) return void onUnreadableEvent(binding, t);
    const message: GatewayMessage = d;
    const { guild_id: guild, channel_id: channel } = message;
    if (guild === undefined) directMessageChannels.set(channel, true);
    const isRoleMentioned = guild !== undefined && mayMentionByRole(message, binding.bot);
    const role = isRoleMentioned ? await findBotRole(binding, guild, stop.signal) : undefined;
    const found = readMessage(message, binding.bot, role);
    if (found) places.record(channel, message.id, guild, found.addressed);
    return found;
  }

  /** The messages of a conversation since the last known one; none if the bot may no longer read it. */
  async function readMissedIn([channel, last, guild]: RecentConversation): Promise<IncomingMessage[]> {
    const oldest = lowestIdAt(Date.now() - LOOKBACK_MS);
    const after = BigInt(last) > BigInt(oldest) ? last : oldest;
    const query = new URLSearchParams({ after, limit: PAGE_SIZE });
    const list = await clients
      .call(binding, stop.signal, { method: "get", path: `/channels/${channel}/messages`, query })
      .catch((error: unknown) => {
        if (isRefusal(error) && error.status !== 401 && error.status < 500) return [];
        throw error;
      });
    const messages = Array.isArray(list) ? list.filter(isMessage) : [];
    messages.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
    const found: IncomingMessage[] = [];
    for (const message of messages) {
      const d = guild === null ? message : { ...message, guild_id: guild };
      const readable = await read({ t: "MESSAGE_CREATE", d });
      if (readable) found.push(readable);
    }
    return found;
  }

  /** Fetches the latest conversations, because a new session sends nothing from before its start. */
  async function readMissed(): Promise<IncomingMessage[]> {
    const all: IncomingMessage[] = [];
    for (const place of places.all()) all.push(...(await readMissedIn(place)));
    return all;
  }

  async function readAll(batch: QueuedEvent[]): Promise<IncomingMessage[]> {
    const messages: IncomingMessage[] = [];
    for (const { payload } of batch) {
      if (payload.t === "READY") messages.push(...(await readMissed()));
      const message = isMessageEvent(payload) ? await read(payload) : undefined;
      if (message) messages.push(message);
    }
    return messages;
  }

  /** Whether the presser of a button may answer the question above it. */
  async function isAnswer({ t, d }: GatewayDispatchPayload, messages: readonly IncomingMessage[]): Promise<boolean> {
    const id = t === "INTERACTION_CREATE" ? buttonMessageId(d.id) : undefined;
    const message = messages.find(({ platformMessageId }) => platformMessageId === id);
    return message !== undefined && ((await sink.mayAnswer?.(message)) ?? true);
  }

  async function store(): Promise<void> {
    while (queue.length > 0 && !stop.signal.aborted) {
      const batch = queue;
      queue = [];
      let messages: IncomingMessage[] = [];
      try {
        messages = await readAll(batch);
        if (messages.length > 0) await sink.accept(messages);
      } catch (cause) {
        const text = "The messages could not be stored; Discord will send them again.";
        const refusal = isRefusal(cause) || cause instanceof ChannelError ? toChannelError(cause, "bot") : undefined;
        return fail(refusal ?? new ChannelError("unreachable", text, "bot", undefined, { cause }));
      }
      for (const { payload, onStored } of batch) if (onStored && (await isAnswer(payload, messages))) onStored();
      const last = batch.at(-1);
      if (last) stored = { session: last.session, seq: last.payload.s };
      saveResumePoint();
    }
  }

  return {
    get application() {
      return application;
    },
    failure: () => failure,
    startSession(session: GatewaySession, app: string) {
      current = session;
      application = app;
    },
    enqueue(payload: GatewayDispatchPayload): void {
      if (payload.t === "INTERACTION_CREATE" && isCommand(payload.d))
        interactions.track(binding, payload.d, { session: current?.id ?? "", seq: payload.s });
      const onStored =
        payload.t === "INTERACTION_CREATE" && isPressedButton(payload.d)
          ? buttonPresses.acknowledge(binding, payload.d)
          : undefined;
      if (isMessageEvent(payload)) traffic?.(binding.agentId, 0, Buffer.byteLength(JSON.stringify(payload.d)));
      queue.push({ payload, session: current, onStored });
      if (queue.length > MAX_QUEUED_EVENTS)
        fail(new ChannelError("unreachable", "Messages come faster than they can be stored.", "bot"));
      running ??= store().finally(() => {
        running = undefined;
      });
    },
    onHeartbeat() {
      interactions.removeAbandoned(binding.bot.id);
      if (!running) saveResumePoint();
    },
    drain: () => running ?? Promise.resolve(),
  };
}

const isMessageEvent = ({ t }: GatewayDispatchPayload) => t === "MESSAGE_CREATE" || t === "INTERACTION_CREATE";
