// Runs `berth agents`: lists the account's agents at a service.
import type { Agent } from "../../../../packages/client/src/index.ts";
import type { Flags } from "../options.ts";
import { cleanLine, withService } from "./connection.ts";

export const agentsCommand = (flags: Flags): Promise<number> =>
  withService(flags, async (client) => {
    const agents: Agent[] = [];
    for await (const agent of client.agents.list()) agents.push(agent);
    process.stdout.write(flags.json === true ? `${JSON.stringify(agents, null, 2)}\n` : tableOf(agents));
    return 0;
  });

function tableOf(agents: readonly Agent[]): string {
  if (agents.length === 0) return "You have no agents yet.\n";
  const rows = agents.map(({ name, status, model, id }) => [cleanLine(name), status, model, id]);
  const all = [["NAME", "STATUS", "MODEL", "ID"], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => Bun.stringWidth(row[column] ?? ""))));
  const pad = (text: string, to = 0) => text + " ".repeat(Math.max(0, to - Bun.stringWidth(text)));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => pad(cell, widths[column]))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
