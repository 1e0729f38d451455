// Sessions of fids: a signed token for a day, and a refresh token that is good for one use.
import type { Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { invalidToken } from "./identity-tokens.ts";
import { createSignedTokens } from "./signed-tokens.ts";

/** Seconds a session token is good for. Contract §8. */
export const SESSION_SECONDS = 86_400;
/** Milliseconds a refresh token is good for, from the one before. */
const REFRESH_MS = 30 * 86_400_000;
/** Of one fid; the oldest end when there are more. */
const MAX_PER_FID = 20;

export interface SocialSession {
  fid: string;
  /** Given at the verification, in lower case; empty: none. */
  address: string;
  /** Of the token that was shown; epoch ms. */
  expiresAt: number;
}

export interface SocialTokens {
  sessionToken: string;
  refreshToken: string;
}

export interface SocialSessions {
  /** Begins a session, in place of the oldest where there are twenty. `address` may be empty. */
  start(fid: string, address: string): Promise<SocialTokens>;
  /** New tokens for a refresh token. Throws 401 `INVALID_TOKEN`; one that was used before ends its session for good. */
  refresh(refreshToken: string): Promise<SocialTokens>;
  /** The session of a session token; undefined where it is none of ours, too old, or its session was ended. */
  find(sessionToken: string): Promise<SocialSession | undefined>;
  /** Takes away those that nobody can refresh any more. */
  sweepStatement(): Statement;
}

interface SessionClaims {
  sub: string;
  sid: string;
  address: string;
}

interface RefreshClaims extends SessionClaims {
  generation: number;
}

export function createSocialSessions({
  database,
  vault,
  log,
}: Pick<Kernel, "database" | "vault" | "log">): SocialSessions {
  const sessionTokens = createSignedTokens<SessionClaims>(vault, "social-session");
  const refreshTokens = createSignedTokens<RefreshClaims>(vault, "social-refresh");

  const issueTokens = (claims: SessionClaims, generation: number, now: number): SocialTokens => ({
    sessionToken: sessionTokens.issue(claims, now + SESSION_SECONDS * 1000),
    refreshToken: refreshTokens.issue({ ...claims, generation }, now + REFRESH_MS),
  });

  return {
    async start(sub, address) {
      const now = Date.now();
      const claims = { sub, sid: Bun.randomUUIDv7(), address: address.toLowerCase() };
      await database.write([
        {
          sql: "INSERT INTO social_sessions (id, fid, address, generation, created_at, expires_at) VALUES (?, ?, ?, 0, ?, ?)",
          args: [claims.sid, sub, claims.address, now, now + REFRESH_MS],
        },
        {
          // Ids grow with time.
          sql: `DELETE FROM social_sessions WHERE fid = ? AND id NOT IN
            (SELECT id FROM social_sessions WHERE fid = ? ORDER BY id DESC LIMIT ${MAX_PER_FID})`,
          args: [sub, sub],
        },
      ]);
      return issueTokens(claims, 0, now);
    },

    async refresh(refreshToken) {
      const found = refreshTokens.verify(refreshToken);
      if (!found) throw invalidToken();
      const { generation, ...claims } = found.claims;
      const now = Date.now();
      const [rotated, ended] = await database.write([
        {
          sql: `UPDATE social_sessions SET generation = generation + 1, expires_at = ?
            WHERE id = ? AND generation = ? AND expires_at > ?`,
          args: [now + REFRESH_MS, claims.sid, generation, now],
        },
        // A token of ours that is not the newest: either its owner or a thief has used it before.
        { sql: "DELETE FROM social_sessions WHERE id = ? AND changes() = 0", args: [claims.sid] },
      ]);
      if (ended?.rowsAffected) log.warn("a refresh token was used twice: its session is ended", { fid: claims.sub });
      if (rotated?.rowsAffected !== 1) throw invalidToken();
      return issueTokens(claims, generation + 1, now);
    },

    async find(sessionToken) {
      const found = sessionTokens.verify(sessionToken);
      if (!found) return undefined;
      const { sub, sid, address } = found.claims;
      const { rows } = await database.read("SELECT 1 FROM social_sessions WHERE id = ?", [sid]);
      return rows.length > 0 ? { fid: sub, address, expiresAt: found.expiresAt } : undefined;
    },

    sweepStatement: () => ({ sql: "DELETE FROM social_sessions WHERE expires_at <= ?", args: [Date.now()] }),
  };
}
