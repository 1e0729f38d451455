// Challenges: what has to be signed, for one agent, its owner and one kind of verification, for ten minutes and once.
import { and, eq, gt } from "drizzle-orm";
import { guard, type Statement, statement } from "../../src/database.ts";
import type { Kernel } from "../../src/plugin.ts";
import type { Agent } from "../agents/index.ts";
import { messageOf } from "./message.ts";
import { refused } from "./refused.ts";
import { challenges, type VerificationType } from "./schema.ts";

/** What an authenticator is asked for: a new credential, or to show one that is known. */
export type Ceremony = "create" | "get";

export type Challenge = Readonly<typeof challenges.$inferSelect>;

export interface Challenges {
  /** A new challenge; the one before it, of the same agent and type, is worth nothing any more. */
  issue(agent: Agent, type: VerificationType, ceremony?: Ceremony): Promise<Challenge>;
  /** The one to hold a signature against. Throws 400 `VERIFICATION_FAILED` when there is none that still counts. */
  open(agent: Agent, type: VerificationType): Promise<Challenge>;
  /** Uses it up; of all batches with this one, the first goes through and the others abort with GuardFailed `challenge`. */
  use(challenge: Challenge): Statement[];
}

/** Contract §4. */
export const CHALLENGE_LIFETIME = 10 * 60_000;

/** It was never asked for, was used, or has run out: the same, since a used one leaves nothing behind. */
export const noChallenge = () =>
  refused("There is no open challenge for this agent and type. Ask for one, and sign it within 10 minutes.");

export function createChallenges({ database, config }: Pick<Kernel, "database" | "config">): Challenges {
  const db = database.drizzle;
  const same = ({ agentId, type, userId }: Pick<Challenge, "agentId" | "type" | "userId">) =>
    and(
      eq(challenges.agentId, agentId),
      eq(challenges.type, type),
      eq(challenges.userId, userId),
      gt(challenges.expiresAt, Date.now()),
    );

  return {
    async issue(agent, type, ceremony) {
      const now = Date.now();
      const expiresAt = now + CHALLENGE_LIFETIME;
      const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
      const message = messageOf({ agent, type, baseUrl: config.baseUrl, nonce, issuedAt: now, expiresAt });
      const made = { userId: agent.userId, nonce, message, ceremony: ceremony ?? null, expiresAt };
      const challenge = { agentId: agent.id, type, ...made };
      await database.write([
        statement(
          db
            .insert(challenges)
            .values(challenge)
            .onConflictDoUpdate({ target: [challenges.agentId, challenges.type], set: made }),
        ),
      ]);
      return challenge;
    },

    async open({ id: agentId, userId }, type) {
      const [found] = await db.select().from(challenges).where(same({ agentId, type, userId }));
      if (!found) throw noChallenge();
      return found;
    },

    use: (challenge) => [
      statement(db.delete(challenges).where(and(same(challenge), eq(challenges.nonce, challenge.nonce)))),
      guard("challenge"),
    ],
  };
}
