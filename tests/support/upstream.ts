// A fake AI provider with OpenAI's protocol: it validates requests strictly, and a script decides how it replies or fails.
// As a program (bun tests/support/upstream.ts --port N [--pace MS] [--chunks N]) it sends precomputed bytes (upstream-fast.ts).

import { createWatch } from "./eventually.ts";
import { type AudioScript, type HeardRecording, readAloud, type SpokenText, writeDown } from "./upstream-audio.ts";
import { serveFast } from "./upstream-fast.ts";
import { ONE_POINT_PNG, type PaintedPicture, type Painting, paint } from "./upstream-pictures.ts";
import { assertChat, type ChatBody, type ChatMessage, RefusalError, textOf } from "./upstream-protocol.ts";
import {
  type Answer,
  broken,
  type Completion,
  completion,
  embeddings,
  failed,
  frames,
  json,
  modelItem,
  type Reply,
} from "./upstream-reply.ts";

export type { ChatBody, ChatMessage } from "./upstream-protocol.ts";
export type { Answer, Failure, Reply } from "./upstream-reply.ts";

/** How a request ended: `aborted` by the client, `cut` by the upstream. */
export type Outcome = "open" | "done" | "aborted" | "cut";

export interface UpstreamRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** The parsed body; the text if it is not JSON. */
  readonly body: unknown;
  /** 0 until there is a response. */
  status: number;
  outcome: Outcome;
}

/** An accepted chat request, as scripts get it. */
export interface ChatRequest extends UpstreamRequest {
  readonly body: ChatBody;
  readonly messages: ChatMessage[];
  /** Text of the newest user message. */
  readonly lastUser: string;
  /** Tool results after the newest assistant message. */
  readonly toolResults: { id: string; content: string }[];
  readonly signal: AbortSignal;
}

export type Script = (request: ChatRequest) => Reply | undefined | Promise<Reply | undefined>;

export interface UpstreamOptions {
  port?: number;
  /** The only accepted key. Default: any key, or none. */
  key?: string;
  /** The only models. Default: `fake-small` and `fake-large` are listed, and any name is accepted. */
  models?: (string | { id: string; [field: string]: unknown })[];
  /** Accepted parameters besides OpenAI's. */
  extraParameters?: string[];
}

export interface Upstream extends AsyncDisposable {
  /** The value of `PROVIDER_N_BASE_URL`, with `/v1`. */
  readonly url: string;
  readonly origin: string;
  /** All requests in order, with rejected ones. */
  readonly requests: UpstreamRequest[];
  /** The accepted chat requests. */
  readonly chats: ChatRequest[];
  /** The accepted recordings and texts of the audio endpoints. */
  readonly heard: HeardRecording[];
  readonly spoken: SpokenText[];
  /** Requests in flight. */
  readonly open: number;
  readonly total: number;
  /** Requests whose client disconnected before the end of the response. */
  readonly aborted: number;
  /** Sets the reply from now on. `undefined` (also from a function) is the default, `echo: <last user text>`. */
  script(script: Script | Reply | undefined): void;
  /** The accepted requests for pictures. */
  readonly painted: PaintedPicture[];
  /** Sets the pictures that are made from now on. */
  scriptPictures(paints: Painting): void;
  /** Sets what the audio endpoints answer from now on. */
  scriptAudio(script: Partial<AudioScript>): void;
  /** The next `count` chat requests fail; the script does not run for them. */
  failNext(count: number, failure: number | Exclude<Reply, string>): void;
  waitFor<T>(predicate: (upstream: Upstream) => T, timeoutMs?: number): Promise<NonNullable<T>>;
  /** Clears requests, script and failures; requests in flight go on. */
  reset(): void;
  stop(): Promise<void>;
}

const POSTS = [
  ...["/v1/chat/completions", "/v1/embeddings", "/v1/audio/transcriptions", "/v1/audio/speech"],
  "/v1/images/generations",
];
const defaultAudio: AudioScript = {
  hears: ({ bytes }) => `I hear ${bytes.length} bytes.`,
  speaks: () => ({ status: 500, message: "No sound is scripted." }),
};
const defaultModels = ["fake-small", "fake-large"];

/**
 * Starts the fake on an ephemeral loopback port.
 *
 * @example
 * await using upstream = await startUpstream({ key: "sk-test" });
 * upstream.script(({ toolResults }) => toolResults.length ? "It is noon." : { toolCalls: [{ name: "clock", arguments: {} }] });
 */
