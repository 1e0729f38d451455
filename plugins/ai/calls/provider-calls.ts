// Calls the candidates for a model one after the other until one responds, each with its share of the time and its circuit breaker.
import { AppError } from "../../../src/kernel/errors.ts";
import type { Histogram, Metrics } from "../../../src/kernel/telemetry/metrics.ts";
import type { Candidate } from "../providers/candidates.ts";
import type { CallOutcome } from "../providers/circuit-breaker.ts";
import type { ProviderHealth } from "../providers/provider-health.ts";
import type { Upstream } from "../providers/providers.ts";
import type { CallRecorder } from "../reports/call-figures.ts";
import {
  circuitOpenError,
  clientClosedError,
  failureFromResponse,
  isProviderFailure,
  isRetryable,
  noProviderError,
  timeoutError,
  unreachableError,
} from "./provider-errors.ts";

export interface ProviderCall<Result> {
  /** Tried in order. */
  candidates: readonly Candidate[];
  /** Sends the request to one of them. */
  send(candidate: Candidate, signal: AbortSignal): Promise<Response>;
  /** Handles the response, error responses too, except those after which the next candidate is tried. May throw as `request` does. */
  receive(providerResponse: ProviderResponse): Promise<Result>;
  /** The client's signal: when it fires, the call to the provider is cancelled. */
  signal: AbortSignal;
  /** Milliseconds until `receive` has finished, divided among the candidates. */
  timeoutMs: number;
}

/** A response whose headers have arrived, with the call that it belongs to. */
export interface ProviderResponse {
  readonly candidate: Candidate;
  readonly response: Response;
  /** Milliseconds since this provider was called. */
  elapsedMs(): number;
  /** Aborts the call to the provider. */
  abort(): void;
  /** Call it once when the body has ended: it detaches the call from the client's signal. */
  markEnded(): void;
  /** Call it if the provider breaks off the body after `receive` has returned. */
  markBroken(): void;
}

export interface ProviderCalls {
  /** Rejects with an AppError: 404 without candidates, 499 if the client has gone, 502, or the error that `receive` threw. */
  request<Result>(request: ProviderCall<Result>): Promise<Result>;
}

interface Options {
  health: Pick<ProviderHealth, "breakerOf" | "isReachable">;
  metrics: Pick<Metrics, "counter" | "histogram">;
  recorder?: Pick<CallRecorder, "record">;
  /** Milliseconds without a response after which a probe checks whether the provider can be reached at all. */
  connectTimeout?: number;
}

/** The outcomes that the metric counts. */
type CallEnd = "answered" | "refused" | "failed" | "timeout" | "unreachable" | "resting" | "cancelled" | "cut";

/** Errors before a connection existed: the request was not processed, so sending it again is safe. */
const CONNECTION_ERRORS: readonly unknown[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH"];
/** Milliseconds before the last candidate is called again after it refused the connection. */
const RETRY_DELAY_MS = 150;
/** A response that is not streamed begins when it is complete. */
const CALL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160];

