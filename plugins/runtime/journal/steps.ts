// Defines the steps of a turn that its journal keeps: answers of the model that call tools, and these calls.
import type { Reservation } from "../../ai/index.ts";
import { TAINT, type Taint, type ToolClass, type ToolEffect } from "../../skills/index.ts";
import type { TokenUsage } from "../turn/token-usage.ts";

/** A finished call of the model, and the reservation that pays for it. */
export interface ModelCall {
  spending: Reservation;
  usage: TokenUsage;
  latencyMs: number;
}

/** A call within a call. */
export interface SubStep {
  /** The part of the work that it belongs to, from 1. */
  part: number;
  tool: string;
  input: string;
  result: string;
  ok: boolean;
  /** Epoch ms when it began. */
  at: number;
  /** How long it took. */
  ms: number;
}

/** How a call of a tool ended. */
export interface CallEnd {
  ok: boolean;
  /** The result, as the model gets it. */
  text: string;
  /** Files of the result. They are too large to be kept: a later try of the turn has only their number. */
  files: number;
  /** Epoch ms. */
  at: number;
  /** The calls that it has made itself. */
  steps?: readonly SubStep[];
}

export const NO_END: CallEnd = { ok: false, text: "", files: 0, at: 0 };

/** A call of a tool. */
export interface Call {
  readonly seq: number;
  /** The provider's id of the call. */
  readonly id: string;
  readonly tool: string;
  /** As the model gave it. */
  readonly input: string;
  readonly effect: ToolEffect;
  /** Epoch ms; undefined for a call that waits for approval. */
  startedAt: number | undefined;
  /** Undefined until it ends. */
  end: CallEnd | undefined;
  /** Set if the call spends or has an effect outside, so that the audit log has it; with the approval by which it runs. */
  acts?: { class: ToolClass; approvalId?: string | undefined } | undefined;
}

/** An answer of the model that calls tools. */
export interface Answer {
  readonly seq: number;
  readonly model: string;
  readonly text: string;
  /** Of everything that the model had read before it. */
  readonly taint: Taint;
  readonly startedAt: number;
  readonly calls: readonly Call[];
}

/** The journal of one turn. */
export interface TurnJournal {
  /** The answers of earlier tries, in order. */
  readonly answers: readonly Answer[];
  /** Of everything that earlier tries have read. */
  readonly taint: Taint;
  /** Names the turn in keys of calls. */
  readonly turnId: string;
  /** Stores an answer with its calls, in one write with what the answer has cost. Those with `startedAt` begin after it. */
  record(answer: Answer, modelCall: ModelCall): Promise<void>;
  /** Stores that a call begins, which has waited for approval. */
  begin(call: Call): Promise<void>;
  /** Stores how these calls have ended, and the taint of the turn by then. */
  end(calls: readonly Call[], taint: Taint): Promise<void>;
}

/** For calls that end with their caller, such as those of a sub-task: nothing is stored, and nothing can wait. */
export const withoutJournal = (turnId: string): TurnJournal => ({
  answers: [],
  taint: TAINT.none,
  turnId,
  async record(_, { spending, usage, latencyMs }) {
    await spending.record(usage, latencyMs);
  },
  begin: async () => undefined,
  end: async () => undefined,
});
