// Lists an agent's turns with what each has used, and shows the steps of one: calls of the model and of tools.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Row } from "@libsql/client";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { ai as aiPlugin, TurnCall } from "../../ai/index.ts";
import type { ReplyFile, UploadService } from "../../uploads/index.ts";
import { findJournal } from "./journal-view.ts";
import type { ShownSteps } from "./shown-steps.ts";
import { findRunning, type TurnError, type TurnState, turnError, turnState } from "./turn-states.ts";
import { modelName, type TurnStep, turnSteps } from "./turn-steps.ts";

/** What a turn has used, as far as it is in the ledger. */
export interface TurnFigures {
  /** The model of the last call. */
  model: string | null;
  /** Calls of the model and of tools. */
  steps: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  startedAt: string;
  endedAt: string | null;
}

export interface TurnView extends TurnFigures {
  id: string;
  sessionId: string;
  platform: string;
  status: TurnState;
  error: TurnError | null;
}

export interface TurnPage {
  turns: TurnView[];
  /** Lists the older ones. */
  nextCursor: string | null;
}

export interface StoredOutcome {
  status: TurnState;
  sessionId: string;
  error: TurnError | null;
  reply: { text: string; at: number; files: readonly ReplyFile[] } | null;
}

interface Agent {
  id: string;
  status: string;
}

interface PageQuery {
  limit: number;
  offset: number;
  cursor: string | undefined;
  status: TurnState | undefined;
}

interface Deps extends Pick<Kernel, "database"> {
  ai: Pick<ServiceOf<typeof aiPlugin>, "callsOfTurns">;
  steps: Pick<ShownSteps, "showSteps" | "showSubSteps">;
  uploads: Pick<UploadService, "ofReplies">;
}

/** Entries that one request reads at most where it looks for a status. */
const SCAN = 2_000;
const NEWEST = "~";
const MICRO = 1_000_000;

/** What a list needs of an entry: with its text, SQLite would copy those of all that it looks at. */
const ENTRY = "id, session_id, platform, status, error, received_at, settled_at, has_steps, reply";
const WINDOW = `SELECT ${ENTRY} FROM inbox WHERE agent_id = ?1 AND id < ?2 AND kind <> 'command' ORDER BY id DESC LIMIT ${SCAN}`;
/** A turn writes its reply right after the message, whose number the inbox keeps. */
const COLUMNS = `i.id, i.session_id, i.platform, i.status, i.error, i.received_at, i.settled_at,
  CASE WHEN i.has_steps = 0 THEN json_array_length(m.steps) ELSE (SELECT count(*) FROM turn_steps
    WHERE agent_id = ?1 AND turn_id = i.id AND kind = 'tool') END AS tools`;
const REPLY = "LEFT JOIN messages AS m ON m.seq = i.reply AND m.inbox_id = i.id";
const LIST = `SELECT ${COLUMNS} FROM inbox AS i ${REPLY}
  WHERE i.agent_id = ?1 AND i.id < ?2 AND i.kind <> 'command' ORDER BY i.id DESC LIMIT ?3`;
/** SQLite reads the whole window before the page, which takes milliseconds. */
const LIST_OF_STATUS = `SELECT ${COLUMNS} FROM (${WINDOW}) AS i ${REPLY}
  WHERE i.status IN (SELECT value FROM json_each(?4)) ORDER BY i.id DESC LIMIT ?3`;
const WINDOW_END = `SELECT min(id) AS id, count(*) AS count FROM (${WINDOW})`;
const SKIPPED = `SELECT id FROM inbox WHERE agent_id = ?1 AND id < ?2 AND kind <> 'command' ORDER BY id DESC LIMIT 1 OFFSET ?3`;
const ONE = `SELECT ${COLUMNS}, i.kind, i.has_steps, m.steps, m.content AS reply, m.created_at AS replied_at
  FROM inbox AS i ${REPLY} WHERE i.agent_id = ?1 AND i.id = ?2`;

const STORED: Readonly<Record<TurnState, readonly string[]>> = {
  running: ["pending"],
  waiting: ["pending"],
  done: ["done"],
  failed: ["failed", "parked"],
  cancelled: ["cancelled"],
};

