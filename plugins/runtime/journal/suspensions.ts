// Suspends turns that wait for the owner's approval, asks the owner, and lets the turns go on once all is decided.
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { approvals as approvalsPlugin } from "../../approvals/index.ts";
import { idOfCall } from "../../skills/index.ts";
import { cancelledError, waitingForApproval } from "../errors.ts";
import { type InboxEntry, toUserMessage } from "../inbox/entries.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { PENDING_INBOX } from "../inbox/inbox-sql.ts";
import { isScheduled } from "../inbox/scheduled.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { LiveTurns } from "../live/live-turns.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { OwnerAlerts } from "../outbox/owner-alerts.ts";
import type { Language, ReaderLanguage } from "../reader-language.ts";
import type { ScheduledPrompts } from "../scheduled-prompts.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { ReplyWaiter } from "../turn/running-turns.ts";
import type { SuspendedLoop } from "../turn/tool-loop.ts";
import { askingText, choicesOf, noticeText, showsChoices } from "./approval-words.ts";

interface Deps extends Pick<Kernel, "database"> {
  approvals: Pick<ServiceOf<typeof approvalsPlugin>, "chatSummary" | "markAskedStatement" | "onTurnDecided">;
  inbox: Pick<Inbox, "find" | "listSuspended" | "settleStatement">;
  sessions: Pick<Sessions, "appendStatements">;
  outbox: Pick<Outbox, "replyStatements">;
  ownerAlerts: Pick<OwnerAlerts, "noticeStatements">;
  scheduledPrompts: Pick<ScheduledPrompts, "settledStatements">;
  liveTurns: Pick<LiveTurns, "suspend" | "end">;
  lanes: Pick<Lanes<InboxEntry>, "entriesOf" | "push" | "resume">;
  readerLanguage: ReaderLanguage;
  onError(error: unknown): void;
}

/** The turn that is suspended. */
interface SuspendedTurn {
  entry: InboxEntry;
  queued: InboxEntry;
  sessionStatements: Statement[];
  waiter: ReplyWaiter | undefined;
}

/** The id of the message by which an entry's turn says that it waits. It is not part of that turn's own prompt. */
export const noticeIdOf = (entry: Pick<InboxEntry, "id">) => idOfCall(`${entry.id}.notice`);

/** Only while a request is undecided: a decision that came meanwhile has found nothing to resume. */
const SUSPEND = `UPDATE inbox SET suspended = 1, suspended_at = ?3, preview_id = NULL WHERE agent_id = ?1 AND id = ?2 AND status = 'pending'
  AND EXISTS (SELECT 1 FROM approvals WHERE agent_id = ?1 AND turn_id = ?2 AND status = 'pending')`;
/** ?1 now. */
const GO_ON = "suspended = 0, waited_ms = waited_ms + max(0, ?1 - coalesce(suspended_at, ?1)), suspended_at = NULL";
const RESUME = `UPDATE inbox SET ${GO_ON} WHERE agent_id = ?2 AND id = ?3 AND suspended = 1 AND status = 'pending'
  AND NOT EXISTS (SELECT 1 FROM approvals WHERE agent_id = ?2 AND turn_id = ?3 AND status = 'pending')`;
const RESUME_ALL = `UPDATE ${PENDING_INBOX} SET ${GO_ON} WHERE agent_id = ?2 AND status = 'pending' AND suspended = 1`;

