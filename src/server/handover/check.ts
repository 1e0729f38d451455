// Tries a program before the service is handed to it: its settings, its plugins, and its migrations, on a copy of the database.
import { AppError } from "../../kernel/errors.ts";
import type { Program } from "./hand-over.ts";

/** A large database is copied first, where the file system can't share its blocks. */
const CHECK_MS = 10 * 60_000;

/** Throws 409 CHECK_FAILED with what the program says. */
export async function checkProgram({ file, args, env }: Program): Promise<void> {
  // From source, the program is Bun with a file.
  const script = args[1]?.endsWith("main.ts") ? [args[1]] : [];
  const plugins = args.flatMap((arg, at) => (args[at - 1] === "--plugin" ? ["--plugin", arg] : []));
  const child = Bun.spawn([file, ...script, "migrate", "--dry-run", ...plugins], {
    env: { ...env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    signal: AbortSignal.timeout(CHECK_MS),
  });
  const [said, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code === 0) return;
  const why = said.trim().replace(/^berth: /, "") || `It ended with ${code}.`;
  throw new AppError(409, "CHECK_FAILED", `The service goes on as it is, since the program would not start: ${why}`);
}
