// Issues challenges to sign. A challenge is a row for one agent, its owner and one verification type; it is valid for
// ten minutes and deleted by its use.
import { and, eq, gt } from "drizzle-orm";
import { guard, type Statement, statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import type { Agent } from "../agents/index.ts";
import { formatChallengeMessage } from "./challenge-message.ts";
import { challenges, type VerificationType } from "./schema.ts";
import { verificationFailed } from "./verification-failed.ts";

/** The WebAuthn request to the browser: register a new credential, or sign with a known one. */
export type Ceremony = "create" | "get";

export type Challenge = Readonly<typeof challenges.$inferSelect>;

export interface Challenges {
  /** Issues a challenge, which replaces the previous one of the same agent and type. */
  issue(agent: Agent, type: VerificationType, ceremony?: Ceremony): Promise<Challenge>;
  /** The challenge that a signature must be of. Throws 400 `VERIFICATION_FAILED` if none is open. */
  requireOpen(agent: Agent, type: VerificationType): Promise<Challenge>;
  /**
   * Deletes the challenge. The first batch with these statements succeeds; others abort with GuardFailed `challenge`.
   */
  useStatements(challenge: Challenge): Statement[];
}

/** A challenge can be used for ten minutes. */
export const CHALLENGE_LIFETIME_MS = 10 * MINUTE;

/**
 * One error for a challenge that was never issued, was used, or has expired: a used one leaves no row to tell them
 * apart.
 */
export const noOpenChallenge = () =>
  verificationFailed("There is no open challenge for this agent and type. Request one, and sign it within 10 minutes.");

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
