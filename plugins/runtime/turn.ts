// A turn: the model speaks, calls tools, hears their results, and speaks again, until it has answered.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { Spending, TurnCache } from "../ai/index.ts";
import type { OfferedTool, ToolContext } from "../skills/index.ts";
import { ModelError } from "./failures.ts";
import { storable } from "./text.ts";
import { type Usage, usageOf } from "./usage.ts";

/** Times the model may be asked in one turn; at the last it gets no tools, so that it has to answer. */
const MAX_STEPS = 8;
/** Tools that one step may call; the model is told about those beyond. */
const MAX_CALLS = 16;
/** Characters of a reply; a model that goes on is stopped there, and the reply says so. */
export const MAX_REPLY = 200_000;
/** Characters of a tool's input and result that are kept with the reply. */
const MAX_KEPT = 4_000;

/** How long the model may take, in ms. */
export interface Patience {
  /** Between two signs of life, where it streams. */
  silence: number;
  /** For an answer in one piece. */
  whole: number;
}
const PATIENCE: Patience = { silence: 120_000, whole: 300_000 };

/** Watches a reply while it grows. Must not throw. */
export interface Observer {
  delta(text: string): void;
  tool(event: ToolEvent): void;
}

export interface ToolEvent {
  name: string;
  state: "called" | "done" | "failed";
}

export interface TurnRequest {
  model: LanguageModelV4;
  prompt: LanguageModelV4Prompt;
  tools: readonly OfferedTool[];
  toolContext: Omit<ToolContext, "signal">;
  settings: Pick<LanguageModelV4CallOptions, "temperature" | "topP" | "maxOutputTokens">;
  /** Puts aside what one call of the model may cost; the model is asked only once that is done. */
  reserve(prompt: LanguageModelV4Prompt): Spending | Promise<Spending>;
  /** Where the agent has it turned on: what was said to the same before is said again. */
  cache?: TurnCache | undefined;
  /** Without one the model isn't asked to stream: that is cheaper, and nobody would see it. */
  observer: Observer | undefined;
  signal: AbortSignal;
  patience?: Patience;
}

/** What the agent did on the way to its reply. */
export interface Step {
  tool: string;
  input: string;
  result: string;
  ok: boolean;
}

/** One call of the model that has been answered, and is to be paid. */
export interface Called {
  spending: Spending;
  usage: Usage;
  latencyMs: number;
}

export interface TurnResult {
  text: string;
  steps: Step[];
  /** The last call, for the write that ends the turn; those before it are paid already. */
  last: Called;
}

interface Spoken {
  text: string;
  calls: LanguageModelV4ToolCall[];
  usage: LanguageModelV4Usage | undefined;
  cut: boolean;
}

/**
 * Runs one turn over the AI SDK's provider interface. Rejects with `ModelError` for what goes wrong with the model, with
 * what `reserve` threw, or with the signal's reason; whatever the model has said by then is paid. Tools never make a turn
 * fail: the model hears of their errors.
 */
