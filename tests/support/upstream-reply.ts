// Encodes a scripted reply as a JSON completion or as the frames of a stream, and makes error and broken responses.

import { type ChatBody, RefusalError, textOf } from "./upstream-protocol.ts";

/** A completion, with optional failures. */
export interface Answer {
  text?: string;
  /** The text as these stream chunks. Default: one chunk per word. */
  pieces?: string[];
  /** Number of bytes of filler in place of a text, in chunks of 16 KiB. */
  bytes?: number;
  toolCalls?: { id?: string; name: string; arguments: unknown }[];
  /** Default: a quarter of the characters. `"none"`: no usage, as with some servers. */
  usage?: { prompt: number; completion: number; more?: object } | "none";
  /** Default: the model of the request. */
  model?: string;
  /** Default `stop`, or `tool_calls`. */
  finish?: string;
  /** Delay before the first byte. */
  delayMs?: number;
  /** Delay between chunks. */
  paceMs?: number;
  /** Resets the connection after this many chunks; 0: in place of a response. */
  cutAfter?: number;
  /** Sends nothing more after this many chunks until the client disconnects. */
  hangAfter?: number;
}

/** An HTTP error. Default body: OpenAI's error format with `message`. */
export interface Failure {
  status: number;
  message?: string;
  body?: unknown;
  /** Seconds, or an HTTP date. */
  retryAfter?: number | string;
  headers?: Record<string, string>;
}

/** A scripted reply: a text, a completion, an HTTP error, no byte until the client disconnects, or broken data. */
export type Reply = string | Answer | Failure | { hang: true } | { broken: "json" | "frame" };

export interface Completion {
  id: string;
  model: string;
  /** Seconds. */
  created: number;
}

const filler = "0123456789abcde ".repeat(1024);

function* piecesOf(answer: Answer): Generator<string, void> {
  if (answer.pieces) yield* answer.pieces;
  else if (answer.bytes !== undefined) {
    for (let left = answer.bytes; left > 0; left -= filler.length) yield filler.slice(0, left);
  } else yield* answer.text?.match(/\s*\S+|\s+$/g) ?? [];
}

function toolCallsOf(answer: Answer, { id }: Completion) {
  return (answer.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${id.slice(-8)}_${index}`,
    type: "function" as const,
    function: {
      name: call.name,
      arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
    },
  }));
}

function usageOf(answer: Answer, body: ChatBody) {
  if (answer.usage === "none") return undefined;
  const promptCharacters = body.messages.reduce((sum, message) => sum + textOf(message.content).length, 0);
  const replyCharacters = answer.bytes ?? (answer.pieces?.join("") ?? answer.text ?? "").length;
  const prompt = answer.usage?.prompt ?? Math.ceil(promptCharacters / 4);
  const completion = answer.usage?.completion ?? Math.ceil(replyCharacters / 4);
  const more = answer.usage?.more;
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, ...more };
}

const finishOf = (answer: Answer) => answer.finish ?? (answer.toolCalls?.length ? "tool_calls" : "stop");

/** The body of a completion that is not streamed. */
export function completion(answer: Answer, body: ChatBody, about: Completion): string {
  const text = [...piecesOf(answer)].join("");
  const calls = toolCallsOf(answer, about);
  const message = { role: "assistant", content: text || (calls.length > 0 ? null : ""), refusal: null };
  return JSON.stringify({
    ...about,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: calls.length > 0 ? { ...message, tool_calls: calls } : message,
        logprobs: null,
        finish_reason: finishOf(answer),
      },
    ],
    usage: usageOf(answer, body),
  });
}

/** The frames of a streamed completion, the last of them `[DONE]`. */
export function* frames(answer: Answer, body: ChatBody, about: Completion): Generator<string, void> {
  const wantsUsage = body.stream_options?.include_usage === true && answer.usage !== "none";
  const head = { ...about, object: "chat.completion.chunk", ...(wantsUsage ? { usage: null } : {}) };
  const chunk = (delta: unknown, finish: string | null = null) =>
    frame({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  yield chunk({ role: "assistant", content: "" });
  for (const piece of piecesOf(answer)) yield chunk({ content: piece });
  for (const [index, call] of toolCallsOf(answer, about).entries()) {
    const { name, arguments: json } = call.function;
    yield chunk({ tool_calls: [{ index, id: call.id, type: "function", function: { name, arguments: "" } }] });
    // In two halves, since clients must join them.
    const middle = Math.ceil(json.length / 2);
    for (const half of [json.slice(0, middle), json.slice(middle)]) {
      yield chunk({ tool_calls: [{ index, function: { arguments: half } }] });
    }
  }
  yield chunk({}, finishOf(answer));
  if (wantsUsage) yield frame({ ...head, choices: [], usage: usageOf(answer, body) });
  yield "data: [DONE]\n\n";
}

const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

export const json = { "content-type": "application/json" };

/** One entry of `/v1/models`. */
export function modelItem(model: { id: string }) {
  return { object: "model", created: 1_700_000_000, owned_by: "fake", ...model };
}

/** The response for a scripted HTTP error. */
export function failed({ status, message, body, retryAfter, headers }: Failure): Response {
  const content = body ?? new RefusalError(status, message ?? `Fake failure ${status}.`).body;
  const text = typeof content === "string";
  const all = new Headers({ "content-type": text ? "text/html" : "application/json", ...headers });
  if (retryAfter !== undefined) all.set("retry-after", String(retryAfter));
  return new Response(text ? content : JSON.stringify(content), { status, headers: all });
}

/** A broken response: half an object, or a stream with half a frame. */
export function broken(what: "json" | "frame"): Response {
  if (what === "json") return new Response('{"id":"chatcmpl-1","choices":[{"mess', { headers: json });
  return new Response('data: {"id":"chatcmpl-1","choi\n\ndata: [DONE]\n\n', {
    headers: { "content-type": "text/event-stream" },
  });
}

/** Answers an embeddings request with vectors that depend on the text only. */
export function embeddings(body: unknown) {
  const { input, model, dimensions = 8 } = Object(body);
  const inputs: unknown[] = Array.isArray(input) ? input : [input];
  if (typeof model !== "string") throw new RefusalError(400, "you must provide a model parameter");
  if (inputs.length === 0 || !inputs.every((text) => typeof text === "string" && text !== "")) {
    throw new RefusalError(400, "'$.input' is invalid.", "input");
  }
  const data = inputs.map((text, index) => {
    const embedding = Array.from({ length: dimensions }, (_, at) => {
      return Number(Bun.hash.wyhash(`${at}:${text}`) % 2_000n) / 1_000 - 1;
    });
    return { object: "embedding", index, embedding };
  });
  const tokens = Math.ceil(inputs.join("").length / 4);
  return { object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}
