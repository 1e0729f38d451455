// Runs `berth doctor`: prints every setting in force and every problem.
import { environment } from "../../kernel/config/config.ts";
import { doctorReport } from "../doctor.ts";

export async function doctorCommand(): Promise<number> {
  const { text, exitCode } = doctorReport(environment(), process.cwd());
  process.stdout.write(text);
  return exitCode;
}
