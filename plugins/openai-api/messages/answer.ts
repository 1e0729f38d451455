// Writes an answer as a message of Anthropic's API, whole or as its stream of events.
// https://docs.anthropic.com/en/api/messages-streaming
import { typedFrame } from "../answers/event-stream.ts";
import type { DescribeError } from "../answers/stream-errors.ts";
import { anthropicError } from "../error-formats.ts";
import type { AnswerPart, AnswerUsage, FinishReason } from "../sources/model-source.ts";

interface Block {
  type: string;
  [field: string]: unknown;
}
interface MessageEvent {
  type: string;
  [field: string]: unknown;
}

export interface MessageAbout {
  readonly id: string;
  readonly model: string;
}

const SERVER_NAME = "berth";

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  calls: "tool_use",
  filter: "refusal",
};

/** The blocks of an answer, with the events by which they come into being. */
function createBlocks() {
  const blocks: Block[] = [];
  let open: { kind: "text" | "thinking" | "tool_use"; written: string } | undefined;

  function* begin(kind: "text" | "thinking" | "tool_use", block: Block): Generator<MessageEvent> {
    yield* end();
    blocks.push(block);
    open = { kind, written: "" };
    yield { type: "content_block_start", index: blocks.length - 1, content_block: { ...block } };
  }

  function* write(delta: MessageEvent, written: string): Generator<MessageEvent> {
    if (open) open.written += written;
    yield { type: "content_block_delta", index: blocks.length - 1, delta };
  }

  function* end(): Generator<MessageEvent> {
    const block = blocks.at(-1);
    if (!open || !block) return;
    const { kind, written } = open;
    open = undefined;
    if (kind === "text") block.text = written;
    else if (kind === "tool_use") block.input = parseInput(written);
    else {
      block.thinking = written;
      yield {
        type: "content_block_delta",
        index: blocks.length - 1,
        delta: { type: "signature_delta", signature: "" },
      };
    }
    yield { type: "content_block_stop", index: blocks.length - 1 };
  }

  /** A block that is there as a whole. */
  function* whole(block: Block): Generator<MessageEvent> {
    yield* end();
    blocks.push(block);
    yield { type: "content_block_start", index: blocks.length - 1, content_block: block };
    yield { type: "content_block_stop", index: blocks.length - 1 };
  }

  return {
    blocks,
    end,
    *add(part: AnswerPart): Generator<MessageEvent> {
      if (part.type === "text") {
        if (open?.kind !== "text") yield* begin("text", { type: "text", text: "" });
        yield* write({ type: "text_delta", text: part.text }, part.text);
      } else if (part.type === "reasoning") {
        if (open?.kind !== "thinking") yield* begin("thinking", { type: "thinking", thinking: "", signature: "" });
        yield* write({ type: "thinking_delta", thinking: part.text }, part.text);
      } else if (part.type === "call") {
        yield* begin("tool_use", { type: "tool_use", id: part.id, name: part.name, input: {} });
      } else if (part.type === "call-arguments") {
        if (open?.kind === "tool_use") yield* write({ type: "input_json_delta", partial_json: part.text }, part.text);
      } else if (part.type === "step") {
        const input = parseInput(part.input);
        yield* whole({ type: "mcp_tool_use", id: part.id, name: part.name, server_name: SERVER_NAME, input });
      } else if (part.type === "step-result") {
        const content = [{ type: "text", text: part.output }];
        yield* whole({ type: "mcp_tool_result", tool_use_id: part.id, is_error: part.isError, content });
      }
    },
  };
}

function parseInput(json: string): unknown {
  try {
    return JSON.parse(json === "" ? "{}" : json);
  } catch {
    // A model may write arguments that are no JSON, or be cut; the client sees that there are none.
    return {};
  }
}

/** The events of the answer, but for the first; returns the whole message. Throws what the parts throw. */
async function* events(parts: AsyncIterable<AnswerPart>, about: MessageAbout): AsyncGenerator<MessageEvent, object> {
  const content = createBlocks();
  let finish: Extract<AnswerPart, { type: "finish" }> | undefined;
  for await (const part of parts) {
    if (part.type === "finish") finish = part;
    else yield* content.add(part);
  }
  yield* content.end();
  const stop = { stop_reason: STOP_REASONS[finish?.reason ?? "stop"], stop_sequence: null };
  const usage = toUsage(finish?.usage);
  yield { type: "message_delta", delta: stop, usage };
  yield { type: "message_stop" };
  return { ...emptyMessage(about), content: content.blocks, ...stop, usage };
}

export async function* messageFrames(
  parts: AsyncIterable<AnswerPart>,
  about: MessageAbout,
  requestId: string,
  describe: DescribeError,
): AsyncGenerator<string> {
  try {
    yield typedFrame({ type: "message_start", message: emptyMessage(about) });
    for await (const event of events(parts, about)) yield typedFrame(event);
  } catch (error) {
    yield typedFrame(anthropicError(describe(error), requestId));
  }
}

export async function wholeMessage(parts: AsyncIterable<AnswerPart>, about: MessageAbout): Promise<object> {
  const source = events(parts, about);
  let next = await source.next();
  while (!next.done) next = await source.next();
  return next.value;
}

const emptyMessage = ({ id, model }: MessageAbout) => ({
  id,
  type: "message",
  role: "assistant",
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: toUsage(undefined),
});

/** Anthropic counts tokens from a cache apart from the others. */
function toUsage({ inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 }: Partial<AnswerUsage> = {}) {
  return {
    input_tokens: Math.max(0, inputTokens - cachedInputTokens),
    output_tokens: outputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedInputTokens,
  };
}