export async function runTurn(request: TurnRequest): Promise<TurnResult> {
  const { tools, observer } = request;
  const prompt: LanguageModelV4Prompt = [...request.prompt];
  const offered = tools.length > 0 ? tools.map(definition) : undefined;
  const steps: Step[] = [];
  let text = "";

  for (let step = 1; ; step++) {
    const last = step === MAX_STEPS;
    const options: LanguageModelV4CallOptions = {
      prompt,
      ...request.settings,
      ...(offered && { tools: offered, toolChoice: { type: last ? "none" : "auto" } }),
    };
    let gap = text === "" ? "" : "\n\n";
    const say = (delta: string) => {
      if (delta === "") return;
      observer?.delta(gap + delta);
      gap = "";
    };
    const [spoken, called] = await speak(request, options, observer && say, MAX_REPLY - text.length);
    if (spoken.text !== "") text += (text === "" ? "" : "\n\n") + spoken.text;
    if (spoken.calls.length === 0 || last || spoken.cut) {
      const end = spoken.cut ? `\n\n[The reply was longer than ${MAX_REPLY} characters and was cut here.]` : "";
      return { text: storable(text).trimEnd() + end, steps, last: called };
    }
    await called.spending.record(called.usage, called.latencyMs);
    const results = await Promise.all(spoken.calls.map((call, n) => callTool(request, call, n)));
    prompt.push({
      role: "assistant",
      content: [
        ...(spoken.text ? [{ type: "text" as const, text: spoken.text }] : []),
        ...spoken.calls.map(({ toolCallId, toolName, input }) => ({
          type: "tool-call" as const,
          toolCallId,
          toolName,
          input: asObject(parsed(input)),
        })),
      ],
    });
    prompt.push({
      role: "tool",
      content: spoken.calls.map(({ toolCallId, toolName }, n) => ({
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
  input: input.slice(0, MAX_KEPT).toWellFormed(),
  result: result.slice(0, MAX_KEPT).toWellFormed(),
});

const definitions = new WeakMap<OfferedTool, LanguageModelV4FunctionTool>();

/** A tool as the provider takes it, made once for each. */
function definition(tool: OfferedTool): LanguageModelV4FunctionTool {
  let made = definitions.get(tool);
  if (!made) {
    made = { type: "function", name: tool.name, description: tool.description, inputSchema: tool.inputSchema };
    definitions.set(tool, made);
  }
  return made;
}

async function callTool(
  { tools, toolContext, observer, signal }: TurnRequest,
  { toolName: name, input }: LanguageModelV4ToolCall,
  place: number,
): Promise<Step> {
  const tool = tools.find((candidate) => candidate.name === name);
  const value = parsed(input);
  observer?.tool({ name, state: "called" });
  const refusal =
    place >= MAX_CALLS
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
function parsed(json: string): unknown {
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
async function speak(
  { model, signal, reserve, cache, patience = PATIENCE }: TurnRequest,
  options: LanguageModelV4CallOptions,
  say: ((text: string) => void) | undefined,
  room: number,
): Promise<[Spoken, Called]> {
  signal.throwIfAborted();
  const kept = cache?.find(options);
  if (kept) return again(kept, say, room);
  const spending = await reserve(options.prompt);
  const started = performance.now();
  const spoken: Spoken = { text: "", calls: [], usage: undefined, cut: false };
  const call = new AbortController();
  const turnEnds = () => call.abort(signal.reason);
  signal.addEventListener("abort", turnEnds, { once: true });
  const silent = () => call.abort(new DOMException("The model went silent.", "TimeoutError"));
  const timer = setTimeout(silent, say ? patience.silence : patience.whole);
  const called = () => ({
    spending,
    usage: usageOf(spoken, options.prompt),
    latencyMs: Math.round(performance.now() - started),
  });
  try {
    signal.throwIfAborted();
    const asked = { ...options, abortSignal: call.signal };
    if (say) await listen(await model.doStream(asked), spoken, say, timer, room);
    else hear(await model.doGenerate(asked), spoken, room);
    if (!spoken.cut) cache?.keep(options, spoken);
    return [spoken, called()];
  } catch (error) {
    // An answer that was under way costs what it costs; a call that was refused costs nothing.
    const { usage, latencyMs } = called();
    if (call.signal.aborted || spoken.text !== "" || spoken.calls.length > 0) await spending.record(usage, latencyMs);
    else spending.release();
    signal.throwIfAborted();
    throw new ModelError(call.signal.aborted ? call.signal.reason : error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", turnEnds);
    // Ends the call where it was left early.
    if (spoken.cut) call.abort();
  }
}

/** What is kept, as if it had just been said; it costs nothing. */
function again(
  { text, calls, spending }: NonNullable<ReturnType<TurnCache["find"]>>,
  say: ((text: string) => void) | undefined,
  room: number,
): [Spoken, Called] {
  const spoken: Spoken = { text, calls: [...calls], usage: undefined, cut: false };
  cut(spoken, room);
  say?.(spoken.text);
  return [spoken, { spending, usage: { inputTokens: 0, outputTokens: 0, estimated: false }, latencyMs: 0 }];
}

type Generated = Awaited<ReturnType<LanguageModelV4["doGenerate"]>>;

function hear({ content, usage }: Generated, spoken: Spoken, room: number): void {
  for (const part of content) {
    if (part.type === "text") spoken.text += part.text;
    else if (part.type === "tool-call") spoken.calls.push(part);
  }
  spoken.usage = usage;
  cut(spoken, room);
}

async function listen(
  { stream }: Awaited<ReturnType<LanguageModelV4["doStream"]>>,
  spoken: Spoken,
  say: (text: string) => void,
  timer: ReturnType<typeof setTimeout>,
  room: number,
): Promise<void> {
  for await (const part of stream) {
    timer.refresh();
    if (part.type === "text-delta") {
      const left = room - spoken.text.length;
      spoken.text += part.delta;
      say(part.delta.slice(0, left));
      if (cut(spoken, room)) return;
    } else if (part.type === "tool-call") spoken.calls.push(part);
    else if (part.type === "finish") spoken.usage = part.usage;
    else if (part.type === "error") throw part.error;
  }
}

function cut(spoken: Spoken, room: number): boolean {
  spoken.cut = spoken.text.length > room;
  if (spoken.cut) spoken.text = spoken.text.slice(0, room);
  return spoken.cut;
}
