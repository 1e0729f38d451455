// Runs `berth upgrade`: gets a new program, tries it on a copy of the data, puts it in place, and hands the running service over to it.
import { existsSync, rmSync, statSync } from "node:fs";
import { environment } from "../../../kernel/config/config.ts";
import { StartError } from "../../../kernel/errors.ts";
import type { ProcessState } from "../../handover/restarts.ts";
import { loadAllSettings } from "../../settings.ts";
import { newOf, switchPrograms, writeRecord } from "../../upgrade/record.ts";
import { builtInKey, getProgram, requireFile, requireSigned, requireSumIfListed } from "../../upgrade/release-file.ts";
import { UsageError } from "../options.ts";
import { askService } from "../run-command.ts";
import { noteForStart } from "../security/operator-note.ts";
import { readKeyFile } from "./key-file.ts";
import { goBack } from "./upgrade-back.ts";
import { check, restartService, say } from "./upgraded-service.ts";

export interface UpgradeOptions {
  source: string | undefined;
  /** A file with the public key. Default: the one in this program. */
  keyFile: string | undefined;
  isUnsigned: boolean;
  isBack: boolean;
  withDatabase: boolean;
}

export async function upgradeCommand(options: UpgradeOptions): Promise<number> {
  requireSoundOptions(options);
  const keyText = options.keyFile === undefined ? undefined : readKeyFile(options.keyFile);
  if (options.source !== undefined) requireFile(options.source);
  const config = loadAllSettings(environment());
  const service = (await askService(config, "process.state")) as ProcessState | undefined;
  const file = service?.file ?? process.execPath;
  if (/\/bun$/.test(file)) throw new StartError("Only the compiled program can be upgraded, not the source.");
  if (options.isBack) return goBack(config, service, file, options.withDatabase);
  const { source = "" } = options;
  const key = options.isUnsigned ? undefined : requireKey(keyText ?? builtInKey());
  const target = newOf(file);
  try {
    const sha256 = await getProgram(source, target, showProgress());
    await requireTrusted(source, sha256, key);
    const to = await versionOf(target);
    say(`Version ${to}, sha256 ${sha256}. Trying it with the settings, the plugins and a copy of the database …`);
    await check(config, service, target);
    const { ino } = statSync(target);
    const from = service?.version ?? (await versionOf(file));
    writeRecord(config, { state: "switched", from, to, file, inode: ino, starts: 0 });
    switchPrograms(file);
    say(`${file} is version ${to} now; version ${from} is kept as ${file}.previous.`);
    noteForStart(config, "service.upgrade", { from, to, sha256, signed: !options.isUnsigned });
    return await restartService(config, service, to);
  } finally {
    rmSync(target, { force: true });
  }
}

/** Refuses what would be ignored. */
function requireSoundOptions({ source, keyFile, isUnsigned, isBack, withDatabase }: UpgradeOptions): void {
  if (isBack && source !== undefined)
    throw new UsageError(
      `upgrade --back puts the version from before in place, which Berth has kept, and takes no file. Leave out "${source}", or --back.`,
    );
  if (isBack && (keyFile !== undefined || isUnsigned))
    throw new UsageError("upgrade --back gets no program, so it takes neither --key nor --unsigned.");
  if (withDatabase && !isBack) throw new UsageError("--with-database is for upgrade --back.");
  if (keyFile !== undefined && isUnsigned)
    throw new UsageError("--unsigned takes a program without checking its signature: leave out --key, or --unsigned.");
  if (!isBack && source === undefined) throw new UsageError("upgrade needs the new program: a file or an address.");
}

/** The public key that has to have signed the program. */
function requireKey(key: string): string {
  if (key !== "") return key;
  throw new StartError(
    "This program was built without the project's public key. Give it with --key FILE, or --unsigned if you trust the file.",
  );
}

/** Without a key, the sum alone is checked. */
const requireTrusted = (source: string, sha256: string, key: string | undefined): Promise<void> =>
  key === undefined ? requireSumIfListed(source, sha256) : requireSigned(source, sha256, key);

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
