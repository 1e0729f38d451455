// Takes the prompts of schedules as messages to answer, and reports how their turns ended to the plugin of schedules.
import type { Statement } from "../../src/kernel/database/database.ts";
import type { Taint } from "../skills/index.ts";
import type { InboundMessage, InboxEntry } from "./inbox/entries.ts";
import type { Inbox } from "./inbox/inbox.ts";
import type { FinalStatus } from "./inbox/inbox-sql.ts";
import { isScheduled, SCHEDULE_SENDER } from "./inbox/scheduled.ts";
import type { OwnerAlerts } from "./outbox/owner-alerts.ts";
import type { Delivery } from "./platforms.ts";
import type { Language } from "./reader-language.ts";
import type { Sessions } from "./sessions/sessions.ts";

export interface ScheduledPrompt {
  agentId: string;
  /** The id of the run. */
  runId: string;
  /** The name of the schedule. */
  name: string;
  prompt: string;
  taint: Taint;
  /** A conversation of a channel; else the session with this id, or a new one. */
  to: { platform: string; peer: string } | { sessionId: string | null };
}

/** The message that a prompt became, with the statements that store it. */
export interface AcceptedPrompt {
  inboxId: string;
  sessionId: string;
  statements: Statement[];
}

export interface ScheduledOutcome {
  /** `undelivered`: it was `done`, but its reply has been given up. */
  status: FinalStatus | "undelivered";
  /** The reply of a turn that is `done`. */
  reply?: string;
  /** Why there is none, for the owner. */
  error?: string;
}

/** Statements for the batch that settles the turn; `ownerNotice` is also sent to the owner's own chat with the agent. */
export interface SettlementEffects {
  statements: Statement[];
  ownerNotice?: (language: Language) => string;
}

export type ScheduledSettledHandler = (
  run: { agentId: string; runId: string },
  outcome: ScheduledOutcome,
) => Promise<SettlementEffects>;

export interface ScheduledPrompts {
  acceptScheduled(prompt: ScheduledPrompt): Promise<AcceptedPrompt>;
  /** Registers the handler that is asked for statements when a turn of a schedule ends. */
  onScheduledSettled(handler: ScheduledSettledHandler): void;
  /** None for other entries. */
  settledStatements(entry: InboxEntry, outcome: ScheduledOutcome): Promise<Statement[]>;
  /** For a reply that the outbox gives up; none if no schedule wanted it. */
  undeliveredStatements(reply: Pick<Delivery, "agentId" | "inboxId" | "peer">, reason: string): Promise<Statement[]>;
}

interface Deps {
  inbox: Pick<Inbox, "acceptStatements" | "find">;
  sessions: Pick<Sessions, "find" | "openNew">;
  ownerAlerts: Pick<OwnerAlerts, "isOwnerChat" | "noticeStatements">;
  /** Hands a stored entry to its lane. */
  push(entry: InboxEntry): void;
}

export function createScheduledPrompts({ inbox, sessions, ownerAlerts, push }: Deps): ScheduledPrompts {
  let handler: ScheduledSettledHandler | undefined;

  /** The conversation of the prompt, and the statements that open it. */
  async function placeOf({ agentId, to }: ScheduledPrompt) {
    if ("peer" in to) {
      const { platform, peer } = to;
      // Elsewhere other people read the reply, so that the owner's facts and tools stay out of it.
      return { platform, to: { peer }, byOwner: await ownerAlerts.isOwnerChat(agentId, platform, peer), opening: [] };
    }
    const known = to.sessionId === null ? undefined : await sessions.find(agentId, to.sessionId);
    const opened = known?.platform === "web" ? { id: known.id, statements: [] } : sessions.openNew(agentId, "web");
    return { platform: "web", to: { sessionId: opened.id }, byOwner: true, opening: opened.statements };
  }

  async function settledStatements(entry: InboxEntry, outcome: ScheduledOutcome): Promise<Statement[]> {
    if (!handler || !isScheduled(entry)) return [];
    const { id: inboxId, agentId, platformMessageId } = entry;
    const runId = (platformMessageId ?? "").slice(SCHEDULE_SENDER.length + 1);
    const { statements, ownerNotice } = await handler({ agentId, runId }, outcome);
    if (ownerNotice === undefined) return statements;
    return [
      ...statements,
      ...(await ownerAlerts.noticeStatements({ agentId, inboxId }, (language) => ({ body: ownerNotice(language) }))),
    ];
  }

  return {
    async acceptScheduled(prompt) {
      const { agentId, runId, name, taint } = prompt;
      const { platform, to, byOwner, opening } = await placeOf(prompt);
      const { entry, statements } = await inbox.acceptStatements(
        {
          agentId,
          platform: platform as InboundMessage["platform"],
          platformMessageId: `${SCHEDULE_SENDER}:${runId}`,
          to,
          sender: { id: SCHEDULE_SENDER, name },
          byOwner,
          kind: "reminder",
          content: prompt.prompt,
          taint,
        },
        push,
      );
      return { inboxId: entry.id, sessionId: entry.sessionId, statements: [...opening, ...statements] };
    },

    onScheduledSettled(next) {
      handler = next;
    },

    settledStatements,
    async undeliveredStatements({ agentId, inboxId, peer }, reason) {
      const entry = (await inbox.find(agentId, inboxId))?.entry;
      // A notice to the owner may be about the same entry, in another conversation.
      if (entry?.peer !== peer) return [];
      return settledStatements(entry, { status: "undelivered", error: reason });
    },
  };
}
