// Notes in the audit log what the operator's commands do beside the service: backups, restores, orders to a cluster.
import { leaveNote } from "../../../../plugins/admin/operator-notes.ts";
import type { Config } from "../../../kernel/config/config.ts";
import { askService, operator } from "../run-command.ts";

/** For work after which the service starts, perhaps with another database: that start records it. Never throws. */
export function noteForStart(config: Config, action: string, details: Record<string, unknown>): void {
  const target = { kind: "service", id: "", name: "" };
  try {
    leaveNote(config.dataDir, { action, target, details, operator: operator(), at: new Date().toISOString() });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`berth: the audit log does not get this: ${reason}\n`);
  }
}

/** Call it after the work. The running service records it at once, else the next start does. Never rejects: the work is done. */
export async function noteCommand(
  config: Config,
  action: string,
  target: { kind: string; id: string; name: string },
  details: Record<string, unknown> = {},
): Promise<void> {
  try {
    leaveNote(config.dataDir, { action, target, details, operator: operator(), at: new Date().toISOString() });
    await askService(config, "audit.take-notes");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`berth: the audit log gets this at the next start of the service: ${reason}\n`);
  }
}
