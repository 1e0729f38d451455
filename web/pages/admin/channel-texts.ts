// The states of channels, with their shapes and words.

import type { Tone } from "../../parts/values/status.tsx";
import { type Text, text } from "../../viewer/language.ts";
import type { ChannelState } from "./api-types.ts";

export const CHANNEL_STATES: Readonly<Record<ChannelState, { tone: Tone; label: Text }>> = {
  connected: { tone: "good", label: text("Connected") },
  connecting: { tone: "busy", label: text("Connecting") },
  backing_off: { tone: "warn", label: text("Waits for its next try") },
  failed: { tone: "bad", label: text("Failed") },
  stopped: { tone: "idle", label: text("Agent stopped") },
};

/** The platforms' own names; a channel that is new here is shown by its id. */
const PLATFORMS: Readonly<Record<string, string>> = {
  channel_a: "Telegram",
  channel_b: "Discord",
  channel_c: "WhatsApp",
  channel_d: "Slack",
  channel_e: "Email",
};
export const platformName = (channel: string): string => PLATFORMS[channel] ?? channel;
