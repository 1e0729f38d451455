// Recognizes returning visitors by a signed token that their browser keeps for the site: valid for one agent and one origin.
import { randomBytes } from "node:crypto";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { DAY, SECOND } from "../../src/kernel/util/time.ts";

export interface Visitor {
  /** 22 characters of base64url. */
  id: string;
  /** Whether the id comes from a valid token. */
  isReturning: boolean;
}

export interface VisitorTokens {
  /**
   * The visitor of a token that is valid for this agent and origin; else a new one. A first message that comes again, since its
   * answer with the token was lost, is of the same visitor if it has an id.
   */
  readVisitor(token: string | undefined, agentId: string, origin: string, messageId?: string): Visitor;
  /** `<id>.<end, epoch seconds>.<signature>`, valid for 30 days. */
  issue(visitor: Visitor, agentId: string, origin: string): string;
}

const SIGNING_PURPOSE = "embed-visitor";
const FIRST_MESSAGE_PURPOSE = "embed-first-message";
const ID_LENGTH = 22;
const TOKEN = /^([\w-]{22})\.(\d{1,12})\.([\w-]{43})$/;
const LIFETIME_MS = 30 * DAY;

export function createVisitorTokens(vault: Kernel["vault"], now = Date.now): VisitorTokens {
  const signedText = (id: string, end: string, agentId: string, origin: string) => `${agentId} ${origin} ${id} ${end}`;
  return {
    readVisitor(token = "", agentId, origin, messageId) {
      const [, id = "", end = "", mac = ""] = TOKEN.exec(token) ?? [];
      const isValid =
        id !== "" &&
        Number(end) * SECOND > now() &&
        vault.verify(SIGNING_PURPOSE, signedText(id, end, agentId, origin), mac);
      if (isValid) return { id, isReturning: true };
      const newId =
        messageId === undefined
          ? randomBytes(16).toString("base64url")
          : vault.sign(FIRST_MESSAGE_PURPOSE, `${agentId} ${origin} ${messageId}`).slice(0, ID_LENGTH);
      return { id: newId, isReturning: false };
    },
    issue({ id }, agentId, origin) {
      const end = String(Math.ceil((now() + LIFETIME_MS) / SECOND));
      return `${id}.${end}.${vault.sign(SIGNING_PURPOSE, signedText(id, end, agentId, origin))}`;
    },
  };
}
