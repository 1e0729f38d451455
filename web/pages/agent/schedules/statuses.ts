// How a run of a schedule ended, in a word and a tone.

import type { Tone } from "../../../parts/values/status.tsx";
import { type Text, text } from "../../../viewer/language.ts";
import type { RunStatus } from "./data.ts";

export const STATUSES: Readonly<Record<RunStatus, { label: Text; tone: Tone }>> = {
  running: { label: text("Running"), tone: "busy" },
  done: { label: text("Done"), tone: "good" },
  failed: { label: text("Failed"), tone: "bad" },
  cancelled: { label: text("Cancelled"), tone: "idle" },
  skipped: { label: text("Left out"), tone: "warn" },
};
