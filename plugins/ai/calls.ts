// One call, whoever makes it: the providers that serve the model in turn, each with its time and its breaker.
import { AppError } from "../../src/errors.ts";
import type { Metrics } from "../../src/metrics.ts";
import type { Outcome } from "./breaker.ts";
import type { Candidate } from "./candidates.ts";
import type { Health } from "./health.ts";
import type { Upstream } from "./providers.ts";
import { clientGone, isFailure, isRetried, noProvider, refusal, resting, timedOut, unreachable } from "./refusals.ts";

export interface Call<Result> {
  /** Tried in order. */
  candidates: readonly Candidate[];
  /** Sends the request to one of them. */
  send(candidate: Candidate, signal: AbortSignal): Promise<Response>;
  /** Takes the answer, also one that is an error, but for those after which the next is tried. May throw like `call`. */
  receive(answer: Answer): Promise<Result>;
  /** The client's; when it fires the call upstream is cancelled. */
  signal: AbortSignal;
  /** Milliseconds until `receive` is done, shared by all that may be tried. */
  patience: number;
}

/** The head of an answer, and the call behind it. */
export interface Answer {
  readonly candidate: Candidate;
  readonly response: Response;
  /** Milliseconds since this provider was asked. */
  age(): number;
  /** Ends the call upstream. */
  abort(): void;
  /** The answer has ended; to be called once where `receive` is done before that is so, or throws. */
  end(): void;
  /** The provider did not finish it, after `receive` was done. */
  broke(): void;
}

export interface Calls {
  /** Rejects with an AppError: 404 without candidates, 499 where the client went, 502, or what `receive` threw. */
  call<Result>(call: Call<Result>): Promise<Result>;
}

interface Options {
  health: Pick<Health, "breakerOf" | "answers">;
  metrics: Pick<Metrics, "counter">;
  /** Milliseconds without an answer after which it is looked whether anybody is there at all. */
  connectTimeout?: number;
}

/** How calls end, as they are counted. */
type End = "answered" | "refused" | "failed" | "timeout" | "unreachable" | "resting" | "cancelled" | "cut";

/** Errors with which no connection was made, so that nothing can be done twice. */
const NEVER_SENT: readonly unknown[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH"];
/** Milliseconds before the last of them is asked again after it refused the connection. */
const SECOND_TRY = 150;

export function createCalls({ health, metrics, connectTimeout = 10_000 }: Options): Calls {
  const ended = metrics.counter("berth_ai_calls_total", "Calls of AI providers, by how they ended.", [
    "provider",
    "end",
  ]);
  const series = new Map<string, { inc(): void }>();

  function count({ provider }: Upstream, end: End): void {
    const key = `${provider} ${end}`;
    const one = series.get(key) ?? ended.labels({ provider, end });
    series.set(key, one);
    one.inc();
  }

  /** `left`: candidates that come after this one. */
  async function attempt<Result>(call: Call<Result>, candidate: Candidate, left: number): Promise<Result> {
    const { signal } = call;
    const { upstream } = candidate;
    const breaker = health.breakerOf(upstream);
    const ticket = breaker.enter();
    if (!ticket) {
      count(upstream, "resting");
      throw resting(upstream, breaker.opensIn());
    }
    const started = performance.now();
    const abort = new AbortController();
    const gone = () => abort.abort();
    signal.addEventListener("abort", gone, { once: true });
    const end = () => signal.removeEventListener("abort", gone);
    const wait = watch(upstream, call.patience / call.candidates.length, abort);
    const over = (outcome: Outcome, how: End) => {
      breaker.left(ticket, outcome);
      count(upstream, how);
    };
    try {
      if (signal.aborted) throw clientGone();
      const response = await (left > 0 ? call.send(candidate, abort.signal) : sendTwice(call, candidate, abort.signal));
      const failed = isFailure(response.status);
      if (failed && left > 0) throw await refusal(response, upstream);
      const result = await call.receive({
        candidate,
        response,
        age: () => performance.now() - started,
        abort: gone,
        end,
        broke() {
          breaker.left("call", "failed");
          count(upstream, "cut");
        },
      });
      if (failed) over("failed", "failed");
      else over("well", response.ok ? "answered" : "refused");
      return result;
    } catch (error) {
      end();
      abort.abort();
      if (signal.aborted) {
        over("unknown", "cancelled");
        throw clientGone();
      }
      const gaveUp = wait.gaveUp();
      if (gaveUp === undefined && error instanceof AppError) {
        if (isRetried(error)) over("failed", "failed");
        else over("well", "refused");
        throw error;
      }
      over("failed", gaveUp ?? "unreachable");
      throw gaveUp === "timeout" ? timedOut(upstream, error) : unreachable(upstream, error);
    } finally {
      wait.end();
    }
  }

  /** Ends the call when its time is up, or, long before that, when nobody is there: a connection may hang for minutes. */
  function watch(upstream: Upstream, patience: number, abort: AbortController) {
    let why: "timeout" | "unreachable" | undefined;
    let over = false;
    const giveUp = (reason: "timeout" | "unreachable") => {
      if (over) return;
      why = reason;
      abort.abort();
    };
    const look = () => {
      timer = setTimeout(giveUp, patience - connectTimeout, "timeout");
      void health.answers(upstream).then((there) => there || giveUp("unreachable"));
    };
    // The operator's own server may do one thing after the other, and answer nobody meanwhile.
    const looks = !upstream.local && connectTimeout < patience;
    let timer = looks ? setTimeout(look, connectTimeout) : setTimeout(giveUp, patience, "timeout");
    return {
      /** Why the call was ended, if it was. */
      gaveUp: () => why,
      end() {
        over = true;
        clearTimeout(timer);
      },
    };
  }

  return {
    async call(call) {
      let failure: AppError | undefined;
      const { length } = call.candidates;
      for (const [index, candidate] of call.candidates.entries()) {
        try {
          return await attempt(call, candidate, length - index - 1);
        } catch (error) {
          if (!isRetried(error)) throw error;
          // Of several, one that was asked knows better than one that was not.
          if (failure === undefined || error.code !== "PROVIDER_RESTING") failure = error;
        }
      }
      throw failure ?? noProvider();
    },
  };
}

/** Where nobody else can be asked, a connection that was refused is tried once more: the provider may just have restarted. */
async function sendTwice({ send }: Call<unknown>, candidate: Candidate, signal: AbortSignal): Promise<Response> {
  try {
    return await send(candidate, signal);
  } catch (error) {
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
    if (!NEVER_SENT.includes(code)) throw error;
    await Bun.sleep(SECOND_TRY);
    signal.throwIfAborted();
    return send(candidate, signal);
  }
}
