// Finds a skill for its owner, installed or shared, with everything that is known about it.
import { type FolderSkill, nameInId } from "./agent/folder-skill.ts";
import type { FolderSource } from "./agent/folder-source.ts";
import { type InstalledSkills, skillNotFound } from "./store/installed-skills.ts";
import type { FileEntry, SkillVersion } from "./store/skill-rows.ts";

export type SkillDetailsReader = ReturnType<typeof createSkillDetails>;

interface Deps {
  source: Pick<FolderSource, "list">;
  installed: Pick<InstalledSkills, "versions">;
}

export function createSkillDetails({ source, installed }: Deps) {
  /** Throws 404 `SKILL_NOT_FOUND`. */
  async function find(userId: string, id: string): Promise<{ skill: FolderSkill }> {
    const skill = nameInId(id) === undefined ? undefined : (await source.list(userId)).find((one) => one.id === id);
    if (!skill) throw skillNotFound();
    return { skill };
  }

  return {
    find,
    /** Throws 404 `SKILL_NOT_FOUND`. */
    async require(
      userId: string,
      id: string,
    ): Promise<{ skill: FolderSkill; files: FileEntry[]; versions: SkillVersion[] }> {
      const { skill } = await find(userId, id);
      const [files, versions] = await Promise.all([
        skill.files(),
        skill.source === "installed" ? installed.versions(userId, skill.name) : [],
      ]);
      return { skill, files, versions };
    },
  };
}
