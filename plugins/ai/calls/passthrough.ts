// Passes API calls through to providers: responses byte for byte, failures as Berth's own errors, with fallback to the next
// candidate before the first byte.

import type { AnswerBody } from "../../../src/kernel/http/request-context.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { setJsonMembers } from "../../../src/kernel/util/json-text.ts";
import type { Candidate } from "../providers/candidates.ts";
import { authHeaders, type Upstream } from "../providers/providers.ts";
import type { ProviderRegistry } from "../providers/registry.ts";
import { type CallUsage, estimateUsage, findLastUsage, findModel } from "../providers/token-usage.ts";
import type { ChatBody } from "./chat-request.ts";
import type { ProviderCalls, ProviderResponse } from "./provider-calls.ts";
import { createKeyPattern, errorFromResponse } from "./provider-errors.ts";
import { type BodyReader, bodyReader, relayStream } from "./stream-relay.ts";
import { createUsageTap } from "./usage-tap.ts";

export interface SettledCall {
  usage: CallUsage;
  candidate: Candidate;
  /** The model's id in the response; undefined if it had none. */
  answeredModel: string | undefined;
  /** The response broke off, or the client went away before its end. */
  isCut: boolean;
  /** From the call to the end of the response. */
  latencyMs: number;
}

export interface PassthroughCall {
  /** The request body as it came. */
  text: string;
  /** Tried in order. */
  candidates: readonly Candidate[];
  /** The client's signal: when it fires, the call to the provider is cancelled. */
  signal: AbortSignal;
  /** Makes the response from its body and headers; default: a plain one. */
  respond?: ((body: AnswerBody, headers: Record<string, string>) => Response) | undefined;
  /**
   * Called once for a call that got a response, when its last byte has arrived or the client has gone; not if the call
   * rejects. The client's response ends when the returned promise has resolved. Must not reject.
   */
  onSettled(result: SettledCall): Promise<void> | undefined;
}

export interface ChatPassthroughCall extends PassthroughCall {
  /** The parsed `text`. */
  body: ChatBody;
  /** The greatest token limit; also added where a priced model is called without a limit. */
  maxTokens?: number;
}

export interface EmbeddingsPassthroughCall extends PassthroughCall {
  body: { model: string };
}

/** Both reject with an AppError, always before the first byte. */
export interface Passthrough {
  chat(call: ChatPassthroughCall): Promise<Response>;
  embeddings(call: EmbeddingsPassthroughCall): Promise<Response>;
}

interface Options {
  registry: ProviderRegistry;
  calls: ProviderCalls;
  log: Pick<Log, "warn">;
  /** Milliseconds until the first byte of a stream, and of a whole response, which takes as long as the model writes. */
  streamTimeout?: number;
  wholeTimeout?: number;
  /** Milliseconds that a response may pause after it has begun. */
  idleTimeout?: number;
}

