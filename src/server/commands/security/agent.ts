// Runs `berth agent …`: freezes agents of any account, also while the service runs.

import { environment } from "../../../kernel/config/config.ts";
import { programName } from "../../../kernel/config/program-name.ts";
import { loadAllSettings } from "../../settings.ts";

interface ChangedAgent {
  name: string;
  status: string;
}

const USAGES = [
  ["freeze ID --reason TEXT", "stop an agent with its bots, stream, schedules and turns, until you unfreeze it"],
  ["unfreeze ID", "let a frozen agent go on as it was"],
] as const;

/** Lists the subcommands, for `berth agent --help`. */
export const agentHelp = (): string =>
  USAGES.map(([usage, summary]) => `${programName()} agent ${usage.padEnd(24)} ${summary}`).join("\n");

/** Returns the exit code: 0, or 2 with the usage on standard error. Throws an AppError if the service refuses. */
export async function agentCommand([action, id, ...rest]: string[], reason: string | undefined): Promise<number> {
  const isFreeze = action === "freeze" && reason !== undefined;
  const isUnfreeze = action === "unfreeze" && reason === undefined;
  if (!(isFreeze || isUnfreeze) || id === undefined || rest.length > 0) {
    process.stderr.write(`Usage:\n${agentHelp()}\n`);
    return 2;
  }
  const { runCommand } = await import("../run-command.ts");
  const args = { id, ...(reason !== undefined && { reason }) };
  const agent = (await runCommand(loadAllSettings(environment()), `agent.${action}`, args)) as ChangedAgent;
  process.stdout.write(`${agent.name} (${id}) is ${isFreeze ? "frozen" : agent.status}.\n`);
  return 0;
}
