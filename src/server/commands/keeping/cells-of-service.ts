// The cells that a command of an operator goes through, one after the other.
import { clusterSettings } from "../../../cluster/settings.ts";
import type { Config } from "../../../kernel/config/config.ts";
import { cellsOf } from "../../backups/staging.ts";
import type { CellState } from "../../cells/cell-commands.ts";
import type { SendCommand } from "../run-command.ts";

/** In a cluster, the service knows them. */
export async function cellsOfService(config: Config, send: SendCommand): Promise<number[]> {
  if (config.of(clusterSettings).url === undefined) return cellsOf(config);
  return ((await send("cells.list", {})) as CellState[]).map(({ cell }) => cell);
}
