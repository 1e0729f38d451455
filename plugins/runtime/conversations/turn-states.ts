// Says how far a turn is, and in words for the agent's owner why there is no reply.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { PENDING_INBOX } from "../inbox/inbox-sql.ts";

export type TurnState = "running" | "waiting" | "done" | "failed" | "cancelled";

/** The public reason for which a message has no reply. */
export interface TurnError {
  code: string;
  message: string;
}

/** The most entries of an agent that are read to see which of them run. */
const MAX_PENDING = 1_000;
const PENDING = `SELECT id, session_id FROM ${PENDING_INBOX} WHERE status = 'pending' AND suspended IS NOT 1
  AND agent_id = ? ORDER BY id LIMIT ${MAX_PENDING}`;

/** Only the code is stored; the words of the moment are in the agent's log. */
const REASONS: Readonly<Record<string, string>> = {
  AGENT_STOPPED: "The agent was stopped before it could answer. Start it, then send the message again.",
  BUDGET_EXCEEDED: "The budget was used up. Raise it or wait for the next period, then send the message again.",
  CANCELLED: "The reply was cancelled.",
  FILE_UNAVAILABLE: "A file of this message could not be fetched. Send it again.",
  MODEL_UNAVAILABLE: "The model could not be reached, or refused the request. The agent's log says more.",
  PARKED: "This message could not be answered after several tries.",
  PRICE_UNAVAILABLE: "The price of the model could not be found out. Try again shortly.",
  PRICE_UNKNOWN: "The price of this model is not known. Choose another model.",
  TRANSCRIPTION_UNAVAILABLE: "A recording could not be written down. Try again shortly, or write it.",
};

export const turnError = (state: TurnState, code: unknown): TurnError | null => {
  if (state === "cancelled") return { code: "CANCELLED", message: REASONS.CANCELLED ?? "" };
  if (state !== "failed") return null;
  const known = typeof code === "string" ? code : "INTERNAL";
  return { code: known, message: REASONS[known] ?? "This message could not be answered. The agent's log says more." };
};

/** The state of an entry of the inbox. */
export function turnState(status: unknown, isRunning: boolean): TurnState {
  if (status === "pending") return isRunning ? "running" : "waiting";
  if (status === "parked" || status === "failed") return "failed";
  return status === "cancelled" ? "cancelled" : "done";
}

/**
 * The ids of an agent's turns that run. They follow from the rows: of each conversation the oldest pending entry runs, unless
 * the agent is stopped.
 */
export async function findRunning({ read }: Kernel["database"], agent: { id: string; status: string }) {
  if (agent.status === "stopped") return new Set<string>();
  const { rows } = await read(PENDING, [agent.id]);
  const first = new Map<unknown, string>();
  for (const { id, session_id } of rows) if (!first.has(session_id)) first.set(session_id, String(id));
  return new Set(first.values());
}
