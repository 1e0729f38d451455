// Pass-through chat: the provider's answer byte for byte, its failures in Berth's words, the next provider where that is safe.
import { AppError } from "../../src/errors.ts";
import type { Log } from "../../src/log.ts";
import type { Candidate } from "./catalogue.ts";
import type { ChatBody } from "./chat-request.ts";
import { spliceJson } from "./json-splice.ts";
import { authHeaders, type Upstream } from "./providers.ts";
import { createTap, type Tap } from "./tap.ts";
import { type CallUsage, guessUsage, lastUsage } from "./usage.ts";

export interface Settled extends CallUsage {
  candidate: Candidate;
  /** From the call to the end of the answer. */
  latencyMs: number;
}

export interface ChatCall {
  /** The request body as it came, and what it says. */
  text: string;
  body: ChatBody;
  /** Tried in order. */
  candidates: readonly Candidate[];
  /** The client's; when it fires the upstream call is cancelled. */
  signal: AbortSignal;
  /** The most tokens that may be asked for; put in where a priced model is asked for without a limit. */
  maxTokens?: number;
  /** Called once for an answered call, when its last byte has come or the client has gone. Not called if `chat` rejects. */
  settled(result: Settled): void;
}

export interface Gateway {
  /** Rejects with an AppError, always before the first byte. */
  chat(call: ChatCall): Promise<Response>;
}

interface Options {
  log: Pick<Log, "warn">;
  /** Milliseconds until the first byte of a stream, and of a whole answer, which takes as long as the model writes. */
  streamTimeout?: number;
  wholeTimeout?: number;
}

/** Berth's own fields in a chat request; providers refuse what they don't know. */
const OWN_FIELDS = ["taskType"] as const;
/** Statuses that are about the request, and so the caller's to see. Contract §7. */
const CALLERS = new Set([400, 404, 413, 422, 429]);
/** A whole answer of a known length up to this is read at once; anything else is passed on as it comes. */
const MAX_WHOLE = 4 * 1024 * 1024;

export function createGateway({ log, streamTimeout = 120_000, wholeTimeout = 600_000 }: Options): Gateway {
  async function attempt(call: ChatCall, candidate: Candidate): Promise<Response> {
    const { signal, body } = call;
    const started = performance.now();
    const abort = new AbortController();
    const gone = () => abort.abort();
    let late = false;
    const expire = () => {
      late = true;
      abort.abort();
    };
    const timer = setTimeout(expire, body.stream ? streamTimeout : wholeTimeout);
    signal.addEventListener("abort", gone, { once: true });
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", gone);
    };
    const settle = (usage: CallUsage) => {
      end();
      call.settled({ ...usage, candidate, latencyMs: performance.now() - started });
    };
    try {
      const { text, hideUsage } = requestFor(call, candidate);
      const { upstream } = candidate;
      const response = await upstream.fetch(`${upstream.baseUrl}/chat/completions`, {
        method: "POST",
        headers: headersFor(upstream),
        body: text,
        signal: abort.signal,
      });
      if (!response.ok) throw await refusal(response, upstream);
      const headers = answerHeaders(response, candidate);
      const length = Number(response.headers.get("content-length") ?? Number.NaN);
      if (!body.stream && length <= MAX_WHOLE) {
        const whole = Buffer.from(await response.arrayBuffer());
        const found = lastUsage(whole);
        settle(found ? { ...found, estimated: false } : guessUsage(text, whole.length / 2));
        return new Response(whole, { headers });
      }
      // Bun's readers also give all that is there at once; the type of a response's body is Node's.
      const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
      if (!reader) throw new Error("The answer has no body.");
      const first = await reader.readMany();
      const tap = createTap(hideUsage);
      const done = () => settle(tap.usage(text));
      const cut = (error: unknown) =>
        log.warn("a provider broke off its answer", { provider: upstream.provider, model: candidate.modelId, error });
      const source = relay({ reader, first, tap, timer, abort, done, cut });
      return new Response(source, { headers });
    } catch (error) {
      end();
      abort.abort();
      if (signal.aborted) throw new AppError(499, "CLIENT_GONE", "The client went away before the answer.");
      if (error instanceof AppError) throw error;
      throw late ? timedOut(candidate.upstream, error) : unreachable(candidate.upstream, error);
    }
  }

  return {
    async chat(call) {
      let failure: unknown;
      for (const candidate of call.candidates) {
        try {
          return await attempt(call, candidate);
        } catch (error) {
          failure = error;
          if (!(error instanceof AppError && RETRIED.has(error.code))) break;
        }
      }
      throw failure ?? new AppError(404, "NO_MODELS", "No configured provider serves this model.");
    },
  };
}

interface Parts {
  done: boolean;
  value: Uint8Array[];
}

interface Relay {
  reader: { readMany(): Parts | Promise<Parts> };
  first: Parts;
  tap: Tap;
  /** Started anew with every part: what limited the time to the first byte limits each silence too. */
  timer: Timer;
  abort: AbortController;
  /** The answer has ended, one way or another. */
  done(): void;
  /** The provider did not finish it. */
  cut(error: unknown): void;
}

