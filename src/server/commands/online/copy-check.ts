// Checks that the continuous copy is as young as it should be, and that there is a backup on top of which it can be put.

import { backupSettings } from "../../../../plugins/fleet/settings.ts";
import type { Config } from "../../../kernel/config/config.ts";
import { MINUTE, SECOND } from "../../../kernel/util/time.ts";
import { readCopiedAt, readCopyState } from "../../backups/continuous/copy-state.ts";
import { isContinuous } from "../../backups/continuous/is-continuous.ts";
import { logPlaces } from "../../backups/continuous/restore/moments.ts";
import { requireLocalFile } from "../../backups/database-copy.ts";
import { listBackups } from "../../backups/make-backup.ts";
import { openStorage } from "../../backups/place/open-storage.ts";
import { cellsOf } from "../../backups/staging.ts";
import { cellDatabaseUrl } from "../../cells/folders.ts";
import { becauseOf, type CheckResult } from "./check.ts";

const ACTION =
  "See the log of the service and the console's overview for the reason, and start the service if it does not run. What came since is lost with the disk.";

/** None if BACKUP_CONTINUOUS is off. */
export async function checkCopy(config: Config, now = Date.now()): Promise<CheckResult[]> {
  if (!isContinuous(config)) return [];
  const { continuousMs = 0 } = config.of(backupSettings);
  try {
    const files = cellsOf(config).map((cell) => requireLocalFile(cellDatabaseUrl(config, cell)));
    const copiedAt = Math.min(...files.map((file) => readCopiedAt(file) ?? 0));
    if (copiedAt === 0) return [{ level: "warning", text: "Continuous copy: it has not begun yet.", action: ACTION }];
    const storage = openStorage(config);
    const bases = await logPlaces(storage, await listBackups(storage));
    const hasBase = files.every((file, cell) => {
      const chain = readCopyState(file)?.chain;
      return bases.some((places) => places.some((place) => place.cell === cell && place.chain === chain));
    });
    if (!hasBase) {
      const text = "Continuous copy: there is no backup yet on top of which it could be put.";
      const action =
        "The service makes one by itself, five minutes later if one fails; `berth backup` makes one now. The console's overview and the log say why one failed.";
      return [{ level: "warning", text, action }];
    }
    const seconds = Math.round((now - copiedAt) / SECOND);
    if (now - copiedAt <= 2 * continuousMs + MINUTE)
      return [{ level: "good", text: `Continuous copy: all but the last ${seconds} s can be restored.` }];
    const text = `Continuous copy: it has stood still since ${new Date(copiedAt).toISOString()}.`;
    return [{ level: "broken", text, action: ACTION }];
  } catch (error) {
    const text = `Continuous copy: its place can't be read: ${becauseOf(error)}`;
    return [{ level: "broken", text, action: "Check BACKUP_TO and its keys." }];
  }
}