export async function startUpstream(options: UpstreamOptions = {}): Promise<Upstream> {
  const watch = createWatch();
  const models = (options.models ?? defaultModels).map((model) => (typeof model === "string" ? { id: model } : model));
  let requests: UpstreamRequest[] = [];
  let chats: ChatRequest[] = [];
  let heard: HeardRecording[] = [];
  let spoken: SpokenText[] = [];
  let script: Script = () => undefined;
  let audio: AudioScript = defaultAudio;
  let painted: PaintedPicture[] = [];
  let paints: Painting = () => ONE_POINT_PNG;
  let failures: Exclude<Reply, string>[] = [];
  const count = { open: 0, total: 0, aborted: 0, made: 0 };
  /** The script of the audio endpoints, for whose requests tests wait. */
  const announced: AudioScript = {
    hears(recording) {
      watch.changed();
      return audio.hears(recording);
    },
    speaks(text) {
      watch.changed();
      return audio.speaks(text);
    },
  };
  const closing = new AbortController();
  /** Streamed responses, which record their own end. */
  const streams = new WeakSet<Response>();

  function finish(record: UpstreamRequest, outcome: Exclude<Outcome, "open">): void {
    if (record.outcome !== "open") return;
    record.outcome = outcome;
    count.open -= 1;
    if (outcome === "aborted") count.aborted += 1;
    watch.changed();
  }

  async function handle(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const bytes = new Uint8Array(await request.arrayBuffer().catch(() => new ArrayBuffer()));
    const text = Buffer.from(bytes).toString();
    const headers = Object.fromEntries(request.headers);
    const body = parsed(text);
    const about = { at: Date.now(), method: request.method, path: pathname, headers };
    const record: UpstreamRequest = { ...about, body, status: 0, outcome: "open" };
    count.open += 1;
    count.total += 1;
    requests.push(record);
    const signal = AbortSignal.any([request.signal, closing.signal]);
    request.signal.addEventListener("abort", () => finish(record, "aborted"), { once: true });
    watch.changed();
    try {
      const response = await route(record, bytes, text, signal);
      record.status = response.status;
      if (!streams.has(response)) finish(record, "done");
      return response;
    } catch (error) {
      const refusal = error instanceof RefusalError ? error : new RefusalError(500, `The script failed: ${error}`);
      record.status = refusal.status;
      finish(record, "done");
      return Response.json(refusal.body, { status: refusal.status });
    }
  }

  async function route(
    record: UpstreamRequest,
    bytes: Uint8Array<ArrayBuffer>,
    text: string,
    signal: AbortSignal,
  ): Promise<Response> {
    const { method, path, headers, body } = record;
    const requiredMethod = path === "/v1/models" ? "GET" : POSTS.includes(path) && "POST";
    if (!requiredMethod) throw new RefusalError(404, `Invalid URL (${method} ${path})`);
    if (method !== requiredMethod)
      throw new RefusalError(405, `Not allowed to ${method} on ${path}.`, null, "method_not_supported");
    authorize(headers.authorization);
    if (requiredMethod === "GET") return Response.json({ object: "list", data: models.map(modelItem) });
    if (path === "/v1/audio/transcriptions") {
      return writeDown(bytes, headers["content-type"] ?? "", announced, heard, signal);
    }
    if (!/^application\/json\s*(;|$)/.test(headers["content-type"] ?? "")) {
      throw new RefusalError(
        400,
        `Unsupported content type: '${headers["content-type"] ?? ""}'. Use application/json.`,
      );
    }
    if (text === "" || body === text) throw new RefusalError(400, "We could not parse the JSON body of your request.");
    if (path === "/v1/audio/speech") return readAloud(body, announced, spoken, signal);
    if (path === "/v1/images/generations") return paint(body, paints, painted);
    if (path === "/v1/embeddings") return Response.json(embeddings(body));
    assertChat(body, options.extraParameters);
    if (options.models && !models.some(({ id }) => id === body.model)) {
      throw new RefusalError(404, `The model \`${body.model}\` does not exist.`, null, "model_not_found");
    }
    return chat(record, body, signal);
  }

  function authorize(header: string | undefined): void {
    if (options.key === undefined || header === `Bearer ${options.key}`) return;
    const message = header ? "Incorrect API key provided." : "You didn't provide an API key.";
    throw new RefusalError(401, message, null, "invalid_api_key");
  }

  async function chat(record: UpstreamRequest, body: ChatBody, signal: AbortSignal): Promise<Response> {
    const { messages } = body;
    const after = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
    const request: ChatRequest = Object.assign(record, {
      body,
      messages,
      signal,
      lastUser: textOf(messages.findLast(({ role }) => role === "user")?.content),
      toolResults: after.flatMap(({ role, tool_call_id: id = "", content }) =>
        role === "tool" ? [{ id, content: textOf(content) }] : [],
      ),
    });
    chats.push(request);
    watch.changed();
    const reply = failures.shift() ?? (await script(request)) ?? `echo: ${request.lastUser}`;
    const answeredModel = typeof reply === "object" && "model" in reply ? reply.model : undefined;
    const about: Completion = {
      id: `chatcmpl-${String(++count.made).padStart(8, "0")}`,
      model: answeredModel ?? body.model,
      created: Math.floor(Date.now() / 1000),
    };
    if (typeof reply === "string") return answer(request, { text: reply }, about);
    if ("status" in reply) return failed(reply);
    if ("hang" in reply) return answer(request, { hangAfter: 0 }, about);
    if ("broken" in reply) return broken(reply.broken);
    return answer(request, reply, about);
  }

  async function answer(request: ChatRequest, reply: Answer, about: Completion): Promise<Response> {
    const { body, signal } = request;
    if (reply.delayMs) await pause(reply.delayMs, signal);
    if (reply.hangAfter === 0) await aborted(signal);
    if (reply.cutAfter === 0) return streamed(request, reply, [].values());
    if (body.stream) return streamed(request, reply, frames(reply, body, about));
    if (reply.hangAfter !== undefined) await aborted(signal);
    const whole = completion(reply, body, about);
    if (reply.cutAfter === undefined) return new Response(whole, { headers: json });
    return streamed(request, { cutAfter: 1 }, [whole.slice(0, whole.length / 2)].values(), json);
  }

  function streamed(
    record: UpstreamRequest & { signal: AbortSignal },
    reply: Answer,
    source: Iterator<string, unknown>,
    headers: Record<string, string> = {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
    },
  ): Response {
    const encoder = new TextEncoder();
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (reply.paceMs && sent > 0) await pause(reply.paceMs, record.signal);
        if (sent === reply.hangAfter) await aborted(record.signal);
        if (sent === reply.cutAfter || record.signal.aborted) {
          // Wait, since a reset discards bytes that are still in transit.
          if (sent > 0) await pause(20, record.signal);
          finish(record, record.signal.aborted ? "aborted" : "cut");
          // Bun resets the connection when a body fails; without a reason it does so silently.
          return controller.error();
        }
        const next = source.next();
        if (next.done) {
          finish(record, "done");
          return controller.close();
        }
        controller.enqueue(encoder.encode(next.value));
        sent += 1;
      },
      cancel: () => finish(record, "aborted"),
    });
    const response = new Response(stream, { headers });
    streams.add(response);
    return response;
  }

  const server = Bun.serve({ port: options.port ?? 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: handle });
  const origin = `http://127.0.0.1:${server.port}`;
  const upstream: Upstream = {
    url: `${origin}/v1`,
    origin,
    get requests() {
      return requests;
    },
    get chats() {
      return chats;
    },
    get painted() {
      return painted;
    },
    scriptPictures(next) {
      paints = next;
    },
    get heard() {
      return heard;
    },
    get spoken() {
      return spoken;
    },
    get open() {
      return count.open;
    },
    get total() {
      return count.total;
    },
    get aborted() {
      return count.aborted;
    },
    script(next) {
      script = typeof next === "function" ? next : () => next;
    },
    scriptAudio(next) {
      audio = { ...audio, ...next };
    },
    failNext(times, failure) {
      const reply = typeof failure === "number" ? { status: failure } : failure;
      failures.push(...Array.from({ length: times }, () => reply));
    },
    waitFor: (predicate, timeoutMs) => watch.waitFor(() => predicate(upstream), timeoutMs, String(predicate)),
    reset() {
      requests = [];
      chats = [];
      heard = [];
      spoken = [];
      audio = defaultAudio;
      painted = [];
      paints = () => ONE_POINT_PNG;
      failures = [];
      script = () => undefined;
    },
    async stop() {
      closing.abort();
      await server.stop(true);
    },
    [Symbol.asyncDispose]: () => upstream.stop(),
  };
  return upstream;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await Promise.race([Bun.sleep(ms), aborted(signal)]);
}

if (import.meta.main) serveFast(Bun.argv.slice(2));
