// Reads the id by which a platform knows an agent's owner, by the rule of the channel's row in the registry.
import type { ChannelId } from "../../../channels/port.ts";
import { channelDefinition } from "../../../channels/registry.ts";
import { invalidInput } from "../../../src/kernel/errors.ts";

/** Undefined for an id that was left out or is empty; 400 at `path` for one that is not of the platform's form. */
export function parseOwnerId(
  channel: ChannelId,
  text: string | number | undefined,
  path = "ownerId",
): string | undefined {
  const id = String(text ?? "").trim();
  if (id === "") return undefined;
  const { parse, hint } = channelDefinition(channel).ownerId;
  const found = parse(id);
  if (found === undefined) throw invalidInput({ path, message: hint });
  return found;
}
