// Records commands of the operator that work beside the service, such as a restore: they leave a note in the data folder, and the
// service writes it to the audit log at once or at its next start.
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Kernel } from "../../src/kernel/plugin.ts";

export interface OperatorNote {
  action: string;
  /** What the command has worked on, such as the name of a backup. */
  target: { kind: string; id: string; name: string };
  details: Record<string, unknown>;
  /** The user of the operating system. */
  operator: string;
  /** ISO 8601. */
  at: string;
}

const FILE = "operator-notes.jsonl";
const TAKEN = `${FILE}.taken`;

export function leaveNote(dataDir: string, note: OperatorNote): void {
  appendFileSync(join(dataDir, FILE), `${JSON.stringify(note)}\n`, { mode: 0o600 });
}

/** Writes the notes to the audit log, then deletes them: a kill in between repeats an entry rather than losing it. */
export async function takeNotes({
  config,
  database,
  audit,
}: Pick<Kernel, "config" | "database" | "audit">): Promise<void> {
  const [file, taken] = [join(config.dataDir, FILE), join(config.dataDir, TAKEN)];
  if (!existsSync(taken)) {
    if (!existsSync(file)) return;
    renameSync(file, taken);
  }
  const notes = readFileSync(taken, "utf8")
    .split("\n")
    .flatMap((line) => parseNote(line) ?? []);
  const statements = notes.map(({ action, target, details, operator, at }) => {
    const actor = { kind: "command", id: null, name: operator, address: null, requestId: null } as const;
    return audit.statementFor(actor, { action, target, details: { ...details, at } });
  });
  if (statements.length > 0) await database.write(statements);
  rmSync(taken, { force: true });
}

/** Undefined for a line that a kill has cut off. */
function parseNote(line: string): OperatorNote | undefined {
  try {
    return line === "" ? undefined : (JSON.parse(line) as OperatorNote);
  } catch {
    return undefined;
  }
}
