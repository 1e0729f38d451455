// The settings of how long data is kept.
import { parseDuration, parser } from "../config/parsers.ts";
import { defineSettings } from "../config/section.ts";
import { optional, withDefault } from "../config/variable.ts";
import { DAY } from "../util/time.ts";

/** A time of at least so many days. */
const atLeast = (days: number) =>
  parser(`a time of at least ${days}d, such as ${Math.max(days, 90)}d`, (text) => {
    const ms = parseDuration(text);
    return ms !== undefined && ms >= days * DAY ? ms : undefined;
  });

export const retentionSettings = defineSettings({
  name: "retention",
  variables: {
    KEEP_MESSAGES: optional(
      atLeast(1),
      "How long messages of conversations are kept, with their files, transcripts and deliveries. Unset: until somebody deletes them.",
    ),
    KEEP_LOGS: withDefault(atLeast(1), "14d", "How long lines of agents' logs are kept."),
    KEEP_TURNS: withDefault(
      atLeast(1),
      "30d",
      "How long the steps of turns are kept: calls of models and tools, and approvals.",
    ),
    KEEP_EVENTS: withDefault(atLeast(7), "30d", "How long events and deliveries of webhooks are kept."),
    KEEP_USAGE: withDefault(
      atLeast(35),
      "400d",
      "How long the row of each model call is kept. Its sums by day and month stay.",
    ),
  },
  build: (v) => ({
    /** Undefined: forever. */
    messages: v.KEEP_MESSAGES,
    logs: v.KEEP_LOGS,
    turns: v.KEEP_TURNS,
    events: v.KEEP_EVENTS,
    usage: v.KEEP_USAGE,
  }),
});
