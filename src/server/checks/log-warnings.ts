// Logs at the start what does not fit together in the settings, since the operator looks there first.

import type { Config } from "../../kernel/config/config.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import { findIdleSettings } from "./idle-settings.ts";

export function logWarnings(log: Log, config: Config): void {
  for (const { message } of [...config.warnings, ...findIdleSettings(config)]) log.warn(`setting: ${message}`);
}
