// Reads the file of --key, and says in words why it can't be read.
import { readFileSync } from "node:fs";
import { UsageError } from "../options.ts";

const PROBLEMS: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `there is no file ${path}.`,
  ENOTDIR: (path) => `there is no file ${path}.`,
  EISDIR: (path) => `${path} is a folder, not a file.`,
  EACCES: (path) => `you may not read ${path}.`,
};

/** The text of the file. Throws UsageError. */
export function readKeyFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new UsageError(
      `--key: ${PROBLEMS[code]?.(path) ?? `${path} can't be read (${code}).`} Name the file with the public key in PEM.`,
    );
  }
}
