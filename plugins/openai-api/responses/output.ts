// Writes an answer as the output items of /v1/responses, with the events by which they come into being.
// https://platform.openai.com/docs/api-reference/responses-streaming
import type { AnswerPart } from "../sources/model-source.ts";

/** An event without its number. */
export interface ResponseEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** An item as it is in the response; it grows while it is open. */
export interface OutputItem {
  id: string;
  type: string;
  status?: string;
  [field: string]: unknown;
}

export interface Output {
  readonly items: readonly OutputItem[];
  /** Adds a part; yields its events. Parts without an item (`state`, `finish`) have none. */
  add(part: AnswerPart): Generator<ResponseEvent>;
  /** Ends the item that is open. */
  end(): Generator<ResponseEvent>;
}

/** The name of the server that ran the tools of `mcp_call` items. */
const SERVER_LABEL = "berth";

/** @param idOf makes the id of the next item by its prefix and its index */
export function createOutput(idOf: (prefix: string, index: number) => string): Output {
  const items: OutputItem[] = [];
  /** Items by the id of the call or step. */
  const byCall = new Map<string, { item: OutputItem; index: number }>();
  let open:
    | { item: OutputItem; index: number; kind: "message" | "reasoning" | "function_call"; text: string }
    | undefined;

  function* begin(
    kind: "message" | "reasoning" | "function_call",
    prefix: string,
    fields: object,
  ): Generator<ResponseEvent> {
    yield* end();
    const index = items.length;
    const item: OutputItem = { id: idOf(prefix, index), type: kind, status: "in_progress", ...fields };
    items.push(item);
    open = { item, index, kind, text: "" };
    yield { type: "response.output_item.added", output_index: index, item: { ...item } };
  }

  function* end(): Generator<ResponseEvent> {
    if (!open) return;
    const { item, index, kind, text } = open;
    open = undefined;
    const at = { item_id: item.id, output_index: index };
    if (kind === "message") {
      const part = textPart(text);
      yield { type: "response.output_text.done", ...at, content_index: 0, text, logprobs: [] };
      yield { type: "response.content_part.done", ...at, content_index: 0, part };
      item.content = [part];
    } else if (kind === "reasoning") {
      const part = { type: "summary_text", text };
      yield { type: "response.reasoning_summary_text.done", ...at, summary_index: 0, text };
      yield { type: "response.reasoning_summary_part.done", ...at, summary_index: 0, part };
      item.summary = [part];
    } else {
      item.arguments = text === "" ? "{}" : text;
      yield { type: "response.function_call_arguments.done", ...at, name: item.name, arguments: item.arguments };
    }
    item.status = "completed";
    yield { type: "response.output_item.done", output_index: index, item: { ...item } };
  }

  function* addText(text: string): Generator<ResponseEvent> {
    if (open?.kind !== "message") {
      yield* begin("message", "msg", { role: "assistant", content: [] });
      yield { type: "response.content_part.added", ...place(), content_index: 0, part: textPart("") };
    }
    append(text);
    yield { type: "response.output_text.delta", ...place(), content_index: 0, delta: text, logprobs: [] };
  }

  function* addReasoning(text: string): Generator<ResponseEvent> {
    if (open?.kind !== "reasoning") {
      yield* begin("reasoning", "rs", { summary: [] });
      const part = { type: "summary_text", text: "" };
      yield { type: "response.reasoning_summary_part.added", ...place(), summary_index: 0, part };
    }
    append(text);
    yield { type: "response.reasoning_summary_text.delta", ...place(), summary_index: 0, delta: text };
  }

  /** A tool of the answering side: an `mcp_call`, whose name and output clients show, and which they don't run. */
  function* addStep({ id, name, input }: Extract<AnswerPart, { type: "step" }>): Generator<ResponseEvent> {
    yield* end();
    const index = items.length;
    const called = { name, arguments: input, server_label: SERVER_LABEL, output: null, error: null };
    const item: OutputItem = { id: idOf("mcp", index), type: "mcp_call", status: "in_progress", ...called };
    items.push(item);
    byCall.set(id, { item, index });
    const at = { item_id: item.id, output_index: index };
    yield { type: "response.output_item.added", output_index: index, item: { ...item } };
    yield { type: "response.mcp_call.in_progress", ...at };
    yield { type: "response.mcp_call_arguments.done", ...at, arguments: input };
  }

  function* addStepResult(part: Extract<AnswerPart, { type: "step-result" }>): Generator<ResponseEvent> {
    const step = byCall.get(part.id);
    if (!step) return;
    const { item, index } = step;
    if (part.isError) item.error = part.output;
    else item.output = part.output;
    item.status = part.isError ? "failed" : "completed";
    yield { type: `response.mcp_call.${item.status}`, item_id: item.id, output_index: index };
    yield { type: "response.output_item.done", output_index: index, item: { ...item } };
  }

  const place = () => ({ item_id: open?.item.id, output_index: open?.index });
  function append(text: string): void {
    if (open) open.text += text;
  }

  return {
    items,
    end,
    *add(part) {
      if (part.type === "text") yield* addText(part.text);
      else if (part.type === "reasoning") yield* addReasoning(part.text);
      else if (part.type === "step") yield* addStep(part);
      else if (part.type === "step-result") yield* addStepResult(part);
      else if (part.type === "call") {
        yield* begin("function_call", "fc", { call_id: part.id, name: part.name, arguments: "" });
      } else if (part.type === "call-arguments") {
        if (open?.kind !== "function_call") return;
        append(part.text);
        yield { type: "response.function_call_arguments.delta", ...place(), delta: part.text };
      }
    },
  };
}

const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });
