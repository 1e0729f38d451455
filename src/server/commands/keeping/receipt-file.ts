// Writes the receipt of an erasure to a file that is opened before the erasure begins.
import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { StartError } from "../../../kernel/errors.ts";

export interface ReceiptFile {
  /** Returns false, and says why on standard error, if the text can't be written. */
  write(text: string): boolean;
  /** Deletes the empty file. */
  discard(): void;
}

const PROBLEMS: Readonly<Record<string, (path: string) => string>> = {
  EEXIST: (path) => `The file ${path} exists already, and is not overwritten. Name another one with --out.`,
  ENOENT: (path) => `The folder ${dirname(path)} does not exist. Make it, or name another file with --out.`,
  EACCES: (path) => `You may not write to the folder ${dirname(path)}. Name another file with --out.`,
};

/** Throws StartError if the file exists or can't be made. */
export function openReceiptFile(path: string): ReceiptFile {
  let descriptor: number;
  try {
    descriptor = openSync(path, "wx", 0o600);
  } catch (cause) {
    const code = String((cause as NodeJS.ErrnoException).code);
    const says = PROBLEMS[code]?.(path) ?? `The file ${path} can't be written (${code}). Name another one with --out.`;
    throw new StartError(`${says} Nothing was erased.`, { cause });
  }
  return {
    write(text) {
      try {
        writeFileSync(descriptor, text);
        fsyncSync(descriptor);
        closeSync(descriptor);
        return true;
      } catch (error) {
        const code = String((error as NodeJS.ErrnoException).code);
        process.stderr.write(
          `berth: the receipt could not be written to ${path} (${code}), so it is printed here. Keep it.\n`,
        );
        return false;
      }
    },
    discard() {
      closeSync(descriptor);
      rmSync(path, { force: true });
    },
  };
}
