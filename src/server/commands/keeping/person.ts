// Runs `berth person`: a copy of all of somebody's data, their erasure with a receipt, and the check of a receipt.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Receipt } from "../../../../plugins/privacy/index.ts";
import { environment } from "../../../kernel/config/config.ts";
import { programName } from "../../../kernel/config/program-name.ts";
import { AppError, StartError } from "../../../kernel/errors.ts";
import { count } from "../../../kernel/util/text/count.ts";
import { loadAllSettings } from "../../settings.ts";
import { UsageError } from "../options.ts";
import { type SendCommand, withCommands } from "../run-command.ts";
import { cellsOfService } from "./cells-of-service.ts";
import { openReceiptFile } from "./receipt-file.ts";

export interface PersonFlags {
  channel: string | undefined;
  id: string | undefined;
  account: string | undefined;
  out: string | undefined;
  yes: boolean;
}

type Who = Record<string, string>;

const USAGE = [
  ["export (--account EMAIL | --channel CHANNEL --id ID) --out FILE.tar.gz", "write a copy of all of somebody's data"],
  [
    "erase (--account EMAIL | --channel CHANNEL --id ID) [--out RECEIPT] [--yes]",
    "delete all of it, and print a receipt; of somebody who is erased already, the receipt of then",
  ],
  ["verify RECEIPT", "check that this service made the receipt, or each of the file, and that it is as it was"],
  ["reapply", "erase again whom a restored backup has brought back"],
] as const;

export const personHelp = (): string =>
  USAGE.map(([usage, summary]) => `${programName()} person ${usage}\n    ${summary}`).join("\n");

export async function personCommand([name, ...rest]: string[], flags: PersonFlags): Promise<number> {
  if (name === "verify" && rest.length === 1 && rest[0] !== undefined) return verify(rest[0]);
  if (rest.length === 0 && name === "reapply") return reapply();
  if (rest.length === 0 && name === "export") return exportData(whoOf(flags), flags.out);
  if (rest.length === 0 && name === "erase") return erase(whoOf(flags), flags);
  process.stderr.write(`Usage: ${personHelp()}\n`);
  return 2;
}

function whoOf({ channel, id, account }: PersonFlags): Who {
  if (account !== undefined && channel === undefined && id === undefined) return { email: account };
  if (account === undefined && channel !== undefined && id !== undefined) return { channel, id };
  throw new UsageError(
    "Say who: --account EMAIL, or --channel CHANNEL and --id ID, such as --channel telegram --id 123.",
  );
}

/** An account is in one cell; others may have written to agents of several. */
async function inCells<Result>(
  who: Who,
  work: (send: SendCommand, cell: number) => Promise<Result>,
): Promise<Result[]> {
  const config = loadAllSettings(environment());
  return withCommands(config, async (send) => {
    const cells = await cellsOfService(config, send);
    if (cells.length === 1 || who.email !== undefined) return [await work(send, 0)];
    const results: Result[] = [];
    for (const cell of cells)
      results.push(await work((name, args) => send(name, { ...args, cell: String(cell) }), cell));
    return results;
  });
}

/** With several cells, only some of them may know the person. Throws `PERSON_NOT_FOUND` if none does. */
async function whereKnown<Result>(
  who: Who,
  work: (send: SendCommand, cell: number) => Promise<Result>,
): Promise<Result[]> {
  let unknown: unknown;
  const results = await inCells(who, async (send, cell) => {
    try {
      return [await work(send, cell)];
    } catch (error) {
      if (!(error instanceof AppError && error.code === "PERSON_NOT_FOUND")) throw error;
      unknown = error;
      return [];
    }
  });
  const found = results.flat();
  if (found.length === 0) throw unknown;
  return found;
}