export function createTurnList({ database, ai, steps, uploads }: Deps) {
  /** The id of the entry after which the page begins. */
  async function skip(agentId: string, offset: number, from: string): Promise<string | undefined> {
    let before = from;
    for (let left = offset; left > 0; await yieldToEventLoop()) {
      const step = Math.min(left, SCAN);
      const last = (await database.read(SKIPPED, [agentId, before, step - 1])).rows[0]?.id;
      if (last === undefined) return undefined;
      before = String(last);
      left -= step;
    }
    return before;
  }

  async function page(agent: Agent, { limit, offset, cursor = NEWEST, status }: PageQuery): Promise<TurnPage> {
    const before = await skip(agent.id, offset, cursor);
    if (before === undefined) return { turns: [], nextCursor: null };
    const [{ rows }, running] = await Promise.all([
      status
        ? database.read(LIST_OF_STATUS, [agent.id, before, limit, JSON.stringify(STORED[status])])
        : database.read(LIST, [agent.id, before, limit]),
      findRunning(database, agent),
    ]);
    const calls = await ai.callsOfTurns(rows.map(({ id }) => String(id)));
    const turns = rows
      .map((row) => toView(row, calls.get(String(row.id)) ?? [], running))
      .filter((turn) => status === undefined || turn.status === status);
    if (rows.length === limit) return { turns, nextCursor: String(rows.at(-1)?.id) };
    const end = (await database.read(WINDOW_END, [agent.id, before])).rows[0];
    return { turns, nextCursor: Number(end?.count) === SCAN ? String(end?.id) : null };
  }

  return {
    page,

    /** A turn with its steps; undefined for an id that is not a turn of this agent. */
    async find(agent: Agent, id: string): Promise<{ turn: TurnView; steps: TurnStep[] } | undefined> {
      const row = (await database.read(ONE, [agent.id, id])).rows[0];
      if (!row || row.kind === "command") return undefined;
      const [calls, running, journal] = await Promise.all([
        ai.callsOfTurns([id]),
        findRunning(database, agent),
        row.has_steps === 1 ? findJournal(database, agent.id, id) : undefined,
      ]);
      const ofTurn = calls.get(id) ?? [];
      const turn = toView(row, ofTurn, running);
      return {
        turn,
        steps: turnSteps(
          {
            calls: ofTurn,
            journal,
            ofReply: row.steps,
            reply: row.reply === null ? null : String(row.reply),
            status: turn.status,
          },
          steps,
        ),
      };
    },

    /** How far an entry of the inbox is; undefined for an id that is not one of this agent. */
    async outcome(agent: Agent, id: string): Promise<StoredOutcome | undefined> {
      const row = (await database.read(ONE, [agent.id, id])).rows[0];
      if (!row) return undefined;
      const [running, files] = await Promise.all([
        findRunning(database, agent),
        row.reply === null ? undefined : uploads.ofReplies(agent.id, [id]),
      ]);
      const status = turnState(row.status, running.has(id));
      const reply =
        row.reply === null
          ? null
          : { text: String(row.reply), at: Number(row.replied_at), files: files?.get(id) ?? [] };
      return { status, sessionId: String(row.session_id), error: turnError(status, row.error), reply };
    },

    /** What turns have used, by their ids. */
    async figures(turnIds: readonly string[]): Promise<(id: string) => Pick<TurnView, UsedField> | null> {
      const calls = await ai.callsOfTurns(turnIds);
      return (id) => {
        const ofTurn = calls.get(id);
        return ofTurn ? toUsed(ofTurn) : null;
      };
    },
  };
}

export type TurnList = ReturnType<typeof createTurnList>;

type UsedField = "model" | "inputTokens" | "outputTokens" | "costUsd";

function toUsed(calls: readonly TurnCall[]): Pick<TurnView, UsedField> {
  // The model that answered: one that reads the answer aloud afterwards writes nothing.
  const last = calls.findLast(({ outputTokens }) => outputTokens > 0) ?? calls.at(-1);
  const sum = (of: (call: TurnCall) => number) => calls.reduce((total, call) => total + of(call), 0);
  return {
    model: last ? modelName(last) : null,
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    costUsd: sum(({ costMicroUsd }) => costMicroUsd) / MICRO,
  };
}

function toView(row: Row, calls: readonly TurnCall[], running: ReadonlySet<string>): TurnView {
  const id = String(row.id);
  const status = turnState(row.status, running.has(id));
  return {
    id,
    sessionId: String(row.session_id),
    platform: String(row.platform),
    status,
    error: turnError(status, row.error),
    ...toUsed(calls),
    steps: calls.length + Number(row.tools ?? 0),
    startedAt: iso(calls[0]?.startedAt ?? Number(row.received_at)),
    endedAt: row.settled_at === null ? null : iso(Number(row.settled_at)),
  };
}

const iso = (at: number) => new Date(at).toISOString();
