// Sign-in sessions: a row that can be revoked, named by a JWT in a cookie, verified once and then found in a bounded cache.
import { eq, lte, sql } from "drizzle-orm";
import { type Statement, statement } from "../../src/database.ts";
import type { Kernel } from "../../src/plugin.ts";
import { authSessions } from "./schema.ts";

/** 30 days, sliding. Contract §3. */
export const SESSION_LIFETIME = 30 * 86_400_000;
/** A session in use is prolonged at most this often. */
const RENEW_AFTER = 86_400_000;
const CACHED_SESSIONS = 10_000;

export interface Session {
  id: string;
  userId: string;
  /** Signed in straight from this machine. */
  direct: boolean;
  createdAt: number;
  renewedAt: number;
  expiresAt: number;
}

export interface Sessions {
  /** Name of the cookie: `__Host-` on https. */
  readonly cookieName: string;
  /** Starts a session; the value of `set-cookie`. */
  start(userId: string, direct: boolean): Promise<{ session: Session; cookie: string }>;
  /** The session a `Cookie` header names; undefined when it names none that is valid. */
  find(cookieHeader: string | null): Promise<Session | undefined>;
  /** A new `set-cookie` value when the session is due for it and could be prolonged. */
  renew(session: Session): Promise<string | undefined>;
  revoke(sessionId: string): Promise<void>;
  /** Takes away those that are over. */
  sweep(): Statement;
  /** Empties the cookie in the browser. */
  clearCookie(): string;
  /** Told the id of every session that ends before its time. */
  onRevoked(listener: (sessionId: string) => void): void;
}

interface SessionToken {
  sign(claims: { sub: string; exp: number }): Promise<string>;
  verify(token: string, options: { algorithms: string[] }): Promise<false | { sub?: unknown; exp?: number }>;
}

const ALGORITHM = "HS256";

type Deps = Pick<Kernel, "database" | "config" | "vault" | "log">;

export function createSessions({ database, config, vault, log }: Deps): Sessions {
  const secure = config.baseUrl.startsWith("https:");
  const cookieName = secure ? "__Host-berth_session" : "berth_session";
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  const cache = config.role === "all" ? new Map<string, Session>() : undefined;
  const listeners: ((sessionId: string) => void)[] = [];
  const selectById = database.drizzle
    .select()
    .from(authSessions)
    .where(eq(authSessions.id, sql.placeholder("id")))
    .prepare();

  let token: Promise<SessionToken> | undefined;
  const sessionToken = () => {
    token ??= loadSessionToken(vault.deriveKey("session-cookie"));
    return token;
  };

  /** Grows when a session is revoked: what was read before is not remembered after. */
  let revoked = 0;

  async function cookieFor(session: Session, before: number): Promise<string> {
    const { sign } = await sessionToken();
    const value = await sign({ sub: session.id, exp: Math.floor(session.expiresAt / 1000) });
    remember(value, session, before);
    return `${cookieName}=${value}; Max-Age=${SESSION_LIFETIME / 1000}; ${attributes}`;
  }

  function remember(value: string, session: Session, before: number): void {
    if (!cache || revoked !== before) return;
    if (cache.size >= CACHED_SESSIONS) cache.delete(cache.keys().next().value ?? "");
    cache.set(value, session);
  }

  async function load(value: string): Promise<Session | undefined> {
    const { verify } = await sessionToken();
    const claims = await verify(value, { algorithms: [ALGORITHM] });
    if (claims === false || typeof claims.sub !== "string" || claims.exp === undefined) return undefined;
    const before = revoked;
    const [session] = await selectById.execute({ id: claims.sub });
    if (session) remember(value, session, before);
    return session;
  }

  return {
    cookieName,

    async start(userId, direct) {
      const now = Date.now();
      const session = {
        id: Bun.randomUUIDv7(),
        userId,
        direct,
        createdAt: now,
        renewedAt: now,
        expiresAt: now + SESSION_LIFETIME,
      };
      await database.write([statement(database.drizzle.insert(authSessions).values(session))]);
      return { session, cookie: await cookieFor(session, revoked) };
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
      if (now - renewedAt < RENEW_AFTER) return undefined;
      // Of many requests at once, one does it.
      session.renewedAt = now;
      const expiresAt = now + SESSION_LIFETIME;
      const update = database.drizzle.update(authSessions).set({ renewedAt: now, expiresAt });
      const before = revoked;
      try {
        const [updated] = await database.write([statement(update.where(eq(authSessions.id, id)))]);
        if (updated?.rowsAffected !== 1) return undefined;
      } catch (error) {
        // Reading goes on where nothing can be written; the next request tries again.
        session.renewedAt = renewedAt;
        log.warn("a session could not be prolonged", { error });
        return undefined;
      }
      session.expiresAt = expiresAt;
      return cookieFor(session, before);
    },

    async revoke(sessionId) {
      await database.write([statement(database.drizzle.delete(authSessions).where(eq(authSessions.id, sessionId)))]);
      revoked++;
      for (const [value, session] of cache ?? []) if (session.id === sessionId) cache?.delete(value);
      for (const listener of listeners) listener(sessionId);
    },

    sweep: () => statement(database.drizzle.delete(authSessions).where(lte(authSessions.expiresAt, Date.now()))),
    clearCookie: () => `${cookieName}=; Max-Age=0; ${attributes}`,
    onRevoked: (listener) => void listeners.push(listener),
  };
}

/** The JWT functions of @elysiajs/jwt, loaded at the first sign-in. HS256 under a derived key. */
async function loadSessionToken(key: Uint8Array): Promise<SessionToken> {
  const { jwt } = await import("@elysiajs/jwt");
  const { decorator } = jwt({ name: "session", secret: Buffer.from(key).toString("base64url"), alg: ALGORITHM });
  return decorator.session;
}

/** One value of a `Cookie` header (RFC 6265 §4.2.1), without building a map of all. */
function cookieValue(header: string | null, name: string): string | undefined {
  if (header === null) return undefined;
  for (const pair of header.split(";")) {
    const at = pair.indexOf("=");
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
