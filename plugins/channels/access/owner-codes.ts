// Holds the codes that make a person the owner of a bot: the console shows a code, and its sender becomes the owner.
import type { ChannelId } from "../../../channels/port.ts";
import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import { randomCode } from "../../../src/kernel/util/text/random-code.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";

/** How long a code is valid. It works once, and a new one replaces it. */
const LIFETIME_MS = 15 * MINUTE;
const MAX_CODES = 4_096;
/** About 50 bits: strangers could try codes by messages, but only for some minutes. */
const CODE_LENGTH = 10;

/** A message that may be a code. */
type Candidate = { text: string; platformMessageId: string };

export interface OwnerCodes {
  /** Makes the code of a bot; it is in memory only, so a restart of Berth ends it. `expiresAt` is epoch ms. */
  create(agentId: string, channel: ChannelId): { code: string; expiresAt: number };
  /**
   * Whether a message to the bot is its code, which is used up then. `again`: it is the message that has used it up, which
   * the platform delivers once more because the claim reopened the connection before it was confirmed.
   */
  take(agentId: string, channel: ChannelId, message: Candidate): "taken" | "again" | undefined;
}

interface Code {
  code: string;
  expiresAt: number;
  /** The message that has used it up. */
  takenBy?: string;
}

export function createOwnerCodes(): OwnerCodes {
  const codes = createBoundedMap<Code>(MAX_CODES);
  const keyOf = (agentId: string, channel: ChannelId) => `${agentId} ${channel}`;
  return {
    create(agentId, channel) {
      const made = { code: randomCode(CODE_LENGTH), expiresAt: Date.now() + LIFETIME_MS };
      codes.set(keyOf(agentId, channel), made);
      return made;
    },
    take(agentId, channel, { text, platformMessageId }) {
      const key = keyOf(agentId, channel);
      const found = codes.get(key);
      // Telegram's links send the code as `/start CODE`.
      const word = text.trim().replace(/^\/start\s+/, "");
      if (!found || word.toUpperCase() !== found.code) return undefined;
      if (found.takenBy !== undefined) return found.takenBy === platformMessageId ? "again" : undefined;
      if (found.expiresAt <= Date.now()) {
        codes.delete(key);
        return undefined;
      }
      found.takenBy = platformMessageId;
      return "taken";
    },
  };
}
