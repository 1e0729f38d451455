// `berth vault rotate`: everything that is sealed, sealed anew under the present SECRET_KEY, also while the service runs.
import { environment, loadConfig } from "../config.ts";
import type { Resealed } from "../resealing.ts";

/** The exit code: 0, 1 where something did not open, or 2 with the usage on standard error. */
export async function vaultCommand([name, ...words]: string[]): Promise<number> {
  if (name !== "rotate" || words.length > 0) {
    process.stderr.write("Usage: berth vault rotate  seal every stored secret anew under SECRET_KEY\n");
    return 2;
  }
  const { runCommand } = await import("../control.ts");
  const all = (await runCommand(loadConfig(environment()), "vault.rotate", {})) as Record<string, Resealed>;
  const lines = Object.entries(all).map(([what, { resealed, unreadable }]) => {
    const left = unreadable === 0 ? "" : `, ${unreadable} left that do not open`;
    return `${what}: ${resealed} sealed anew${left}`;
  });
  const failed = Object.values(all).some(({ unreadable }) => unreadable > 0);
  const end = failed
    ? "Keep SECRET_KEY_PREVIOUS until the log says why those do not open."
    : "Everything here is under the present key. Stop the service before SECRET_KEY_PREVIOUS goes.";
  process.stdout.write(`${[...lines, end].join("\n")}\n`);
  return failed ? 1 : 0;
}
