// A turn: the model speaks, calls tools, hears their results, and speaks again, until it has answered.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { Reservation, TurnCache } from "../../ai/index.ts";
import type { PreparedTool, ToolContext } from "../../skills/index.ts";
import { toStorableText } from "../storable-text.ts";
import { ModelError } from "./failure.ts";
import { type TokenUsage, tokenUsage } from "./token-usage.ts";

/** Times the model may be asked in one turn; at the last it gets no tools, so that it has to answer. */
const MAX_STEPS = 8;
/** Tools that one step may call; the model is told about those beyond. */
const MAX_CALLS = 16;
/** Characters of a reply; a model that goes on is stopped there, and the reply says so. */
export const MAX_REPLY = 200_000;
/** Characters of a tool's input and result that are kept with the reply. */
const MAX_STORED = 4_000;

/** How long the model may take, in ms. */
export interface ModelTimeouts {
  /** Between two signs of life, where it streams. */
  idle: number;
  /** For an answer in one piece. */
  total: number;
}
const MODEL_TIMEOUTS: ModelTimeouts = { idle: 120_000, total: 300_000 };

/** Watches a reply while it grows. Must not throw. */
export interface Observer {
  delta(text: string): void;
  tool(event: ToolEvent): void;
}

export interface ToolEvent {
  name: string;
  state: "called" | "done" | "failed";
}

export interface ToolLoopRequest {
  model: LanguageModelV4;
  prompt: LanguageModelV4Prompt;
  tools: readonly PreparedTool[];
  toolContext: Omit<ToolContext, "signal">;
  settings: Pick<LanguageModelV4CallOptions, "temperature" | "topP" | "maxOutputTokens">;
  /** Puts aside what one call of the model may cost; the model is asked only once that is done. */
  reserve(prompt: LanguageModelV4Prompt): Reservation | Promise<Reservation>;
  /** Where the agent has it turned on: what was said to the same before is said again. */
  cache?: TurnCache | undefined;
  /** Without one the model isn't asked to stream: that is cheaper, and nobody would see it. */
  observer: Observer | undefined;
  signal: AbortSignal;
  timeouts?: ModelTimeouts;
}

/** What the agent did on the way to its reply. */
export interface Step {
  tool: string;
  input: string;
  result: string;
  ok: boolean;
}

/** One call of the model that has been answered, and is to be paid. */
export interface ModelCall {
  spending: Reservation;
  usage: TokenUsage;
  latencyMs: number;
}

export interface ToolLoopResult {
  text: string;
  steps: Step[];
  /** The last call, for the write that ends the turn; those before it are paid already. */
  lastCall: ModelCall;
}

interface ModelOutput {
  text: string;
  calls: LanguageModelV4ToolCall[];
  usage: LanguageModelV4Usage | undefined;
  truncated: boolean;
}

/**
 * Runs one turn over the AI SDK's provider interface. Rejects with `ModelError` for what goes wrong with the model, with
 * what `reserve` threw, or with the signal's reason; whatever the model has said by then is paid. Tools never make a turn
 * fail: the model hears of their errors.
 */
