// Reads the journal of a turn as it is shown: without secrets, and with calls that wait or were interrupted.
import type { Database } from "../../../src/kernel/database/database.ts";
import type { TurnState } from "./turn-states.ts";

/** `unknown`: the call was interrupted, and may have had its effect. `cancelled`: its turn ended before it ran. */
export type StepState = "waiting" | "running" | "done" | "failed" | "cancelled" | "unknown";

interface JournaledCall {
  name: string;
  input: unknown;
  output: string | null;
  /** Null until it has ended. */
  ok: boolean | null;
  /** Epoch ms; null while it waits for approval. */
  startedAt: number | null;
  endedAt: number | null;
  /** JSON of the calls that it has made itself; null for none. */
  subSteps: string | null;
}

export interface JournalView {
  calls: JournaledCall[];
  /** What the model said with the calls of tools, in the answer that it was asked for at this time; null for none. */
  textAt(startedAt: number): string | null;
}

const STEPS = `SELECT kind, name, input, output, ok, started_at, ended_at, sub_steps FROM turn_steps
  WHERE agent_id = ? AND turn_id = ? ORDER BY seq`;

export async function findJournal(
  { read }: Pick<Database, "read">,
  agentId: string,
  turnId: string,
): Promise<JournalView> {
  const { rows } = await read(STEPS, [agentId, turnId]);
  const answers = rows.filter(({ kind }) => kind === "model");
  const calls = rows.filter(({ kind }) => kind === "tool");
  return {
    calls: calls.map(({ name, input, output, ok, started_at, ended_at, sub_steps }) => ({
      name: String(name),
      input: parseShown(String(input)),
      output: output === null ? null : String(output),
      ok: ok === null ? null : ok === 1,
      startedAt: started_at === null ? null : Number(started_at),
      endedAt: ended_at === null ? null : Number(ended_at),
      subSteps: sub_steps === null ? null : String(sub_steps),
    })),
    textAt(startedAt) {
      const answer = answers.find((row) => Number(row.started_at) <= startedAt && startedAt <= Number(row.ended_at));
      return answer && answer.output !== "" ? String(answer.output) : null;
    },
  };
}

/** An answer of the model that called tools, as it is shown. */
export interface ShownAnswer {
  text: string;
  calls: number;
}

export const ANSWERS = `SELECT turn_id, kind, output FROM turn_steps
  WHERE agent_id = ?1 AND turn_id IN (SELECT value FROM json_each(?2)) ORDER BY turn_id, seq`;

/** The answers in the journals of these turns, in order. */
export async function findAnswers(
  { read }: Pick<Database, "read">,
  agentId: string,
  turnIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ShownAnswer[]>> {
  const answers = new Map<string, ShownAnswer[]>();
  if (turnIds.length === 0) return answers;
  for (const { turn_id, kind, output } of (await read(ANSWERS, [agentId, JSON.stringify(turnIds)])).rows) {
    const ofTurn = answers.get(String(turn_id)) ?? [];
    answers.set(String(turn_id), ofTurn);
    const last = ofTurn.at(-1);
    if (kind === "model") ofTurn.push({ text: String(output ?? ""), calls: 0 });
    else if (last) last.calls++;
  }
  return answers;
}

/** The state of a call in a turn that is in this state. */
export function stepState({ ok, startedAt }: Pick<JournaledCall, "ok" | "startedAt">, turn: TurnState): StepState {
  if (ok !== null) return ok ? "done" : "failed";
  if (startedAt === null) return turn === "running" || turn === "waiting" ? "waiting" : "cancelled";
  return turn === "running" ? "running" : "unknown";
}

/** A value, or the text of one that was cut. */
function parseShown(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
