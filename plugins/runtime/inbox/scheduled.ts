// Recognizes inbox entries that come from schedules: like reminders they come from the agent's own clock.
import type { InboxEntry } from "./entries.ts";

export const SCHEDULE_SENDER = "schedule";

export const isScheduled = ({ kind, senderId }: Pick<InboxEntry, "kind" | "senderId">) =>
  kind === "reminder" && senderId === SCHEDULE_SENDER;
