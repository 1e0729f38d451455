// Stores the steps of turns before and after they run, so that an interrupted turn goes on behind its last finished step.
//
// The exact texts are sealed, because tools get and return secrets; they are needed only until the turn ends, when a trigger
// deletes them. What stays is the form that is shown, with secrets blacked out.
import type { Row } from "@libsql/client";
import { guard, type Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import { highestTaint, TAINT, type Taint, type ToolEffect } from "../../skills/index.ts";
import type { InboxEntry } from "../inbox/entries.ts";
import type { Answer, Call, CallEnd, ModelCall, SubStep, TurnJournal } from "./steps.ts";

/** Makes texts fit to be stored in clear. */
export interface ShownTexts {
  inputText(input: string): string;
  showText(text: string): string;
  toStoredSteps(steps: readonly SubStep[]): SubStep[];
}

interface Deps extends Pick<Kernel, "database" | "vault" | "audit"> {
  shown: ShownTexts;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
}

type Key = Pick<InboxEntry, "agentId" | "id">;

/** The exact texts of a call. */
type SealedCall = Pick<Call, "id" | "input"> & { end?: CallEnd };

const ROW = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const insertSql = (rows: number) => `INSERT INTO turn_steps
  (agent_id, turn_id, seq, kind, name, effect, input, output, ok, taint, sealed, started_at, ended_at)
  VALUES ${Array(rows).fill(ROW).join(", ")}`;
const WHERE = "WHERE agent_id = ? AND turn_id = ? AND seq = ?";
/** Changes nothing in a turn that was settled meanwhile, so that its guard fails. */
const MARK = "UPDATE inbox SET has_steps = 1 WHERE agent_id = ? AND id = ? AND status = 'pending'";
const LOAD = `SELECT seq, kind, name, effect, ok, taint, sealed, started_at FROM turn_steps
  WHERE agent_id = ? AND turn_id = ? ORDER BY seq`;

/** What a sealed text is bound to. */
export const sealContext = (agentId: unknown, turnId: unknown, seq: unknown) => `turn:${agentId}:${turnId}:${seq}`;

export function createJournal({ database, vault, audit, shown, agents }: Deps) {
  /** Records the calls that spend or have an effect outside, by their agent, in the write that lets them begin. */
  async function auditStatements({ agentId, id: turn }: Key, calls: readonly Call[]): Promise<Statement[]> {
    const acting = calls.filter(({ acts, startedAt, end }) => acts && startedAt !== undefined && !end);
    if (acting.length === 0) return [];
    const name = (await agents.find(agentId))?.name ?? "";
    const actor = { kind: "agent", id: agentId, name, address: null, requestId: null } as const;
    return acting.map(({ tool, seq, acts }) =>
      audit.statementFor(actor, {
        action: "tool.call",
        target: { kind: "tool", id: tool, name: tool },
        details: { class: acts?.class, turn, step: seq, approval: acts?.approvalId ?? null },
      }),
    );
  }

  const seal = ({ agentId, id }: Key, seq: number, value: unknown) =>
    vault.seal(JSON.stringify(value), sealContext(agentId, id, seq));

  const sealedCall = (entry: Key, { seq, id, input, end: ended }: Call) => {
    const end = ended?.steps ? { ...ended, steps: shown.toStoredSteps(ended.steps) } : ended;
    return seal(entry, seq, { id, input, ...(end && { end }) } satisfies SealedCall);
  };

  const answerRow = (entry: Key, { seq, model, text, taint, startedAt }: Answer) => [
    ...[entry.agentId, entry.id, seq, "model", model, null, null, shown.showText(text), 1, taint],
    ...[seal(entry, seq, text), startedAt, Date.now()],
  ];

  const callRow = (entry: Key, call: Call, taint: Taint) => {
    const { seq, tool, effect, input, startedAt = null, end } = call;
    const ended = end ? [shown.showText(end.text), end.ok ? 1 : 0] : [null, null];
    return [
      ...[entry.agentId, entry.id, seq, "tool", tool, effect, shown.inputText(input), ...ended, taint],
      ...[sealedCall(entry, call), startedAt, end?.at ?? null],
    ];
  };

  function endStatement(entry: Key, call: Call, taint: Taint): Statement {
    const { seq, end } = call;
    return {
      sql: `UPDATE turn_steps SET output = ?, ok = ?, taint = ?, sealed = ?, ended_at = ?, sub_steps = ? ${WHERE}`,
      args: [
        ...[shown.showText(end?.text ?? ""), end?.ok ? 1 : 0, taint, sealedCall(entry, call), end?.at ?? null],
        end?.steps ? JSON.stringify(shown.toStoredSteps(end.steps)) : null,
        ...[entry.agentId, entry.id, seq],
      ],
    };
  }

  async function load(entry: Key): Promise<Pick<TurnJournal, "answers" | "taint">> {
    const { rows } = await database.read(LOAD, [entry.agentId, entry.id]);
    const open = (row: Row): unknown =>
      JSON.parse(vault.open(String(row.sealed), sealContext(entry.agentId, entry.id, row.seq)));
    const answers: (Answer & { calls: Call[] })[] = [];
    for (const row of rows) {
      // Written by `record` and `end` below.
      if (row.kind === "model") answers.push({ ...toAnswer(row, open(row) as string), calls: [] });
      else answers.at(-1)?.calls.push(toCall(row, open(row) as SealedCall));
    }
    return { answers, taint: highestTaint(rows.map(({ taint }) => Number(taint) as Taint)) };
  }

  return {
    /** The journal of an entry's turn. Only of a turn that has steps it is read. */
    async open(entry: InboxEntry): Promise<TurnJournal> {
      const known = entry.hasSteps ? await load(entry) : { answers: [], taint: TAINT.none };
      return {
        ...known,
        turnId: entry.id,

        async record(answer, { spending, usage, latencyMs }: ModelCall) {
          const { calls, taint } = answer;
          const audited = await auditStatements(entry, calls);
          const rows = [answerRow(entry, answer), ...calls.map((call) => callRow(entry, call, taint))];
          try {
            await database.write([
              { sql: MARK, args: [entry.agentId, entry.id] },
              guard("turn.pending"),
              { sql: insertSql(rows.length), args: rows.flat() },
              spending.settleStatement(usage, latencyMs),
              ...audited,
            ]);
          } catch (error) {
            // The answer is lost, but the provider charges for it.
            await spending.record(usage, latencyMs);
            throw error;
          }
          entry.hasSteps = true;
        },

        async begin(call) {
          const args = [call.startedAt ?? null, entry.agentId, entry.id, call.seq];
          await database.write([
            { sql: `UPDATE turn_steps SET started_at = ? ${WHERE}`, args },
            guard("turn.step"),
            ...(await auditStatements(entry, [call])),
          ]);
        },

        async end(calls, taint) {
          await database.write(calls.map((call) => endStatement(entry, call, taint)));
        },
      };
    },
  };
}

export type Journal = ReturnType<typeof createJournal>;

const toAnswer = ({ seq, name, taint, started_at }: Row, text: string): Omit<Answer, "calls"> => ({
  seq: Number(seq),
  model: String(name),
  text,
  taint: Number(taint) as Taint,
  startedAt: Number(started_at),
});

const toCall = ({ seq, name, effect, started_at }: Row, { id, input, end }: SealedCall): Call => ({
  seq: Number(seq),
  id,
  tool: String(name),
  input,
  effect: String(effect) as ToolEffect,
  startedAt: started_at === null ? undefined : Number(started_at),
  end,
});
