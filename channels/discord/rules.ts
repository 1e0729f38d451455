// How often something may be done on Discord; the limits that its headers tell of are the library's own business.
import type { Rule } from "../shared/rates.ts";

export interface Rules {
  /** How often a growing reply is shown again: edits of a channel count together, five in 5 s. */
  edit: Rule;
  /** "… is typing" lasts 10 s. */
  typing: Rule;
  /** New sessions of a bot. https://discord.com/developers/docs/events/gateway#rate-limiting */
  session: Rule;
}

export const DISCORD_RULES: Rules = {
  edit: { every: 1200, burst: 1 },
  typing: { every: 8000, burst: 1 },
  session: { every: 5000, burst: 1 },
};
