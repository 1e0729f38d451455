// Rate limits for calls to Discord, beside those in its response headers, which the library obeys.
import type { RateRule } from "../shared/rate-limiter.ts";

export interface DiscordRateRules {
  /** How often a preview is updated: Discord allows five edits in 5 s for each channel. */
  edit: RateRule;
  /** "… is typing" lasts 10 s. */
  typing: RateRule;
  /** How often a bot starts a new session. https://discord.com/developers/docs/events/gateway#rate-limiting */
  session: RateRule;
}

export const DISCORD_RATE_RULES: DiscordRateRules = {
  edit: { every: 1200, burst: 1 },
  typing: { every: 8000, burst: 1 },
  session: { every: 5000, burst: 1 },
};
