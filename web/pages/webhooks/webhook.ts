// What the webhooks' routes answer, and how types and states are called.

import type { Tone } from "../../parts/values/status.tsx";
import { type Text, text } from "../../viewer/language.ts";

export interface Webhook {
  id: string;
  url: string;
  types: string[];
  description: string;
  active: boolean;
  disabledReason: string | null;
  allEvents: boolean;
  createdAt: string;
}

/** The reason of a webhook that its owner has switched off. */
const OWN_SWITCH = "Switched off.";

/** Why Berth itself has switched a webhook off; undefined if it did not. */
export const givenUpReason = ({ disabledReason }: Pick<Webhook, "disabledReason">): string | undefined =>
  disabledReason === null || disabledReason === OWN_SWITCH ? undefined : disabledReason;

export interface Delivery {
  id: string;
  type: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  lastStatus: number | null;
  lastError: string | null;
  nextAttemptAt: string | null;
  createdAt: string;
  deliveredAt: string | null;
}

export const WEBHOOKS_KEY = ["webhooks"] as const;
/** The ids of those that are removed, while that can be undone: the server still has them. */
export const REMOVED_KEY = ["removed-webhooks"] as const;

export const STATES: Readonly<Record<Delivery["status"], { label: Text; tone: Tone }>> = {
  pending: { label: text("On its way"), tone: "busy" },
  delivered: { label: text("Arrived"), tone: "good" },
  failed: { label: text("Given up"), tone: "bad" },
};

/** The groups of events that a webhook can have, with what they tell. */
export const GROUPS: readonly { type: string; label: Text }[] = [
  { type: "agent.*", label: text("Agents: made, started and stopped, messages answered, verified, deleted") },
  { type: "approval.*", label: text("Approvals: asked for and decided") },
  { type: "channel.*", label: text("Channels: connected or not, replies that did not arrive") },
  { type: "stream.*", label: text("Live streams: begun and ended") },
  { type: "budget.*", label: text("Budgets: used up") },
  { type: "user.*", label: text("Your account: changed") },
];
