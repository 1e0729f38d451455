// Decides which users' events an endpoint may receive. It is checked at the dispatch and before each attempt, since rights change.

import { type Config, isLoopbackHost } from "../../../src/kernel/config/config.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Administration, auth, Identity, User } from "../../auth/index.ts";
import { adminSettings } from "../../auth/settings.ts";
import type { Endpoint, EventScope } from "./endpoints.ts";

/** Whether the endpoint may receive an event about this user (null: about none). */
export type EventFilter = (subjectUserId: string | null) => boolean;

export interface EventAccess {
  /** The filter by the owner's present rights. Don't keep it. */
  filterFor(endpoint: EventScope & Pick<Endpoint, "userId">): Promise<EventFilter>;
  /** The scope of an endpoint that this caller creates or changes. */
  eventScopeOf(identity: Pick<Identity, "user" | "isAdmin">): EventScope;
}

interface Deps {
  config: Pick<Config, "baseUrl" | "of">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  administration: Pick<Administration, "isAdmin">;
}

export function createEventAccess({ config, users, administration: { isAdmin } }: Deps): EventAccess {
  const { emails: adminEmails } = config.of(adminSettings);
  const trustsLoopback = isLoopbackHost(new URL(config.baseUrl).hostname);

  /**
   * An unverified address of ADMIN_EMAILS makes its user an admin only for requests from this machine itself. An event comes
   * without a request, so the right was checked when the endpoint got its scope, and counts only for that address.
   */
  const isAdminByUnverifiedEmail = ({ email }: User, allEventsByEmail: string | null) =>
    trustsLoopback && allEventsByEmail === email && adminEmails.includes(email);

  return {
    async filterFor({ userId, allEvents, allEventsByEmail }) {
      // The operator's endpoint.
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
