// Goes back to the program from before when the new one of `berth upgrade` doesn't get to serve.
import { existsSync } from "node:fs";
import type { Config } from "../../kernel/config/config.ts";
import { goBackBeforeMigration } from "../../kernel/database/before-migration/migration-copy.ts";
import { localDatabasePath } from "../../kernel/database/database-path.ts";
import type { Program } from "../handover/hand-over.ts";
import { INHERITED_VARIABLE, type Inherited } from "../handover/inherited.ts";
import { openSystem } from "../handover/system.ts";
import { MAX_STARTS, previousOf, switchBack, unconfirmedUpgrade, writeRecord } from "./record.ts";

type Place = Pick<Config, "dataDir">;

/** Counts a start of the new program. One that was killed before it served, time and again, is not started once more. */
export async function countStart(config: Config, program: Program, inherited: Inherited | undefined): Promise<void> {
  const record = unconfirmedUpgrade(config, program.file);
  if (!record) return;
  if (record.starts < MAX_STARTS) return writeRecord(config, { ...record, starts: record.starts + 1 });
  const path = localDatabasePath(config.database.url);
  if (path !== undefined) goBackBeforeMigration(path);
  await startPrevious(config, program, inherited, `It ended ${MAX_STARTS} times before it served.`);
}

/** The program serves: the upgrade is done. */
export function confirmUpgrade(config: Place, file: string): void {
  const record = unconfirmedUpgrade(config, file);
  if (record) writeRecord(config, { ...record, state: "done" });
}

/**
 * Puts the program from before in place and executes it in this process, with the sockets. Returns if this program is not one of
 * an unconfirmed upgrade.
 */
export async function startPrevious(
  config: Place,
  program: Program,
  inherited: Inherited | undefined,
  why: string,
): Promise<void> {
  const record = unconfirmedUpgrade(config, program.file);
  if (!record || !existsSync(previousOf(program.file))) return;
  const file = putPreviousInPlace(program.file);
  writeRecord(config, { ...record, state: "failed", why });
  process.stderr.write(
    `berth: version ${record.to} did not start, so version ${record.from} is started again. ${why}\n`,
  );
  const args = [file, ...program.args.slice(1)];
  const kept = inherited?.listeners.flatMap(({ listening, connections }) => [listening, ...connections]) ?? [];
  const env = { ...program.env, ...(inherited && { [INHERITED_VARIABLE]: JSON.stringify(inherited) }) };
  (await openSystem())?.execute(file, args, env, kept);
  process.execve?.(file, args, env);
}

/** A service that may not write beside its program executes the file where it is kept. */
function putPreviousInPlace(file: string): string {
  try {
    switchBack(file, { keepsPresent: false });
    return file;
  } catch {
    return previousOf(file);
  }
}
