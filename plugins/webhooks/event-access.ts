// Whose events an endpoint may have: asked when they are handed out, and again before each attempt, since admins come and go.
import { type Config, isLoopbackHost } from "../../src/kernel/config/config.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Administration, auth, Identity, User } from "../auth/index.ts";
import type { Endpoint, EventScope } from "./endpoints.ts";

/** Whether an event about this user (null: about none) is meant for the endpoint. */
export type EventFilter = (subjectUserId: string | null) => boolean;

export interface EventAccess {
  /** Good for a moment: by what the endpoint's owner is now. */
  filterFor(endpoint: EventScope & Pick<Endpoint, "userId">): Promise<EventFilter>;
  /** How far what this caller makes reaches. */
  eventScopeOf(identity: Pick<Identity, "user" | "isAdmin">): EventScope;
}

interface Deps {
  config: Pick<Config, "baseUrl" | "adminEmails">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  administration: Pick<Administration, "isAdmin">;
}

export function createEventAccess({ config, users, administration: { isAdmin } }: Deps): EventAccess {
  const trustsLoopback = isLoopbackHost(new URL(config.baseUrl).hostname);

  /**
   * An unverified address of ADMIN_EMAILS counts for who came with it straight from this machine (contract §2). Nobody comes
   * when an event does, so that was settled when the endpoint was made wide, and holds for that address alone.
   */
  const isAdminByUnverifiedEmail = ({ email }: User, allEventsByEmail: string | null) =>
    trustsLoopback && allEventsByEmail === email && config.adminEmails.includes(email);

  return {
    async filterFor({ userId, allEvents, allEventsByEmail }) {
      // The operator's.
      if (userId === null) return () => true;
      const owner = await users.byId(userId);
      if (!owner) return (subjectUserId) => subjectUserId === userId;
      if (owner.disabledAt !== null) return () => false;
      const seesAllUsers = allEvents && (isAdmin(owner) || isAdminByUnverifiedEmail(owner, allEventsByEmail));
      return (subjectUserId) => seesAllUsers || subjectUserId === userId;
    },

    eventScopeOf: ({ user, isAdmin: callerIsAdmin }) => ({
      allEvents: callerIsAdmin,
      allEventsByEmail: callerIsAdmin && !isAdmin(user) ? user.email : null,
    }),
  };
}
