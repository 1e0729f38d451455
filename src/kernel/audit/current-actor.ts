// Knows who makes the changes of the running code: the request's account or key, an agent, a command, or the service itself.
import { AsyncLocalStorage } from "node:async_hooks";
import type { RequestContext } from "../http/request-context.ts";
import type { Actor } from "./actor.ts";

const SERVICE: Actor = { kind: "service", id: null, name: "", address: null, requestId: null };

const running = new AsyncLocalStorage<RequestContext | Actor>();

/**
 * Runs the work of one request, whose changes are then its actor's, until the surface sets `hasEnded`. Work that goes on after
 * the response, such as a loop that this request began, is the service's: it may serve others by then.
 */
export const runForRequest = <T>(context: RequestContext, work: () => Promise<T>): Promise<T> =>
  running.run(context, work);

/** Runs work whose changes are this actor's. */
export const runAs = <T>(actor: Actor, work: () => T): T => running.run(actor, work);

/** Who makes the changes of the running code. */
export function currentActor(): Actor {
  const found = running.getStore();
  if (!found) return SERVICE;
  if (!("cookies" in found)) return found;
  return found.hasEnded ? SERVICE : actorOfRequest(found);
}

export const actorOfRequest = ({ actor, address, id }: RequestContext): Actor => ({
  ...(actor ?? { kind: "visitor", id: null, name: "" }),
  address,
  requestId: id,
});
