// Runs `berth doctor`: prints what is set and what is wrong. It also asks the providers of sign-in, and with CLUSTER_URL the
// cluster's engine.
import { environment } from "../../kernel/config/config.ts";
import { doctorReport } from "../doctor.ts";

/** Returns the exit code: 0, or 1 if the start would be refused. */
export async function doctorCommand(all: boolean): Promise<number> {
  const { text, exitCode } = doctorReport(environment(), process.cwd(), { all });
  process.stdout.write(text);
  if (exitCode !== 0) return exitCode;
  const { loadAllSettings } = await import("../settings.ts");
  const { clusterSettings } = await import("../../cluster/settings.ts");
  const { signInReport } = await import("./sign-in-report.ts");
  const config = loadAllSettings(environment());
  process.stdout.write(await signInReport(config));
  const { url } = config.of(clusterSettings);
  if (url === undefined) return 0;
  const { engineReport } = await import("../cluster/engine-report.ts");
  const engine = await engineReport(url);
  process.stdout.write(engine.text);
  return engine.isUsable ? 0 : 1;
}
