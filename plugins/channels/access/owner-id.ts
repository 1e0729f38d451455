// The id by which a platform knows an owner, as people write it.
import type { ChannelId } from "../../../channels/port.ts";
import { invalidInput } from "../../../src/kernel/errors.ts";

const NUMBER_PATTERN = /^\d{1,32}$/;
/** What WhatsApp calls people who don't show their number: a country, then letters and digits. */
const WHATSAPP_USER_ID_PATTERN = /^[A-Z]{2}\.[A-Za-z0-9]{1,128}$/;

/**
 * Platform ids are numbers, however they are written, and on the third channel phone numbers with their country code; a name
 * that can be changed is none: 400, at `path`. Undefined for what was left out or is empty.
 */
export function parseOwnerId(
  channel: ChannelId,
  text: string | number | undefined,
  path = "ownerId",
): string | undefined {
  const id = String(text ?? "").trim();
  if (id === "") return undefined;
  if (channel !== "channel_c") {
    if (NUMBER_PATTERN.test(id)) return id;
    throw invalidInput({ path, message: "This is your numeric id on the platform." });
  }
  if (WHATSAPP_USER_ID_PATTERN.test(id)) return id;
  const number = id.replace(/^\+/, "").replace(/[\s().-]/g, "");
  if (NUMBER_PATTERN.test(number)) return number;
  throw invalidInput({ path, message: "This is your phone number with its country code." });
}
