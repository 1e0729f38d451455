// Stores the skills that accounts installed: their versions, files, and which version is in use.
//
// An upload is one batch, so that after a kill there is all of a version or nothing of it.
import { GuardFailed, guard, isUniqueViolation, type Statement } from "../../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import type { SkillFolder } from "../reading/skill-folder.ts";
import { IS_WITHIN_QUOTA, type Quota, quotaError } from "./quota.ts";
import {
  type FileEntry,
  type InstalledSkill,
  type SkillVersion,
  toFileEntry,
  toSkill,
  toVersion,
} from "./skill-rows.ts";

/** An account, and what it may have. */
export interface Account {
  userId: string;
  quota: Quota;
}

/** Versions of a skill; the oldest makes room. */
const KEPT_VERSIONS = 5;
/** How long a removed skill can be restored. */
export const RESTORABLE_MS = DAY;
/** Uploads of the same skill at the same time. */
const MAX_ATTEMPTS = 5;
/** Removed skills that are deleted in one step. */
const STEP = 20;

const SKILL = `s.user_id, s.name, s.version, v.description, v.fields, v.warnings, v.address, v.trusted, v.created_at,
  EXISTS (SELECT 1 FROM skill_files f WHERE f.user_id = s.user_id AND f.name = s.name AND f.version = s.version
    AND f.path > 'scripts/' AND f.path < 'scripts0' AND (f.path GLOB '*.[jt]s' OR f.path GLOB '*.[cm][jt]s')) AS has_scripts
  FROM installed_skills s JOIN skill_versions v ON v.user_id = s.user_id AND v.name = s.name AND v.version = s.version
  WHERE s.user_id = ?1 AND s.removed_at IS NULL`;
const PUT_SKILL = `INSERT INTO installed_skills (user_id, name, version) SELECT ?1, ?2, ?6 WHERE ${IS_WITHIN_QUOTA}
  ON CONFLICT (user_id, name) DO UPDATE SET version = excluded.version, removed_at = NULL`;
