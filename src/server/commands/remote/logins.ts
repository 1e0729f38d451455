// Keeps the keys of `berth login` in the user's configuration folder, in a file that only the user can read.
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir, platform } from "node:os";
import { join } from "node:path";
import { environment } from "../../../kernel/config/config.ts";
import { AppError } from "../../../kernel/errors.ts";

export interface Login {
  key: string;
  /** The address of the account. */
  account: string;
  /** ISO 8601: when the key expires. */
  expiresAt: string;
}

export interface Logins {
  /** The address of the service that commands use; the key of one of `logins`. */
  current?: string;
  logins: Record<string, Login>;
}

/** The system's folder for settings: XDG_CONFIG_HOME, or what is usual on macOS and Windows. */
function configFolder(): string {
  const { XDG_CONFIG_HOME: xdg, APPDATA: roaming, HOME: home = homedir() } = environment();
  if (xdg) return join(xdg, "berth");
  if (platform() === "win32" && roaming) return join(roaming, "berth");
  return join(home, platform() === "darwin" ? "Library/Application Support/berth" : ".config/berth");
}

export const loginsPath = () => join(configFolder(), "logins.json");

export async function readLogins(): Promise<Logins> {
  const path = loginsPath();
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { logins: {} };
    throw error;
  }
  try {
    const found: Partial<Logins> = Object(JSON.parse(text));
    return { ...(typeof found.current === "string" && { current: found.current }), logins: Object(found.logins ?? {}) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new AppError(400, "INVALID_JSON", `${path} is damaged. Remove it, and run berth login again.`);
  }
}

/** Replaces the file at once, so that a kill leaves either the old or the new one. */
export async function writeLogins(logins: Logins): Promise<void> {
  const [folder, path] = [configFolder(), loginsPath()];
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, `${JSON.stringify(logins, null, 2)}\n`, { mode: 0o600 });
    // The mode counts only for a new file.
    await chmod(draft, 0o600);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}
