// Ends turns that failed: decides whether the entry runs again, is settled without a reply, or stays pending.
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { translateText } from "../../../src/kernel/pages/page-template.ts";
import { translateNote } from "../../../src/kernel/pages/sentences.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { agentFrozenError, type agents as agentsPlugin } from "../../agents/index.ts";
import type { ai as aiPlugin } from "../../ai/index.ts";
import type { ShownSteps } from "../conversations/shown-steps.ts";
import {
  agentChangingError,
  agentDeletedError,
  alreadySettledError,
  cancelledError,
  shutdownError,
} from "../errors.ts";
import { type InboxEntry, toUserMessage } from "../inbox/entries.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { isScheduled } from "../inbox/scheduled.ts";
import type { RunResult } from "../lanes/lanes.ts";
import type { LiveTurns } from "../live/live-turns.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { OwnerAlerts } from "../outbox/owner-alerts.ts";
import type { Language, ReaderLanguage } from "../reader-language.ts";
import type { ScheduledPrompts } from "../scheduled-prompts.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { type Failure, ModelError, toFailure } from "./failure.ts";
import {
  ABORT_AGENT_CHANGING,
  ABORT_CANCELLED,
  ABORT_FROZEN,
  ABORT_SHUTDOWN,
  type ReplyWaiter,
} from "./running-turns.ts";
import type { ToolLoopOutput } from "./tool-loop.ts";

/** Tries before an entry is parked. */
export const MAX_TURN_ATTEMPTS = 5;
/** Milliseconds between tries, where the provider names none. */
const RETRY_DELAYS = [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE];
const MAX_DELAY = 2 * MINUTE;

/** The state of a turn when it failed. */
export interface FailedTurn {
  /** The entry, with its current session and the id of its preview. */
  entry: InboxEntry;
  /** Opens that session where none was open before. */
  sessionStatements: Statement[];
  readonly signal: AbortSignal;
  readonly waiter: ReplyWaiter | undefined;
  /** The model's name for people. */
  model: string;
  /** Removes the keys of its provider and of the fallbacks, which no log may contain, from a provider's message. */
  redactKeys(this: void, text: string): string;
  /** What the model had written, and the tools had done, before the turn failed in the middle of a stream. */
  unfinished?: ToolLoopOutput;
  /** Whether the model is called with the operator's key, and not with one of the agent or its owner. */
  usesOperatorKey: boolean;
}

interface Deps extends Pick<Kernel, "database" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
  ai: Pick<ServiceOf<typeof aiPlugin>, "isOperator">;
  inbox: Inbox;
  sessions: Pick<Sessions, "appendStatements">;
  outbox: Pick<Outbox, "replyStatements">;
  ownerAlerts: Pick<OwnerAlerts, "alertStatements">;
  liveTurns: Pick<LiveTurns, "end" | "postpone">;
  scheduledPrompts: Pick<ScheduledPrompts, "settledStatements">;
  steps: Pick<ShownSteps, "toStored">;
  readerLanguage: ReaderLanguage;
  retryDelays?: readonly number[];
}

