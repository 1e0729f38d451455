// Stores what accounts have allowed to apps, and the codes and tokens of it. Secrets are stored as hashes.
import type { Row } from "@libsql/client";
import { requireTokenHere } from "../../../src/kernel/cells/cells.ts";
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY, MINUTE } from "../../../src/kernel/util/time.ts";
import { randomToken, sha256Hex } from "../../../src/kernel/util/tokens.ts";
import type { Scope } from "../../auth/index.ts";
import { OAuthFailure } from "./failure.ts";
import { readScopes } from "./scopes.ts";

/** Times are epoch ms. */
export interface ConnectedApp {
  id: string;
  userId: string;
  clientId: string;
  name: string;
  host: string;
  scopes: ReadonlySet<Scope>;
  /** What it writes counts as its owner's own words. */
  trusted: boolean;
  createdAt: number;
  /** When it last got tokens. */
  lastUsedAt: number | null;
}

export type NewApp = Pick<ConnectedApp, "userId" | "clientId" | "name" | "host" | "scopes" | "trusted">;

export interface TokenPair {
  accessToken: string;
  refreshToken: string;
  expiresInSeconds: number;
  scopes: ReadonlySet<Scope>;
}

export type ConnectedApps = ReturnType<typeof createConnectedApps>;

const ACCESS_PREFIX = "bat_";
const ACCESS_MS = 30 * MINUTE;
const REFRESH_MS = 30 * DAY;
/** RFC 6749 §4.1.2: at most ten minutes. */
const CODE_MS = 5 * MINUTE;
const MAX_APPS = 50;

const COLUMNS = "a.id, a.user_id, a.client_id, a.name, a.host, a.scopes, a.trusted, a.created_at, a.last_used_at";
const SELECT_SECRET = `SELECT ${COLUMNS}, s.challenge, s.redirect_uri, s.used_at FROM oauth_secrets AS s
  JOIN connected_apps AS a ON a.id = s.app_id WHERE s.hash = ?1 AND s.kind = ?2 AND s.expires_at > ?3`;
const INSERT_APP = `INSERT INTO connected_apps (id, user_id, client_id, name, host, scopes, trusted, created_at, expires_at)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE (SELECT count(*) FROM connected_apps WHERE user_id = ?2) < ${MAX_APPS}`;
const INSERT_SECRET = `INSERT INTO oauth_secrets (hash, app_id, kind, challenge, redirect_uri, expires_at)
  VALUES (?, ?, ?, ?, ?, ?)`;
const LIST = `SELECT ${COLUMNS} FROM connected_apps AS a WHERE a.user_id = ? AND a.last_used_at IS NOT NULL
  ORDER BY a.created_at DESC, a.id LIMIT ${MAX_APPS}`;

/** Whether a bearer token has the prefix of access tokens. */
export const looksLikeAccessToken = (token: string) => token.startsWith(ACCESS_PREFIX);
export const SECRET_PATTERN = /(?<![A-Za-z0-9])b(?:at|rt|ac)_[\w-]{6,}/g;

