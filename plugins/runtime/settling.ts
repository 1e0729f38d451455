// The one write that ends a turn: with a reply, or without one.
import { GuardFailed, guard, type Statement } from "../../src/database.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { Figures } from "../figures/index.ts";
import type { Failure } from "./failures.ts";
import type { Ending, Inbox, InboxEntry } from "./inbox.ts";
import type { Outbox } from "./outbox.ts";
import type { Sessions } from "./sessions.ts";
import type { Step } from "./turn.ts";

/** A settled turn, as its entrance tells it. */
export interface Reply {
  inboxId: string;
  sessionId: string;
  reply: string;
  /** Epoch ms. */
  timestamp: number;
}

/** What a turn has to say. */
export interface Said {
  text: string;
  steps: Step[];
}

/** A turn at its end. */
export interface Ended {
  /** In the session that is open by now, and with the preview that was shown. */
  entry: InboxEntry;
  /** What opens that session where nothing did before. */
  opening: Statement[];
}

interface Deps extends Pick<Kernel, "database" | "events"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  figures: Pick<Figures, "settled">;
  inbox: Inbox;
  sessions: Sessions;
  outbox: Outbox;
}

export function createSettling({ database, events, agents, figures, inbox, sessions, outbox }: Deps) {
  /** The one write that ends a turn. A second one for the same entry is refused by the guard, whatever happened between. */
  async function settle({ entry, opening }: Ended, agent: Agent, said: Said, also: Statement[]): Promise<Reply> {
    const now = Date.now();
    const { id: inboxId, sessionId, agentId, platform } = entry;
    // Somebody may have claimed it since the turn began, and is told of what is said from then on.
    const { userId } = (await agents.find(agentId)) ?? agent;
    const text = said.text.trim() === "" ? "(no answer)" : said.text;
    const steps = said.steps.length > 0 ? JSON.stringify(said.steps) : undefined;
    await database.write([
      ...opening,
      ...sessions.append({ id: sessionId, agentId, platform, inboxId }, [
        asked(entry),
        { id: Bun.randomUUIDv7(), role: "assistant", content: text, steps, at: now },
      ]),
      ending(entry, "done"),
      guard("settled"),
      ...also,
      ...delivery(entry, text),
      events.record("agent.message", {
        userId,
        agentId,
        data: { agentId, sessionId, platform, inboxId },
      }),
    ]);
    return { inboxId, sessionId, reply: text, timestamp: now };
  }

  /** Ends an entry, and counts its turn once that is on disk: see `isTurn` in tally.ts. */
  function ending(entry: InboxEntry, status: Ending, code?: string): Statement {
    const statement = inbox.settled(entry, status, code);
    if (entry.kind === "command" || status === "cancelled") return statement;
    const { agentId, receivedAt } = entry;
    const at = Date.now();
    const after = () => figures.settled(agentId, { ok: status === "done", ms: at - receivedAt, at });
    return { ...statement, after };
  }

  /** Replies to channels go through the outbox; the others are waited for. */
  function delivery(entry: InboxEntry, body: string): Statement[] {
    const { id: inboxId, agentId, platform, peer, previewId } = entry;
    if (peer === null || !platform.startsWith("channel_")) return [];
    const replyTo = entry.kind === "reminder" ? null : entry.platformMessageId;
    return [outbox.put({ inboxId, agentId, platform, peer, body, replyTo, previewId })];
  }

  /** Ends an entry without a reply of the model; on a channel the person is told. */
  async function close(
    { entry, opening }: Ended,
    status: "failed" | "cancelled" | "parked",
    failure?: Failure,
  ): Promise<void> {
    const { sessionId: id, agentId, platform, id: inboxId } = entry;
    const notice = failure && noticeOf(entry, failure);
    try {
      await database.write([
        ...opening,
        ...sessions.append({ id, agentId, platform, inboxId }, [asked(entry)]),
        ending(entry, status, failure?.error.code),
        guard("settled"),
        ...(notice === undefined ? [] : delivery(entry, notice)),
      ]);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
    }
  }

  return { settle, close };
}

/** What the user said, as the session keeps it: under the id of the inbox entry. */
const asked = ({ id, content, receivedAt }: InboxEntry) => ({ id, role: "user" as const, content, at: receivedAt });

/** What a person on a channel is told. How much money an agent's owner has left is nobody else's business. */
function noticeOf({ byOwner, isGroup }: InboxEntry, { error }: Failure): string {
  const tells = error.code !== "BUDGET_EXCEEDED" || (byOwner && !isGroup);
  return `Sorry, I can't answer right now. ${tells ? error.message : "My budget is used up for now."}`;
}
