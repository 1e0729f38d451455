// Runs `berth vault rotate`: seals every secret again under the current SECRET_KEY, also while the service runs.

import { environment } from "../../../kernel/config/config.ts";
import { programName } from "../../../kernel/config/program-name.ts";
import type { KeyRotationResult } from "../../../kernel/security/key-rotation.ts";
import { loadAllSettings } from "../../settings.ts";

/** Returns the exit code: 0, 1 if a secret can't be opened, or 2 with the usage on standard error. */
export async function vaultCommand([name, ...rest]: string[]): Promise<number> {
  if (name !== "rotate" || rest.length > 0) {
    process.stderr.write(`Usage: ${programName()} vault rotate  seal every stored secret again under SECRET_KEY\n`);
    return 2;
  }
  const { runCommand } = await import("../run-command.ts");
  const results = (await runCommand(loadAllSettings(environment()), "vault.rotate", {})) as Record<
    string,
    KeyRotationResult
  >;
  const lines = Object.entries(results).map(([label, { resealed, unreadable }]) => {
    const failureNote = unreadable === 0 ? "" : `, ${unreadable} can't be opened`;
    return `${label}: ${resealed} sealed again${failureNote}`;
  });
  const failed = Object.values(results).some(({ unreadable }) => unreadable > 0);
  const advice = failed
    ? "The log says which can't be opened, and why. Set those again, or give their key as SECRET_KEY_PREVIOUS and repeat."
    : "Every secret is under the current key. Stop the service before you remove SECRET_KEY_PREVIOUS.";
  process.stdout.write(`${[...lines, advice].join("\n")}\n`);
  return failed ? 1 : 0;
}
