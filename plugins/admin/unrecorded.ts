// Finds accounts and agents that are older than the first entry of the audit log, which records each of them when it is made: the log
// was emptied then, with all that the chain itself would show.
import type { ChainBreak, ChainReport } from "../../src/kernel/audit/verify.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { count } from "../../src/kernel/util/text/count.ts";
import { DAY, MINUTE } from "../../src/kernel/util/time.ts";

/** Entries are kept longer. */
const KEPT_MS = 720 * DAY;
const CHAINED_SINCE = "SELECT applied_at AS at FROM migrations WHERE name = '0155_audit_chain'";
const FIRST_ENTRY = "SELECT min(at) AS at FROM audit_log";
const MADE = `SELECT
  (SELECT count(*) FROM users WHERE created_at >= ?1 AND created_at < ?2 AND email NOT LIKE '%@unclaimed.invalid') AS accounts,
  (SELECT count(*) FROM agents WHERE created_at >= ?1 AND created_at < ?2) AS agents`;

/** The report, with what is missing of accounts and agents that there are. */
export async function withUnrecorded(
  database: Pick<Kernel["database"], "read">,
  report: ChainReport,
  now = Date.now(),
): Promise<ChainReport> {
  // What was pruned recorded the first of them.
  if (report.pruned > 0) return report;
  const one = async (sql: string, args: number[] = []) => (await database.read(sql, args)).rows[0];
  const [since, first] = await Promise.all([one(CHAINED_SINCE), one(FIRST_ENTRY)]);
  if (typeof since?.at !== "number") return report;
  const from = Math.max(since.at, now - KEPT_MS);
  // An entry is made a moment before or after the row that it records.
  const until = typeof first?.at === "number" ? first.at - MINUTE : now - MINUTE;
  const found = await one(MADE, [from, until]);
  const [accounts, agents] = [Number(found?.accounts), Number(found?.agents)];
  if (accounts + agents === 0) return report;
  const made = [...(accounts > 0 ? [count(accounts, "account")] : []), ...(agents > 0 ? [count(agents, "agent")] : [])];
  const missing: ChainBreak = {
    seq: 1,
    problem: `the log has no entry of the time when ${made.join(" and ")} ${accounts + agents === 1 ? "was made that is" : "were made that are"} here`,
  };
  return { ...report, ok: false, breaks: [missing, ...report.breaks] };
}
