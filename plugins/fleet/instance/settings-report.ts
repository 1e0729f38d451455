// The report of the settings in force. The service that parsed them registers it, since plugins can't read the environment.
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { createStaleCache } from "../reports/stale-cache.ts";

/** A setting as it may be shown: secrets are masked. */
export interface ShownSetting {
  name: string;
  /** Null if it is not set and has no default. */
  value: string | null;
  source: "environment" | ".env file" | "default" | "not set";
  secret: boolean;
  /** One sentence, in Markdown. */
  description: string;
}

export interface SettingFinding {
  name: string;
  severity: "error" | "warning";
  message: string;
}

export interface SettingsReport {
  settings: ShownSetting[];
  findings: SettingFinding[];
}

export function createSettingsReport() {
  const cached = createStaleCache<SettingsReport>({ freshMs: 10 * SECOND, staleMs: MINUTE });
  let load = async (): Promise<SettingsReport> => ({ settings: [], findings: [] });
  return {
    registerSettingsReport(loader: () => Promise<SettingsReport>): void {
      load = loader;
    },
    read: () => cached("all", () => load()),
  };
}
