// Tells whether anything of a person is known, and finds the receipts of erasures that have ended.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { ErasureList } from "./erasure-list.ts";
import { agentsOf } from "./find-traces.ts";
import type { Receipt } from "./receipt.ts";
import { ACCOUNT, type Subject } from "./subject.ts";

interface Deps extends Pick<Kernel, "database"> {
  list: Pick<ErasureList, "hashOf">;
}

/** An erasure of one agent's person, as its owner sees it. */
export interface PastErasure {
  id: string;
  /** Epoch ms. */
  startedAt: number;
  /** Undefined while it is under way. */
  receipt: Receipt | undefined;
}

export interface ErasurePage {
  limit: number;
  offset: number;
  cursor?: string | undefined;
}

/** Of the last erasure; NULL while it is under way. */
const RECEIPT = "SELECT receipt FROM erasures WHERE person = ? AND agent_id IS ? ORDER BY id DESC LIMIT 1";
const OPEN = "SELECT 1 FROM erasures WHERE person = ? AND agent_id IS ? AND ended_at IS NULL";
const OF_AGENT =
  "SELECT id, started_at, receipt FROM erasures WHERE agent_id = ? AND id < ? ORDER BY id DESC LIMIT ? OFFSET ?";
/** Sorts after every id. */
const NEWEST = "~";

const parseReceipt = (text: unknown) => (typeof text === "string" ? (JSON.parse(text) as Receipt) : undefined);

export type PastErasures = ReturnType<typeof createPastErasures>;

export function createPastErasures({ database, list }: Deps) {
  const isKnown = async (subject: Subject) =>
    subject.channel === ACCOUNT
      ? (await database.read("SELECT 1 FROM users WHERE id = ?", [subject.id])).rows.length > 0
      : (await agentsOf(database, subject)).length > 0;

  return {
    isKnown,
    /** The receipt of somebody who was erased, and of whom nothing has come since: its first print may be lost. */
    async receiptOf(subject: Subject): Promise<Receipt | undefined> {
      const { rows } = await database.read(RECEIPT, [list.hashOf(subject), subject.agentId ?? null]);
      const receipt = parseReceipt(rows[0]?.receipt);
      return receipt && !(await isKnown(subject)) ? receipt : undefined;
    },
    isUnderWay: async (subject: Subject): Promise<boolean> =>
      (await database.read(OPEN, [list.hashOf(subject), subject.agentId ?? null])).rows.length > 0,
    /** Newest first; with `cursor`, those with ids before it. */
    async ofAgent(agentId: string, { limit, offset, cursor = NEWEST }: ErasurePage): Promise<PastErasure[]> {
      const { rows } = await database.read(OF_AGENT, [agentId, cursor, limit, offset]);
      return rows.map(({ id, started_at, receipt }) => ({
        id: String(id),
        startedAt: Number(started_at),
        receipt: parseReceipt(receipt),
      }));
    },
  };
}
