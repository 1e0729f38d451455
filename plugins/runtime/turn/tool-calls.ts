// Runs the tool calls of a turn, and tracks the taint of what the model has read through their results.
import type { LanguageModelV4Message, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import type { InputModality } from "../../ai/index.ts";
import type { Approval, Authorization } from "../../approvals/index.ts";
import {
  type CallToApprove,
  type CheckedCall,
  highestTaint,
  isVerbatimIn,
  type PreparedTool,
  type Taint,
  type ToolContext,
  type ToolFile,
  type ToolResult,
} from "../../skills/index.ts";
import { type Answer, type Call, NO_END, type SubStep, type TurnJournal } from "../journal/steps.ts";
import { createSubSteps } from "../journal/sub-steps.ts";
import type { SentFile } from "../reply-files/sent-files.ts";
import type { TurnFiles } from "../reply-files/turn-files.ts";
import type { TurnSpan } from "../turn-spans.ts";
import { parseJson, toFileMessages, toMessages, toolDefinition } from "./tool-messages.ts";

/** Tool calls of one step that are run; for the others the model gets an error. */
const MAX_CALLS = 16;
/** Characters of a tool's input and of its result that are stored with the reply. */
export const MAX_STORED = 4_000;
/** Characters of a tool's name as the model gave it. */
const MAX_NAME = 64;

/** Receives a reply while it is being written. Must not throw. */
export interface Observer {
  delta(text: string): void;
  tool(event: ToolEvent): void;
  /** A file that comes with the reply. */
  file?(file: SentFile): void;
  /** Receives the same events with input and result. */
  step?(event: StepEvent): void;
}

export interface ToolEvent {
  name: string;
  state: "called" | "done" | "failed";
}

/** A tool call that has begun, or ended with its result. */
export interface StepEvent {
  /** The provider's id of the call. */
  id: string;
  /** That of the call within which it was made. */
  parent?: string;
  tool: string;
  /** As the model gave it. */
  input: string;
  ended?: { result: string; ok: boolean; ms: number };
}

/** A tool call on the way to the reply, as it is stored with the reply. */
export interface Step {
  tool: string;
  input: string;
  result: string;
  ok: boolean;
  /** Epoch ms when it began; rows of earlier versions have no times. */
  at?: number;
  /** How long it took. */
  ms?: number;
  /** The calls that it has made itself. */
  steps?: readonly SubStep[];
}

/**
 * Says whether a call, at this step of the turn, may run; requests the owner's approval if there is none. `callId`: the
 * provider's id of the call.
 */
export type Authorize = (step: number, call: CallToApprove, callId: string) => Promise<Authorization>;

export interface ToolCallRequest {
  tools: readonly PreparedTool[];
  toolContext: Omit<
    ToolContext,
    "signal" | "taint" | "raiseTaint" | "approved" | "callKey" | "attach" | "noteSubStep" | "span"
  >;
  /** Sends a file with the reply. `key`: of the call, and of the file in it. */
  attach?: TurnFiles["attach"] | undefined;
  /** The taint of the prompt. */
  taint: Taint;
  /** Decides about calls that need the owner's approval. */
  authorize: Authorize;
  /** Called for a call that had begun when an earlier try was interrupted, and is not repeated. */
  onUnknownOutcome?(tool: string): void;
  /** Called when calls of a tool begin to fail: once for each tool. */
  onFailure?(tool: string): void;
  /** Called when a rule of the owner forbids a call: once for each tool. */
  onForbidden?(tool: string): void;
  /** Receives the calls as `observer.step` does, also where the response is not streamed. */
  onStep?(event: StepEvent): void;
  /** The modalities that the model accepts; asked for only when a tool returns files. */
  acceptedInputs?(): Promise<readonly InputModality[]>;
  /** Of the turn; undefined where traces are off. */
  span?: TurnSpan | undefined;
  observer: Observer | undefined;
  signal: AbortSignal;
}

/** What came of a call, with the calls that it has made itself. */
type Outcome = ToolResult & { steps?: readonly SubStep[] };

/** A call that waits for the owner's approval. */
interface Waiting {
  approval: Approval;
}

/** A call that has ended, with the files of its result. */
interface Ended {
  step: Step;
  files: readonly ToolFile[] | undefined;
}

export function createToolCalls(request: ToolCallRequest, journal: TurnJournal) {
  const { tools, toolContext, authorize, observer, signal } = request;
  let current = highestTaint([request.taint, journal.taint]);
  const raiseTaint = (raised: Taint) => {
    current = highestTaint([current, raised]);
  };
  const toolOf = (name: string) => tools.find((candidate) => candidate.name === name);
  const actsOf = (name: string): Call["acts"] => {
    const toolClass = toolOf(name)?.class;
    return toolClass === "spend" || toolClass === "outside" ? { class: toolClass } : undefined;
  };
  const failedTools = new Set<string>();
  const forbiddenTools = new Set<string>();
  /** Results of this turn that quote others. */
  const quoted: string[] = [];
  const onStep = (event: StepEvent) => {
    observer?.step?.(event);
    request.onStep?.(event);
  };
  const hasRead = (text: string) => toolContext.hasRead?.(text) === true || isVerbatimIn(quoted, text);
  const last = journal.answers.at(-1);
  let nextSeq = last ? last.seq + last.calls.length + 1 : 1;

  /** Decides about a call before anything of it runs. */
  function check(name: string, input: string, taint: Taint): CheckedCall {
    const tool = toolOf(name);
    if (!tool) return { refusal: `There is no tool called ${name}.` };
    const value = parseJson(input);
    if (value === undefined) return { refusal: `The input of ${name} is not valid JSON. Call it again.` };
    const checked = tool.check(value, { ...toolContext, taint, hasRead });
    if ("refusal" in checked && checked.forbidden && !forbiddenTools.has(name)) {
      forbiddenTools.add(name);
      request.onForbidden?.(name);
    }
    return checked;
  }

  function toCall({ toolCallId: id, toolName, input }: LanguageModelV4ToolCall, index: number, taint: Taint): Call {
    const tool = toolName.slice(0, MAX_NAME).toWellFormed();
    const checked: CheckedCall =
      index >= MAX_CALLS
        ? { refusal: `At most ${MAX_CALLS} tools are called at once. Call ${tool} again.` }
        : check(tool, input, taint);
    const now = Date.now();
    const isRefused = "refusal" in checked;
    return {
      seq: nextSeq++,
      id,
      tool,
      input,
      effect: toolOf(tool)?.effect ?? "read",
      startedAt: !isRefused && checked.asks ? undefined : now,
      end: isRefused ? { ok: false, text: checked.refusal, files: 0, at: now } : undefined,
      acts: isRefused ? undefined : actsOf(tool),
    };
  }

  /** Runs a call that has no end yet. An earlier try may have begun it. */
  async function run(
    call: Call,
    taint: Taint,
    isRepeated: boolean,
    span: ReturnType<TurnSpan["tool"]> | undefined,
  ): Promise<Outcome | Waiting> {
    const { id, tool: name, input, effect, startedAt, seq } = call;
    if (isRepeated && startedAt !== undefined && effect === "once") {
      request.onUnknownOutcome?.(name);
      return { ok: false, text: unknownOutcome(name) };
    }
    const checked = check(name, input, taint);
    const tool = toolOf(name);
    if ("refusal" in checked || !tool) return { ok: false, text: "refusal" in checked ? checked.refusal : "" };
    const admitted = checked.asks && (await authorize(seq, checked.asks, id));
    if (admitted?.kind === "waiting") return admitted;
    if (admitted?.kind === "refused") return { ok: false, text: admitted.text };
    if (startedAt === undefined) {
      call.startedAt = Date.now();
      // Of an earlier try, the journal does not know it.
      const acts = actsOf(name);
      call.acts = acts && { ...acts, approvalId: admitted?.approvalId };
      await journal.begin(call);
    }
    const callKey = `${journal.turnId}.${seq}`;
    const subSteps = createSubSteps(id, observer?.step);
    const context: ToolContext = {
      ...{ ...toolContext, callKey, signal, taint, raiseTaint, hasRead, approved: admitted !== undefined },
      noteSubStep: subSteps.note,
      ...(span && { span: span.inner }),
      ...(request.attach && { attach: numbered(request.attach, callKey) }),
    };
    const result = await tool.run(admitted?.input ?? checked.input, context);
    if (!result.ok && !failedTools.has(name)) {
      failedTools.add(name);
      request.onFailure?.(name);
    }
    const steps = subSteps.ended();
    const text = admitted?.isEdited ? editedNote(admitted.input) + result.text : result.text;
    return { ...result, text, ...(steps && { steps }) };
  }

  return {
    /** The tools in the provider's form; undefined for none. */
    offeredTools: tools.length > 0 ? tools.map(toolDefinition) : undefined,
    /** The taint of everything that the model gets with its next call. */
    taint: () => current,

    /** The step of an answer that calls tools. What one call reads, the model had not read when it made the others. */
    toAnswer(model: string, text: string, calls: readonly LanguageModelV4ToolCall[], startedAt: number): Answer {
      const taint = current;
      const seq = nextSeq++;
      return { seq, model, text, taint, startedAt, calls: calls.map((call, n) => toCall(call, n, taint)) };
    },

    /**
     * Runs the calls of an answer at once; returns their results, and the answer and results for the prompt. If calls wait for
     * approval, returns these requests once the other calls have ended.
     */
    async run(
      answer: Answer,
    ): Promise<{ results: Step[]; messages: LanguageModelV4Message[] } | { waiting: Approval[] }> {
      const isRepeated = journal.answers.includes(answer);
      const unwritten: Call[] = [];
      let running = answer.calls.filter(({ end }) => !end).length;

      async function settle(call: Call): Promise<Ended | Waiting> {
        const { id, tool, input } = call;
        onStep({ id, tool, input });
        observer?.tool({ name: tool, state: "called" });
        const span = call.end ? undefined : request.span?.tool(call);
        const outcome = call.end ? undefined : await run(call, answer.taint, isRepeated, span);
        span?.end(outcome && "ok" in outcome ? outcome : undefined);
        if (outcome) await record(call, outcome);
        if (outcome && "approval" in outcome) return outcome;
        const step = toStep(call);
        const { ok, result, ms = 0 } = step;
        if (ok && toolOf(tool)?.quotes) quoted.push(result);
        observer?.tool({ name: tool, state: ok ? "done" : "failed" });
        onStep({ id, tool, input, ended: { result, ok, ms } });
        return { step, files: outcome?.files };
      }

      /** One write for the ends of all calls, unless one that can't be repeated would have to wait for the others. */
      async function record(call: Call, result: Outcome | Waiting): Promise<void> {
        running--;
        if (!("approval" in result)) {
          const { ok, text, files = [], steps } = result;
          call.end = { ok, text, files: files.length, at: Date.now(), ...(steps && { steps }) };
          unwritten.push(call);
        }
        const isDue = running === 0 || (call.end && call.effect === "once");
        if (isDue && unwritten.length > 0) await journal.end(unwritten.splice(0), current);
      }

      const settled = await Promise.all(answer.calls.map(settle));
      const waiting = settled.flatMap((one) => ("approval" in one ? [one.approval] : []));
      if (waiting.length > 0) return { waiting };
      const ended = settled.flatMap((one) => ("approval" in one ? [] : [one]));
      const results = ended.map(({ step }) => step);
      const files = ended.flatMap(({ step, files = [] }) => files.map((file) => ({ tool: step.tool, file })));
      const fileMessages = files.length > 0 ? toFileMessages(files, (await request.acceptedInputs?.()) ?? []) : [];
      return { results, messages: [...toMessages(answer, ended), ...fileMessages] };
    },
  };
}

/** The files of a call are told apart by their order. */
function numbered(attach: TurnFiles["attach"], callKey: string): NonNullable<ToolContext["attach"]> {
  let count = 0;
  return (file) => attach(`${callKey}.${count++}`, file);
}

const editedNote = (input: unknown) =>
  `The owner has changed the input before approving it. It ran with ${JSON.stringify(input)}:\n`;

const unknownOutcome = (tool: string) =>
  `The service was interrupted while ${tool} ran, so it is not known whether the call had its effect. It was not repeated. ` +
  "Say so, and look whether it did before you call it again.";

function toStep({ tool, input, startedAt, end = NO_END }: Call): Step {
  const at = startedAt ?? end.at;
  return { tool, input, result: end.text, ok: end.ok, at, ms: end.at - at, ...(end.steps && { steps: end.steps }) };
}
