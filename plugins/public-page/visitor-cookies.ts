// Recognizes returning visitors of a public page by a signed cookie with a random id, valid for one agent.
import { randomBytes } from "node:crypto";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { DAY, SECOND } from "../../src/kernel/util/time.ts";

export interface Visitor {
  id: string;
  /** Whether the id comes from a valid cookie. */
  isReturning: boolean;
}

export interface VisitorCookies {
  /**
   * The visitor of the cookie if its signature is valid for this agent; else a new visitor. A first message that comes again,
   * since its answer with the cookie was lost, is of the same visitor if it has an id.
   */
  readVisitor(cookieHeader: string | null, agentId: string, messageId?: string): Visitor;
  /**
   * A `set-cookie` value with the visitor's id, for that path of this host only. `isEmbedded`: sites may show the page in a
   * frame, so the browser sends the cookie there too, and keeps a separate one for each site (CHIPS).
   */
  setCookieValue(visitor: Visitor, agentId: string, path: string, isEmbedded: boolean): string;
}

/** Each message renews the cookie. */
const MAX_AGE_SECONDS = (30 * DAY) / SECOND;
const SIGNING_PURPOSE = "public-visitor";
const FIRST_MESSAGE_PURPOSE = "public-first-message";
const ID_LENGTH = 22;

export function createVisitorCookies({ config, vault }: Pick<Kernel, "config" | "vault">): VisitorCookies {
  const isSecure = config.baseUrl.startsWith("https:");
  const cookieName = "berth_visitor";
  /** Browsers refuse names with these prefixes from other hosts or over plain HTTP (RFC 6265bis §4.1.3). */
  const cookieNameFor = (path: string) => `${isSecure ? (path === "/" ? "__Host-" : "__Secure-") : ""}${cookieName}`;
  const signedText = (id: string, agentId: string) => `${agentId} ${id}`;

  return {
    readVisitor(header, agentId, messageId) {
      for (const pair of header?.split(";") ?? []) {
        const [, id = "", mac = ""] =
          /^\s*(?:__(?:Host|Secure)-)?berth_visitor=([\w-]{22})\.([\w-]{43})\s*$/.exec(pair) ?? [];
        if (id !== "" && vault.verify(SIGNING_PURPOSE, signedText(id, agentId), mac)) return { id, isReturning: true };
      }
      const id =
        messageId === undefined
          ? randomBytes(16).toString("base64url")
          : vault.sign(FIRST_MESSAGE_PURPOSE, `${agentId} ${messageId}`).slice(0, ID_LENGTH);
      return { id, isReturning: false };
    },
    setCookieValue({ id }, agentId, path, isEmbedded) {
      const value = `${id}.${vault.sign(SIGNING_PURPOSE, signedText(id, agentId))}`;
      // Browsers accept SameSite=None only over https.
      const reach = isSecure && isEmbedded ? "SameSite=None; Partitioned" : "SameSite=Strict";
      const attributes = `Max-Age=${MAX_AGE_SECONDS}; Path=${path}; HttpOnly; ${reach}${isSecure ? "; Secure" : ""}`;
      return `${cookieNameFor(path)}=${value}; ${attributes}`;
    },
  };
}
