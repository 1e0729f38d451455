// Refuses callers without an account if ANONYMOUS_PROVISIONING is off.
import type { Config } from "../../src/kernel/config/config.ts";
import { unauthorized } from "../../src/kernel/errors.ts";
import { provisioningSettings } from "./settings.ts";

/** Throws 401 `UNAUTHORIZED` unless agents are made for callers without an account. */
export function requireAnonymousAllowed(config: Pick<Config, "of">): void {
  if (config.of(provisioningSettings).isAnonymousAllowed) return;
  throw unauthorized("Sign in first: this service makes no agents without an account.");
}
