// Runs `berth doctor`: prints what is set and what is wrong, also by the word of the running service. It also asks the providers of sign-in and the place of backups, with CLUSTER_URL
// the cluster's engine, and with --online everything else that the service depends on.
import { existsSync } from "node:fs";
import type { LiveSnapshot } from "../../../plugins/fleet/index.ts";
import { isOutageProblem } from "../../../plugins/fleet/reports/problems/outage-problems.ts";
import { type Config, environment, type Finding, inspectConfig } from "../../kernel/config/config.ts";
import { StartError } from "../../kernel/errors.ts";
import { type DoctorOptions, doctorReport, verdictOf } from "../doctor.ts";

/**
 * Loads the plugins of PLUGINS, and those that the command line names as for `serve`, for the settings that they define. The report
 * itself names files of PLUGINS that are missing.
 */
async function inspectPlugins(files: readonly string[]): Promise<NonNullable<DoctorOptions["external"]>> {
  const { plugins: listed = [] } = inspectConfig(environment()).config ?? {};
  const plugins = [...listed.filter((file) => existsSync(file)), ...files];
  if (plugins.length === 0) return { settings: [], findings: [] };
  const { loadExternalPlugins } = await import("../external-plugins.ts");
  try {
    const { settings } = await loadExternalPlugins(plugins);
    return { settings, findings: [] };
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return { settings: [], findings: [{ name: "PLUGINS", severity: "error", message: error.message }] };
  }
}

/** Returns the exit code: 0, or 1 if the start would be refused or, with `online`, something that it needs does not work. */
export async function doctorCommand(
  { all, online }: { all: boolean; online: boolean },
  plugins: readonly string[],
): Promise<number> {
  const external = await inspectPlugins(plugins);
  const { allSettings, loadAllSettings } = await import("../settings.ts");
  const { backupReport, scheduleFindings } = await import("../backups/backup-report.ts");
  const { config: sound } = inspectConfig(environment(), { settings: allSettings });
  // A service that is starting or in trouble may not answer.
  const live = sound && (await askLive(sound));
  const findings = sound ? [...(await scheduleFindings(sound)), ...outageFindings(live)] : [];
  const { text, exitCode } = doctorReport(environment(), process.cwd(), {
    all,
    external,
    findings,
    isServed: live !== undefined,
  });
  let printed = "";
  const print = (lines: string) => {
    printed += lines;
    process.stdout.write(lines);
  };
  print(text);
  if (exitCode !== 0) return exitCode;
  const { clusterSettings } = await import("../../cluster/settings.ts");
  const { signInReport } = await import("./sign-in-report.ts");
  const config = loadAllSettings(environment());
  print(await signInReport(config));
  print(await backupReport(config));
  let isBroken = false;
  if (online) {
    const { onlineReport } = await import("./online/online-report.ts");
    const report = await onlineReport(config, live);
    print(report.text);
    isBroken = report.exitCode !== 0;
  }
  const { url } = config.of(clusterSettings);
  if (url !== undefined) {
    const { engineReport } = await import("../cluster/engine-report.ts");
    const engine = await engineReport(url);
    print(engine.text);
    isBroken ||= !engine.isUsable;
  }
  print(`${verdictOf(printed)}\n`);
  return isBroken ? 1 : 0;
}

async function askLive(config: Config): Promise<LiveSnapshot | undefined> {
  const { askService } = await import("./run-command.ts");
  const live = await askService(config, "fleet.live").catch(() => undefined);
  return live as LiveSnapshot | undefined;
}

/** What the running service says of places outside of it that it can't use. */
const outageFindings = (live: LiveSnapshot | undefined): Finding[] =>
  (live?.problems ?? [])
    .filter(isOutageProblem)
    .map(({ code, message, action }) => ({ name: code, severity: "warning", message: `${message} ${action}` }));
