// Names this program as the reader of a hint can type it.

import { basename, delimiter, dirname, relative } from "node:path";
import { environment } from "./config.ts";

/** What the name depends on; tests pass others. */
interface Invocation {
  /** The running executable: the compiled binary, or Bun when served from source. */
  executable: string;
  directory: string;
  /** The value of PATH. */
  path: string;
}

const current = (): Invocation => ({
  executable: process.execPath,
  directory: process.cwd(),
  path: environment().PATH ?? "",
});

/**
 * Returns the shortest command that runs this binary from the working directory: its bare name if its folder is on PATH,
 * else a relative path inside the working directory, else the absolute path.
 */
export function programName({ executable, directory, path }: Invocation = current()): string {
  // Served from source, the executable is Bun; the binary that `npm run build` makes takes the same commands.
  if (/^bun(\.exe)?$/.test(basename(executable))) return "./dist/berth";
  if (path.split(delimiter).includes(dirname(executable))) return basename(executable);
  const inside = relative(directory, executable);
  return inside.startsWith("..") ? executable : `./${inside}`;
}
