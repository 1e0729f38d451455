// Decides who may talk to an agent on a channel, by platform ids alone.
import type { IncomingMessage } from "../../../channels/port.ts";
import type { ChannelSettings } from "../../agents/index.ts";

export type AccessDecision =
  | { kind: "allowed"; byOwner: boolean }
  /** Allowed if the sender is paired. */
  | { kind: "needs-pairing" }
  | { kind: "refused"; reason: string };

/**
 * Decides about one message. `ownerId` is the owner given when the channel was connected, beside those of the settings.
 * By default anyone can pair if there is no owner; with one, only owners may talk.
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
  if (!sender.isUnproven && isListed([ownerId, ...owners])) return { kind: "allowed", byOwner: true };
  const access = accessInForce(settings, ownerId);
  if (access === "open" || (access === "allowlist" && isListed(settings.allow ?? []))) {
    return { kind: "allowed", byOwner: false };
  }
  return access === "pairing" ? { kind: "needs-pairing" } : refused(`access is for ${access}`);
}

/** The rule of a channel: the chosen one, or the default, which depends on whether there is an owner. */
export const accessInForce = ({ access, owners = [] }: ChannelSettings, ownerId: string | null) =>
  access ?? (ownerId !== null || owners.length > 0 ? "owner" : "pairing");

const refused = (reason: string): AccessDecision => ({ kind: "refused", reason });
