// What a request for approval is, and how its parts are called.

import type { Static } from "@sinclair/typebox";
import type { approvalItem } from "../../plugins/approvals/model.ts";
import { visibleText } from "../../src/kernel/util/text/visible-text.ts";
import type { Tone } from "../parts/values/status.tsx";
import { type Text, text } from "../viewer/language.ts";

/** An item of `GET /api/approvals`. */
export type Approval = Static<typeof approvalItem>;

/** What the agent had read before a call. */
export type Influence = Approval["influence"];

/** How a call may have come about without the owner's wish. */
export const WARNINGS: Readonly<Record<Influence, Text | undefined>> = {
  none: undefined,
  people: text("Other people have written in this conversation, and one of them may be behind this."),
  outside: text("Before this, the agent has read something that you did not write, and that may be behind this."),
};

/** What a tool of each class does. */
export const CLASSES: Readonly<Record<Approval["class"], { label: Text; explanation: Text; tone: Tone }>> = {
  read: {
    label: text("Reads"),
    explanation: text("It reads something. What the call says gets to whoever has it."),
    tone: "idle",
  },
  write: { label: text("Changes"), explanation: text("It changes something here, such as a reminder."), tone: "busy" },
  spend: { label: text("Spends money"), explanation: text("It pays from your wallet."), tone: "bad" },
  outside: {
    label: text("Reaches out"),
    explanation: text("It sends something to other people or services."),
    tone: "warn",
  },
};

export const OUTCOMES: Readonly<Record<Approval["status"], { label: Text; tone: Tone }>> = {
  pending: { label: text("Waits for you"), tone: "warn" },
  approved: { label: text("Approved"), tone: "good" },
  denied: { label: text("Denied"), tone: "bad" },
  expired: { label: text("Ran out of time"), tone: "idle" },
};

/** The fields of a call's input, each as text as the tool gets it. */
export function inputFields(input: unknown): [name: string, value: string][] {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return [["", asText(input)]];
  return Object.entries(input).map(([name, value]) => [name, asText(value)]);
}

const asText = (value: unknown): string =>
  visibleText(typeof value === "string" ? value : JSON.stringify(value, undefined, 2));