export function createSuspensions(deps: Deps) {
  const {
    database,
    approvals,
    inbox,
    sessions,
    outbox,
    ownerAlerts,
    scheduledPrompts,
    liveTurns,
    lanes,
    readerLanguage,
    onError,
  } = deps;
  /** Entries that were resumed while their lane still held them. */
  const resumedEarly = new Set<string>();

  async function resume(agentId: string, id: string): Promise<void> {
    const found = await inbox.find(agentId, id);
    if (found?.status !== "pending") return;
    if (lanes.entriesOf(agentId).some((held) => held.id === id)) resumedEarly.add(id);
    else lanes.push(found.entry);
  }

  /** Lets a turn go on, unless another of its requests is undecided. */
  const resumeStatement = (agentId: string, id: string): Statement => ({
    sql: RESUME,
    args: [Date.now(), agentId, id],
    after: ({ rowsAffected }) => {
      if (rowsAffected > 0) resume(agentId, id).catch(onError);
    },
  });
  approvals.onTurnDecided(resumeStatement);

  return {
    /**
     * Suspends a turn, and tells its sender and the owner. Returns false, with nothing written, if the requests were decided
     * meanwhile.
     */
    async suspend(turn: SuspendedTurn, { text, taint, waiting }: SuspendedLoop): Promise<boolean> {
      const { entry, queued, sessionStatements, waiter } = turn;
      const { id: inboxId, agentId, sessionId, platform } = entry;
      const now = Date.now();
      const isFirst = queued.suspended === null;
      const requests = waiting.map((request) => ({ ...request, summary: approvals.chatSummary(request) }));
      const unasked = requests.filter(({ asked }) => !asked);
      // Another agent asks in the owner's name, but a model must not read the codes: the owner is asked elsewhere.
      const isToldAll = entry.byOwner && !entry.isGroup && platform !== "agent";
      const language = await readerLanguage(agentId, entry.language);
      const notice = noticeText(requests, isToldAll, platform, language);
      const asked: Statement[] = [];
      for (const request of unasked) {
        const write = (inLanguage: Language, withChoices = true) => ({
          body: askingText([request], withChoices, inLanguage, isToldAll ? undefined : entry),
          choices: choicesOf(request, inLanguage),
        });
        if (isToldAll) {
          const { body, choices } = write(language, showsChoices(platform));
          asked.push(...outbox.replyStatements({ ...entry, previewId: null }, body, { choices }));
        } else asked.push(...(await ownerAlerts.noticeStatements({ agentId, inboxId }, write)));
      }
      const assistant = { id: noticeIdOf(entry), role: "assistant" as const, content: notice, taint, at: now };
      try {
        await database.write([
          ...sessionStatements,
          { sql: SUSPEND, args: [agentId, inboxId, now] },
          guard("turn.undecided"),
          ...(isFirst
            ? sessions.appendStatements({ id: sessionId, agentId, platform, inboxId }, [
                toUserMessage(entry),
                assistant,
              ])
            : []),
          ...(isFirst && !isToldAll ? outbox.replyStatements(entry, notice) : []),
          ...asked,
          ...(unasked.length > 0
            ? [
                approvals.markAskedStatement(
                  agentId,
                  unasked.map(({ id }) => id),
                ),
              ]
            : []),
        ]);
      } catch (error) {
        if (error instanceof GuardFailed) return false;
        throw error;
      }
      queued.suspended = true;
      queued.previewId = null;
      liveTurns.suspend(inboxId, waitingForApproval());
      const reply = text === "" ? notice : `${text}\n\n${notice}`;
      waiter?.observer?.delta(text === "" ? notice : `\n\n${notice}`);
      waiter?.resolve({ inboxId, agentId, sessionId, reply, timestamp: now });
      return true;
    },

    /** Whether an entry whose run has ended was resumed before its lane let go of it. */
    takeResumed: (id: string): boolean => resumedEarly.delete(id),

    /** Ends the suspended turns of the conversation of this entry. */
    async cancelConversation(of: InboxEntry): Promise<Statement[]> {
      const statements: Statement[] = [];
      for (const entry of await inbox.listSuspended(of)) {
        const settle = inbox.settleStatement(entry, "cancelled");
        const after = () => liveTurns.end(entry.id, { error: cancelledError() });
        const ofSchedule = isScheduled(entry)
          ? await scheduledPrompts.settledStatements(entry, { status: "cancelled" })
          : [];
        statements.push({ ...settle, after }, ...ofSchedule);
      }
      return statements;
    },

    /** Lets all suspended turns of an agent go on. */
    resumeAllStatement: (agentId: string): Statement => ({
      sql: RESUME_ALL,
      args: [Date.now(), agentId],
      after: () => lanes.resume(agentId),
    }),
  };
}

export type Suspensions = ReturnType<typeof createSuspensions>;