/** Berth's own fields in a chat request; providers refuse what they don't know. */
const BERTH_FIELDS = ["taskType"] as const;
/** Bytes up to which a whole response of known length is buffered; any other response is relayed as it arrives. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;

export function createPassthrough(options: Options): Passthrough {
  const { registry, calls, log, streamTimeout = 120_000, wholeTimeout = 600_000, idleTimeout = 120_000 } = options;
  const keyPattern = createKeyPattern(registry);

  interface PassthroughRequest {
    path: string;
    /** The body as this candidate gets it. */
    bodyFor(candidate: Candidate): string;
    isStream: boolean;
    hideUsage: boolean;
  }

  function passThrough(
    call: PassthroughCall,
    { path, bodyFor, isStream, hideUsage }: PassthroughRequest,
  ): Promise<Response> {
    const { candidates, signal, text, respond = (body, headers) => new Response(body, { headers }) } = call;

    async function receive(providerResponse: ProviderResponse): Promise<Response> {
      const { candidate, response } = providerResponse;
      const { upstream } = candidate;
      if (!response.ok) throw await errorFromResponse(response, upstream, keyPattern);
      const headers = responseHeaders(response, candidate);
      const { readCharge } = upstream.definition;
      const settle = (result: Pick<SettledCall, "usage" | "answeredModel" | "isCut">) => {
        providerResponse.markEnded();
        return call.onSettled({ ...result, candidate, latencyMs: providerResponse.elapsedMs() });
      };
      if (!isStream && contentLength(response) <= MAX_BUFFERED_BYTES) {
        const whole = Buffer.from(await response.arrayBuffer());
        const found = findLastUsage(whole, readCharge);
        const usage = found ? { ...found, estimated: false } : estimateUsage(text, whole.length / 2);
        const settling = settle({ usage, answeredModel: findModel(whole), isCut: false });
        if (settling) await settling;
        return respond(whole, headers);
      }
      const reader: BodyReader | undefined = bodyReader(response);
      if (!reader) throw new Error("The answer has no body.");
      const first = await reader.readMany();
      const tap = createUsageTap(hideUsage, readCharge);
      const onBroken = (error: unknown, clientStalled: boolean) => {
        if (signal.aborted || clientStalled) return;
        providerResponse.markBroken();
        log.warn("an AI provider ended a stream early", {
          provider: upstream.provider,
          model: candidate.modelId,
          error,
        });
      };
      const onEnd = (isCut: boolean) => settle({ ...tap.result(text), isCut });
      const body = relayStream({ reader, first, tap, idleTimeout, abort: providerResponse.abort, onEnd, onBroken });
      return respond(body, headers);
    }

    return calls.request({
      candidates,
      signal,
      timeoutMs: isStream ? streamTimeout : wholeTimeout,
      send(candidate, signal) {
        const { upstream } = candidate;
        const headers = requestHeaders(upstream);
        // A redirect would send the key to another address.
        const init: RequestInit = { method: "POST", headers, body: bodyFor(candidate), redirect: "manual", signal };
        return upstream.fetch(upstream.baseUrl + path, init);
      },
      receive,
    });
  }

  return {
    chat(call) {
      const isStream = call.body.stream === true;
      const hideUsage = isStream && !wantsUsage(call.body);
      const bodyFor = (candidate: Candidate) => chatBodyFor(call, candidate, hideUsage);
      return passThrough(call, { path: "/chat/completions", bodyFor, isStream, hideUsage });
    },
    embeddings(call) {
      const bodyFor = ({ modelId }: Candidate) =>
        call.body.model === modelId ? call.text : setJsonMembers(call.text, { model: JSON.stringify(modelId) });
      return passThrough(call, { path: "/embeddings", bodyFor, isStream: false, hideUsage: false });
    },
  };
}

/** Bytes of the body; NaN if the header is missing, or counts compressed bytes. */
function contentLength({ headers }: Response): number {
  if (headers.has("content-encoding")) return Number.NaN;
  return Number(headers.get("content-length") ?? Number.NaN);
}

const headersByUpstream = new WeakMap<Upstream, Headers>();

/** Made once for an upstream: Bun would convert a plain object at each call. */
function requestHeaders(upstream: Upstream): Headers {
  let headers = headersByUpstream.get(upstream);
  if (!headers) {
    // Without "identity" the provider would compress the response only for Berth to decompress it.
    headers = new Headers({
      "content-type": "application/json",
      "accept-encoding": "identity",
      ...authHeaders(upstream),
    });
    headersByUpstream.set(upstream, headers);
  }
  return headers;
}

const modelNames = new WeakMap<Candidate, string>();

function qualifiedModelId(candidate: Candidate): string {
  let name = modelNames.get(candidate);
  if (name === undefined) {
    name = `${candidate.upstream.provider}:${encodeURI(candidate.modelId)}`;
    modelNames.set(candidate, name);
  }
  return name;
}

const responseHeaders = (response: Response, candidate: Candidate) => ({
  "content-type": response.headers.get("content-type") ?? "application/json",
  "cache-control": "no-store",
  "x-berth-model": qualifiedModelId(candidate),
});

const wantsUsage = ({ stream_options: options }: ChatBody) =>
  options != null && "include_usage" in options && options.include_usage === true;

/** The request for this provider: the original text with the necessary changes only. */
function chatBodyFor(
  { text, body, maxTokens }: ChatPassthroughCall,
  { upstream, modelId, pricing }: Candidate,
  includeUsage: boolean,
) {
  const changes: Record<string, string | undefined> = {};
  if (body.model !== modelId) changes.model = JSON.stringify(modelId);
  for (const field of BERTH_FIELDS) if (field in body) changes[field] = undefined;
  if (includeUsage) changes.stream_options = JSON.stringify({ ...body.stream_options, include_usage: true });
  if (maxTokens !== undefined) {
    const limits = (["max_tokens", "max_completion_tokens"] as const).filter((field) => body[field] != null);
    for (const field of limits) if (Number(body[field]) > maxTokens) changes[field] = String(maxTokens);
    const name = upstream.definition.capabilities.maxTokensField;
    if (limits.length === 0 && pricing.output > 0) changes[name] = String(maxTokens);
  }
  return setJsonMembers(text, changes);
}
