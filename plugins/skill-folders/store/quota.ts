// How many skills an account may have by its plan, and how many bytes of texts, as SQL for the write that adds one.
import { AppError, unauthorized } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Plan } from "../../auth/index.ts";

export interface Quota {
  skills: number;
  /** Of all versions together. */
  bytes: number;
}

const MIB = 1024 * 1024;
export const quotaOf = ({ skills, skillBytes }: Pick<Plan, "skills" | "skillBytes">): Quota => ({
  skills,
  bytes: skillBytes,
});

const OTHER_SKILLS = `(SELECT count(*) FROM installed_skills WHERE user_id = ?1 AND name <> ?2 AND removed_at IS NULL)`;
/** Of the skill ?2 itself, too, unless it is a removed one that is restored: its size is ?3 then. */
const OTHER_BYTES = `(SELECT coalesce(sum(v.size), 0) FROM installed_skills i
  JOIN skill_versions v ON v.user_id = i.user_id AND v.name = i.name WHERE i.user_id = ?1 AND i.removed_at IS NULL)`;
const ACCOUNT_EXISTS = "EXISTS (SELECT 1 FROM users WHERE id = ?1)";

/** Whether user ?1 may have the skill ?2 with ?3 more bytes. ?4 and ?5: the quota. */
export const IS_WITHIN_QUOTA = `${ACCOUNT_EXISTS} AND ${OTHER_SKILLS} < ?4 AND ${OTHER_BYTES} + ?3 <= ?5`;

/** The error for a failed check; undefined if the quota was not the reason. */
export async function quotaError(
  { read }: Pick<Kernel["database"], "read">,
  { userId, quota }: { userId: string; quota: Quota },
  name: string,
  size: number,
): Promise<AppError | undefined> {
  const { rows } = await read(
    `SELECT ${OTHER_SKILLS} AS current, ${OTHER_BYTES} + ?3 AS bytes, ${ACCOUNT_EXISTS} AS has_account`,
    [userId, name, size],
  );
  const [row] = rows;
  if (row?.has_account !== 1) return unauthorized();
  if (Number(row.current) >= quota.skills) {
    const text = `Your plan has room for ${quota.skills} skills. Remove one, or choose a larger plan.`;
    return new AppError(429, "SKILL_LIMIT_REACHED", text, { current: Number(row.current), limit: quota.skills });
  }
  if (Number(row.bytes) <= quota.bytes) return undefined;
  const text = `Your plan has room for ${quota.bytes / MIB} MiB of skills, and this one doesn't fit. Remove one, or choose a larger plan.`;
  return new AppError(413, "SKILL_QUOTA_EXCEEDED", text, { limit: quota.bytes });
}
