// Runs `berth doctor`: prints the settings in force and every problem.

import { environment } from "../../kernel/config/config.ts";
import { doctorReport } from "../doctor.ts";

export async function doctorCommand(all: boolean): Promise<number> {
  const { text, exitCode } = doctorReport(environment(), process.cwd(), { all });
  process.stdout.write(text);
  return exitCode;
}