export function createProviderCalls({ health, metrics, recorder, connectTimeout = 10_000 }: Options): ProviderCalls {
  const callsCounter = metrics.counter("berth_ai_calls_total", "Calls of AI providers, by outcome.", [
    "provider",
    "end",
  ]);
  const times = metrics.histogram(
    "berth_ai_call_seconds",
    "From a call of an AI provider to the beginning of its response.",
    ["provider"],
    CALL_SECONDS,
  );
  const series = new Map<string, { inc(): void }>();
  const timeSeries = new Map<string, Histogram>();

  function countCall({ provider }: Upstream, end: CallEnd): void {
    const key = `${provider} ${end}`;
    const one = series.get(key) ?? callsCounter.labels({ provider, end });
    series.set(key, one);
    one.inc();
  }

  function timesOf({ provider }: Upstream): Histogram {
    const one = timeSeries.get(provider) ?? times.labels({ provider });
    timeSeries.set(provider, one);
    return one;
  }

  /** @param candidatesLeft candidates after this one */
  async function attempt<Result>(
    request: ProviderCall<Result>,
    candidate: Candidate,
    candidatesLeft: number,
  ): Promise<Result> {
    const { signal } = request;
    const { upstream } = candidate;
    const breaker = health.breakerOf(upstream);
    const permit = breaker.tryAcquire();
    if (!permit) {
      countCall(upstream, "resting");
      throw circuitOpenError(upstream, breaker.retryAfterMs());
    }
    const started = performance.now();
    const abort = new AbortController();
    const abortUpstream = () => abort.abort();
    signal.addEventListener("abort", abortUpstream, { once: true });
    const markEnded = () => signal.removeEventListener("abort", abortUpstream);
    const deadline = startDeadline(upstream, request.timeoutMs / request.candidates.length, abort);
    let answeredMs: number | undefined;
    const recordOutcome = (outcome: CallOutcome, callEnd: CallEnd) => {
      breaker.recordResult(permit, outcome);
      countCall(upstream, callEnd);
      if (outcome !== "unknown") recorder?.record(upstream.provider, outcome === "failed", answeredMs);
    };
    try {
      if (signal.aborted) throw clientClosedError();
      const response = await (candidatesLeft > 0
        ? request.send(candidate, abort.signal)
        : sendWithRetry(request, candidate, abort.signal));
      answeredMs = performance.now() - started;
      timesOf(upstream).observe(answeredMs / 1000);
      const failed = isProviderFailure(response.status);
      if (failed && candidatesLeft > 0) throw await failureFromResponse(response, upstream);
      const result = await request.receive({
        candidate,
        response,
        elapsedMs: () => performance.now() - started,
        abort: abortUpstream,
        markEnded,
        markBroken() {
          breaker.recordResult("call", "failed");
          countCall(upstream, "cut");
        },
      });
      if (failed) recordOutcome("failed", "failed");
      else recordOutcome("succeeded", response.ok ? "answered" : "refused");
      return result;
    } catch (error) {
      markEnded();
      abort.abort();
      if (signal.aborted) {
        recordOutcome("unknown", "cancelled");
        throw clientClosedError();
      }
      const gaveUp = deadline.gaveUp();
      if (gaveUp === undefined && error instanceof AppError) {
        if (isRetryable(error)) recordOutcome("failed", "failed");
        else recordOutcome("succeeded", "refused");
        throw error;
      }
      recordOutcome("failed", gaveUp ?? "unreachable");
      throw gaveUp === "timeout" ? timeoutError(upstream, error) : unreachableError(upstream, error);
    } finally {
      deadline.end();
    }
  }

  /** Aborts the call at its deadline, or earlier if the provider can't be reached: a connection attempt may hang for minutes. */
  function startDeadline(upstream: Upstream, timeoutMs: number, abort: AbortController) {
    let abortReason: "timeout" | "unreachable" | undefined;
    let over = false;
    const giveUp = (reason: "timeout" | "unreachable") => {
      if (over) return;
      abortReason = reason;
      abort.abort();
    };
    const checkReachable = () => {
      timer = setTimeout(giveUp, timeoutMs - connectTimeout, "timeout");
      void health.isReachable(upstream).then((reachable) => reachable || giveUp("unreachable"));
    };
    // The operator's own server may handle one request at a time, and would not answer a probe meanwhile.
    const checksReachability = !upstream.local && connectTimeout < timeoutMs;
    let timer = checksReachability
      ? setTimeout(checkReachable, connectTimeout)
      : setTimeout(giveUp, timeoutMs, "timeout");
    return {
      /** The reason for the abort; undefined if there was none. */
      gaveUp: () => abortReason,
      end() {
        over = true;
        clearTimeout(timer);
      },
    };
  }

  return {
    async request(request) {
      let failure: AppError | undefined;
      const { length } = request.candidates;
      for (const [index, candidate] of request.candidates.entries()) {
        try {
          return await attempt(request, candidate, length - index - 1);
        } catch (error) {
          if (!isRetryable(error)) throw error;
          // An error of a provider that was called says more than the open circuit of one that was not.
          if (failure === undefined || error.code !== "PROVIDER_RESTING") failure = error;
        }
      }
      throw failure ?? noProviderError();
    },
  };
}

/** Sends to the last candidate, and once more if the connection failed: the provider may just have restarted. */
async function sendWithRetry(
  { send }: ProviderCall<unknown>,
  candidate: Candidate,
  signal: AbortSignal,
): Promise<Response> {
  try {
    return await send(candidate, signal);
  } catch (error) {
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
    if (!CONNECTION_ERRORS.includes(code)) throw error;
    await Bun.sleep(RETRY_DELAY_MS);
    signal.throwIfAborted();
    return send(candidate, signal);
  }
}
