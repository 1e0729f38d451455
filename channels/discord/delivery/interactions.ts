// Tracks slash commands: acknowledges each at once, which shows "… is thinking", and finds the one that a reply
// answers.
// https://discord.com/developers/docs/interactions/receiving-and-responding
import type { RouteLike } from "discord.js";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { type Binding, ChannelError } from "../../port.ts";
import { isAcknowledged, toChannelError } from "../errors.ts";
import type { SlashCommand } from "../gateway/messages.ts";
import { parseInteractionId, timestampOf } from "../ids.ts";
import type { Caller, RestClients } from "../rest/rest-clients.ts";

/** Discord accepts an answer for 15 minutes; a call may take the rest. */
const TOKEN_LIFETIME_MS = 14.5 * MINUTE;
/** After this time without an answer, "… is thinking" is removed. */
const ABANDONED_AFTER_MS = 14 * MINUTE;
const ACKNOWLEDGE_TIMEOUT_MS = 3_000;
const DEFERRED = 5;
/** The flag of a message that still shows "… is thinking". */
const THINKING = 1 << 7;
const MAX_OPEN = 4096;
/** Events that may be replayed for one command that waits for its answer. */
const MAX_REPLAYED_EVENTS = 200;

interface OpenInteraction {
  readonly id: string;
  readonly bot: string;
  readonly peer: string;
  readonly path: RouteLike;
  readonly caller: Caller;
  /** The position of its event. */
  readonly at: EventPosition;
  readonly acknowledged: Promise<boolean>;
  answered: boolean;
  /** Acknowledged by an earlier process, which may have answered it too. */
  isFromEarlierProcess: boolean;
}

/** The position of an event in a gateway session. */
interface EventPosition {
  session: string;
  seq: number;
}

export type InteractionReply = Pick<OpenInteraction, "id" | "path">;

export interface Interactions {
  /** Acknowledges a command; returns at once. */
  track(binding: Binding, command: SlashCommand, at: EventPosition): void;
  /**
   * The open command that a message answers; for a message without `replyTo`, the newest command in the conversation.
   * Undefined if there is none or Discord no longer accepts an answer.
   */
  find(binding: Binding, peer: string, replyTo: string | undefined): Promise<InteractionReply | undefined>;
  /** Whether the event of a command may still arrive after a restart, while Discord accepts an answer. */
  mayStillArrive(binding: Binding, replyTo: string | undefined): boolean;
  /** Notes that all missed events of this bot have arrived. */
  markCaughtUp(binding: Binding): void;
  markAnswered(id: string): void;
  /** The last event that need not be replayed after a restart: those of waiting commands must be. */
  resumableSequence(session: string, seq: number): number;
  /** Removes "… is thinking" from commands that got no answer in time. */
  removeAbandoned(bot: string): void;
  forget(bot: string): void;
}

interface Deps {
  clients: RestClients;
  onFailure(binding: Binding, reason: string): void;
  now?: () => number;
}

export function createInteractions({ clients, onFailure, now = Date.now }: Deps): Interactions {
  /** Oldest first. */
  const open = new Map<string, OpenInteraction>();
  const caughtUpBots = new Set<string>();

  const isTokenValid = ({ id }: OpenInteraction) => now() - timestampOf(id) < TOKEN_LIFETIME_MS;

  async function acknowledge(binding: Binding, { id, token }: SlashCommand): Promise<boolean> {
    try {
      const path: RouteLike = `/interactions/${id}/${token}/callback`;
      const signal = AbortSignal.timeout(ACKNOWLEDGE_TIMEOUT_MS);
      await clients.call(binding, signal, { method: "post", path, body: { type: DEFERRED }, auth: false });
      return true;
    } catch (error) {
      if (isAcknowledged(error)) {
        const one = open.get(id);
        if (one) one.isFromEarlierProcess = true;
        return true;
      }
      onFailure(binding, toChannelError(error, "peer").message);
      return false;
    }
  }

  async function deleteThinkingMessage({ path, caller }: OpenInteraction): Promise<void> {
    const original: RouteLike = `${path}/messages/@original`;
    const signal = AbortSignal.timeout(2 * ACKNOWLEDGE_TIMEOUT_MS);
    const shown = await clients.call(caller, signal, { method: "get", path: original, auth: false });
    const flags = typeof shown === "object" && shown !== null && "flags" in shown ? Number(shown.flags) : 0;
    if (flags & THINKING) await clients.call(caller, signal, { method: "delete", path: original, auth: false });
  }

  return {
    track(binding, command, at) {
      const { id, token, application_id: application, channel_id: peer } = command;
      if (open.has(id)) return;
      open.set(id, {
        id,
        bot: binding.bot.id,
        peer,
        path: `/webhooks/${application}/${token}`,
        caller: { token: binding.token, agentId: binding.agentId },
        at,
        acknowledged: acknowledge(binding, command),
        answered: false,
        isFromEarlierProcess: false,
      });
      if (open.size > MAX_OPEN) open.delete(open.keys().next().value ?? "");
    },

    async find({ bot }, peer, replyTo) {
      const id = parseInteractionId(replyTo);
      const known =
        replyTo === undefined
          ? [...open.values()].findLast((one) => one.bot === bot.id && one.peer === peer)
          : open.get(id ?? "");
      if (!known || known.bot !== bot.id || known.answered || !isTokenValid(known)) return undefined;
      const isOpen = await known.acknowledged;
      // A message that answers nothing must not replace an answer that an earlier process may have given.
      return isOpen && !(replyTo === undefined && known.isFromEarlierProcess) ? known : undefined;
    },

    mayStillArrive({ bot }, replyTo) {
      const id = parseInteractionId(replyTo);
      if (id === undefined || open.has(id) || caughtUpBots.has(bot.id)) return false;
      return now() - timestampOf(id) < TOKEN_LIFETIME_MS;
    },

    markCaughtUp: ({ bot }) => void caughtUpBots.add(bot.id),

    markAnswered(id) {
      const one = open.get(id);
      if (one) one.answered = true;
    },

    resumableSequence(session, seq) {
      let resumable = seq;
      for (const one of open.values()) {
        const { at, answered } = one;
        const reaches =
          at.session === session && at.seq <= resumable && at.seq > 1 && seq - at.seq < MAX_REPLAYED_EVENTS;
        if (reaches && !answered && isTokenValid(one)) resumable = at.seq - 1;
      }
      return resumable;
    },

    removeAbandoned(bot) {
      for (const one of open.values()) {
        if (one.bot !== bot || (!one.answered && now() - timestampOf(one.id) < ABANDONED_AFTER_MS)) continue;
        open.delete(one.id);
        // If that fails, Discord soon shows the command as failed itself.
        if (!one.answered && isTokenValid(one)) deleteThinkingMessage(one).catch(() => undefined);
      }
    },

    forget(bot) {
      caughtUpBots.delete(bot);
      for (const one of open.values()) if (one.bot === bot) open.delete(one.id);
    },
  };
}

/**
 * Thrown while the command that a reply answers is unknown: sent now, the reply would appear elsewhere in the channel.
 */
export const notCaughtUpError = () =>
  new ChannelError("busy", "Waiting for Discord to send the missed events.", "peer", 1_000);
