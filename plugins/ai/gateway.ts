// Pass-through: the provider's answer byte for byte, its failures in Berth's words, the next provider where that is safe.
import { spliceJson } from "../../src/json-text.ts";
import type { Log } from "../../src/log.ts";
import type { Answer, Calls } from "./calls.ts";
import type { Candidate } from "./candidates.ts";
import type { ChatBody } from "./chat-request.ts";
import { authHeaders, type Upstream } from "./providers.ts";
import { refusal } from "./refusals.ts";
import { type Reader, readerOf, relay } from "./relay.ts";
import { createTap } from "./tap.ts";
import { type CallUsage, guessUsage, lastUsage } from "./usage.ts";

export interface Settled extends CallUsage {
  candidate: Candidate;
  /** From the call to the end of the answer. */
  latencyMs: number;
}

export interface PassedCall {
  /** The request body as it came. */
  text: string;
  /** Tried in order. */
  candidates: readonly Candidate[];
  /** The client's; when it fires the upstream call is cancelled. */
  signal: AbortSignal;
  /**
   * Called once for an answered call, when its last byte has come or the client has gone. Not called if the call rejects.
   * The client's answer ends when what this gives has settled. Must not reject.
   */
  settled(result: Settled): Promise<void> | undefined;
}

export interface ChatCall extends PassedCall {
  /** What `text` says. */
  body: ChatBody;
  /** The most tokens that may be asked for; put in where a priced model is asked for without a limit. */
  maxTokens?: number;
}

export interface EmbeddingsCall extends PassedCall {
  body: { model: string };
}

/** Both reject with an AppError, always before the first byte. */
export interface Gateway {
  chat(call: ChatCall): Promise<Response>;
  embeddings(call: EmbeddingsCall): Promise<Response>;
}

interface Options {
  calls: Calls;
  log: Pick<Log, "warn">;
  /** Milliseconds until the first byte of a stream, and of a whole answer, which takes as long as the model writes. */
  streamTimeout?: number;
  wholeTimeout?: number;
  /** Milliseconds that an answer may be silent once it has begun. */
  silence?: number;
}

/** Berth's own fields in a chat request; providers refuse what they don't know. */
const OWN_FIELDS = ["taskType"] as const;
/** A whole answer of a known length up to this is read at once; anything else is passed on as it comes. */
const MAX_WHOLE = 4 * 1024 * 1024;

export function createGateway(options: Options): Gateway {
  const { calls, log, streamTimeout = 120_000, wholeTimeout = 600_000, silence = 120_000 } = options;

  interface Passed {
    path: string;
    /** The body as this candidate gets it. */
    bodyFor(candidate: Candidate): string;
    streams: boolean;
    hideUsage: boolean;
  }

  function pass(call: PassedCall, { path, bodyFor, streams, hideUsage }: Passed): Promise<Response> {
    const { candidates, signal, text } = call;

    async function receive(answer: Answer): Promise<Response> {
      const { candidate, response } = answer;
      const { upstream } = candidate;
      if (!response.ok) throw await refusal(response, upstream);
      const headers = answerHeaders(response, candidate);
      const settle = (usage: CallUsage) => {
        answer.end();
        return call.settled({ ...usage, candidate, latencyMs: answer.age() });
      };
      if (!streams && knownLength(response) <= MAX_WHOLE) {
        const whole = Buffer.from(await response.arrayBuffer());
        const found = lastUsage(whole);
        const written = settle(found ? { ...found, estimated: false } : guessUsage(text, whole.length / 2));
        if (written) await written;
        return new Response(whole, { headers });
      }
      const reader: Reader | undefined = readerOf(response);
      if (!reader) throw new Error("The answer has no body.");
      const first = await reader.readMany();
      const tap = createTap(hideUsage);
      const cut = (error: unknown, unread: boolean) => {
        if (signal.aborted || unread) return;
        answer.broke();
        log.warn("a provider broke off its answer", { provider: upstream.provider, model: candidate.modelId, error });
      };
      const done = () => settle(tap.usage(text));
      const body = relay({ reader, first, tap, silence, abort: answer.abort, done, cut });
      return new Response(body, { headers });
    }

    return calls.call({
      candidates,
      signal,
      patience: streams ? streamTimeout : wholeTimeout,
      send(candidate, signal) {
        const { upstream } = candidate;
        const headers = headersFor(upstream);
        // A redirect would take the key to wherever it points.
        const init: RequestInit = { method: "POST", headers, body: bodyFor(candidate), redirect: "manual", signal };
        return upstream.fetch(upstream.baseUrl + path, init);
      },
      receive,
    });
  }

  return {
    chat(call) {
      const streams = call.body.stream === true;
      const hideUsage = streams && !wantsUsage(call.body);
      const bodyFor = (candidate: Candidate) => chatFor(call, candidate, hideUsage);
      return pass(call, { path: "/chat/completions", bodyFor, streams, hideUsage });
    },
    embeddings(call) {
      const bodyFor = ({ modelId }: Candidate) =>
        call.body.model === modelId ? call.text : spliceJson(call.text, { model: JSON.stringify(modelId) });
      return pass(call, { path: "/embeddings", bodyFor, streams: false, hideUsage: false });
    },
  };
}

/** Bytes of the body; NaN where that is not told, or tells of packed bytes, of which there may be any number in the end. */
function knownLength({ headers }: Response): number {
  if (headers.has("content-encoding")) return Number.NaN;
  return Number(headers.get("content-length") ?? Number.NaN);
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

const names = new WeakMap<Candidate, string>();

function nameOf(candidate: Candidate): string {
  let name = names.get(candidate);
  if (name === undefined) {
    name = `${candidate.upstream.provider}:${encodeURI(candidate.modelId)}`;
    names.set(candidate, name);
  }
  return name;
}

const answerHeaders = (response: Response, candidate: Candidate) => ({
  "content-type": response.headers.get("content-type") ?? "application/json",
  "cache-control": "no-store",
  "x-berth-model": nameOf(candidate),
});

const wantsUsage = ({ stream_options: options }: ChatBody) =>
  options != null && "include_usage" in options && options.include_usage === true;

/** The request as this provider gets it: the text that came, changed only where something must be. */
function chatFor({ text, body, maxTokens }: ChatCall, { upstream, modelId, pricing }: Candidate, askUsage: boolean) {
  const changes: Record<string, string | undefined> = {};
  if (body.model !== modelId) changes.model = JSON.stringify(modelId);
  for (const field of OWN_FIELDS) if (field in body) changes[field] = undefined;
  if (askUsage) changes.stream_options = JSON.stringify({ ...body.stream_options, include_usage: true });
  if (maxTokens !== undefined) {
    const limits = (["max_tokens", "max_completion_tokens"] as const).filter((field) => body[field] != null);
    for (const field of limits) if (Number(body[field]) > maxTokens) changes[field] = String(maxTokens);
    // OpenAI's newer models refuse the older name; the others know only that.
    const name = upstream.provider === "provider_5" ? "max_completion_tokens" : "max_tokens";
    if (limits.length === 0 && pricing.output > 0) changes[name] = String(maxTokens);
  }
  return spliceJson(text, changes);
}
