// One call, whoever makes it: the providers that serve the model in turn, each with its time and its breaker.
import { AppError } from "../../../src/kernel/errors.ts";
import type { Metrics } from "../../../src/kernel/telemetry/metrics.ts";
import type { Candidate } from "../providers/candidates.ts";
import type { CallOutcome } from "../providers/circuit-breaker.ts";
import type { ProviderHealth } from "../providers/provider-health.ts";
import type { Upstream } from "../providers/providers.ts";
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
  /** Takes the answer, also one that is an error, but for those after which the next is tried. May throw like `call`. */
  receive(providerResponse: ProviderResponse): Promise<Result>;
  /** The client's; when it fires the call upstream is cancelled. */
  signal: AbortSignal;
  /** Milliseconds until `receive` is done, shared by all that may be tried. */
  timeoutMs: number;
}

/** The head of an answer, and the call behind it. */
export interface ProviderResponse {
  readonly candidate: Candidate;
  readonly response: Response;
  /** Milliseconds since this provider was asked. */
  elapsedMs(): number;
  /** Ends the call upstream. */
  abort(): void;
  /** The answer has ended; to be called once where `receive` is done before that is so, or throws. */
  markEnded(): void;
  /** The provider did not finish it, after `receive` was done. */
  markBroken(): void;
}

export interface ProviderCalls {
  /** Rejects with an AppError: 404 without candidates, 499 where the client went, 502, or what `receive` threw. */
  request<Result>(request: ProviderCall<Result>): Promise<Result>;
}

interface Options {
  health: Pick<ProviderHealth, "breakerOf" | "isReachable">;
  metrics: Pick<Metrics, "counter">;
  /** Milliseconds without an answer after which it is looked whether anybody is there at all. */
  connectTimeout?: number;
}

/** How calls end, as they are counted. */
type CallEnd = "answered" | "refused" | "failed" | "timeout" | "unreachable" | "resting" | "cancelled" | "cut";

/** Errors with which no connection was made, so that nothing can be done twice. */
const CONNECTION_ERRORS: readonly unknown[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH"];
/** Milliseconds before the last of them is asked again after it refused the connection. */
const RETRY_DELAY_MS = 150;

export function createProviderCalls({ health, metrics, connectTimeout = 10_000 }: Options): ProviderCalls {
  const callsCounter = metrics.counter("berth_ai_calls_total", "Calls of AI providers, by how they ended.", [
    "provider",
    "end",
  ]);
  const series = new Map<string, { inc(): void }>();

  function countCall({ provider }: Upstream, end: CallEnd): void {
    const key = `${provider} ${end}`;
    const one = series.get(key) ?? callsCounter.labels({ provider, end });
    series.set(key, one);
    one.inc();
  }

  /** `left`: candidates that come after this one. */
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
    const recordOutcome = (outcome: CallOutcome, callEnd: CallEnd) => {
      breaker.recordResult(permit, outcome);
      countCall(upstream, callEnd);
    };
    try {
      if (signal.aborted) throw clientClosedError();
      const response = await (candidatesLeft > 0
        ? request.send(candidate, abort.signal)
        : sendWithRetry(request, candidate, abort.signal));
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
      else recordOutcome("well", response.ok ? "answered" : "refused");
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
        else recordOutcome("well", "refused");
        throw error;
      }
      recordOutcome("failed", gaveUp ?? "unreachable");
      throw gaveUp === "timeout" ? timeoutError(upstream, error) : unreachableError(upstream, error);
    } finally {
      deadline.end();
    }
  }

  /** Ends the call when its time is up, or, long before that, when nobody is there: a connection may hang for minutes. */
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
    // The operator's own server may do one thing after the other, and answer nobody meanwhile.
    const checksReachability = !upstream.local && connectTimeout < timeoutMs;
    let timer = checksReachability
      ? setTimeout(checkReachable, connectTimeout)
      : setTimeout(giveUp, timeoutMs, "timeout");
    return {
      /** Why the call was ended, if it was. */
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
          // Of several, one that was asked knows better than one that was not.
          if (failure === undefined || error.code !== "PROVIDER_RESTING") failure = error;
        }
      }
      throw failure ?? noProviderError();
    },
  };
}

/** Where nobody else can be asked, a connection that was refused is tried once more: the provider may just have restarted. */
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
