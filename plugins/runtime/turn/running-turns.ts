// Tracks the running turns with the signals that end them early, and the callers that wait for a reply in this process.

import { MINUTE } from "../../../src/kernel/util/time.ts";
import { shutdownError } from "../errors.ts";
import { conversationKey, type InboxEntry } from "../inbox/entries.ts";
import type { SentFile } from "../reply-files/sent-files.ts";
import type { Observer } from "./tool-calls.ts";

// The reasons with which a turn aborts; they decide what happens to its inbox entry.
/** The process ends: the entry stays pending. */
export const ABORT_SHUTDOWN = new DOMException("Berth is stopping.", "AbortError");
/** The caller left or gave `/stop`, or the agent was deleted: the entry is settled as cancelled. */
export const ABORT_CANCELLED = new DOMException("The reply was cancelled.", "AbortError");
/** An admin has frozen the agent: the entry stays pending until it goes on. */
export const ABORT_FROZEN = new DOMException("The agent is frozen.", "AbortError");
/** The agent is being changed: the entry runs again afterwards. */
export const ABORT_AGENT_CHANGING = new DOMException("The agent is being changed.", "AbortError");

/** The reply of a settled turn. */
export interface Reply {
  inboxId: string;
  agentId: string;
  sessionId: string;
  reply: string;
  /** Epoch ms. */
  timestamp: number;
  /** Left out if there are none. */
  files?: SentFile[];
}

/** A caller that waits for the reply in this process: a REST call, a socket. */
export interface ReplyWaiter {
  observer: Observer | undefined;
  /** Aborts when the caller goes away or cancels. */
  signal: AbortSignal;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

export interface RunningTurns {
  /** Registers the caller that waits for the reply to this entry. */
  expectReply(entry: InboxEntry, waiter: ReplyWaiter): void;
  /** Forgets the caller that waits for this entry, without notifying it. */
  forgetWaiter(entryId: string): void;
  /** Marks the entry's turn as running; returns the signal that can end it early, and the caller that waits for it. */
  begin(entry: InboxEntry): { signal: AbortSignal; waiter: ReplyWaiter | undefined };
  /** Marks the entry's turn as ended. It may begin again later. */
  end(entry: InboxEntry): void;
  /**
   * Cancels the turn of this entry if it runs; returns whether it does. Otherwise, if its lane holds it, its turn is
   * cancelled when it begins.
   */
  cancelEntry(entry: InboxEntry, isHeld: boolean): boolean;
  /** Cancels the turn that runs in the conversation of this entry. */
  cancelConversation(entry: InboxEntry): void;
  /** Cancels all turns of a deleted agent. */
  cancelAgent(agentId: string): void;
  /** Aborts all turns of this agent, which run again later. */
  interruptAgent(agentId: string): void;
  /** Aborts all turns of this agent, which stay pending, and rejects all its callers. */
  freezeAgent(agentId: string, error: Error): void;
  /** Whether turns of this agent run, or callers wait for one. */
  hasAgent(agentId: string): boolean;
  /** Rejects callers whose entry has no running turn, of this agent or of all; returns the ids of their entries. */
  rejectWaiting(agentId: string | undefined, error: Error): string[];
  /** Begins the shutdown: rejects callers whose turn has not begun, and aborts running turns after so many ms. */
  stopWithin(graceMs: number): void;
  /** Whether the shutdown has begun. */
  isStopping(): boolean;
  /** Waiting callers and running turns. */
  size(): number;
}

/** The time limit of a whole turn, with its tool calls. */
const TURN_TIMEOUT = 10 * MINUTE;

interface Running {
  entry: InboxEntry;
  abort(reason: unknown): void;
  /** Removes the timer and the listener that could have ended it early. */
  release(): void;
}

export function createRunningTurns(): RunningTurns {
  /** By entry. */
  const waiters = new Map<string, { agentId: string; waiter: ReplyWaiter }>();
  /** The running turn of each conversation. */
  const running = new Map<string, Running>();
  /** Entries that were cancelled before their turn began. */
  const cancelled = new Set<string>();
  let isStopping = false;
  let isGraceOver = false;

  const keyOf = (entry: InboxEntry) => `${entry.agentId} ${conversationKey(entry)}`;

  function abortAgent(agentId: string, reason: unknown): void {
    for (const { entry, abort } of running.values()) if (entry.agentId === agentId) abort(reason);
  }

  function rejectWaiting(agentId: string | undefined, error: Error): string[] {
    const runningIds = new Set(running.values().map(({ entry }) => entry.id));
    const rejected: string[] = [];
    for (const [id, { agentId: of, waiter }] of waiters) {
      if ((agentId !== undefined && of !== agentId) || runningIds.has(id)) continue;
      waiters.delete(id);
      waiter.reject(error);
      rejected.push(id);
    }
    return rejected;
  }

  return {
    expectReply: (entry, waiter) => void waiters.set(entry.id, { agentId: entry.agentId, waiter }),
    forgetWaiter: (entryId) => void waiters.delete(entryId),

    begin(entry) {
      const waiter = waiters.get(entry.id)?.waiter;
      const abortController = new AbortController();
      const abort = (reason: unknown) => abortController.abort(reason);
      const onCallerGone = () => abort(ABORT_CANCELLED);
      const onTimeout = () => abort(new DOMException("The turn took too long.", "TimeoutError"));
      const timer = setTimeout(onTimeout, TURN_TIMEOUT);
      waiter?.signal.addEventListener("abort", onCallerGone, { once: true });
      running.set(keyOf(entry), {
        entry,
        abort,
        release() {
          clearTimeout(timer);
          waiter?.signal.removeEventListener("abort", onCallerGone);
        },
      });
      if (isGraceOver) abort(ABORT_SHUTDOWN);
      else if (cancelled.delete(entry.id) || waiter?.signal.aborted) abort(ABORT_CANCELLED);
      return { signal: abortController.signal, waiter };
    },

    end(entry) {
      waiters.delete(entry.id);
      running.get(keyOf(entry))?.release();
      running.delete(keyOf(entry));
    },

    cancelEntry(entry, isHeld) {
      const turn = running.values().find((one) => one.entry.id === entry.id);
      if (turn) turn.abort(ABORT_CANCELLED);
      else if (isHeld) cancelled.add(entry.id);
      return turn !== undefined;
    },
    cancelConversation: (entry) => running.get(keyOf(entry))?.abort(ABORT_CANCELLED),
    cancelAgent: (agentId) => abortAgent(agentId, ABORT_CANCELLED),
    interruptAgent: (agentId) => abortAgent(agentId, ABORT_AGENT_CHANGING),
    freezeAgent(agentId, error) {
      abortAgent(agentId, ABORT_FROZEN);
      rejectWaiting(agentId, error);
    },
    hasAgent: (agentId) =>
      running.values().some(({ entry }) => entry.agentId === agentId) ||
      waiters.values().some((waiting) => waiting.agentId === agentId),

    rejectWaiting,

    stopWithin(graceMs) {
      isStopping = true;
      rejectWaiting(undefined, shutdownError());
      setTimeout(() => {
        isGraceOver = true;
        for (const { abort } of running.values()) abort(ABORT_SHUTDOWN);
      }, graceMs).unref();
    },

    isStopping: () => isStopping,
    size: () => waiters.size + running.size,
  };
}
