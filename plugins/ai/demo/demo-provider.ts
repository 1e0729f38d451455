// Serves the demo model as an OpenAI-compatible upstream inside the process, without a key.

import { estimateTokens } from "../providers/pricing.ts";
import type { DemoMessage } from "./demo-message.ts";
import { type DemoTool, replyTo } from "./demo-model.ts";

const DEMO_MODEL_ID = "demo";
const json = { "content-type": "application/json" };

interface DemoRequest {
  messages?: DemoMessage[];
  tools?: { function?: DemoTool }[];
  tool_choice?: unknown;
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
}

/**
 * Answers like a provider would, to be used in place of `fetch`: `…/models` and `…/chat/completions`, whole or streamed,
 * with tools and usage. The same conversation always gets the same answer.
 */
export async function demoFetch(url: string, init: RequestInit): Promise<Response> {
  init.signal?.throwIfAborted();
  const { pathname } = new URL(url);
  if (pathname.endsWith("/models")) {
    return Response.json({ object: "list", data: [{ id: DEMO_MODEL_ID, object: "model", owned_by: "berth" }] });
  }
  if (!pathname.endsWith("/chat/completions")) return errorResponse(404, "The demo model only chats.");
  const text = typeof init.body === "string" ? init.body : await new Response(init.body).text();
  const request = JSON.parse(text) as DemoRequest;
  const { messages } = request;
  if (!Array.isArray(messages) || messages.length === 0)
    return errorResponse(400, "messages must be a list with something in it.");
  const tools = request.tool_choice === "none" ? [] : (request.tools ?? []).flatMap(({ function: tool }) => tool ?? []);
  const reply = replyTo(messages, tools);
  const calls = reply.calls.map(({ name, input }, index) => ({
    index,
    id: `call_demo_${messages.length}_${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const prompt_tokens = estimateTokens(text.length);
  const completion_tokens = estimateTokens(reply.text.length + (calls.length > 0 ? JSON.stringify(calls).length : 0));
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
  const finishReason = calls.length > 0 ? "tool_calls" : "stop";
  const envelope = {
    id: `chatcmpl-demo-${messages.length}`,
    created: Math.floor(Date.now() / 1000),
    model: DEMO_MODEL_ID,
  };
  if (!request.stream) {
    const message = {
      role: "assistant",
      content: reply.text || null,
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason }];
    const body = JSON.stringify({ ...envelope, object: "chat.completion", choices, usage });
    return new Response(body, { headers: { ...json, "content-length": String(Buffer.byteLength(body)) } });
  }
  const chunk = (choices: unknown[], more = {}) =>
    `data: ${JSON.stringify({ ...envelope, object: "chat.completion.chunk", choices, ...more })}\n\n`;
  const delta = (part: object, reason: string | null = null) =>
    chunk([{ index: 0, delta: part, logprobs: null, finish_reason: reason }]);
  const frames = [
    delta({ role: "assistant", content: "" }),
    ...(reply.text.match(/\s*\S+(?:\s+\S+)?|\s+$/g) ?? []).map((content) => delta({ content })),
    ...calls.map((call) => delta({ tool_calls: [call] })),
    delta({}, finishReason),
    ...(request.stream_options?.include_usage ? [chunk([], { usage })] : []),
    "data: [DONE]\n\n",
  ];
  return new Response(streamOf(frames), { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

/** A stream of one frame per pull. */
function streamOf(frames: readonly string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const frame = frames[next++];
      if (frame === undefined) controller.close();
      else controller.enqueue(encoder.encode(frame));
    },
  });
}

const errorResponse = (status: number, message: string) =>
  Response.json({ error: { message, type: "invalid_request_error", param: null, code: null } }, { status });
