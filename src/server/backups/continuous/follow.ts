// Copies the changes of all cells to the place of the backups, again and again, in a process of its own that the service has started.

import { join } from "node:path";
import { backupSettings } from "../../../../plugins/fleet/settings.ts";
import type { Config } from "../../../kernel/config/config.ts";
import { StartError } from "../../../kernel/errors.ts";
import { SECOND } from "../../../kernel/util/time.ts";
import { cellDatabaseUrl, cellDataDir } from "../../cells/folders.ts";
import { requireLocalFile } from "../database-copy.ts";
import { listBackups, waitForLock } from "../make-backup.ts";
import { openStorage } from "../place/open-storage.ts";
import type { BackupStorage } from "../place/storage.ts";
import { cellsOf } from "../staging.ts";
import { type CellCopy, openCellCopy } from "./cell-copy.ts";
import type { CopyMessage } from "./copy-message.ts";
import { logPlaces } from "./restore/moments.ts";

const PAUSE_MS = SECOND / 5;
/** How often the place is asked for the backup that is missing. */
const BASE_CHECK_MS = 3 * SECOND;

/** Where and in which time it copies. */
export interface Surroundings {
  storage?: BackupStorage;
  /** Epoch ms. */
  now?: () => number;
  sleep?: (ms: number) => Promise<void>;
}

export async function follow(
  config: Config,
  tell: (message: CopyMessage) => void,
  stopped: Promise<void>,
  { storage = openStorage(config), now = Date.now, sleep = Bun.sleep }: Surroundings = {},
): Promise<void> {
  const { continuousMs = 5 * SECOND, recipients } = config.of(backupSettings);
  let copies: CellCopy[] | undefined;
  let isStopped = false;
  const stop = stopped.then(() => {
    isStopped = true;
  });
  const bases = createBaseCheck(storage, now);

  let isWhole = false;

  async function round(): Promise<CopyMessage> {
    const startedAt = now();
    isWhole = false;
    let [bytes, segments] = [0, 0];
    try {
      copies ??= await Promise.all(
        cellsOf(config).map((cell) =>
          openCellCopy({
            cell,
            databaseFile: requireLocalFile(cellDatabaseUrl(config, cell)),
            dataDir: cellDataDir(config, cell),
            storage,
            recipients,
            now,
          }),
        ),
      );
      isWhole = true;
      for (const copy of copies) {
        const step = await copy.step();
        if (!step.isWhole) isWhole = false;
        if (step.bytes > 0) [bytes, segments] = [bytes + step.bytes, segments + 1];
      }
      const chains = copies.map(({ chain }) => chain);
      const isBaseMissing = chains.every((chain) => chain !== undefined) && !(await bases.has(chains));
      const needsBackup = isBaseMissing ? chains.join(" ") : undefined;
      const copiedAt = isWhole && !isBaseMissing && bases.isKnown() ? startedAt : undefined;
      return { copiedAt, bytes, segments, needsBackup, problem: undefined };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { copiedAt: undefined, bytes, segments, needsBackup: undefined, problem };
    }
  }

  const lock = await waitForLock(
    join(config.dataDir, "continuous-copy"),
    "Another process copies this data folder continuously. Stop the service that has started it.",
  );
  while (!isStopped) {
    const next = now() + continuousMs;
    const message = await round();
    tell(message);
    // A log that restarts all the time must not make the copy late.
    const isLeft = !isWhole && message.problem === undefined;
    await Promise.race([stop, sleep(isLeft ? PAUSE_MS : Math.max(PAUSE_MS, next - now()))]);
  }
  tell(await round());
  lock.release();
}

/** Whether there is a backup of all these chains. */
function createBaseCheck(storage: BackupStorage, now: () => number) {
  let known = "";
  let checkedAt = 0;
  let wanted = "";
  return {
    isKnown: () => known !== "" && known === wanted,
    async has(chains: readonly (string | undefined)[]): Promise<boolean> {
      wanted = chains.join(" ");
      if (known === wanted) return true;
      if (now() - checkedAt < BASE_CHECK_MS) return true;
      checkedAt = now();
      const bases = await logPlaces(storage, await listBackups(storage));
      const isBase = bases.some((places) =>
        chains.every((chain, cell) => places.some((place) => place.cell === cell && place.chain === chain)),
      );
      if (isBase) known = wanted;
      return isBase;
    },
  };
}

/** Throws StartError if this process was not started by the service. */
export function requireService(): (message: CopyMessage) => void {
  const send = process.send?.bind(process);
  if (!send) throw new StartError("The service starts this itself: set BACKUP_CONTINUOUS, then run serve.");
  return (message) => void send(message);
}
