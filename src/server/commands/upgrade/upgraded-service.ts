// What the commands of an upgrade ask of the running service: to try a program, and to restart with the one that is in place.
import { existsSync, statSync } from "node:fs";
import { type Config, environment } from "../../../kernel/config/config.ts";
import { goBackBeforeMigration } from "../../../kernel/database/before-migration/migration-copy.ts";
import { localDatabasePath } from "../../../kernel/database/database-path.ts";
import { StartError } from "../../../kernel/errors.ts";
import { checkProgram } from "../../handover/check.ts";
import type { ProcessState } from "../../handover/restarts.ts";
import { readRecord, switchBack, unconfirmedUpgrade, writeRecord } from "../../upgrade/record.ts";
import { askService, operator } from "../run-command.ts";
import { noteCommand } from "../security/operator-note.ts";
import { untilRestarted } from "./restart.ts";

export const say = (text: string) => void process.stdout.write(`${text}\n`);

/** The service has settings that this command may not have, so it tries the program itself. */
export async function check(config: Config, service: ProcessState | undefined, file: string): Promise<void> {
  if (service) await askService(config, "process.check", { file });
  else await checkProgram({ file, args: [file], env: environment() });
}

export async function restartService(
  config: Config,
  service: ProcessState | undefined,
  to: string,
  args: Record<string, string> = {},
): Promise<number> {
  if (!service) {
    say("No service runs on this data folder. The next start takes the new version.");
    return 0;
  }
  await askService(config, "process.restart", { isChecked: "yes", operator: operator(), ...args });
  const state = await untilRestarted(config, service).catch((error: unknown) => putBack(config, service.file, error));
  const record = readRecord(config);
  if (record?.state === "failed") {
    await noteCommand(config, "service.upgrade-failed", { kind: "service", id: "", name: "" }, { to: record.to });
    // A service that may not write beside its program runs the file that is kept.
    if (existsSync(service.file) && statSync(service.file).ino === record.inode)
      switchBack(service.file, { keepsPresent: false });
    process.stderr.write(
      `berth: version ${record.to} did not start, so version ${state.version} runs again. ${record.why ?? ""}\n`,
    );
    return 1;
  }
  say(`The service runs version ${to} as process ${state.pid}; requests waited for ${state.pausedMs} ms.`);
  return 0;
}

/** The program that was put in place does not even tell that it fails. */
function putBack(config: Config, file: string, error: unknown): never {
  const record = unconfirmedUpgrade(config, file);
  if (!record) throw error;
  const path = localDatabasePath(config.database.url);
  if (path !== undefined) goBackBeforeMigration(path);
  switchBack(file, { keepsPresent: false });
  writeRecord(config, { ...record, state: "failed", why: "It did not answer." });
  throw new StartError(
    `Version ${record.to} did not answer after its start. ${file} is version ${record.from} again: start the service. Its log says more.`,
    { cause: error },
  );
}
