// Converts a platform's message ids, which are unique only per bot, to ids with the bot's id in front, and back.
import type { BotIdentity } from "../../../channels/port.ts";

/** The id by which the inbox recognizes a second delivery. */
export const toStoredMessageId = ({ id }: BotIdentity, platformMessageId: string) => `${id}/${platformMessageId}`;

/** The platform's id in a stored one; undefined for null and for a message of another bot. */
export const toPlatformMessageId = ({ id }: BotIdentity, stored: string | null) =>
  stored?.startsWith(`${id}/`) ? stored.slice(id.length + 1) : undefined;
