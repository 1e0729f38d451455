// Visitors of public pages: nobody knows who they are, only that it is the same one again, at the same agent.
import { randomBytes } from "node:crypto";
import type { Kernel } from "../../src/kernel/plugin.ts";

export interface Visitor {
  id: string;
  /** Has been here before. */
  isReturning: boolean;
}

export interface VisitorCookies {
  /** Whoever the cookie names, if we gave it out for this agent; else somebody new. */
  readVisitor(cookieHeader: string | null, agentId: string): Visitor;
  /** What makes the visitor known next time: a `set-cookie` value for that path of this very host. */
  setCookieValue(visitor: Visitor, agentId: string, path: string): string;
}

/** Seconds; it begins anew with each message. */
const MAX_AGE_SECONDS = 30 * 86_400;
const SIGNING_PURPOSE = "public-visitor";

export function createVisitorCookies({ config, vault }: Pick<Kernel, "config" | "vault">): VisitorCookies {
  const isSecure = config.baseUrl.startsWith("https:");
  const cookieName = "berth_visitor";
  /** Browsers keep a name with this prefix from being set for other hosts, or over plain http (RFC 6265bis §4.1.3). */
  const cookieNameFor = (path: string) => `${isSecure ? (path === "/" ? "__Host-" : "__Secure-") : ""}${cookieName}`;
  const signedText = (id: string, agentId: string) => `${agentId} ${id}`;

  return {
    readVisitor(header, agentId) {
      for (const pair of header?.split(";") ?? []) {
        const [, id = "", mac = ""] =
          /^\s*(?:__(?:Host|Secure)-)?berth_visitor=([\w-]{22})\.([\w-]{43})\s*$/.exec(pair) ?? [];
        if (id !== "" && vault.verify(SIGNING_PURPOSE, signedText(id, agentId), mac)) return { id, isReturning: true };
      }
      return { id: randomBytes(16).toString("base64url"), isReturning: false };
    },
    setCookieValue({ id }, agentId, path) {
      const value = `${id}.${vault.sign(SIGNING_PURPOSE, signedText(id, agentId))}`;
      const attributes = `Max-Age=${MAX_AGE_SECONDS}; Path=${path}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
      return `${cookieNameFor(path)}=${value}; ${attributes}`;
    },
  };
}
