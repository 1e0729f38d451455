// Runs `berth doctor`: prints what is set and what is wrong. With CLUSTER_URL it also asks the cluster's engine.
import { environment } from "../../kernel/config/config.ts";
import { doctorReport } from "../doctor.ts";

/** Returns the exit code: 0, or 1 if the start would be refused. */
export async function doctorCommand(all: boolean): Promise<number> {
  const { text, exitCode } = doctorReport(environment(), process.cwd(), { all });
  process.stdout.write(text);
  if (exitCode !== 0) return exitCode;
  const { loadAllSettings } = await import("../settings.ts");
  const { clusterSettings } = await import("../../cluster/settings.ts");
  const { url } = loadAllSettings(environment()).of(clusterSettings);
  if (url === undefined) return 0;
  const { engineReport } = await import("../cluster/engine-report.ts");
  const engine = await engineReport(url);
  process.stdout.write(engine.text);
  return engine.isUsable ? 0 : 1;
}
