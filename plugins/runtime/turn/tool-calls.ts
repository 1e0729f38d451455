// Runs the tool calls of a turn, and tracks the taint of what the model has read through their results.
import type { LanguageModelV4FunctionTool, LanguageModelV4Message, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import type { InputModality } from "../../ai/index.ts";
import {
  type Authorize,
  highestTaint,
  type PreparedTool,
  type Taint,
  type ToolContext,
  type ToolFile,
} from "../../skills/index.ts";
import { toFileMessages } from "./tool-files.ts";

/** Tool calls of one step that are run; for the others the model gets an error. */
const MAX_CALLS = 16;
/** Characters of a tool's input and of its result that are stored with the reply. */
export const MAX_STORED = 4_000;

/** Receives a reply while it is being written. Must not throw. */
export interface Observer {
  delta(text: string): void;
  tool(event: ToolEvent): void;
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
  tool: string;
  /** As the model gave it. */
  input: string;
  ended?: Pick<Step, "result" | "ok" | "ms">;
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
}

export interface ToolCallRequest {
  tools: readonly PreparedTool[];
  toolContext: Omit<ToolContext, "signal" | "taint" | "raiseTaint" | "approved">;
  /** The taint of the prompt. */
  taint: Taint;
  /** Decides about calls that need the owner's approval. */
  authorize: Authorize;
  /** The modalities that the model accepts; asked for only when a tool returns files. */
  acceptedInputs?(): Promise<readonly InputModality[]>;
  observer: Observer | undefined;
  signal: AbortSignal;
}

interface Called {
  step: Step;
  files: readonly ToolFile[] | undefined;
}

/** One response of the model with tool calls. */
interface Calls {
  text: string;
  calls: readonly LanguageModelV4ToolCall[];
}

export function createToolCalls(request: ToolCallRequest) {
  const { tools, toolContext, taint, authorize, observer, signal } = request;
  let current = taint;
  const raiseTaint = (raised: Taint) => {
    current = highestTaint([current, raised]);
  };

  async function call(
    { toolCallId: id, toolName: name, input }: LanguageModelV4ToolCall,
    index: number,
    read: Taint,
  ): Promise<Called> {
    const at = Date.now();
    const started = performance.now();
    observer?.step?.({ id, tool: name, input });
    const tool = tools.find((candidate) => candidate.name === name);
    const value = parseJson(input);
    observer?.tool({ name, state: "called" });
    const refusal =
      index >= MAX_CALLS
        ? `At most ${MAX_CALLS} tools are called at once. Call ${name} again.`
        : value === undefined
          ? `The input of ${name} is not valid JSON. Call it again.`
          : undefined;
    const { ok, text, files } = !tool
      ? { ok: false, text: `There is no tool called ${name}.`, files: undefined }
      : refusal !== undefined
        ? { ok: false, text: refusal, files: undefined }
        : await tool.execute(value, { ...toolContext, signal, taint: read, raiseTaint, approved: false }, authorize);
    const ms = Math.round(performance.now() - started);
    observer?.tool({ name, state: ok ? "done" : "failed" });
    observer?.step?.({ id, tool: name, input, ended: { result: text, ok, ms } });
    return { step: { tool: name, input, result: text, ok, at, ms }, files };
  }

  return {
    /** The tools in the provider's form; undefined for none. */
    offeredTools: tools.length > 0 ? tools.map(toolDefinition) : undefined,
    /** The taint of everything that the model gets with its next call. */
    taint: () => current,
    /** Runs the calls of one response at once; returns their results, and the response and results for the prompt. */
    async run({ text, calls }: Calls): Promise<{ results: Step[]; messages: LanguageModelV4Message[] }> {
      // What one call reads, the model had not read when it made the others.
      const read = current;
      const called = await Promise.all(calls.map((one, n) => call(one, n, read)));
      const results = called.map(({ step }) => step);
      const files = called.flatMap(({ step, files = [] }) => files.map((file) => ({ tool: step.tool, file })));
      const fileMessages = files.length > 0 ? toFileMessages(files, (await request.acceptedInputs?.()) ?? []) : [];
      return { results, messages: [...toMessages(text, calls, results), ...fileMessages] };
    },
  };
}

const toMessages = (
  text: string,
  calls: readonly LanguageModelV4ToolCall[],
  results: readonly Step[],
): LanguageModelV4Message[] => [
  {
    role: "assistant",
    content: [
      ...(text ? [{ type: "text" as const, text }] : []),
      ...calls.map(({ toolCallId, toolName, input }) => ({
        type: "tool-call" as const,
        toolCallId,
        toolName,
        input: asObject(parseJson(input)),
      })),
    ],
  },
  {
    role: "tool",
    content: calls.map(({ toolCallId, toolName }, n) => ({
      type: "tool-result" as const,
      toolCallId,
      toolName,
      output: { type: results[n]?.ok ? ("text" as const) : ("error-text" as const), value: results[n]?.result ?? "" },
    })),
  },
];

export const toStoredStep = ({ input, result, ...step }: Step): Step => ({
  ...step,
  input: input.slice(0, MAX_STORED).toWellFormed(),
  result: result.slice(0, MAX_STORED).toWellFormed(),
});

const toolDefinitions = new WeakMap<PreparedTool, LanguageModelV4FunctionTool>();

/** A tool in the provider's form, cached for each tool. */
function toolDefinition(tool: PreparedTool): LanguageModelV4FunctionTool {
  let definition = toolDefinitions.get(tool);
  if (!definition) {
    definition = { type: "function", name: tool.name, description: tool.description, inputSchema: tool.inputSchema };
    toolDefinitions.set(tool, definition);
  }
  return definition;
}

/** The value of a JSON text; undefined for any other text. */
function parseJson(json: string): unknown {
  if (json.trim() === "") return {};
  try {
    return JSON.parse(json);
  } catch {
    // The caller sends the error to the model.
    return undefined;
  }
}

/** Providers accept only an object as the input of an earlier call. */
const asObject = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
