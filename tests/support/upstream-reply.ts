// Turns a scripted reply into bytes: one JSON completion, or the frames of a stream with its pace and its accidents.

import { type ChatBody, Refusal, textOf } from "./upstream-protocol.ts";

/** A completion, and what goes wrong with it. */
export interface Answer {
  text?: string;
  /** The text in exactly these stream chunks (default: word by word). */
  pieces?: string[];
  /** This many bytes of filler instead of a text, in chunks of 16 KiB. */
  bytes?: number;
  toolCalls?: { id?: string; name: string; arguments: unknown }[];
  /** Default: a quarter of the characters. `"none"`: not reported, as some servers do. */
  usage?: { prompt: number; completion: number } | "none";
  /** Default `stop`, or `tool_calls`. */
  finish?: string;
  /** Before the first byte. */
  delayMs?: number;
  /** Between chunks. */
  paceMs?: number;
  /** The socket is destroyed after that many chunks; 0: instead of an answer. */
  cutAfter?: number;
  /** Nothing more comes after that many chunks, until the client goes. */
  hangAfter?: number;
}

/** An HTTP error. The body is OpenAI's error shape around `message` where none is given. */
export interface Failure {
  status: number;
  message?: string;
  body?: unknown;
  /** Seconds, or an HTTP date. */
  retryAfter?: number | string;
  headers?: Record<string, string>;
}

/** What a script can have the upstream do: say a text, anything else than that, or `hang`: no byte until the client goes. */
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
  const asked = body.messages.reduce((sum, message) => sum + textOf(message.content).length, 0);
  const said = answer.bytes ?? (answer.pieces?.join("") ?? answer.text ?? "").length;
  const prompt = answer.usage?.prompt ?? Math.ceil(asked / 4);
  const completion = answer.usage?.completion ?? Math.ceil(said / 4);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
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
    // In two halves, since clients have to put them together.
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

/** An HTTP error as scripted. */
export function failed({ status, message, body, retryAfter, headers }: Failure): Response {
  const content = body ?? new Refusal(status, message ?? `Fake failure ${status}.`).body;
  const text = typeof content === "string";
  const all = new Headers({ "content-type": text ? "text/html" : "application/json", ...headers });
  if (retryAfter !== undefined) all.set("retry-after", String(retryAfter));
  return new Response(text ? content : JSON.stringify(content), { status, headers: all });
}

/** What a broken server sends: half an object, or a stream with half a frame. */
export function broken(what: "json" | "frame"): Response {
  if (what === "json") return new Response('{"id":"chatcmpl-1","choices":[{"mess', { headers: json });
  return new Response('data: {"id":"chatcmpl-1","choi\n\ndata: [DONE]\n\n', {
    headers: { "content-type": "text/event-stream" },
  });
}

/** Vectors that depend on the text alone. */
export function embeddings(body: unknown) {
  const { input, model, dimensions = 8 } = Object(body);
  const inputs: unknown[] = Array.isArray(input) ? input : [input];
  if (typeof model !== "string") throw new Refusal(400, "you must provide a model parameter");
  if (inputs.length === 0 || !inputs.every((text) => typeof text === "string" && text !== "")) {
    throw new Refusal(400, "'$.input' is invalid.", "input");
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
