// Names the spans of a turn by OpenTelemetry's conventions for generative AI: the turn, its calls of models and tools, the delivery.
// Imported where they are made, so that a service without traces does not load it.
// https://opentelemetry.io/docs/specs/semconv/gen-ai/
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Span, Traces } from "../../src/kernel/telemetry/traces.ts";
import type { Agent } from "../agents/index.ts";
import type { InboxEntry } from "./inbox/entries.ts";

/** The span of a turn that runs. */
export interface TurnSpan {
  /** Begins the span of one call of a model. */
  model(model: { provider: string; modelId: string }, options: LanguageModelV4CallOptions): ModelSpan;
  /** Begins the span of one call of a tool. */
  tool(call: { id: string; tool: string; input: string }): ToolSpan;
  fail(error: unknown): void;
  /** Ends it; as failed, if `fail` was called. */
  end(): void;
}

interface ModelSpan {
  end(output: ModelCallOutput, usage: { inputTokens: number; outputTokens: number }): void;
  fail(error: unknown): void;
}

interface ToolSpan {
  /** The span itself, for what the call does. */
  readonly inner: Span;
  /** Undefined: the call waits for the owner's approval. */
  end(result: { ok: boolean; text: string } | undefined): void;
}

interface ModelCallOutput {
  text: string;
  calls: readonly { toolCallId: string; toolName: string; input: string }[];
  truncated: boolean;
}

export function beginTurnSpan(traces: Traces, agent: Agent, entry: InboxEntry): TurnSpan {
  const turn = traces.begin(entry.id, `invoke_agent ${agent.name}`, {
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.id": agent.id,
      "gen_ai.agent.name": agent.name,
      "gen_ai.conversation.id": entry.sessionId,
      "berth.turn.id": entry.id,
      "berth.turn.attempt": entry.attempts,
      "berth.platform": entry.platform,
    },
  });
  return toTurnSpan(turn);
}

/** Begins the span of one part that a call of `delegate` gives to a copy of the agent; its calls are spans in it. */
export function beginSubTaskSpan(call: Span, agent: Pick<Agent, "id" | "name">, part: number): TurnSpan {
  const subTask = call.begin(`invoke_agent ${agent.name}`, {
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.id": agent.id,
      "gen_ai.agent.name": agent.name,
      "berth.delegate.part": part,
    },
  });
  return toTurnSpan(subTask);
}

function toTurnSpan(turn: Span): TurnSpan {
  const contents = (text: () => string) => (turn.withContents ? text() : undefined);
  let failure: string | undefined;

  return {
    model({ provider, modelId }, { prompt, temperature, topP, maxOutputTokens }) {
      const span = turn.begin(`chat ${modelId}`, {
        kind: "client",
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": provider,
          "gen_ai.request.model": modelId,
          "gen_ai.request.temperature": temperature,
          "gen_ai.request.top_p": topP,
          "gen_ai.request.max_tokens": maxOutputTokens,
          "gen_ai.input.messages": contents(() => JSON.stringify(prompt, withoutFiles)),
        },
      });
      return {
        end({ text, calls, truncated }, { inputTokens, outputTokens }) {
          span.set({
            "gen_ai.usage.input_tokens": inputTokens,
            "gen_ai.usage.output_tokens": outputTokens,
            "gen_ai.response.finish_reasons": [truncated ? "length" : calls.length > 0 ? "tool_calls" : "stop"],
            "gen_ai.output.messages": contents(() => JSON.stringify([{ role: "assistant", text, calls }])),
          });
          span.end();
        },
        fail: (error) => span.end(classOf(error)),
      };
    },

    tool({ id, tool, input }) {
      const span = turn.begin(`execute_tool ${tool}`, {
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": tool,
          "gen_ai.tool.call.id": id,
          "gen_ai.tool.type": "function",
          "gen_ai.tool.call.arguments": contents(() => input),
        },
      });
      return {
        inner: span,
        end(result) {
          span.set({
            "berth.approval": result ? undefined : "waiting",
            "gen_ai.tool.call.result": result && contents(() => result.text),
          });
          span.end(result?.ok === false ? "tool_error" : undefined);
        },
      };
    },

    fail(error) {
      failure = classOf(error);
    },
    end: () => turn.end(failure),
  };
}

/** Begins the span of one try to deliver a reply to its channel, in the trace of its turn. Returns the function that ends it. */
export function beginDeliverySpan(
  traces: Traces,
  { inboxId, platform, attempts, id }: { id: string; inboxId: string; platform: string; attempts: number },
): (outcome: string) => void {
  const span = traces.follow(inboxId, `deliver ${platform}`, {
    kind: "producer",
    attributes: { "berth.channel": platform, "berth.delivery.id": id, "berth.delivery.attempt": attempts + 1 },
  });
  return (outcome) => span.end(outcome === "sent" ? undefined : outcome);
}

/** The code or the name of an error: its message may hold private texts. */
function classOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return "_OTHER";
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.name;
}

/** Files would fill the trace. */
const withoutFiles = (_: string, value: unknown) => (value instanceof Uint8Array ? `(${value.length} bytes)` : value);
