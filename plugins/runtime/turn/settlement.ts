// The one write that ends a turn: with a reply, or without one.
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { AgentStatsService } from "../../agent-stats/index.ts";
import type { Agent, agents as agentsPlugin } from "../../agents/index.ts";
import type { FinalStatus, Inbox, InboxEntry } from "../inbox/inbox.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { Failure } from "./failure.ts";
import type { Step } from "./tool-loop.ts";

/** A settled turn, as its entrance tells it. */
export interface Reply {
  inboxId: string;
  sessionId: string;
  reply: string;
  /** Epoch ms. */
  timestamp: number;
}

/** What a turn has to say. */
export interface TurnOutput {
  text: string;
  steps: Step[];
}

/** A turn at its end. */
export interface EndedTurn {
  /** In the session that is open by now, and with the preview that was shown. */
  entry: InboxEntry;
  /** What opens that session where nothing did before. */
  sessionStatements: Statement[];
}

interface Deps extends Pick<Kernel, "database" | "events"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  agentStats: Pick<AgentStatsService, "recordTurn">;
  inbox: Inbox;
  sessions: Sessions;
  outbox: Outbox;
}

export function createSettlement({ database, events, agents, agentStats, inbox, sessions, outbox }: Deps) {
  /** The one write that ends a turn. A second one for the same entry is refused by the guard, whatever happened between. */
  async function settle(
    { entry, sessionStatements }: EndedTurn,
    agent: Agent,
    output: TurnOutput,
    extraStatements: Statement[],
  ): Promise<Reply> {
    const now = Date.now();
    const { id: inboxId, sessionId, agentId, platform } = entry;
    // Somebody may have claimed it since the turn began, and is told of what is said from then on.
    const { userId } = (await agents.find(agentId)) ?? agent;
    const text = output.text.trim() === "" ? "(no answer)" : output.text;
    const steps = output.steps.length > 0 ? JSON.stringify(output.steps) : undefined;
    await database.write([
      ...sessionStatements,
      ...sessions.appendStatements({ id: sessionId, agentId, platform, inboxId }, [
        userMessage(entry),
        { id: Bun.randomUUIDv7(), role: "assistant", content: text, steps, at: now },
      ]),
      settleEntryStatement(entry, "done"),
      guard("settled"),
      ...extraStatements,
      ...outboxStatements(entry, text),
      events.recordStatement("agent.message", {
        userId,
        agentId,
        data: { agentId, sessionId, platform, inboxId },
      }),
    ]);
    return { inboxId, sessionId, reply: text, timestamp: now };
  }

  /** Ends an entry, and counts its turn once that is on disk: see `isTurn` in tally.ts. */
  function settleEntryStatement(entry: InboxEntry, status: FinalStatus, code?: string): Statement {
    const statement = inbox.settleStatement(entry, status, code);
    if (entry.kind === "command" || status === "cancelled") return statement;
    const { agentId, receivedAt } = entry;
    const at = Date.now();
    const after = () => agentStats.recordTurn(agentId, { ok: status === "done", ms: at - receivedAt, at });
    return { ...statement, after };
  }

  /** Replies to channels go through the outbox; the others are waited for. */
  function outboxStatements(entry: InboxEntry, body: string): Statement[] {
    const { id: inboxId, agentId, platform, peer, previewId } = entry;
    if (peer === null || !platform.startsWith("channel_")) return [];
    const replyTo = entry.kind === "reminder" ? null : entry.platformMessageId;
    return [outbox.enqueueStatement({ inboxId, agentId, platform, peer, body, replyTo, previewId })];
  }

  /** Ends an entry without a reply of the model; on a channel the person is told. */
  async function settleWithoutReply(
    { entry, sessionStatements }: EndedTurn,
    status: "failed" | "cancelled" | "parked",
    failure?: Failure,
  ): Promise<void> {
    const { sessionId: id, agentId, platform, id: inboxId } = entry;
    const notice = failure && failureNotice(entry, failure);
    try {
      await database.write([
        ...sessionStatements,
        ...sessions.appendStatements({ id, agentId, platform, inboxId }, [userMessage(entry)]),
        settleEntryStatement(entry, status, failure?.error.code),
        guard("settled"),
        ...(notice === undefined ? [] : outboxStatements(entry, notice)),
      ]);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
    }
  }

  return { settle, settleWithoutReply };
}

/** What the user said, as the session keeps it: under the id of the inbox entry. */
const userMessage = ({ id, content, receivedAt }: InboxEntry) => ({
  id,
  role: "user" as const,
  content,
  at: receivedAt,
});

/** What a person on a channel is told. How much money an agent's owner has left is nobody else's business. */
function failureNotice({ byOwner, isGroup }: InboxEntry, { error }: Failure): string {
  const showsReason = error.code !== "BUDGET_EXCEEDED" || (byOwner && !isGroup);
  return `Sorry, I can't answer right now. ${showsReason ? error.message : "My budget is used up for now."}`;
}
