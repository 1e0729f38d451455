// `berth vault rotate`: everything that is sealed, sealed anew under the present SECRET_KEY, also while the service runs.
import { environment, loadConfig } from "../../kernel/config/config.ts";
import type { KeyRotationResult } from "../../kernel/security/key-rotation.ts";

/** The exit code: 0, 1 where something did not open, or 2 with the usage on standard error. */
export async function vaultCommand([name, ...rest]: string[]): Promise<number> {
  if (name !== "rotate" || rest.length > 0) {
    process.stderr.write("Usage: berth vault rotate  seal every stored secret anew under SECRET_KEY\n");
    return 2;
  }
  const { runCommand } = await import("../control-socket.ts");
  const results = (await runCommand(loadConfig(environment()), "vault.rotate", {})) as Record<
    string,
    KeyRotationResult
  >;
  const lines = Object.entries(results).map(([label, { resealed, unreadable }]) => {
    const failureNote = unreadable === 0 ? "" : `, ${unreadable} left that do not open`;
    return `${label}: ${resealed} sealed anew${failureNote}`;
  });
  const failed = Object.values(results).some(({ unreadable }) => unreadable > 0);
  const advice = failed
    ? "Keep SECRET_KEY_PREVIOUS until the log says why those do not open."
    : "Everything here is under the present key. Stop the service before SECRET_KEY_PREVIOUS goes.";
  process.stdout.write(`${[...lines, advice].join("\n")}\n`);
  return failed ? 1 : 0;
}
