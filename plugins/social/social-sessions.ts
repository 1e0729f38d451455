// Social sessions: a row per session, a signed session token for a day, and a signed refresh token for one use. The
// row's generation counts refreshes, so that a reused refresh token is detected.
import type { Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { DAY, SECOND } from "../../src/kernel/util/time.ts";
import { invalidToken } from "./identity-tokens.ts";
import { createSignedTokens } from "./signed-tokens.ts";

/** Lifetime of a session token, in seconds. */
export const SESSION_SECONDS = DAY / SECOND;
/** Lifetime of a refresh token, in milliseconds from the start of the session or its last refresh. */
const REFRESH_MS = 30 * DAY;
/** Sessions of one fid; a new one beyond this ends the oldest. */
const MAX_PER_FID = 20;

export interface SocialSession {
  fid: string;
  /** The address given at the verification, in lower case; empty if none was. */
  address: string;
  /** When the session token expires; epoch ms. */
  expiresAt: number;
}

export interface SocialTokens {
  sessionToken: string;
  refreshToken: string;
}

export interface SocialSessions {
  /** Starts a session; if the fid has twenty already, the oldest one ends. `address` may be empty. */
  start(fid: string, address: string): Promise<SocialTokens>;
  /**
   * Exchanges a refresh token for new tokens. Throws 401 `INVALID_TOKEN`; a token that was used before ends its
   * session.
   */
  refresh(refreshToken: string): Promise<SocialTokens>;
  /** The session of a session token; undefined if the token is invalid or expired, or the session was ended. */
  find(sessionToken: string): Promise<SocialSession | undefined>;
  /** Deletes the sessions whose refresh token has expired. */
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
          // Ids are UUIDv7: their order is that of creation.
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
        // A valid token of an earlier generation: its owner or a thief has used it before.
        { sql: "DELETE FROM social_sessions WHERE id = ? AND changes() = 0", args: [claims.sid] },
      ]);
      if (ended?.rowsAffected)
        log.warn("A social refresh token was used twice; its session was ended.", { fid: claims.sub });
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
