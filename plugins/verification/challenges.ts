// Challenges: what has to be signed, for one agent, its owner and one kind of verification, for ten minutes and once.
import { and, eq, gt } from "drizzle-orm";
import { guard, type Statement, statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { Agent } from "../agents/index.ts";
import { formatChallengeMessage } from "./challenge-message.ts";
import { challenges, type VerificationType } from "./schema.ts";
import { verificationFailed } from "./verification-failed.ts";

/** What an authenticator is asked for: a new credential, or to show one that is known. */
export type Ceremony = "create" | "get";

export type Challenge = Readonly<typeof challenges.$inferSelect>;

export interface Challenges {
  /** A new challenge; the one before it, of the same agent and type, is worth nothing any more. */
  issue(agent: Agent, type: VerificationType, ceremony?: Ceremony): Promise<Challenge>;
  /** The one to hold a signature against. Throws 400 `VERIFICATION_FAILED` when there is none that still counts. */
  requireOpen(agent: Agent, type: VerificationType): Promise<Challenge>;
  /** Uses it up; of all batches with this one, the first goes through and the others abort with GuardFailed `challenge`. */
  useStatements(challenge: Challenge): Statement[];
}

/** Contract §4. */
export const CHALLENGE_LIFETIME_MS = 10 * 60_000;

/** It was never asked for, was used, or has run out: the same, since a used one leaves nothing behind. */
export const noOpenChallenge = () =>
  verificationFailed("There is no open challenge for this agent and type. Ask for one, and sign it within 10 minutes.");

export function createChallenges({ database, config }: Pick<Kernel, "database" | "config">): Challenges {
  const db = database.drizzle;
  const currentCondition = ({ agentId, type, userId }: Pick<Challenge, "agentId" | "type" | "userId">) =>
    and(
      eq(challenges.agentId, agentId),
      eq(challenges.type, type),
      eq(challenges.userId, userId),
      gt(challenges.expiresAt, Date.now()),
    );

  return {
    async issue(agent, type, ceremony) {
      const now = Date.now();
      const expiresAt = now + CHALLENGE_LIFETIME_MS;
      const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
      const message = formatChallengeMessage({ agent, type, baseUrl: config.baseUrl, nonce, issuedAt: now, expiresAt });
      const fields = { userId: agent.userId, nonce, message, ceremony: ceremony ?? null, expiresAt };
      const challenge = { agentId: agent.id, type, ...fields };
      await database.write([
        statement(
          db
            .insert(challenges)
            .values(challenge)
            .onConflictDoUpdate({ target: [challenges.agentId, challenges.type], set: fields }),
        ),
      ]);
      return challenge;
    },

    async requireOpen({ id: agentId, userId }, type) {
      const [found] = await db.select().from(challenges).where(currentCondition({ agentId, type, userId }));
      if (!found) throw noOpenChallenge();
      return found;
    },

    useStatements: (challenge) => [
      statement(db.delete(challenges).where(and(currentCondition(challenge), eq(challenges.nonce, challenge.nonce)))),
      guard("challenge"),
    ],
  };
}
