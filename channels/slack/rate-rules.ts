// Rate limits for calls to Slack that are only for the eye. For all others its answers tell how long to wait.
// https://docs.slack.dev/apis/web-api/rate-limits
import type { RateRule } from "../shared/rate-limiter.ts";

export interface SlackRateRules {
  /** How often a preview is updated in one conversation. */
  edit: RateRule;
  /** How often all previews of a bot are: `chat.update` may be called about 50 times a minute in a workspace. */
  edits: RateRule;
  /** A status lasts two minutes, or until the answer. */
  typing: RateRule;
}

export const SLACK_RATE_RULES: SlackRateRules = {
  edit: { every: 1_500, burst: 1 },
  edits: { every: 1_200, burst: 10 },
  typing: { every: 60_000, burst: 1 },
};
