// The one who makes a change, as the audit log names it.
import type { auditLog } from "./schema.ts";

/** The one who makes a change. */
export interface Actor {
  /** `visitor`: a request without a credential. `service`: background work, such as a job. */
  kind: (typeof auditLog.actorKind.enumValues)[number];
  /** The id of the account, the API key or the agent; null for the others. */
  id: string | null;
  /** The email address at the time of the change, for a key its owner's; for a command the name of the operating system's user. */
  name: string;
  /** The client's network address; null if no request makes the change. */
  address: string | null;
  requestId: string | null;
}

/** The account or the key of a request, as the guards have found it. */
export type RequestActor = Pick<Actor, "kind" | "id" | "name">;