export async function runToolLoop(request: ToolLoopRequest): Promise<ToolLoopResult> {
  const { tools, observer } = request;
  const prompt: LanguageModelV4Prompt = [...request.prompt];
  const offeredTools = tools.length > 0 ? tools.map(toolDefinition) : undefined;
  const steps: Step[] = [];
  let text = "";

  for (let step = 1; ; step++) {
    const last = step === MAX_STEPS;
    const options: LanguageModelV4CallOptions = {
      prompt,
      ...request.settings,
      ...(offeredTools && { tools: offeredTools, toolChoice: { type: last ? "none" : "auto" } }),
    };
    let gap = text === "" ? "" : "\n\n";
    const onText = (delta: string) => {
      if (delta === "") return;
      observer?.delta(gap + delta);
      gap = "";
    };
    const [output, modelCall] = await callModel(request, options, observer && onText, MAX_REPLY - text.length);
    if (output.text !== "") text += (text === "" ? "" : "\n\n") + output.text;
    if (output.calls.length === 0 || last || output.truncated) {
      const end = output.truncated ? `\n\n[The reply was longer than ${MAX_REPLY} characters and was cut here.]` : "";
      return { text: toStorableText(text).trimEnd() + end, steps, lastCall: modelCall };
    }
    await modelCall.spending.record(modelCall.usage, modelCall.latencyMs);
    const results = await Promise.all(output.calls.map((call, n) => callTool(request, call, n)));
    prompt.push({
      role: "assistant",
      content: [
        ...(output.text ? [{ type: "text" as const, text: output.text }] : []),
        ...output.calls.map(({ toolCallId, toolName, input }) => ({
          type: "tool-call" as const,
          toolCallId,
          toolName,
          input: asObject(parseJson(input)),
        })),
      ],
    });
    prompt.push({
      role: "tool",
      content: output.calls.map(({ toolCallId, toolName }, n) => ({
        type: "tool-result" as const,
        toolCallId,
        toolName,
        output: { type: results[n]?.ok ? ("text" as const) : ("error-text" as const), value: results[n]?.result ?? "" },
      })),
    });
    steps.push(...results.map(kept));
  }
}

const kept = ({ input, result, ...step }: Step): Step => ({
  ...step,
  input: input.slice(0, MAX_STORED).toWellFormed(),
  result: result.slice(0, MAX_STORED).toWellFormed(),
});

const toolDefinitions = new WeakMap<PreparedTool, LanguageModelV4FunctionTool>();

/** A tool as the provider takes it, made once for each. */
function toolDefinition(tool: PreparedTool): LanguageModelV4FunctionTool {
  let made = toolDefinitions.get(tool);
  if (!made) {
    made = { type: "function", name: tool.name, description: tool.description, inputSchema: tool.inputSchema };
    toolDefinitions.set(tool, made);
  }
  return made;
}

async function callTool(
  { tools, toolContext, observer, signal }: ToolLoopRequest,
  { toolName: name, input }: LanguageModelV4ToolCall,
  index: number,
): Promise<Step> {
  const tool = tools.find((candidate) => candidate.name === name);
  const value = parseJson(input);
  observer?.tool({ name, state: "called" });
  const refusal =
    index >= MAX_CALLS
      ? `At most ${MAX_CALLS} tools are called at once. Call ${name} again.`
      : value === undefined
        ? `The input of ${name} is not valid JSON. Call it again.`
        : undefined;
  const { ok, text } = !tool
    ? { ok: false, text: `There is no tool called ${name}.` }
    : refusal !== undefined
      ? { ok: false, text: refusal }
      : await tool.execute(value, { ...toolContext, signal });
  observer?.tool({ name, state: ok ? "done" : "failed" });
  return { tool: name, input, result: text, ok };
}

/** Undefined for what is not JSON. */
function parseJson(json: string): unknown {
  if (json.trim() === "") return {};
  try {
    return JSON.parse(json);
  } catch {
    // The caller tells the model.
    return undefined;
  }
}

/** What providers accept as the input of an earlier call. */
const asObject = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};

/** One call of the model, with its price put aside before: streamed while somebody watches, else in one piece. */
async function callModel(
  { model, signal, reserve, cache, timeouts = MODEL_TIMEOUTS }: ToolLoopRequest,
  options: LanguageModelV4CallOptions,
  onText: ((text: string) => void) | undefined,
  charactersLeft: number,
): Promise<[ModelOutput, ModelCall]> {
  signal.throwIfAborted();
  const cached = cache?.get(options);
  if (cached) return replayCached(cached, onText, charactersLeft);
  const spending = await reserve(options.prompt);
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
    return [output, modelCall()];
  } catch (error) {
    // An answer that was under way costs what it costs; a call that was refused costs nothing.
    const { usage, latencyMs } = modelCall();
    if (call.signal.aborted || output.text !== "" || output.calls.length > 0) await spending.record(usage, latencyMs);
    else spending.release();
    signal.throwIfAborted();
    throw new ModelError(call.signal.aborted ? call.signal.reason : error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abortCall);
    // Ends the call where it was left early.
    if (output.truncated) call.abort();
  }
}

/** What is kept, as if it had just been said; it costs nothing. */
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