const INSERT_VERSION = `INSERT INTO skill_versions
  (user_id, name, version, description, fields, warnings, address, digest, size, created_at, body)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_FILE = "INSERT INTO skill_files (user_id, name, version, path, size, content) VALUES (?, ?, ?, ?, ?, ?)";
/** Removed skills don't count, so that only a few are kept. */
const FORGET_OLDER = `DELETE FROM installed_skills WHERE user_id = ?1 AND removed_at IS NOT NULL AND name NOT IN
  (SELECT name FROM installed_skills WHERE user_id = ?1 AND removed_at IS NOT NULL ORDER BY removed_at DESC LIMIT 5)`;
const RESTORE = `UPDATE installed_skills SET removed_at = NULL
  WHERE user_id = ?1 AND name = ?2 AND removed_at > ?6 AND ${IS_WITHIN_QUOTA}`;

export type InstalledSkills = ReturnType<typeof createInstalledSkills>;

export function createInstalledSkills({ database }: Pick<Kernel, "database">) {
  async function find(userId: string, name: string): Promise<InstalledSkill | undefined> {
    const [row] = (await database.read(`SELECT ${SKILL} AND s.name = ?2`, [userId, name])).rows;
    return row && toSkill(row);
  }

  async function latest(userId: string, name: string) {
    const { rows } = await database.read(
      `SELECT (SELECT max(version) FROM skill_versions WHERE user_id = ?1 AND name = ?2) AS last, s.version, s.removed_at,
          v.digest FROM installed_skills s LEFT JOIN skill_versions v
          ON v.user_id = s.user_id AND v.name = s.name AND v.version = s.version WHERE s.user_id = ?1 AND s.name = ?2`,
      [userId, name],
    );
    const [row] = rows;
    return { last: Number(row?.last ?? 0), digest: row?.removed_at === null ? row.digest : undefined };
  }

  /** Whether one row changed. */
  async function change(sql: string, args: Statement["args"]): Promise<boolean> {
    const [result] = await database.write([{ sql, args }]);
    return result?.rowsAffected === 1;
  }

  /** Throws the quota's error where the guard failed. */
  async function withinQuota<T>(account: Account, name: string, size: number, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
      throw (await quotaError(database, account, name, size)) ?? skillNotFound();
    }
  }

  return {
    find,

    /** By name. */
    async list(userId: string): Promise<InstalledSkill[]> {
      const { rows } = await database.read(`SELECT ${SKILL} ORDER BY s.name LIMIT 1000`, [userId]);
      return rows.map(toSkill);
    },

    /**
     * Stores the folder as a new version, which comes into use; the same folder again changes nothing.
     * @throws AppError 429 `SKILL_LIMIT_REACHED`, 413 `SKILL_QUOTA_EXCEEDED`, 401 for a deleted account
     */
    async install(account: Account, folder: SkillFolder, address: string | null, now = Date.now()): Promise<void> {
      const { userId, quota } = account;
      const { name, description, ...fields } = folder.fields;
      const size = keptBytes(folder);
      for (let attempt = 1; ; attempt++) {
        const { last, digest } = await latest(userId, name);
        if (digest === folder.digest) return;
        const version = last + 1;
        const texts = [description, JSON.stringify(fields), JSON.stringify(folder.warnings)];
        const row = [userId, name, version, ...texts, address, folder.digest, size, now, folder.body];
        const statements: Statement[] = [
          { sql: PUT_SKILL, args: [userId, name, size, quota.skills, quota.bytes, version] },
          guard("skills.quota"),
          { sql: INSERT_VERSION, args: row },
          ...folder.files.map(({ path, size, text }) => {
            return { sql: INSERT_FILE, args: [userId, name, version, path, size, text] };
          }),
          {
            sql: "DELETE FROM skill_versions WHERE user_id = ? AND name = ? AND version <= ?",
            args: [userId, name, version - KEPT_VERSIONS],
          },
        ];
        try {
          await withinQuota(account, name, size, () => database.writeLong(statements));
          return;
        } catch (error) {
          // Another upload took the number of this version.
          if (!isUniqueViolation(error) || attempt === MAX_ATTEMPTS) throw error;
        }
      }
    },

    /** Newest first. */
    async versions(userId: string, name: string): Promise<SkillVersion[]> {
      const { rows } = await database.read(
        `SELECT version, fields, address, trusted, size, created_at FROM skill_versions WHERE user_id = ? AND name = ?
          ORDER BY version DESC`,
        [userId, name],
      );
      return rows.map(toVersion);
    },

    /** By path. */
    async files({ userId, name, version }: InstalledSkill): Promise<FileEntry[]> {
      const { rows } = await database.read(
        `SELECT path, size, content IS NOT NULL AS is_text FROM skill_files
          WHERE user_id = ? AND name = ? AND version = ? ORDER BY path`,
        [userId, name, version],
      );
      return rows.map(toFileEntry);
    },

    /** The text of a file: null if it is none, undefined if there is no such file. */
    async text({ userId, name, version }: InstalledSkill, path: string): Promise<string | null | undefined> {
      const { rows } = await database.read(
        "SELECT content FROM skill_files WHERE user_id = ? AND name = ? AND version = ? AND path = ?",
        [userId, name, version, path],
      );
      const [row] = rows;
      if (!row) return undefined;
      return row.content === null ? null : String(row.content);
    },

    /** The texts of these files; those that are not there, or no texts, are left out. */
    async texts({ userId, name, version }: InstalledSkill, paths: readonly string[]) {
      const { rows } = await database.read(
        `SELECT path, content FROM skill_files WHERE user_id = ? AND name = ? AND version = ? AND content IS NOT NULL
          AND path IN (SELECT value FROM json_each(?)) ORDER BY path`,
        [userId, name, version, JSON.stringify(paths)],
      );
      return rows.map(({ path, content }) => ({ path: String(path), text: String(content) }));
    },

    async body({ userId, name, version }: InstalledSkill): Promise<string> {
      const { rows } = await database.read(
        "SELECT body FROM skill_versions WHERE user_id = ? AND name = ? AND version = ?",
        [userId, name, version],
      );
      return String(rows[0]?.body ?? "");
    },

    /** Uses another version of the skill. Throws 404 `SKILL_VERSION_NOT_FOUND`. */
    async useVersion(userId: string, name: string, version: number): Promise<void> {
      const sql = `UPDATE installed_skills SET version = ?3 WHERE user_id = ?1 AND name = ?2 AND removed_at IS NULL
        AND EXISTS (SELECT 1 FROM skill_versions WHERE user_id = ?1 AND name = ?2 AND version = ?3)`;
      if (await change(sql, [userId, name, version])) return;
      throw notFound("This skill has no such version any more.", "SKILL_VERSION_NOT_FOUND");
    },

    /** Whether the owner answers for a version's texts. Throws 404 `SKILL_VERSION_NOT_FOUND`. */
    async setTrusted(userId: string, name: string, version: number, trusted: boolean): Promise<void> {
      const sql = "UPDATE skill_versions SET trusted = ? WHERE user_id = ? AND name = ? AND version = ?";
      if (await change(sql, [trusted ? 1 : 0, userId, name, version])) return;
      throw notFound("This skill has no such version any more.", "SKILL_VERSION_NOT_FOUND");
    },

    /** Throws 404 `SKILL_NOT_FOUND`. */
    async remove(userId: string, name: string, now = Date.now()): Promise<void> {
      const sql = "UPDATE installed_skills SET removed_at = ? WHERE user_id = ? AND name = ? AND removed_at IS NULL";
      const [removed] = await database.writeLong([
        { sql, args: [now, userId, name] },
        { sql: FORGET_OLDER, args: [userId] },
      ]);
      if (removed?.rowsAffected !== 1) throw skillNotFound();
    },

    /**
     * Brings back a skill that was removed less than a day ago.
     * @throws AppError 404 `SKILL_NOT_FOUND`, 429 `SKILL_LIMIT_REACHED`, 413 `SKILL_QUOTA_EXCEEDED`
     */
    async restore(account: Account, name: string, now = Date.now()): Promise<void> {
      const { userId, quota } = account;
      const { rows } = await database.read(
        "SELECT coalesce(sum(size), 0) AS size FROM skill_versions WHERE user_id = ? AND name = ?",
        [userId, name],
      );
      const size = Number(rows[0]?.size);
      const args = [userId, name, size, quota.skills, quota.bytes, now - RESTORABLE_MS];
      await withinQuota(account, name, size, () => database.write([{ sql: RESTORE, args }, guard("skills.quota")]));
    },

    removeAllStatement: (userId: string): Statement => ({
      sql: "DELETE FROM installed_skills WHERE user_id = ?",
      args: [userId],
    }),

    /** Deletes all skills of an account in steps, since their texts may be large. */
    async deleteAll(userId: string): Promise<void> {
      const sql = `DELETE FROM installed_skills WHERE user_id = ?1 AND name IN
        (SELECT name FROM installed_skills WHERE user_id = ?1 LIMIT ${STEP})`;
      for (;;) {
        const [result] = await database.writeLong([{ sql, args: [userId] }]);
        if ((result?.rowsAffected ?? 0) === 0) return;
      }
    },

    /** Deletes skills that can't be restored any more. */
    async deleteRemoved(now = Date.now()): Promise<void> {
      const sql = `DELETE FROM installed_skills WHERE (user_id, name) IN
        (SELECT user_id, name FROM installed_skills WHERE removed_at <= ?1 LIMIT ${STEP})`;
      for (;;) {
        const [result] = await database.writeLong([{ sql, args: [now - RESTORABLE_MS] }]);
        if ((result?.rowsAffected ?? 0) < STEP) return;
      }
    },
  };
}

const keptBytes = ({ files }: SkillFolder) =>
  files.reduce((sum, { size, text }) => sum + (text === null ? 0 : size), 0);

export const skillNotFound = () => new AppError(404, "SKILL_NOT_FOUND", "There is no such skill, or it was removed.");