export function createFailureHandler(deps: Deps) {
  const { agents, ai, inbox, sessions, outbox, ownerAlerts, liveTurns, scheduledPrompts, steps, database, log } = deps;
  const { readerLanguage, retryDelays = RETRY_DELAYS } = deps;
  const maxDelay = retryDelays.at(-1) ?? MAX_DELAY;

  /**
   * Ends or postpones a turn that threw, and notifies the caller that waits for it. Never rejects.
   * @param queued the entry as its lane holds it: the next try runs with it
   */
  async function handleFailure(turn: FailedTurn, queued: InboxEntry, thrown: unknown): Promise<RunResult> {
    try {
      return await endOrRetry(turn, queued, thrown);
    } catch (error) {
      // Our own storage is in trouble. The entry is still pending, so nothing is lost.
      log.error("a failed turn could not be recorded", { agentId: queued.agentId, inboxId: queued.id, error });
      // Why the turn failed may say that its outcome is not known.
      turn.waiter?.reject(thrown instanceof AppError ? thrown : error);
      liveTurns.postpone(queued.id, error, maxDelay);
      return { retryInMs: maxDelay };
    }
  }

  async function endOrRetry(turn: FailedTurn, queued: InboxEntry, thrown: unknown): Promise<RunResult> {
    const { entry, signal, waiter, model, redactKeys, usesOperatorKey } = turn;
    const agent = await agents.find(entry.agentId);
    // The agent's rows were deleted with it.
    if (!agent) {
      waiter?.reject(agentDeletedError());
      return undefined;
    }
    if (thrown instanceof GuardFailed) {
      waiter?.reject(alreadySettledError());
      return undefined;
    }
    // A database server may have settled it, although the answer was lost: the outbox takes up its reply.
    if (database.file === undefined && isUnanswered(thrown) && !(await isPending(entry))) {
      waiter?.reject(alreadySettledError());
      liveTurns.end(entry.id, { error: alreadySettledError() });
      return undefined;
    }
    if (signal.reason === ABORT_FROZEN || isAgentFrozen(thrown)) {
      // The message stays, also that of a caller who was rejected: it is answered when the agent goes on.
      waiter?.reject(agentFrozenError());
      liveTurns.postpone(entry.id, agentFrozenError());
      return "pause";
    }
    if (isAgentStopped(thrown)) {
      waiter?.reject(thrown);
      // The caller was rejected: its message must not be answered later.
      if (!waiter) liveTurns.postpone(entry.id, thrown);
      else {
        await database.write([inbox.rejectStatement(entry)]);
        liveTurns.end(entry.id, { error: thrown });
      }
      return "pause";
    }
    if (signal.reason === ABORT_SHUTDOWN) {
      waiter?.reject(shutdownError());
      liveTurns.postpone(entry.id, shutdownError());
      return undefined;
    }
    if (signal.reason === ABORT_AGENT_CHANGING) {
      waiter?.reject(agentChangingError());
      liveTurns.postpone(entry.id, agentChangingError());
      return { retryInMs: 0 };
    }
    if (signal.reason === ABORT_CANCELLED) {
      await settleWithoutReply(turn, "cancelled");
      waiter?.reject(cancelledError());
      return undefined;
    }
    const hidesCause = usesOperatorKey && thrown instanceof ModelError && !(await ai.isOperator(agent.userId));
    const failure = toFailure(thrown, model, redactKeys, hidesCause);
    agents.log(entry.agentId, "error", failure.reason, "runtime", { turn: entry.id });
    if (failure.operatorCause) {
      const { message: cause, isKeyRefused } = failure.operatorCause;
      const fields = { agentId: entry.agentId, inboxId: entry.id, cause };
      if (isKeyRefused) log.error("a provider refused the operator's key", fields);
      else log.warn("a call on the operator's key failed", fields);
    }
    if (failure.error.status === 500) {
      log.error("a turn failed", { agentId: entry.agentId, inboxId: entry.id, error: thrown });
    }
    if (waiter) {
      await settleWithoutReply(turn, "failed", failure);
      waiter.reject(failure.error);
      return undefined;
    }
    if (failure.retryable && queued.attempts < MAX_TURN_ATTEMPTS) {
      // The next try goes on with the preview that is shown already.
      queued.previewId = entry.previewId;
      await database.write(inbox.saveAttemptsStatements([queued]));
      const retryInMs = failure.retryAfterMs ?? retryDelays[queued.attempts - 1] ?? maxDelay;
      liveTurns.postpone(entry.id, failure.error, retryInMs);
      return { retryInMs };
    }
    const parked = failure.retryable || failure.error.code === "PARKED";
    await settleWithoutReply(turn, parked ? "parked" : "failed", failure);
    return undefined;
  }

  const isPending = async ({ agentId, id }: InboxEntry) => (await inbox.pendingOf(agentId, [id])).has(id);

  /** Settles an entry without a whole reply of the model; on a channel its sender gets a notice. The owner gets the cause. */
  async function settleWithoutReply(
    { entry, sessionStatements, unfinished }: FailedTurn,
    status: "failed" | "cancelled" | "parked",
    failure?: Failure,
  ): Promise<void> {
    const { sessionId: id, agentId, platform, id: inboxId } = entry;
    // The plugin of schedules tells the owner itself.
    const asked = isScheduled(entry) ? undefined : failure;
    const notice = asked && failureNotice(entry, asked, await readerLanguage(agentId, entry.language));
    const alert =
      asked && !isTold(entry)
        ? await ownerAlerts.alertStatements(entry, (language) => translateNote(asked.error.message, language))
        : [];
    const outcome = { status, ...(failure && { error: failure.error.message }) };
    const ofSchedule = isScheduled(entry) ? await scheduledPrompts.settledStatements(entry, outcome) : [];
    try {
      await database.write([
        ...sessionStatements,
        ...sessions.appendStatements({ id, agentId, platform, inboxId }, [
          ...(entry.suspended === null ? [toUserMessage(entry)] : []),
          // Whoever stops a reply has read its beginning, and may refer to it.
          ...(status === "cancelled" && unfinished ? [toReply(unfinished, steps)] : []),
        ]),
        inbox.settleStatement(entry, status, failure?.error.code),
        guard("settled"),
        ...(notice === undefined ? [] : outbox.replyStatements(entry, notice)),
        ...alert,
        ...ofSchedule,
      ]);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
    }
    liveTurns.end(inboxId, { error: failure?.error ?? cancelledError() });
  }

  return handleFailure;
}

const isUnanswered = (error: unknown) => error instanceof AppError && error.code === "DATABASE_UNAVAILABLE";

/** The message of the agent that a session keeps. */
export const toReply = (
  { text, steps, taint }: ToolLoopOutput,
  { toStored }: Pick<ShownSteps, "toStored">,
  at = Date.now(),
) => ({
  id: Bun.randomUUIDv7(),
  role: "assistant" as const,
  content: text,
  taint,
  steps: steps.length > 0 ? JSON.stringify(steps.map(toStored)) : undefined,
  at,
});

const isAgentFrozen = (thrown: unknown) => thrown instanceof AppError && thrown.code === "AGENT_FROZEN";

const isAgentStopped = (thrown: unknown) => thrown instanceof AppError && thrown.code === "AGENT_STOPPED";

/** Whether the sender may learn the cause: the owner, where nobody else reads it. */
const isTold = ({ byOwner, isGroup }: InboxEntry) => byOwner && !isGroup;

/** The notice for the sender on a channel. Models, keys and budgets are the owner's business. */
function failureNotice(entry: InboxEntry, { error }: Failure, language: Language): string {
  if (isTold(entry) || error.code === "PARKED") {
    return translateText("Sorry, I can't answer. {cause}", language, {
      cause: translateNote(error.message, language),
    });
  }
  if (error.code === "BUDGET_EXCEEDED") {
    return translateText("Sorry, I can't answer for now: my budget is used up.", language);
  }
  if (error.code === "NEW_ACCOUNT_LIMIT") {
    return translateText("Sorry, I can't answer any more today. Write to me again tomorrow.", language);
  }
  return translateText("Sorry, I can't answer right now. My owner has been told.", language);
}
