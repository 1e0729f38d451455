// Stores which skills a conversation has loaded, so that their instructions stay in its prompts when its history is
// compacted, and after a restart.
import type { Kernel } from "../../../src/kernel/plugin.ts";

export type LoadedSkills = ReturnType<typeof createLoadedSkills>;

/** Skills of one conversation that are looked at. */
const MAX_LOADED = 20;

export function createLoadedSkills({ database }: Pick<Kernel, "database">) {
  return {
    /** Ids, the one loaded last first. */
    async list(sessionId: string): Promise<string[]> {
      const { rows } = await database.read(
        `SELECT skill_id FROM loaded_skills WHERE session_id = ? ORDER BY loaded_at DESC, skill_id LIMIT ${MAX_LOADED}`,
        [sessionId],
      );
      return rows.map(({ skill_id }) => String(skill_id));
    },

    /** Records that a skill was loaded. False if it was loaded before, which stays as it is. */
    async add(sessionId: string, skillId: string, now = Date.now()): Promise<boolean> {
      const sql = `INSERT INTO loaded_skills (session_id, agent_id, skill_id, loaded_at)
        SELECT id, agent_id, ?, ? FROM sessions WHERE id = ?
        ON CONFLICT DO NOTHING`;
      const [result] = await database.write([{ sql, args: [skillId, now, sessionId] }]);
      return result?.rowsAffected === 1;
    },

    /** Makes it the one loaded last. */
    async renew(sessionId: string, skillId: string, now = Date.now()): Promise<void> {
      const sql = "UPDATE loaded_skills SET loaded_at = ? WHERE session_id = ? AND skill_id = ?";
      await database.write([{ sql, args: [now, sessionId, skillId] }]);
    },
  };
}
