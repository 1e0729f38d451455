// Visitors of public pages: nobody knows who they are, only that it is the same one again, at the same agent.
import { randomBytes } from "node:crypto";
import type { Kernel } from "../../src/plugin.ts";

export interface Visitor {
  id: string;
  /** Has been here before. */
  returns: boolean;
}

export interface Visitors {
  /** Whoever the cookie names, if we gave it out for this agent; else somebody new. */
  recognize(cookieHeader: string | null, agentId: string): Visitor;
  /** What makes the visitor known next time: a `set-cookie` value for that path of this very host. */
  remember(visitor: Visitor, agentId: string, path: string): string;
}

/** Seconds; it begins anew with each message. */
const REMEMBERED = 30 * 86_400;
const PURPOSE = "public-visitor";

export function createVisitors({ config, vault }: Pick<Kernel, "config" | "vault">): Visitors {
  const secure = config.baseUrl.startsWith("https:");
  const name = "berth_visitor";
  /** Browsers keep a name with this prefix from being set for other hosts, or over plain http (RFC 6265bis §4.1.3). */
  const nameFor = (path: string) => `${secure ? (path === "/" ? "__Host-" : "__Secure-") : ""}${name}`;
  const signed = (id: string, agentId: string) => `${agentId} ${id}`;

  return {
    recognize(header, agentId) {
      for (const pair of header?.split(";") ?? []) {
        const [, id = "", mac = ""] =
          /^\s*(?:__(?:Host|Secure)-)?berth_visitor=([\w-]{22})\.([\w-]{43})\s*$/.exec(pair) ?? [];
        if (id !== "" && vault.verify(PURPOSE, signed(id, agentId), mac)) return { id, returns: true };
      }
      return { id: randomBytes(16).toString("base64url"), returns: false };
    },
    remember({ id }, agentId, path) {
      const value = `${id}.${vault.sign(PURPOSE, signed(id, agentId))}`;
      const attributes = `Max-Age=${REMEMBERED}; Path=${path}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
      return `${nameFor(path)}=${value}; ${attributes}`;
    },
  };
}
