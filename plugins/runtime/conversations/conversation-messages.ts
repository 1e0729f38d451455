// Reads the messages of one conversation in pages, newest first, with the steps and figures of the turns behind them.
import type { Row } from "@libsql/client";
import type { Static } from "elysia";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { ReplyFile, UploadService } from "../../uploads/index.ts";
import { PENDING_INBOX } from "../inbox/inbox-sql.ts";
import { noticeIdOf } from "../journal/suspensions.ts";
import type { attachment } from "./model.ts";
import type { ShownStep, ShownSteps } from "./shown-steps.ts";
import type { TurnList } from "./turn-list.ts";
import { findRunning, type TurnError, type TurnState, turnError, turnState } from "./turn-states.ts";

export interface MessageView {
  id: string;
  /** The position in the conversation; null for a message that is not answered yet. */
  seq: number | null;
  role: "user" | "assistant";
  kind: "message" | "command" | "reminder";
  text: string;
  /** The model that wrote down recordings, whose words are in `text`. */
  transcribedBy: string | null;
  /** Empty for the agent, and for its owner. */
  senderName: string;
  byOwner: boolean;
  createdAt: string;
  turnId: string;
  state: TurnState;
  error: TurnError | null;
  steps: ShownStep[];
  attachments: Static<typeof attachment>[];
  /** What the turn of a reply has used; null where the ledger knows nothing of it. */
  usage: { model: string | null; inputTokens: number; outputTokens: number; costUsd: number; ms: number } | null;
}

export interface MessagePage {
  messages: MessageView[];
  /** Lists the older ones. */
  before: number | null;
}

interface Deps extends Pick<Kernel, "database"> {
  turnList: Pick<TurnList, "figures">;
  steps: Pick<ShownSteps, "showSteps">;
  uploads: Pick<UploadService, "ofMessages" | "ofReplies">;
}

/** Characters of a page; a page of long texts has fewer messages, but one at least. */
const MAX_CHARACTERS = 1_000_000;
const MAX_WAITING = 100;

const PAGE = `SELECT m.seq, m.id, m.role, m.content, m.steps, m.created_at, m.inbox_id, i.sender_name, i.by_owner, i.kind,
    i.status, i.error, i.received_at, i.transcribed_by
  FROM messages AS m LEFT JOIN inbox AS i ON i.agent_id = ?1 AND i.id = m.inbox_id
  WHERE m.session_id = ?2 AND m.seq < ?3 ORDER BY m.seq DESC LIMIT ?4`;
const WAITING = `SELECT NULL AS seq, id, 'user' AS role, content, NULL AS steps, received_at AS created_at, id AS inbox_id,
    sender_name, by_owner, kind, status, error, received_at, transcribed_by
  FROM ${PENDING_INBOX} WHERE status = 'pending' AND suspended IS NULL AND agent_id = ? AND session_id = ? ORDER BY id DESC LIMIT ${MAX_WAITING}`;

export function createConversationMessages({ database, turnList, steps, uploads }: Deps) {
  function toView(row: Row, running: ReadonlySet<string>): MessageView {
    const turnId = String(row.inbox_id);
    const isReply = row.role === "assistant";
    const state = stateOf(row, isReply, running.has(turnId));
    return {
      id: String(row.id),
      seq: row.seq === null ? null : Number(row.seq),
      role: isReply ? "assistant" : "user",
      kind: isReply ? "message" : ((row.kind ?? "message") as MessageView["kind"]),
      text: String(row.content),
      transcribedBy: isReply || row.transcribed_by == null ? null : String(row.transcribed_by),
      senderName: isReply ? "" : String(row.sender_name ?? ""),
      byOwner: !isReply && row.by_owner === 1,
      createdAt: new Date(Number(row.created_at)).toISOString(),
      turnId,
      state,
      error: turnError(state, row.error),
      steps: steps.showSteps(row.steps),
      attachments: [],
      usage: null,
    };
  }

  return async (
    agent: { id: string; status: string },
    sessionId: string,
    { before = Number.MAX_SAFE_INTEGER, limit }: { before: number | undefined; limit: number },
  ): Promise<MessagePage> => {
    const isNewest = before === Number.MAX_SAFE_INTEGER;
    const [stored, waiting, running] = await Promise.all([
      database.read(PAGE, [agent.id, sessionId, before, limit + 1]),
      isNewest ? database.read(WAITING, [agent.id, sessionId]) : { rows: [] },
      findRunning(database, agent),
    ]);
    const rows: Row[] = [...waiting.rows];
    let characters = 0;
    for (const row of stored.rows.slice(0, limit)) {
      characters += String(row.content).length + String(row.steps ?? "").length;
      if (characters > MAX_CHARACTERS && rows.length > waiting.rows.length) break;
      rows.push(row);
    }
    const lastRow = rows.at(-1);
    const hasMore = stored.rows.length > rows.length - waiting.rows.length;
    const messages = rows.map((row) => toView(row, running));
    const replies = messages.filter(({ role }) => role === "assistant").map(({ turnId }) => turnId);
    const asked = messages.filter(({ role }) => role === "user").map(({ id }) => id);
    const [usedBy, filesOf, sentWith] = await Promise.all([
      turnList.figures(replies),
      uploads.ofMessages(agent.id, asked),
      uploads.ofReplies(agent.id, replies),
    ]);
    const receivedAt = new Map(rows.map((row) => [String(row.id), Number(row.received_at ?? row.created_at)]));
    for (const message of messages) {
      if (message.role === "user") {
        message.attachments = (filesOf.get(message.id) ?? []).map(toAttachment);
        continue;
      }
      // A turn that waited for its owner has said so in a message of its own, which has no files.
      if (message.id !== noticeIdOf({ id: message.turnId })) {
        message.attachments = (sentWith.get(message.turnId) ?? []).map(toReplyAttachment);
      }
      const used = usedBy(message.turnId);
      const ms = Date.parse(message.createdAt) - (receivedAt.get(message.id) ?? Date.parse(message.createdAt));
      message.usage = used && { ...used, ms: Math.max(0, ms) };
    }
    return { messages, before: hasMore && lastRow ? Number(lastRow.seq) : null };
  };
}

/** A reply is done, or was cut off when somebody stopped it. */
function stateOf({ status }: Row, isReply: boolean, isRunning: boolean): TurnState {
  if (status === null) return "done";
  if (isReply) return status === "cancelled" ? "cancelled" : "done";
  return turnState(status, isRunning);
}

const toReplyAttachment = ({ kind, caption, ...file }: ReplyFile) => ({
  ...toAttachment(file),
  kind,
  ...(caption !== null && { caption }),
});

const toAttachment = ({ id, name, type, size }: { id: string; name: string; type: string; size: number }) => ({
  id,
  name,
  type,
  size,
});
