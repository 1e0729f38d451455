// Makes stored and running steps of a turn fit to be shown: without secrets, and short.
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { redactInput } from "../../approvals/index.ts";
import type { SubStep } from "../journal/steps.ts";
import { MAX_STORED, type Step } from "../turn/tool-calls.ts";

/** A tool call as the agent's owner sees it. */
export interface ShownStep {
  name: string;
  input: unknown;
  result: string;
  ok: boolean;
  startedAt: string | null;
  ms: number | null;
  /** The calls that it has made itself. */
  steps?: ShownSubStep[];
}

export type ShownSubStep = Omit<ShownStep, "steps"> & { part: number };

/** Characters of the input and of the result of a call within a call: the reply keeps all of them. */
const MAX_SUB_TEXT = 500;

export function createShownSteps({ redactForms }: Pick<Log, "redactForms">) {
  const showText = (text: string) => redactForms(text).slice(0, MAX_STORED).toWellFormed();

  /** The input as a value without secrets; a text where it is no JSON, as after it was cut. */
  function showInput(input: string): unknown {
    const value = input.length > MAX_STORED ? undefined : parseJson(input);
    return value === undefined ? showText(input) : JSON.parse(redactInput(value, redactForms));
  }

  /** The same as JSON, or as far as it is shown. */
  function inputText(input: string): string {
    const value = parseJson(input);
    return value === undefined ? showText(input) : redactInput(value, redactForms).slice(0, MAX_STORED).toWellFormed();
  }

  /** Cut after secrets are blacked out: a part of a secret would not be recognized. */
  const toStoredSteps = (steps: readonly SubStep[]): SubStep[] =>
    steps.map((step) => ({ ...step, input: cut(inputText(step.input)), result: cut(showText(step.result)) }));

  const showStep = ({ tool, input, result, ok, at, ms }: Step): Omit<ShownStep, "steps"> => ({
    name: tool,
    input: showInput(input),
    result: showText(result),
    ok,
    startedAt: at === undefined ? null : new Date(at).toISOString(),
    ms: ms ?? null,
  });
  const showSubStep = (step: SubStep): ShownSubStep => ({ ...showStep(step), part: step.part });

  return {
    showText,
    showInput,
    inputText,
    toStoredSteps,
    /** A step as it is stored with the reply, for long: without secrets, and short. */
    toStored: ({ steps, ...step }: Step): Step => ({
      ...step,
      ...{ input: inputText(step.input), result: showText(step.result) },
      ...(steps && { steps: toStoredSteps(steps) }),
    }),
    /** The calls within a call, as the journal keeps them. */
    showSubSteps: (stored: unknown): ShownSubStep[] => {
      const steps = typeof stored === "string" ? parseJson(stored) : undefined;
      return Array.isArray(steps) ? (steps as SubStep[]).map(showSubStep) : [];
    },
    /** The steps that are stored with a reply. */
    showSteps: (stored: unknown): ShownStep[] => {
      const steps = typeof stored === "string" ? parseJson(stored) : undefined;
      if (!Array.isArray(steps)) return [];
      return (steps as Step[]).map((step) => ({
        ...showStep(step),
        ...(step.steps && { steps: step.steps.map(showSubStep) }),
      }));
    },
  };
}

const cut = (text: string) => text.slice(0, MAX_SUB_TEXT).toWellFormed();

export type ShownSteps = ReturnType<typeof createShownSteps>;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
