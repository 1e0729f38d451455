// Admits requests with large bodies, and limits how many are in work: at all, and from one address.
import type { AppError } from "../../errors.ts";
import { contextOf } from "../../http/request-context.ts";
import { MINUTE } from "../../util/time.ts";

/** After this time a request counts as done although `release` was not called. */
const ABANDONED_AFTER_MS = 6 * MINUTE;

export interface BodyGate {
  /** Call it before the body is read: it raises the body's limit, or throws. May be repeated for a request. */
  acquire(request: Request): void;
  /** Call it when the request was answered. */
  release(request: Request): void;
}

export interface BodyGateOptions {
  maxBytes: number;
  /** Requests in work. */
  concurrent: number;
  /** Requests in work from one address, so that one client can't keep others from sending. */
  perAddress: number;
  tooLarge(): AppError;
  tooMany(): AppError;
}

export function createBodyGate({ maxBytes, concurrent, perAddress, tooLarge, tooMany }: BodyGateOptions): BodyGate {
  const active = new Map<Request, { address: string; timer: Timer }>();

  function release(request: Request): void {
    clearTimeout(active.get(request)?.timer);
    active.delete(request);
  }

  return {
    release,
    acquire(request) {
      const context = contextOf(request);
      if (Number(request.headers.get("content-length")) > maxBytes) throw tooLarge();
      context.maxBodyBytes = maxBytes;
      // A call inside this process was counted on the web surface.
      if (context.socketAddress === "" || active.has(request)) return;
      const { address } = context;
      const own = [...active.values()].filter((other) => other.address === address).length;
      if (active.size >= concurrent || own >= perAddress) throw tooMany();
      active.set(request, { address, timer: setTimeout(release, ABANDONED_AFTER_MS, request).unref() });
    },
  };
}