async function exportData(who: Who, out: string | undefined): Promise<number> {
  if (out === undefined) throw new UsageError("Name the file that is to be written: --out FILE.tar.gz");
  const files = await whereKnown(who, (send, cell) =>
    send("person.export", { ...who, file: resolve(cell === 0 ? out : `${out}.${cell}`) }),
  );
  for (const one of files) {
    const { file, bytes, files } = one as { file: string; bytes: number; files: number };
    process.stdout.write(
      `${file}: ${count(files, "file")}, ${bytes} bytes. It holds personal data; only you can read it.\n`,
    );
  }
  return 0;
}

async function erase(who: Who, { yes, out }: PersonFlags): Promise<number> {
  if (!yes && !(await isConfirmed(who))) return 1;
  const startedAt = new Date().toISOString();
  // Before anything is erased, since the receipt can't be made again.
  const file = out === undefined ? undefined : openReceiptFile(out);
  const receipts = await whereKnown(who, (send) => send("person.erase", who) as Promise<Receipt>).catch(
    (error: unknown) => {
      file?.discard();
      throw error;
    },
  );
  const text = `${JSON.stringify(receipts.length === 1 ? receipts[0] : receipts, null, 2)}\n`;
  const isWritten = file?.write(text) ?? true;
  if (!file || !isWritten) process.stdout.write(text);
  const rows = receipts.flatMap(({ deleted }) => Object.values(deleted)).reduce((sum, count) => sum + count, 0);
  const before = receipts.every(({ endedAt }) => endedAt < startedAt) ? receipts[0]?.endedAt : undefined;
  process.stderr.write(
    before === undefined
      ? `${count(rows, "row or file was", "rows and files were")} deleted. The receipt says what remains, and why.\n`
      : `This person was erased on ${before}, and nothing of them has come since. This is the receipt of then.\n`,
  );
  return isWritten ? 0 : 1;
}

async function isConfirmed({ email, channel, id }: Who): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError("This can't be undone. Say --yes to do it without being asked.");
  process.stderr.write(`Erase all data of ${email ?? `${id} on ${channel}`}? This can't be undone. [y/N] `);
  for await (const line of console) return /^y(?:es)?$/i.test(line.trim());
  return false;
}

/** With several cells, a file may have a receipt of each, and each cell knows its own. */
async function verify(file: string): Promise<number> {
  const receipt = readReceipt(file);
  const answers = (await inCells({}, (send) => send("person.verify", { receipt }))) as { genuine: boolean[] }[];
  const genuine = (answers[0]?.genuine ?? []).map((_, at) => answers.some((answer) => answer.genuine[at]));
  const isOne = genuine.length === 1;
  genuine.forEach((isGenuine, at) => {
    const which = isOne ? "the receipt" : `receipt ${at + 1}`;
    process.stdout.write(
      isGenuine
        ? `This service made ${which}, and it is as it was.\n`
        : `${isOne ? "This" : `Receipt ${at + 1}`} is not as this service made it, or another service did.\n`,
    );
  });
  return genuine.every(Boolean) ? 0 : 1;
}

function readReceipt(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const isMissing = code === "ENOENT" || code === "ENOTDIR";
    const isFolder = code === "EISDIR";
    const why = isMissing ? "There is no such file" : isFolder ? "It is a folder" : `It can't be read (${code})`;
    throw new StartError(`${file}: ${why}. Give the file of a receipt.`, { cause });
  }
}

async function reapply(): Promise<number> {
  const results = (await inCells({}, (send) => send("person.reapply", {}))) as { listed: number; erased: number }[];
  const [listed, erased] = [results[0]?.listed ?? 0, results.reduce((sum, one) => sum + one.erased, 0)];
  process.stdout.write(reappliedText(listed, erased));
  return 0;
}

function reappliedText(listed: number, erased: number): string {
  if (listed === 0) return "No person was erased so far.\n";
  const again =
    erased === 0
      ? "none is there again"
      : `${count(erased, "was there again, and is", "were there again, and are")} erased`;
  return `${count(listed, "person was", "people were")} erased so far; ${again}.\n`;
}
