// Runs the tool loop of a turn: calls the model, runs the tools it calls, and repeats with their results until it answers.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { toStorableText } from "../../../src/kernel/util/text/storable-text.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { Reservation, TurnCache } from "../../ai/index.ts";
import type { Approval } from "../../approvals/index.ts";
import type { Taint } from "../../skills/index.ts";
import { type Answer, type ModelCall, type TurnJournal, withoutJournal } from "../journal/steps.ts";
import { ModelError } from "./failure.ts";
import { tokenUsage } from "./token-usage.ts";
import { createToolCalls, type Observer, type Step, type ToolCallRequest } from "./tool-calls.ts";

/** Calls of the model in one turn; the last one allows no tools, so that the model has to answer. */
const MAX_STEPS = 8;
/** Characters of a reply; a longer one is cut, and says so. */
export const MAX_REPLY = 200_000;

/** Time limits of a call of the model, in ms. */
export interface ModelTimeouts {
  /** Between two parts of a stream. */
  idle: number;
  /** For a response that is not streamed. */
  total: number;
}
const MODEL_TIMEOUTS: ModelTimeouts = { idle: 2 * MINUTE, total: 5 * MINUTE };

export interface ToolLoopRequest extends ToolCallRequest {
  model: LanguageModelV4;
  /** Keeps the steps, and has those of earlier tries; without one nothing is kept. */
  journal?: TurnJournal;
  /** Work follows the last answer, so that the journal keeps it, too. */
  keepsAnswer?: boolean;
  prompt: LanguageModelV4Prompt;
  settings: Pick<LanguageModelV4CallOptions, "temperature" | "topP" | "maxOutputTokens">;
  /** Reserves the most that one call of the model may cost; the call is made only after it. */
  reserve(prompt: LanguageModelV4Prompt): Reservation | Promise<Reservation>;
  /** Earlier responses to equal prompts, where the agent has the cache switched on. */
  cache?: TurnCache | undefined;
  /** Without one the response is not streamed, which is cheaper. */
  observer: Observer | undefined;
  timeouts?: ModelTimeouts;
  /** Is told what a streamed turn had produced before it rejected. */
  onUnfinished?(output: ToolLoopOutput): void;
}

/** A turn that waits for the owner's approval of these calls. */
export interface SuspendedLoop {
  /** What the model has said so far. */
  text: string;
  /** Of everything that the model had read. */
  taint: Taint;
  waiting: readonly Approval[];
}

/** What a turn has produced: its reply, or the beginning of one. */
export interface ToolLoopOutput {
  text: string;
  /** With secrets and at full length. */
  steps: Step[];
  /** Of everything that the model had read at the end. */
  taint: Taint;
}

export interface ToolLoopResult extends ToolLoopOutput {
  /** The last call, which the write that settles the turn pays; undefined if it is paid already, as the earlier ones are. */
  lastCall: ModelCall | undefined;
}

interface ModelOutput {
  text: string;
  calls: LanguageModelV4ToolCall[];
  usage: LanguageModelV4Usage | undefined;
  truncated: boolean;
}

/**
 * Runs one turn over the AI SDK's provider interface, behind the last step in its journal. Rejects with `ModelError` when a call of the model fails, with the
 * error of `reserve`, or with the signal's reason; tokens used by then are paid. The errors of tools go to the model and
 * never make a turn fail.
 */
export async function runToolLoop(request: ToolLoopRequest): Promise<ToolLoopResult | SuspendedLoop> {
  const { observer, journal = withoutJournal(request.toolContext.inboxId) } = request;
  const toolCalls = createToolCalls(request, journal);
  const steps: Step[] = [];
  let seen = "";
  const noting = observer && {
    ...observer,
    delta(text: string) {
      seen += text;
      observer.delta(text);
    },
  };
  try {
    return await runSteps({ ...request, observer: noting }, journal, toolCalls, steps);
  } catch (error) {
    if (seen !== "") request.onUnfinished?.({ text: toStorableText(seen), steps, taint: toolCalls.taint() });
    throw error;
  }
}

/** @param steps gets the results of the tools */
async function runSteps(
  request: ToolLoopRequest,
  journal: NonNullable<ToolLoopRequest["journal"]>,
  toolCalls: ReturnType<typeof createToolCalls>,
  steps: Step[],
): Promise<ToolLoopResult | SuspendedLoop> {
  const { observer, model } = request;
  const modelName = `${model.provider}:${model.modelId}`;
  const prompt: LanguageModelV4Prompt = [...request.prompt];
  const { offeredTools } = toolCalls;
  let text = "";

  const gap = () => (text === "" ? "" : "\n\n");
  /** Returns the requests for approval that the calls wait for. */
  async function runCalls(answer: Answer): Promise<readonly Approval[]> {
    if (answer.text !== "") text += gap() + answer.text;
    const outcome = await toolCalls.run(answer);
    if ("waiting" in outcome) return outcome.waiting;
    prompt.push(...outcome.messages);
    steps.push(...outcome.results);
    return [];
  }

  const ended = (lastCall: ModelCall | undefined, end = ""): ToolLoopResult => ({
    text: toStorableText(text).trimEnd() + end,
    steps,
    taint: toolCalls.taint(),
    lastCall,
  });

  for (const answer of journal.answers) {
    if (answer.text !== "") observer?.delta(gap() + answer.text);
    const waiting = await runCalls(answer);
    if (waiting.length > 0) return { text, taint: toolCalls.taint(), waiting };
    if (answer.calls.length === 0) return ended(undefined);
  }
  for (let step = journal.answers.length + 1; ; step++) {
    const last = step >= MAX_STEPS;
    const options: LanguageModelV4CallOptions = {
      prompt,
      ...request.settings,
      ...(offeredTools && { tools: offeredTools, toolChoice: { type: last ? "none" : "auto" } }),
    };
    let before = gap();
    const onText = (delta: string) => {
      if (delta === "") return;
      observer?.delta(before + delta);
      before = "";
    };
    const startedAt = Date.now();
    const [output, modelCall] = await callModel(request, options, observer && onText, MAX_REPLY - text.length);
    if (output.calls.length === 0 || last || output.truncated) {
      if (output.text !== "") text += gap() + output.text;
      const end = output.truncated ? `\n\n[The reply was longer than ${MAX_REPLY} characters and was cut here.]` : "";
      if (!request.keepsAnswer || output.truncated) return ended(modelCall, end);
      await journal.record(toolCalls.toAnswer(modelName, output.text, [], startedAt), modelCall);
      return ended(undefined);
    }
    const answer = toolCalls.toAnswer(modelName, output.text, output.calls, startedAt);
    await journal.record(answer, modelCall);
    const waiting = await runCalls(answer);
    if (waiting.length > 0) return { text, taint: toolCalls.taint(), waiting };
  }
}

