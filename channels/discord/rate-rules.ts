// How often something may be done on Discord; the limits that its headers tell of are the library's own business.
import type { RateRule } from "../shared/rate-limiter.ts";

export interface DiscordRateRules {
  /** How often a growing reply is shown again: edits of a channel count together, five in 5 s. */
  edit: RateRule;
  /** "… is typing" lasts 10 s. */
  typing: RateRule;
  /** New sessions of a bot. https://discord.com/developers/docs/events/gateway#rate-limiting */
  session: RateRule;
}

export const DISCORD_RATE_RULES: DiscordRateRules = {
  edit: { every: 1200, burst: 1 },
  typing: { every: 8000, burst: 1 },
  session: { every: 5000, burst: 1 },
};