export function createConnectedApps({ database, marks, cells }: Pick<Kernel, "database" | "marks" | "cells">) {
  async function findSecret(secret: string, kind: "code" | "access" | "refresh"): Promise<Row | undefined> {
    return (await database.read(SELECT_SECRET, [sha256Hex(secret), kind, Date.now()])).rows[0];
  }

  const secretStatement = (
    appId: string,
    kind: "code" | "access" | "refresh",
    secret: string,
    expiresAt: number,
    code: { challenge: string; redirectUri: string } | undefined = undefined,
  ): Statement => ({
    sql: INSERT_SECRET,
    args: [sha256Hex(secret), appId, kind, code?.challenge ?? null, code?.redirectUri ?? null, expiresAt],
  });

  /** Uses up a code or a refresh token, and issues new tokens, in one write. A second use revokes everything. */
  async function exchange(secret: string, found: Row): Promise<TokenPair> {
    const app = toApp(found);
    const now = Date.now();
    const tokens = {
      accessToken: marks.token(ACCESS_PREFIX + randomToken()),
      refreshToken: marks.token(`brt_${randomToken()}`),
    };
    try {
      await database.write([
        {
          sql: "UPDATE oauth_secrets SET used_at = ?1 WHERE hash = ?2 AND used_at IS NULL",
          args: [now, sha256Hex(secret)],
        },
        guard("unused"),
        secretStatement(app.id, "access", tokens.accessToken, now + ACCESS_MS),
        secretStatement(app.id, "refresh", tokens.refreshToken, now + REFRESH_MS),
        {
          sql: "UPDATE connected_apps SET last_used_at = ?1, expires_at = ?2 WHERE id = ?3",
          args: [now, now + REFRESH_MS, app.id],
        },
        guard("connected"),
      ]);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
      // Somebody else has used it: nobody can tell which of both is the thief (RFC 9700 §4.14.2).
      await database.write([{ sql: "DELETE FROM connected_apps WHERE id = ?", args: [app.id] }]);
      throw invalidGrant("It was used before, so the connection is ended.");
    }
    return { ...tokens, expiresInSeconds: ACCESS_MS / 1000, scopes: app.scopes };
  }

  return {
    /** Stores the permission, and returns the code that the app exchanges for tokens. Throws 409 `TOO_MANY_APPS`. */
    async allow(
      { userId, clientId, name, host, scopes, trusted }: NewApp,
      code: { challenge: string; redirectUri: string },
      extraStatements: Statement[],
    ): Promise<string> {
      const id = Bun.randomUUIDv7();
      const now = Date.now();
      const secret = marks.token(`bac_${randomToken()}`);
      const args = [id, userId, clientId, name, host, JSON.stringify([...scopes]), Number(trusted), now, now + CODE_MS];
      try {
        await database.write([
          // Those that never came for their tokens don't count.
          { sql: "DELETE FROM connected_apps WHERE user_id = ? AND expires_at < ?", args: [userId, now] },
          { sql: INSERT_APP, args },
          guard("limit"),
          secretStatement(id, "code", secret, now + CODE_MS, code),
          ...extraStatements,
        ]);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        const text = `${MAX_APPS} apps are connected to your account. Disconnect one first.`;
        throw new AppError(409, "TOO_MANY_APPS", text, {}, { cause: error });
      }
      return secret;
    },

    /** Throws OAuthFailure `invalid_grant`. */
    async exchangeCode(given: { code: string; clientId: string; redirectUri: string | undefined; verifier: string }) {
      await requireTokenHere(cells, given.code);
      const found = await findSecret(given.code, "code");
      if (found?.client_id !== given.clientId) throw invalidGrant("This code is not valid, or it has expired.");
      const isSent = given.redirectUri === undefined || given.redirectUri === found.redirect_uri;
      const digest = new Bun.CryptoHasher("sha256").update(given.verifier).digest("base64url");
      if (!isSent || digest !== found.challenge) throw invalidGrant("This code belongs to another request.");
      return exchange(given.code, found);
    },

    /** Throws OAuthFailure `invalid_grant`. */
    async refresh(given: { token: string; clientId: string }): Promise<TokenPair> {
      await requireTokenHere(cells, given.token);
      const found = await findSecret(given.token, "refresh");
      if (found?.client_id !== given.clientId) throw invalidGrant("This token is not valid, or it has expired.");
      return exchange(given.token, found);
    },

    /** Ends the connection that an access or refresh token belongs to, if it is this client's (RFC 7009). */
    async revoke(token: string, clientId: string): Promise<void> {
      await requireTokenHere(cells, token);
      const kind = looksLikeAccessToken(token) ? "access" : "refresh";
      const found = await findSecret(token, kind);
      if (found?.client_id !== clientId) return;
      await database.write([{ sql: "DELETE FROM connected_apps WHERE id = ?", args: [String(found.id)] }]);
    },

    async findByAccessToken(token: string): Promise<ConnectedApp | undefined> {
      const found = await findSecret(token, "access");
      return found && toApp(found);
    },

    /** The apps that have come for their tokens, newest first. */
    async list(userId: string): Promise<ConnectedApp[]> {
      return (await database.read(LIST, [userId])).rows.map(toApp);
    },

    /** Whether there was one with this id. */
    async disconnect(userId: string, id: string): Promise<boolean> {
      const sql = "DELETE FROM connected_apps WHERE id = ? AND user_id = ?";
      const [result] = await database.write([{ sql, args: [id, userId] }]);
      return (result?.rowsAffected ?? 0) > 0;
    },

    disconnectAllStatement: (userId: string): Statement => ({
      sql: "DELETE FROM connected_apps WHERE user_id = ?",
      args: [userId],
    }),
    sweepStatements: (): Statement[] =>
      ["oauth_secrets", "connected_apps"].map((table) => ({
        sql: `DELETE FROM ${table} WHERE expires_at < ?`,
        args: [Date.now()],
      })),
  };
}

const invalidGrant = (text: string) => new OAuthFailure("invalid_grant", text);

const toApp = (row: Row): ConnectedApp => ({
  id: String(row.id),
  userId: String(row.user_id),
  clientId: String(row.client_id),
  name: String(row.name),
  host: String(row.host),
  scopes: readScopes(JSON.parse(String(row.scopes)) as string[]),
  trusted: row.trusted === 1,
  createdAt: Number(row.created_at),
  lastUsedAt: row.last_used_at === null ? null : Number(row.last_used_at),
});