/** Reserves the cost of one call of the model and makes the call, streamed if `onText` is given. */
async function callModel(
  { model, signal, reserve, cache, span: turnSpan, timeouts = MODEL_TIMEOUTS }: ToolLoopRequest,
  options: LanguageModelV4CallOptions,
  onText: ((text: string) => void) | undefined,
  charactersLeft: number,
): Promise<[ModelOutput, ModelCall]> {
  signal.throwIfAborted();
  const cached = cache?.get(options);
  if (cached) return replayCached(cached, onText, charactersLeft);
  const spending = await reserve(options.prompt);
  const span = turnSpan?.model(model, options);
  const started = performance.now();
  const output: ModelOutput = { text: "", calls: [], usage: undefined, truncated: false };
  const call = new AbortController();
  const abortCall = () => call.abort(signal.reason);
  signal.addEventListener("abort", abortCall, { once: true });
  const onTimeout = () => call.abort(new DOMException("The model went silent.", "TimeoutError"));
  const timer = setTimeout(onTimeout, onText ? timeouts.idle : timeouts.total);
  const modelCall = () => ({
    spending,
    usage: tokenUsage(output, options.prompt),
    latencyMs: Math.round(performance.now() - started),
  });
  try {
    signal.throwIfAborted();
    const callOptions = { ...options, abortSignal: call.signal };
    if (onText) await readStream(await model.doStream(callOptions), output, onText, timer, charactersLeft);
    else readResponse(await model.doGenerate(callOptions), output, charactersLeft);
    if (!output.truncated) cache?.set(options, output);
    const made = modelCall();
    span?.end(output, made.usage);
    return [output, made];
  } catch (error) {
    span?.fail(call.signal.aborted ? call.signal.reason : error);
    // The provider charges for a response that had begun, or that we aborted, but not for a call that it rejected.
    const { usage, latencyMs } = modelCall();
    if (call.signal.aborted || output.text !== "" || output.calls.length > 0) await spending.record(usage, latencyMs);
    else spending.release();
    signal.throwIfAborted();
    throw new ModelError(call.signal.aborted ? call.signal.reason : error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abortCall);
    // A cut reply was not read to its end: the call must be ended.
    if (output.truncated) call.abort();
  }
}

/** Returns a cached response in the form of a new one. It costs nothing. */
function replayCached(
  { text, calls, spending }: NonNullable<ReturnType<TurnCache["get"]>>,
  onText: ((text: string) => void) | undefined,
  charactersLeft: number,
): [ModelOutput, ModelCall] {
  const output: ModelOutput = { text, calls: [...calls], usage: undefined, truncated: false };
  cut(output, charactersLeft);
  onText?.(output.text);
  return [output, { spending, usage: { inputTokens: 0, outputTokens: 0, estimated: false }, latencyMs: 0 }];
}

type Generated = Awaited<ReturnType<LanguageModelV4["doGenerate"]>>;

function readResponse({ content, usage }: Generated, output: ModelOutput, charactersLeft: number): void {
  for (const part of content) {
    if (part.type === "text") output.text += part.text;
    else if (part.type === "tool-call") output.calls.push(part);
  }
  output.usage = usage;
  cut(output, charactersLeft);
}

async function readStream(
  { stream }: Awaited<ReturnType<LanguageModelV4["doStream"]>>,
  output: ModelOutput,
  onText: (text: string) => void,
  timer: ReturnType<typeof setTimeout>,
  charactersLeft: number,
): Promise<void> {
  for await (const part of stream) {
    timer.refresh();
    if (part.type === "text-delta") {
      const left = charactersLeft - output.text.length;
      output.text += part.delta;
      onText(part.delta.slice(0, left));
      if (cut(output, charactersLeft)) return;
    } else if (part.type === "tool-call") output.calls.push(part);
    else if (part.type === "finish") output.usage = part.usage;
    else if (part.type === "error") throw part.error;
  }
}

function cut(output: ModelOutput, charactersLeft: number): boolean {
  output.truncated = output.text.length > charactersLeft;
  if (output.truncated) output.text = output.text.slice(0, charactersLeft);
  return output.truncated;
}