/** The body for the client: written as it comes, no faster than the client reads, and ended upstream when the client goes. */
function relay({ reader, first, tap, timer, abort, done, cut }: Relay): ReadableStream<Uint8Array> {
  let settled = false;
  let cancelled = false;
  const finish = () => {
    if (settled) return;
    settled = true;
    done();
  };
  return new ReadableStream<Uint8Array>({
    type: "direct",
    async pull(controller) {
      try {
        for (let parts = first; !parts.done; ) {
          timer.refresh();
          for (const part of parts.value) {
            const out = tap.push(part);
            const written = out && controller.write(out);
            if (written instanceof Promise) await written;
          }
          const next = reader.readMany();
          // What is there already goes out together; nothing stays here while we wait.
          if (next instanceof Promise) controller.flush();
          parts = next instanceof Promise ? await next : next;
        }
        const rest = tap.rest();
        if (rest) controller.write(rest);
        finish();
        controller.close();
      } catch (error) {
        finish();
        if (cancelled) return;
        cut(error);
        // So that it can't be taken for the end, the connection is reset. Without a reason Bun does that silently.
        await Promise.reject();
      }
    },
    cancel() {
      cancelled = true;
      abort.abort();
      finish();
    },
  });
}

const prepared = new WeakMap<Upstream, Record<string, string>>();

function headersFor(upstream: Upstream): Record<string, string> {
  let headers = prepared.get(upstream);
  if (!headers) {
    // Without "identity" the answer would be packed by the provider and unpacked here for nothing.
    headers = { "content-type": "application/json", "accept-encoding": "identity", ...authHeaders(upstream) };
    prepared.set(upstream, headers);
  }
  return headers;
}

function answerHeaders(response: Response, { upstream, modelId }: Candidate): Record<string, string> {
  return {
    "content-type": response.headers.get("content-type") ?? "application/json",
    "cache-control": "no-store",
    "x-berth-model": `${upstream.provider}:${encodeURI(modelId)}`,
  };
}

const wantsUsage = ({ stream_options: options }: ChatBody) =>
  options != null && "include_usage" in options && options.include_usage === true;

/** The request as this provider gets it: the text that came, changed only where something must be. */
function requestFor({ text, body, maxTokens }: ChatCall, { upstream, modelId, pricing }: Candidate) {
  const changes: Record<string, string | undefined> = {};
  if (body.model !== modelId) changes.model = JSON.stringify(modelId);
  for (const field of OWN_FIELDS) if (field in body) changes[field] = undefined;
  const hideUsage = body.stream === true && !wantsUsage(body);
  if (hideUsage) changes.stream_options = JSON.stringify({ ...body.stream_options, include_usage: true });
  if (maxTokens !== undefined) {
    const limits = (["max_tokens", "max_completion_tokens"] as const).filter((field) => body[field] != null);
    for (const field of limits) if (Number(body[field]) > maxTokens) changes[field] = String(maxTokens);
    // OpenAI's newer models refuse the older name; the others know only that.
    const name = upstream.provider === "provider_5" ? "max_completion_tokens" : "max_tokens";
    if (limits.length === 0 && pricing.output > 0) changes[name] = String(maxTokens);
  }
  return { text: spliceJson(text, changes), hideUsage };
}

/** The provider said no. Its words are passed on only where they are about the caller's request. */
async function refusal(response: Response, { label, apiKey }: Upstream): Promise<AppError> {
  const { status } = response;
  const text = await startOf(response, 64 * 1024);
  const cause = { cause: new Error(`${label} answered ${status}.`) };
  if (CALLERS.has(status)) {
    const said = providerMessage(text, apiKey);
    const message = `${label} refused the request${said ? `: ${said}` : "."}`;
    const retryAfter = response.headers.get("retry-after");
    const wait =
      status === 429 && retryAfter && /^[\w ,:]{1,40}$/.test(retryAfter) ? { "retry-after": retryAfter } : {};
    return new AppError(
      status,
      status === 429 ? "PROVIDER_RATE_LIMITED" : "PROVIDER_REFUSED",
      message,
      {},
      { ...cause, headers: wait },
    );
  }
  if (status >= 500 || status === 408)
    return new AppError(502, "PROVIDER_FAILED", `${label} failed to answer.`, {}, cause);
  return new AppError(502, "PROVIDER_MISCONFIGURED", `${label} does not accept Berth's calls.`, {}, cause);
}

const timedOut = ({ label }: Upstream, cause: unknown) =>
  new AppError(502, "PROVIDER_TIMEOUT", `${label} did not answer in time.`, {}, { cause });
const unreachable = ({ label }: Upstream, cause: unknown) =>
  new AppError(502, "PROVIDER_UNREACHABLE", `${label} could not be reached.`, {}, { cause });

/** After these another provider of the same model is tried. */
const RETRIED = new Set(["PROVIDER_FAILED", "PROVIDER_TIMEOUT", "PROVIDER_UNREACHABLE"]);

async function startOf(response: Response, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks).toString("utf8", 0, limit);
}

/** The sentence in an error body of one of the usual forms, without anything that looks like a key. */
function providerMessage(text: string, apiKey: string | undefined): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  const error = errorIn(Array.isArray(parsed) ? parsed[0] : parsed);
  if (!error) return undefined;
  const safe = apiKey ? error.replaceAll(apiKey, "***") : error;
  return safe.replace(/\b(?:sk|gsk|AIza|xai|key)[-_]?[\w*.-]{8,}/g, "***").slice(0, 500);
}

function errorIn(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const { error, message } = body as { error?: unknown; message?: unknown };
  if (typeof error === "string") return error;
  if (typeof error === "object" && error !== null)
    return errorIn({ message: (error as { message?: unknown }).message });
  return typeof message === "string" ? message : undefined;
}
