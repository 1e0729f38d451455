// `berth user …`: accounts from the command line, also while the service runs.
import { environment, loadConfig } from "../config.ts";
import { runCommand } from "../control.ts";

const USAGE = "Usage: berth user grant EMAIL PLAN [--days N]\n";

export async function userCommand([action, email, plan]: string[], days: string | undefined): Promise<number> {
  if (action !== "grant" || !email || !plan) {
    process.stderr.write(USAGE);
    return 2;
  }
  const args = { email, plan, ...(days === undefined ? {} : { days }) };
  const granted = (await runCommand(loadConfig(environment()), "user.grant", args)) as Record<string, string>;
  process.stdout.write(`${granted.email} has the plan ${granted.plan} until ${granted.currentPeriodEnd}.\n`);
  return 0;
}
