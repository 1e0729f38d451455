// Puts the steps of a turn in order, as they are shown: calls of the model, calls of tools, and what was called within them.
import type { TurnCall } from "../../ai/index.ts";
import { type JournalView, type StepState, stepState } from "./journal-view.ts";
import type { ShownStep, ShownSteps, ShownSubStep } from "./shown-steps.ts";
import type { TurnState } from "./turn-states.ts";

export interface TurnStep {
  seq: number;
  /** The `seq` of the call within which it was made; null for a step of the turn itself. */
  parent: number | null;
  /** Which part of the work of its parent it belongs to, from 1; null where that is not known. */
  part: number | null;
  kind: "model" | "tool";
  name: string;
  input: unknown;
  output: unknown;
  ok: boolean;
  state: StepState;
  inputTokens: number | null;
  outputTokens: number | null;
  costUsd: number | null;
  startedAt: string | null;
  endedAt: string | null;
}

/** A step, with those that were made within it. */
type Step = Omit<TurnStep, "seq" | "parent"> & { within: Step[] };

interface Steps {
  calls: readonly TurnCall[];
  /** Undefined for a turn without steps. */
  journal: JournalView | undefined;
  /** As they are stored with the reply. */
  ofReply: unknown;
  /** The reply, which is what the last call of the model has answered; null for a turn without one. */
  reply: string | null;
  /** Of the turn. */
  status: TurnState;
}

const MICRO = 1_000_000;
const iso = (at: number) => new Date(at).toISOString();
export const modelName = ({ provider, model }: TurnCall) => `${provider}:${model}`;

/** The steps of a turn. Those made within a call follow it. */
export function turnSteps(
  { calls, journal, ofReply, reply, status }: Steps,
  shown: Pick<ShownSteps, "showSteps" | "showSubSteps">,
) {
  // The journal of an older turn is gone, but its reply has the steps.
  const tools =
    journal && journal.calls.length > 0
      ? journal.calls.map((call) => toJournaledStep(call, status, shown.showSubSteps(call.subSteps)))
      : shown.showSteps(ofReply).map(toToolStep);
  const models = calls.filter((call) => !moveInto(tools, call)).map((call) => toModelStep(call, journal));
  // A call that only reads the reply aloud writes nothing.
  const last = models.findLast(({ outputTokens }) => outputTokens !== null && outputTokens > 0);
  if (last) last.output ??= reply;
  return numbered(inOrder(models, tools));
}

/**
 * Puts a call of a model below the call of a tool that made it, and says whether there is one. The turn itself calls no model while
 * its tools run; of several that ran, it was the one that has steps of its own.
 */
function moveInto(tools: readonly Step[], call: TurnCall): boolean {
  // It takes no time, so that its place can't be told by its time.
  if (call.cached) return false;
  const running = tools.filter(
    ({ startedAt, endedAt }) =>
      startedAt !== null &&
      Date.parse(startedAt) <= call.startedAt &&
      (endedAt === null ? call.startedAt > Date.parse(startedAt) : call.startedAt < Date.parse(endedAt)),
  );
  const makers = running.length > 1 ? running.filter(({ within }) => within.length > 0) : running;
  const [maker] = makers;
  if (!maker || makers.length > 1) return false;
  maker.within.push(toModelStep(call, undefined));
  return true;
}

function numbered(steps: readonly Step[]): TurnStep[] {
  const all: TurnStep[] = [];
  const add = ({ within, ...step }: Step, parent: number | null) => {
    const seq = all.length + 1;
    all.push({ seq, parent, ...step });
    const ordered = within.toSorted((a, b) => (a.startedAt ?? "").localeCompare(b.startedAt ?? ""));
    for (const one of ordered) add(one, seq);
  };
  for (const step of steps) add(step, null);
  return all;
}

/** A call of the model is followed by its tools, then by the next call, also if all began in the same millisecond. */
function inOrder(models: readonly Step[], tools: readonly Step[]): Step[] {
  const left = [...tools];
  // Calls that have not begun are the last ones; tools of earlier versions have run and have no time.
  const timeOf = ({ startedAt, state }: Step) => startedAt ?? (state === "waiting" || state === "cancelled" ? "~" : "");
  const ordered: Step[] = [];
  for (const [n, model] of models.entries()) {
    while (n > 0 && left[0] && timeOf(left[0]) <= (model.startedAt ?? "")) ordered.push(...left.splice(0, 1));
    ordered.push(model);
  }
  return [...ordered, ...left];
}

const toModelStep = (call: TurnCall, journal: JournalView | undefined): Step => ({
  part: null,
  kind: "model",
  name: modelName(call),
  input: null,
  // What it said before it called tools.
  output: journal?.textAt(call.startedAt) ?? null,
  ok: true,
  state: "done",
  inputTokens: call.inputTokens,
  outputTokens: call.outputTokens,
  costUsd: call.costMicroUsd / MICRO,
  startedAt: iso(call.startedAt),
  endedAt: iso(call.endedAt),
  within: [],
});

/** A model is paid for, a tool is not. */
const TOOL = { kind: "tool", inputTokens: null, outputTokens: null, costUsd: null } as const;

const toJournaledStep = (
  { name, input, output, ok, startedAt, endedAt }: JournalView["calls"][number],
  turn: TurnState,
  within: readonly ShownSubStep[],
): Step => ({
  ...TOOL,
  part: null,
  name,
  input,
  output,
  ok: ok === true,
  state: stepState({ ok, startedAt }, turn),
  startedAt: startedAt === null ? null : iso(startedAt),
  endedAt: endedAt === null ? null : iso(endedAt),
  within: within.map(toToolStep),
});

const toToolStep = ({ name, input, result, ok, startedAt, ms, ...more }: ShownStep | ShownSubStep): Step => ({
  ...TOOL,
  part: "part" in more ? more.part : null,
  name,
  input,
  output: result,
  ok,
  state: ok ? "done" : "failed",
  startedAt,
  endedAt: startedAt === null || ms === null ? null : iso(Date.parse(startedAt) + ms),
  within: "steps" in more ? (more.steps ?? []).map(toToolStep) : [],
});
