// Who may talk to an agent on a channel, decided by platform ids alone.
import type { IncomingMessage } from "../../../channels/port.ts";
import type { ChannelSettings } from "../../agents/index.ts";

export type AccessDecision =
  | { kind: "welcome"; byOwner: boolean }
  /** Welcome if this sender is paired. */
  | { kind: "paired-only" }
  | { kind: "refused"; reason: string };

/**
 * Judges one message. `ownerId` is the one given when the channel was connected; it counts as an owner beside those of
 * the settings. Without any owner everybody can pair; with one, only owners are let in, unless the settings say otherwise.
 */
export function decideAccess(
  message: IncomingMessage,
  settings: ChannelSettings,
  ownerId: string | null,
): AccessDecision {
  const { sender, group, addressed } = message;
  if (group) {
    const { groups = "mention" } = settings;
    if (groups === "off") return refused("groups are off");
    if (groups === "mention" && !addressed) return refused("not addressed");
  }
  const owners = settings.owners ?? [];
  const isListed = (list: readonly (string | null)[]) =>
    list.includes(sender.id) || (sender.alternateId !== undefined && list.includes(sender.alternateId));
  if (isListed([ownerId, ...owners])) return { kind: "welcome", byOwner: true };
  const access = settings.access ?? (ownerId !== null || owners.length > 0 ? "owner" : "pairing");
  if (access === "open" || (access === "allowlist" && isListed(settings.allow ?? []))) {
    return { kind: "welcome", byOwner: false };
  }
  return access === "pairing" ? { kind: "paired-only" } : refused(`access is for ${access}`);
}

const refused = (reason: string): AccessDecision => ({ kind: "refused", reason });
