// Slash commands: acknowledged at once, which shows "… is thinking", and answered in that place as long as Discord takes it.
// https://discord.com/developers/docs/interactions/receiving-and-responding
import type { RouteLike } from "discord.js";
import { type Binding, ChannelError } from "../channel.ts";
import type { Apis, Caller } from "./api.ts";
import { isAcknowledged, toChannelError } from "./errors.ts";
import { interactionIn, madeAt } from "./peer.ts";
import type { Command } from "./read.ts";

/** How long Discord takes an answer, less what a call may take. */
const GOOD_FOR = 14.5 * 60_000;
/** "… is thinking" with nobody who answers is taken away after this. */
const GIVEN_UP = 14 * 60_000;
const ACKNOWLEDGE_WITHIN = 3_000;
const DEFERRED = 5;
/** The flag of a message that says "… is thinking" and nothing else yet. */
const THINKING = 1 << 7;
const KEPT = 4096;
/** Events that may come again for the sake of one command that waits for its answer. */
const REACH = 200;

interface Open {
  readonly id: string;
  readonly bot: string;
  readonly peer: string;
  readonly path: RouteLike;
  readonly caller: Caller;
  /** Its event. */
  readonly at: At;
  readonly acknowledged: Promise<boolean>;
  answered: boolean;
  /** Acknowledged by an earlier process, which may have answered it too. */
  old: boolean;
}

/** Where in what a gateway session says. */
interface At {
  session: string;
  seq: number;
}

export type Answer = Pick<Open, "id" | "path">;

export interface Interactions {
  /** Acknowledges a command; returns at once. */
  take(binding: Binding, command: Command, at: At): void;
  /**
   * The place that waits for what is to be said: that of the command it answers, else, for what answers nothing, that
   * of the newest command in this conversation. Undefined when there is none, or none any more.
   */
  find(binding: Binding, peer: string, replyTo: string | undefined): Promise<Answer | undefined>;
  /** A command whose event this process did not see (yet), and that Discord would still take an answer to. */
  mayCome(binding: Binding, replyTo: string | undefined): boolean;
  /** This bot's events are all here, those that were missed too. */
  caughtUp(binding: Binding): void;
  answered(id: string): void;
  /** The last event that need not come again: after a restart, commands that still wait have to be known. */
  settledBefore(session: string, seq: number): number;
  /** Takes "… is thinking" away where nobody answers. */
  sweep(bot: string): void;
  forget(bot: string): void;
}

interface Deps {
  apis: Apis;
  noted(binding: Binding, reason: string): void;
  now?: () => number;
}

export function createInteractions({ apis, noted, now = Date.now }: Deps): Interactions {
  /** Oldest first. */
  const open = new Map<string, Open>();
  const current = new Set<string>();

  const isGood = ({ id }: Open) => now() - madeAt(id) < GOOD_FOR;

  async function acknowledge(binding: Binding, { id, token }: Command): Promise<boolean> {
    try {
      const path: RouteLike = `/interactions/${id}/${token}/callback`;
      const signal = AbortSignal.timeout(ACKNOWLEDGE_WITHIN);
      await apis.call(binding, signal, { method: "post", path, body: { type: DEFERRED }, auth: false });
      return true;
    } catch (error) {
      if (isAcknowledged(error)) {
        const one = open.get(id);
        if (one) one.old = true;
        return true;
      }
      noted(binding, toChannelError(error, "peer").message);
      return false;
    }
  }

  async function takeAway({ path, caller }: Open): Promise<void> {
    const original: RouteLike = `${path}/messages/@original`;
    const signal = AbortSignal.timeout(2 * ACKNOWLEDGE_WITHIN);
    const shown = await apis.call(caller, signal, { method: "get", path: original, auth: false });
    const flags = typeof shown === "object" && shown !== null && "flags" in shown ? Number(shown.flags) : 0;
    if (flags & THINKING) await apis.call(caller, signal, { method: "delete", path: original, auth: false });
  }

  return {
    take(binding, command, at) {
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
        old: false,
      });
      if (open.size > KEPT) open.delete(open.keys().next().value ?? "");
    },

    async find({ bot }, peer, replyTo) {
      const id = interactionIn(replyTo);
      const known =
        replyTo === undefined
          ? [...open.values()].findLast((one) => one.bot === bot.id && one.peer === peer)
          : open.get(id ?? "");
      if (!known || known.bot !== bot.id || known.answered || !isGood(known)) return undefined;
      const isOpen = await known.acknowledged;
      // What answers nothing must not take the place of an answer.
      return isOpen && !(replyTo === undefined && known.old) ? known : undefined;
    },

    mayCome({ bot }, replyTo) {
      const id = interactionIn(replyTo);
      if (id === undefined || open.has(id) || current.has(bot.id)) return false;
      return now() - madeAt(id) < GOOD_FOR;
    },

    caughtUp: ({ bot }) => void current.add(bot.id),

    answered(id) {
      const one = open.get(id);
      if (one) one.answered = true;
    },

    settledBefore(session, seq) {
      let settled = seq;
      for (const one of open.values()) {
        const { at, answered } = one;
        const reaches = at.session === session && at.seq <= settled && at.seq > 1 && seq - at.seq < REACH;
        if (reaches && !answered && isGood(one)) settled = at.seq - 1;
      }
      return settled;
    },

    sweep(bot) {
      for (const one of open.values()) {
        if (one.bot !== bot || (!one.answered && now() - madeAt(one.id) < GIVEN_UP)) continue;
        open.delete(one.id);
        // Where that fails, it shows as failed by itself soon.
        if (!one.answered && isGood(one)) takeAway(one).catch(() => undefined);
      }
    },

    forget(bot) {
      current.delete(bot);
      for (const one of open.values()) if (one.bot === bot) open.delete(one.id);
    },
  };
}

/** Said while an answer would have to stand in another place than people look at. */
export const notYet = () => new ChannelError("busy", "Waiting for Discord to tell what was missed.", "peer", 1_000);
