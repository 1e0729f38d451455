// Sign-in sessions: revocable database rows, referenced by a signed JWT in a cookie. Verified cookies are kept in a
// bounded cache.
import { and, desc, eq, gt, lte, ne, notInArray, type SQL, sql } from "drizzle-orm";
import { withoutMark } from "../../src/kernel/cells/marks.ts";
import { GuardFailed, guard, preparedQuery, type Statement, statement } from "../../src/kernel/database/database.ts";
import { AppError, unauthorized } from "../../src/kernel/errors.ts";
import { type Kernel, ownsDatabase } from "../../src/kernel/plugin.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import type { LinkedAccount } from "./oauth/linked-accounts.ts";
import { authSessions } from "./schema.ts";

/** Milliseconds until an unused session expires; use extends it. */
export const SESSION_LIFETIME = 30 * DAY;
/** The expiry of a session in use is extended at most this often. */
const RENEWAL_INTERVAL_MS = DAY;
const MAX_CACHED_SESSIONS = 10_000;
/** When a sign-in exceeds it, the oldest sessions of the account end. */
const MAX_SESSIONS_PER_USER = 100;

export interface Session {
  id: string;
  userId: string;
  /** The sign-in came directly from this machine, not through a proxy. */
  direct: boolean;
  /** Client address and user agent of the sign-in. */
  address: string;
  userAgent: string;
  createdAt: number;
  renewedAt: number;
  expiresAt: number;
}

export type SignInClient = Pick<Session, "direct" | "address" | "userAgent">;

/**
 * The evidence that a sign-in relies on. It is checked again when the session starts, since the account may have
 * changed.
 */
export interface SignInEvidence {
  /**
   * The hash that the password was checked against; null if the account has none. Left out if no password was required.
   */
  passwordHash?: string | null | undefined;
  /** The linked account that was used instead of a password. */
  linkedAccount?: LinkedAccount | undefined;
  /** Whether two-factor was on, so that a code was required. */
  twoFactor: boolean;
}

