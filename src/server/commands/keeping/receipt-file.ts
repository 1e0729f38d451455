// Writes the receipt of an erasure to a file that is opened before the erasure begins.
import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { StartError } from "../../../kernel/errors.ts";

/** Another command that was given the same empty file may have filled or removed it meanwhile. */
function requireOurs(descriptor: number): void {
  const { size, nlink } = fstatSync(descriptor);
  if (size > 0 || nlink === 0) throw Object.assign(new Error("Another command has used the file."), { code: "EBUSY" });
}

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

/** Opens a new file, or an empty one, which an erasure that was killed has left. Throws `EEXIST` for another. */
function openEmpty(path: string): number {
  try {
    return openSync(path, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const descriptor = takeOver(path);
    if (descriptor === undefined) throw error;
    return descriptor;
  }
}

/** Neither a file to which a link leads, nor a pipe, which would wait for its reader. */
function takeOver(path: string): number | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  const found = fstatSync(descriptor);
  if (found.isFile() && found.size === 0) {
    fchmodSync(descriptor, 0o600);
    return descriptor;
  }
  closeSync(descriptor);
  return undefined;
}

/** Throws StartError if the file exists or can't be made. */
export function openReceiptFile(path: string): ReceiptFile {
  let descriptor: number;
  try {
    descriptor = openEmpty(path);
  } catch (cause) {
    const code = String((cause as NodeJS.ErrnoException).code);
    const says = PROBLEMS[code]?.(path) ?? `The file ${path} can't be written (${code}). Name another one with --out.`;
    throw new StartError(`${says} This command has erased nothing.`, { cause });
  }
  return {
    write(text) {
      try {
        requireOurs(descriptor);
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
