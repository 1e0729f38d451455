// Installs the skills that came with an agent of another program; they are off until the owner switches them on.
import { AppError } from "../../../src/kernel/errors.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { skillFolders } from "../../skill-folders/index.ts";
import { type ReportRow, rowOf } from "./report.ts";

type Skills = Pick<ServiceOf<typeof skillFolders>, "installNew">;

/** Returns the ids of installed skills, and a row for each skill. A skill that is refused keeps no other from being installed. */
export async function installSkills(
  { installNew }: Skills,
  userId: string,
  skills: readonly { name: string; zip: Uint8Array }[],
): Promise<{ ids: string[]; rows: ReportRow[] }> {
  const ids: string[] = [];
  const rows: ReportRow[] = [];
  for (const { name, zip } of skills) {
    const source = `skills/${name}`;
    try {
      const id = await installNew(userId, Uint8Array.from(zip));
      if (id !== undefined) ids.push(id);
      rows.push(rowOf(id !== undefined, source, id === undefined ? "SKILL_EXISTS" : "SKILL"));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      rows.push(rowOf(false, source, "SKILL_REFUSED"));
    }
  }
  return { ids, rows };
}
