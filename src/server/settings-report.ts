// Reports the settings in force to admins, as `berth doctor` shows them: where each comes from, and what is wrong.
import { statSync } from "node:fs";
import { join } from "node:path";
import type { SettingsReport } from "../../plugins/fleet/index.ts";
import { type Environment, type Finding, inspectConfig, type SettingsSection } from "../kernel/config/config.ts";
import { maskValue } from "../kernel/config/variable-reader.ts";
import { checkFileSystem } from "./checks/file-checks.ts";
import { findIdleSettings } from "./checks/idle-settings.ts";
import { allSettings } from "./settings.ts";

/**
 * @param startedAt epoch ms: a `.env` file that was changed later is not in force yet
 * @param more sections of third-party plugins
 */
export function settingsReport(
  env: Environment,
  cwd: string,
  startedAt: number,
  more: readonly SettingsSection[] = [],
): SettingsReport {
  const settings = [...allSettings, ...more];
  const { list, findings, config, findUnknownNames } = inspectConfig(env, { cwd, settings });
  const variables = new Map(settings.flatMap((group) => Object.entries(group.variables)));
  return {
    settings: list.map(({ name, text, source, secrecy }) => ({
      name,
      value: text === undefined ? null : maskValue(text, source === "default" ? "open" : secrecy),
      source,
      secret: secrecy === "secret",
      description: variables.get(name)?.description ?? "",
    })),
    findings: [
      ...findings,
      ...findUnknownNames(),
      ...(config ? [...findIdleSettings(config), ...checkFileSystem(config)] : []),
      ...changedFileFindings(join(cwd, ".env"), startedAt),
    ],
  };
}

function changedFileFindings(path: string, startedAt: number): Finding[] {
  const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changedAt <= startedAt) return [];
  const message = "The .env file was changed after the start. Restart Berth, so that the changes are in force.";
  return [{ name: ".env", severity: "warning", message }];
}
