// Runs `berth upgrade`: gets a new program, tries it on a copy of the data, puts it in place, and hands the running service over to it.
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { type Config, environment } from "../../../kernel/config/config.ts";
import { goBackBeforeMigration } from "../../../kernel/database/before-migration/migration-copy.ts";
import { localDatabasePath } from "../../../kernel/database/database.ts";
import { StartError } from "../../../kernel/errors.ts";
import { checkProgram } from "../../handover/check.ts";
import type { Program } from "../../handover/hand-over.ts";
import type { ProcessState } from "../../handover/restarts.ts";
import { loadAllSettings } from "../../settings.ts";
import {
  newOf,
  readRecord,
  switchBack,
  switchPrograms,
  unconfirmedUpgrade,
  writeRecord,
} from "../../upgrade/record.ts";
import { builtInKey, getProgram, requireSigned, requireSumIfListed } from "../../upgrade/release-file.ts";
import { UsageError } from "../options.ts";
import { askService } from "../run-command.ts";
import { untilRestarted } from "./restart.ts";
import { goBack } from "./upgrade-back.ts";

export interface UpgradeOptions {
  source: string | undefined;
  /** A file with the public key. Default: the one in this program. */
  keyFile: string | undefined;
  isUnsigned: boolean;
  isBack: boolean;
  withDatabase: boolean;
}

const say = (text: string) => void process.stdout.write(`${text}\n`);

export async function upgradeCommand(options: UpgradeOptions): Promise<number> {
  const config = loadAllSettings(environment());
  const service = (await askService(config, "process.state")) as ProcessState | undefined;
  const file = service?.file ?? process.execPath;
  if (/\/bun$/.test(file)) throw new StartError("Only the compiled program can be upgraded, not the source.");
  if (options.isBack) return goBack(config, service, file, options.withDatabase);
  if (options.source === undefined) throw new UsageError("upgrade needs the new program: a file or an address.");

  const target = newOf(file);
  try {
    const sha256 = await getProgram(options.source, target, showProgress());
    await requireTrusted(options.source, sha256, options);
    const to = await versionOf(target);
    say(`Version ${to}, sha256 ${sha256}. Trying it with the settings, the plugins and a copy of the database …`);
    await check(config, service, target);
    const { ino } = statSync(target);
    const from = service?.version ?? (await versionOf(file));
    writeRecord(config, { state: "switched", from, to, file, inode: ino, starts: 0 });
    switchPrograms(file);
    say(`${file} is version ${to} now; version ${from} is kept as ${file}.previous.`);
    return await restartService(config, service, to);
  } finally {
    rmSync(target, { force: true });
  }
}

async function requireTrusted(source: string, sha256: string, { keyFile, isUnsigned }: UpgradeOptions): Promise<void> {
  if (isUnsigned) return requireSumIfListed(source, sha256);
  const key = keyFile === undefined ? builtInKey() : readFileSync(keyFile, "utf8");
  if (key === "")
    throw new StartError(
      "This program was built without the project's public key. Give it with --key FILE, or --unsigned if you trust the file.",
    );
  await requireSigned(source, sha256, key);
}

/** The service has settings that this command may not have, so it tries the program itself. */
export async function check(config: Config, service: ProcessState | undefined, file: string): Promise<void> {
  if (service) await askService(config, "process.check", { file });
  else await checkProgram({ file, args: [file], env: environment() } satisfies Program);
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
  await askService(config, "process.restart", { isChecked: "yes", ...args });
  const state = await untilRestarted(config, service).catch((error: unknown) => putBack(config, service.file, error));
  const record = readRecord(config);
  if (record?.state === "failed") {
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

async function versionOf(file: string): Promise<string> {
  if (!existsSync(file)) throw new StartError(`There is no file ${file}.`);
  try {
    const child = Bun.spawn([file, "version"], { stdin: "ignore", stdout: "pipe", stderr: "ignore", env: {} });
    const [said, code] = await Promise.all([child.stdout.text(), child.exited]);
    if (code === 0 && /^\d+\.\d+\.\d+/.test(said)) return said.trim();
  } catch {
    // It is no program of this machine.
  }
  throw new StartError("The file is no Berth for this machine: it can't tell its version. Nothing was changed.");
}

function showProgress(): (bytes: number, total: number | undefined) => void {
  if (!process.stderr.isTTY) return () => undefined;
  let shown = 0;
  return (bytes, total) => {
    const megabytes = Math.floor(bytes / 1e6);
    if (megabytes === shown) return;
    shown = megabytes;
    process.stderr.write(
      `\r${megabytes}${total === undefined ? "" : ` of ${Math.ceil(total / 1e6)}`} MB${bytes === total ? "\n" : ""}`,
    );
  };
}
