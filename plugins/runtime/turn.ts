// A turn: the model speaks, calls tools, hears their results, and speaks again, until it has answered.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { OfferedTool, ToolContext } from "../skills/index.ts";

/** Times the model may be asked in one turn; at the last it gets no tools, so that it has to answer. */
const MAX_STEPS = 8;
/** Characters of a reply; a model that goes on is stopped there, and the reply says so. */
export const MAX_REPLY = 200_000;
/** Milliseconds without a sign of life from the model. */
const SILENCE = 60_000;

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
  /** Without one the model isn't asked to stream: that is cheaper, and nobody would see it. */
  observer: Observer | undefined;
  signal: AbortSignal;
}

/** What the agent did on the way to its reply. */
export interface Step {
  tool: string;
  input: string;
  result: string;
  ok: boolean;
}

export interface TurnResult {
  text: string;
  steps: Step[];
  usage: { inputTokens: number; outputTokens: number; estimated: boolean };
}

interface Spoken {
  text: string;
  calls: LanguageModelV4ToolCall[];
  usage: LanguageModelV4Usage | undefined;
  cut: boolean;
}

/**
 * Runs one turn over the AI SDK's provider interface. Rejects with what the model's call threw, or with the signal's
 * reason; `partial` on the way is told to the observer. Tools never make a turn fail: the model hears of their errors.
 */
export async function runTurn(request: TurnRequest): Promise<TurnResult> {
  const { tools, observer, signal } = request;
  const prompt: LanguageModelV4Prompt = [...request.prompt];
  const offered = tools.length > 0 ? tools.map(definition) : undefined;
  const steps: Step[] = [];
  const usage = { inputTokens: 0, outputTokens: 0, estimated: false };
  let text = "";

  for (let step = 1; ; step++) {
    const last = step === MAX_STEPS;
    const options: LanguageModelV4CallOptions = {
      prompt,
      ...request.settings,
      ...(offered && { tools: offered, toolChoice: { type: last ? "none" : "auto" } }),
    };
    const spoken = await speak(request.model, options, observer, signal, MAX_REPLY - text.length);
    text += spoken.text;
    count(usage, spoken, prompt);
    if (spoken.calls.length === 0 || last || spoken.cut) {
      return {
        text: spoken.cut ? `${text}\n\n[The reply was longer than ${MAX_REPLY} characters and was cut here.]` : text,
        steps,
        usage,
      };
    }
    const results = await Promise.all(spoken.calls.map((call) => callTool(request, call)));
    prompt.push({
      role: "assistant",
      content: [
        ...(spoken.text ? [{ type: "text" as const, text: spoken.text }] : []),
        ...spoken.calls.map(({ toolCallId, toolName, input }) => ({
          type: "tool-call" as const,
          toolCallId,
          toolName,
          input: parsed(input) ?? {},
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
    steps.push(...results);
    if (spoken.text) {
      text += "\n\n";
      observer?.delta("\n\n");
    }
  }
}

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
  call: LanguageModelV4ToolCall,
): Promise<Step> {
  const { toolName: name, input } = call;
  const tool = tools.find((candidate) => candidate.name === name);
  observer?.tool({ name, state: "called" });
  const value = parsed(input);
  const { ok, text } = !tool
    ? { ok: false, text: `There is no tool called ${name}.` }
    : value === undefined
      ? { ok: false, text: `The input of ${name} is not valid JSON. Call it again.` }
      : await tool.execute(value, { ...toolContext, signal });
  observer?.tool({ name, state: ok ? "done" : "failed" });
  return { tool: name, input, result: text, ok };
}

function parsed(json: string): unknown {
  if (json.trim() === "") return {};
  try {
    return JSON.parse(json);
  } catch {
    // The caller tells the model.
    return undefined;
  }
}

/** One call of the model: streamed while somebody watches, else in one piece. */
async function speak(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  observer: Observer | undefined,
  signal: AbortSignal,
  room: number,
): Promise<Spoken> {
  signal.throwIfAborted();
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new DOMException("The model went silent.", "TimeoutError")), SILENCE);
  const abortSignal = AbortSignal.any([signal, silence.signal]);
  try {
    if (!observer) {
      const { content, usage } = await model.doGenerate({ ...options, abortSignal });
      const spoken: Spoken = { text: "", calls: [], usage, cut: false };
      for (const part of content) {
        if (part.type === "text") spoken.text += part.text;
        else if (part.type === "tool-call") spoken.calls.push(part);
      }
      spoken.cut = spoken.text.length > room;
      if (spoken.cut) spoken.text = spoken.text.slice(0, room);
      return spoken;
    }
    return await listen(await model.doStream({ ...options, abortSignal }), observer, timer, room);
  } finally {
    clearTimeout(timer);
    // Ends the call where it was left early.
    silence.abort();
  }
}

async function listen(
  { stream }: Awaited<ReturnType<LanguageModelV4["doStream"]>>,
  observer: Observer,
  timer: ReturnType<typeof setTimeout>,
  room: number,
): Promise<Spoken> {
  const spoken: Spoken = { text: "", calls: [], usage: undefined, cut: false };
  for await (const part of stream) {
    timer.refresh();
    if (part.type === "text-delta") {
      spoken.text += part.delta;
      observer.delta(part.delta);
      if (spoken.text.length > room) {
        spoken.cut = true;
        spoken.text = spoken.text.slice(0, room);
        break;
      }
    } else if (part.type === "tool-call") spoken.calls.push(part);
    else if (part.type === "finish") spoken.usage = part.usage;
    else if (part.type === "error") throw part.error;
  }
  return spoken;
}

/** Characters a token has, roughly: for providers that don't say what they counted. */
const CHARACTERS_PER_TOKEN = 4;

function count(total: TurnResult["usage"], { usage, text }: Spoken, prompt: LanguageModelV4Prompt): void {
  const input = usage?.inputTokens.total;
  const output = usage?.outputTokens.total;
  if (input === undefined || output === undefined) total.estimated = true;
  total.inputTokens += input ?? Math.ceil(JSON.stringify(prompt).length / CHARACTERS_PER_TOKEN);
  total.outputTokens += output ?? Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
