// Whose events an endpoint may have: asked when they are handed out, and again before each attempt, since admins come and go.
import { type Config, isLoopbackHost } from "../../src/config.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { Administration, auth, Identity, User } from "../auth/index.ts";
import type { Endpoint, Reach } from "./endpoints.ts";

/** Whether an event about this user (null: about none) is meant for the endpoint. */
export type Hears = (about: string | null) => boolean;

export interface Audience {
  /** Good for a moment: by what the endpoint's owner is now. */
  of(endpoint: Reach & Pick<Endpoint, "userId">): Promise<Hears>;
  /** How far what this caller makes reaches. */
  reachOf(identity: Pick<Identity, "user" | "isAdmin">): Reach;
}

interface Deps {
  config: Pick<Config, "baseUrl" | "adminEmails">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  administration: Pick<Administration, "isAdmin">;
}

export function createAudience({ config, users, administration: { isAdmin } }: Deps): Audience {
  const trustsLoopback = isLoopbackHost(new URL(config.baseUrl).hostname);

  /**
   * An unverified address of ADMIN_EMAILS counts for who came with it straight from this machine (contract §2). Nobody comes
   * when an event does, so that was settled when the endpoint was made wide, and holds for that address alone.
   */
  const cameAsAdmin = ({ email }: User, wideAs: string | null) =>
    trustsLoopback && wideAs === email && config.adminEmails.includes(email);

  return {
    async of({ userId, wide, wideAs }) {
      // The operator's.
      if (userId === null) return () => true;
      const owner = await users.byId(userId);
      if (!owner) return (about) => about === userId;
      if (owner.disabledAt !== null) return () => false;
      const everybodys = wide && (isAdmin(owner) || cameAsAdmin(owner, wideAs));
      return (about) => everybodys || about === userId;
    },

    reachOf: ({ user, isAdmin: admitted }) => ({
      wide: admitted,
      wideAs: admitted && !isAdmin(user) ? user.email : null,
    }),
  };
}
