// A platform's id of a message is unique per bot, and an agent may change its bot: what is stored names both.
import type { BotIdentity } from "../../../channels/port.ts";

/** What the inbox recognises a second delivery by. */
export const toStoredMessageId = ({ id }: BotIdentity, platformMessageId: string) => `${id}/${platformMessageId}`;

/** The platform's own id in it; undefined when it is a message of another bot, or none at all. */
export const toPlatformMessageId = ({ id }: BotIdentity, stored: string | null) =>
  stored?.startsWith(`${id}/`) ? stored.slice(id.length + 1) : undefined;