export interface Sessions {
  /** Name of the cookie: `__Host-` on https. */
  readonly cookieName: string;
  /**
   * Starts a session, with `moreStatements` in its batch, and returns its `set-cookie` value; beyond 100 sessions the oldest ends. Throws 401 if the
   * evidence is no longer valid or the account is disabled or gone (`BAD_CREDENTIALS` if a password was checked).
   */
  start(
    userId: string,
    client: SignInClient,
    evidence: SignInEvidence,
    moreStatements?: readonly Statement[],
  ): Promise<{ session: Session; cookie: string }>;
  /** Whether the user has a session of this browser already. */
  isKnownDevice(userId: string, userAgent: string): Promise<boolean>;
  /** Whether the request carries a session cookie, which need not be valid. */
  hasCookie(request: Request): boolean;
  /** The valid session that a `Cookie` header refers to, if any. */
  find(cookieHeader: string | null): Promise<Session | undefined>;
  /**
   * Extends the session if it is due, and returns its new `set-cookie` value; undefined if not due or if the write
   * failed.
   */
  renew(session: Session): Promise<string | undefined>;
  /** Ends one session of this user. Changes no row when there is none. */
  revokeStatement(userId: string, sessionId: string): Statement;
  /** Ends every session of this user except `exceptId`. */
  revokeAllStatement(userId: string, exceptId?: string): Statement;
  /** The valid sessions of this user, newest first. */
  listByUser(userId: string): Promise<Session[]>;
  /** Which of these ids are valid according to the database: for long-lived connections that a session opened. */
  filterActive(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Deletes expired sessions. */
  sweepStatement(): Statement;
  /** The `set-cookie` value that deletes the cookie in the browser. */
  clearCookie(): string;
  /** The listener receives the id of every session that is revoked before it expires. */
  onRevoked(listener: (sessionId: string) => void): void;
}

interface SessionToken {
  sign(claims: { sub: string; exp: number }): Promise<string>;
  verify(token: string, options: { algorithms: string[] }): Promise<false | { sub?: unknown; exp?: number }>;
}

const ALGORITHM = "HS256";

type Deps = Pick<Kernel, "database" | "config" | "vault" | "log" | "marks">;

export function createSessions({ database, config, vault, log, marks }: Deps): Sessions {
  const secure = config.baseUrl.startsWith("https:");
  const cookieName = secure ? "__Host-berth_session" : "berth_session";
  const cookieAttributes = `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  const cache = ownsDatabase({ config, database }) ? new Map<string, Session>() : undefined;
  const listeners: ((sessionId: string) => void)[] = [];
  const selectById = preparedQuery(() =>
    database.drizzle
      .select()
      .from(authSessions)
      .where(eq(authSessions.id, sql.placeholder("id"))),
  );

  let token: Promise<SessionToken> | undefined;
  const sessionToken = () => {
    token ??= loadSessionToken(vault.deriveKey("session-cookie"));
    return token;
  };

  /** Incremented by each revocation: a session whose read began before it is not cached. */
  let revocations = 0;

  async function cookieFor(session: Session, before: number): Promise<string> {
    const { sign } = await sessionToken();
    const value = marks.token(await sign({ sub: session.id, exp: Math.floor(session.expiresAt / 1000) }));
    cacheSession(value, session, before);
    return `${cookieName}=${value}; Max-Age=${SESSION_LIFETIME / 1000}; ${cookieAttributes}`;
  }

  function cacheSession(value: string, session: Session, before: number): void {
    if (!cache || revocations !== before) return;
    if (cache.size >= MAX_CACHED_SESSIONS) cache.delete(cache.keys().next().value ?? "");
    cache.set(value, session);
  }

  async function load(value: string): Promise<Session | undefined> {
    const { verify } = await sessionToken();
    const claims = await verify(withoutMark(value), { algorithms: [ALGORITHM] });
    if (claims === false || typeof claims.sub !== "string" || claims.exp === undefined) return undefined;
    const before = revocations;
    const [session] = await selectById.execute({ id: claims.sub });
    if (session) cacheSession(value, session, before);
    return session;
  }

  /** Inserts the session only if the evidence is still valid. */
  function insertStatement(session: Session, { passwordHash, linkedAccount, twoFactor }: SignInEvidence): Statement {
    const { id, userId, direct, address, userAgent, createdAt, renewedAt, expiresAt } = session;
    const columns = "id, user_id, direct, address, user_agent, created_at, renewed_at, expires_at";
    const args: Statement["args"] = [
      id,
      direct,
      address,
      userAgent,
      createdAt,
      renewedAt,
      expiresAt,
      userId,
      twoFactor,
    ];
    const conditions = ["id = ?", "two_factor_enabled = ?", "disabled_at IS NULL"];
    const addCondition = (condition: string, ...more: (string | null)[]) => {
      conditions.push(condition);
      args.push(...more);
    };
    if (passwordHash !== undefined) addCondition("password_hash IS ?", passwordHash);
    if (linkedAccount) {
      const same = "SELECT 1 FROM linked_accounts WHERE provider = ? AND subject = ? AND user_id = users.id";
      addCondition(`EXISTS (${same})`, linkedAccount.provider, linkedAccount.subject);
    }
    const where = conditions.join(" AND ");
    return {
      sql: `INSERT INTO auth_sessions (${columns}) SELECT ?, id, ?, ?, ?, ?, ?, ? FROM users WHERE ${where}`,
      args,
    };
  }

  /** Ends the oldest sessions beyond the limit, but never the new one, even if the clock was set back. */
  function deleteOldestStatement({ id, userId }: Session): Statement {
    const others = and(eq(authSessions.userId, userId), ne(authSessions.id, id));
    const newest = database.drizzle
      .select({ id: authSessions.id })
      .from(authSessions)
      .where(others)
      .orderBy(desc(authSessions.createdAt), desc(authSessions.id))
      .limit(MAX_SESSIONS_PER_USER - 1);
    return deleteStatement(and(others, notInArray(authSessions.id, newest)));
  }

  /** Deletes sessions; after the commit it drops them from the cache and notifies the listeners. */
  function deleteStatement(condition: SQL | undefined): Statement {
    const query = database.drizzle.delete(authSessions).where(condition).returning({ id: authSessions.id });
    return {
      ...statement(query),
      after({ rows }) {
        if (rows.length === 0) return;
        const ids = new Set(rows.map(({ id }) => String(id)));
        revocations++;
        for (const [value, { id }] of cache ?? []) if (ids.has(id)) cache?.delete(value);
        for (const id of ids) for (const listener of listeners) listener(id);
      },
    };
  }

  return {
    cookieName,

    hasCookie: ({ headers }) =>
      (headers.get("cookie") ?? "").split(";").some((pair) => pair.trimStart().startsWith(`${cookieName}=`)),

    async isKnownDevice(userId, userAgent) {
      const sql = "SELECT 1 FROM auth_sessions WHERE user_id = ? AND user_agent = ? LIMIT 1";
      return (await database.read(sql, [userId, userAgent])).rows.length > 0;
    },

    async start(userId, client, evidence, moreStatements = []) {
      const now = Date.now();
      const session = {
        id: marks.newId(),
        userId,
        ...client,
        createdAt: now,
        renewedAt: now,
        expiresAt: now + SESSION_LIFETIME,
      };
      const before = revocations;
      try {
        await database.write([
          insertStatement(session, evidence),
          guard("account"),
          deleteOldestStatement(session),
          ...moreStatements,
        ]);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        if (evidence.passwordHash === undefined)
          throw unauthorized("Sign in again: this account was changed in the meantime.");
        throw new AppError(401, "BAD_CREDENTIALS", "Email or password is wrong.");
      }
      return { session, cookie: await cookieFor(session, before) };
    },

    async find(cookieHeader) {
      const value = cookieValue(cookieHeader, cookieName);
      if (value === undefined) return undefined;
      const session = cache?.get(value) ?? (await load(value));
      return session && session.expiresAt > Date.now() ? session : undefined;
    },

    async renew(session) {
      const now = Date.now();
      const { id, renewedAt } = session;
      if (now - renewedAt < RENEWAL_INTERVAL_MS) return undefined;
      // Set before the write, so that only one of several concurrent requests renews.
      session.renewedAt = now;
      const expiresAt = now + SESSION_LIFETIME;
      const update = database.drizzle.update(authSessions).set({ renewedAt: now, expiresAt });
      const before = revocations;
      try {
        const [updated] = await database.write([statement(update.where(eq(authSessions.id, id)))]);
        if (updated?.rowsAffected !== 1) return undefined;
      } catch (error) {
        // A failed renewal must not fail a request that only reads; the next request tries again.
        session.renewedAt = renewedAt;
        log.warn("session renewal failed", { error });
        return undefined;
      }
      session.expiresAt = expiresAt;
      return cookieFor(session, before);
    },

    revokeStatement: (userId, sessionId) =>
      deleteStatement(and(eq(authSessions.userId, userId), eq(authSessions.id, sessionId))),
    revokeAllStatement: (userId, exceptId) =>
      deleteStatement(and(eq(authSessions.userId, userId), exceptId ? ne(authSessions.id, exceptId) : undefined)),
    listByUser: (userId) =>
      database.drizzle
        .select()
        .from(authSessions)
        .where(and(eq(authSessions.userId, userId), gt(authSessions.expiresAt, Date.now())))
        .orderBy(desc(authSessions.createdAt)),

    async filterActive(ids) {
      const { rows } = await database.read(
        "SELECT id FROM auth_sessions WHERE id IN (SELECT value FROM json_each(?)) AND expires_at > ?",
        [JSON.stringify(ids), Date.now()],
      );
      return new Set(rows.map(({ id }) => String(id)));
    },

    sweepStatement: () =>
      statement(database.drizzle.delete(authSessions).where(lte(authSessions.expiresAt, Date.now()))),
    clearCookie: () => `${cookieName}=; Max-Age=0; ${cookieAttributes}`,
    onRevoked: (listener) => void listeners.push(listener),
  };
}

/** The JWT functions of @elysiajs/jwt, with HS256 under a derived key. Imported lazily, to keep the start fast. */
async function loadSessionToken(key: Uint8Array): Promise<SessionToken> {
  const { jwt } = await import("@elysiajs/jwt");
  const { decorator } = jwt({ name: "session", secret: Buffer.from(key).toString("base64url"), alg: ALGORITHM });
  return decorator.session;
}

/** One value of a `Cookie` header (RFC 6265 §4.2.1); builds no map of all cookies, since it runs on every request. */
function cookieValue(header: string | null, name: string): string | undefined {
  if (header === null) return undefined;
  for (const pair of header.split(";")) {
    const at = pair.indexOf("=");
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
