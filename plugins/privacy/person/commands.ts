// The commands behind `berth person`: a copy of somebody's data, their erasure with a receipt, and what follows a restored backup.
import { isAbsolute } from "node:path";
import type { Statement } from "../../../src/kernel/database/database.ts";
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { User } from "../../auth/index.ts";
import type { Erasures } from "./erasure.ts";
import type { ErasureList } from "./erasure-list.ts";
import { type ExportDeps, writeExport } from "./export.ts";
import type { PastErasures } from "./past-erasures.ts";
import { areGenuine } from "./receipt.ts";
import { ACCOUNT, parseSubject, type Subject } from "./subject.ts";

interface Deps extends Pick<Kernel, "database" | "audit"> {
  list: ErasureList;
  erasures: Erasures;
  past: PastErasures;
  exporting: ExportDeps;
  /** Throws 404 `USER_NOT_FOUND`. */
  accountOf(email: string): Promise<User>;
  /** Writes this, and keeps the account out from then on. Throws 409 `LAST_ADMIN`, with nothing written. */
  beginRemoval(user: User, statements: readonly Statement[]): Promise<void>;
}

type Args = Readonly<Record<string, string>>;

/** The audit log has the address of an account that is gone. */
const ERASED_ACCOUNT = `SELECT target_id AS id FROM audit_log WHERE action = 'user.delete' AND lower(target_name) = lower(trim(?))
  ORDER BY id DESC LIMIT 1`;
/** Everybody whom the database knows by a platform's id. */
const SENDERS = `SELECT json_group_array(json_array(channel, id)) AS people FROM (
  SELECT platform AS channel, sender_id AS id FROM inbox WHERE sender_id <> ''
  UNION SELECT channel, sender_id FROM pairings
  UNION SELECT platform, iif(platform = 'public', replace(peer, 'visitor:', ''), peer) FROM sessions WHERE peer IS NOT NULL)`;

export function createPersonCommands({ database, audit, list, erasures, past, exporting, ...accounts }: Deps) {
  const { accountOf, beginRemoval } = accounts;
  const subjectOf = async ({ email, channel = "", id = "" }: Args): Promise<Subject> =>
    email === undefined ? parseSubject(channel, id) : { channel: ACCOUNT, id: (await accountOf(email)).id };

  /** An account that an erasure has removed; undefined for one that was never erased. */
  async function erasedAccount(email: string): Promise<Subject | undefined> {
    const [row] = (await database.readLong(ERASED_ACCOUNT, [email])).rows;
    const subject = row && { channel: ACCOUNT, id: String(row.id) };
    if (!subject) return undefined;
    const person = list.hashOf(subject);
    return list.all().some((one) => one.person === person) ? subject : undefined;
  }

  async function requireKnown(subject: Subject): Promise<void> {
    if (await past.isKnown(subject)) return;
    const says = "Nothing of such a person is known here. Check the channel and the id; a conversation shows the id.";
    throw new AppError(404, "PERSON_NOT_FOUND", says);
  }

  return {
    async "person.erase"(args: Args) {
      const user = args.email === undefined ? undefined : await accountOf(args.email).catch(() => undefined);
      const subject = await subjectOf(args).catch(async (error: unknown) => {
        const erased = args.email === undefined ? undefined : await erasedAccount(args.email);
        if (!erased) throw error;
        return erased;
      });
      const before = await past.receiptOf(subject);
      if (before) return before;
      // Somebody unknown is not listed: what they write later would be erased after a restore.
      if (!(await past.isUnderWay(subject))) await requireKnown(subject);
      const begin = user && ((statements: Statement[]) => beginRemoval(user, statements));
      return erasures.erase(subject, { kind: "command", name: args.operator ?? "" }, begin);
    },

    async "person.export"(args: Args) {
      const { file = "" } = args;
      if (!isAbsolute(file)) throw invalidInput({ path: "file", message: "Give the absolute path of a new file." });
      const subject = await subjectOf(args);
      await requireKnown(subject);
      const target = { kind: "person", id: list.hashOf(subject), name: "" };
      return writeExport(exporting, subject, file, async (details) => {
        await database.write([audit.record({ action: "person.export", target, details })]);
      });
    },

    async "person.verify"({ receipt = "" }: Args) {
      return { genuine: areGenuine(list, receipt) };
    },

    /**
     * A restored backup has brought people back whom the service was asked to forget: finds them by their hashes. What is newer than
     * their erasure stays: they came back by themselves.
     */
    async "person.reapply"({ operator = "" }: Args) {
      const listed = Map.groupBy(list.all(), ({ person }) => person);
      if (listed.size === 0) return { listed: 0, erased: 0 };
      const senders = JSON.parse(String((await database.readLong(SENDERS)).rows[0]?.people)) as [string, string][];
      const users = JSON.parse(
        String((await database.readLong("SELECT json_group_array(id) AS ids FROM users")).rows[0]?.ids),
      ) as string[];
      const everybody = [
        ...senders.map(([channel, id]) => ({ channel, id })),
        ...users.map((id) => ({ channel: ACCOUNT, id })),
      ];
      let erased = 0;
      for (const person of everybody) {
        // Who was erased several times is listed as often.
        const lastByAgent = new Map<string | undefined, number>();
        for (const { agentId, at } of listed.get(list.hashOf(person)) ?? [])
          lastByAgent.set(agentId, Math.max(at, lastByAgent.get(agentId) ?? 0));
        let isBack = false;
        for (const [agentId, before] of lastByAgent) {
          const subject = { ...person, ...(agentId !== undefined && { agentId }), before };
          if (!(await past.isKnown(subject))) continue;
          isBack = true;
          await erasures.erase(subject, { kind: "command", name: operator });
        }
        if (isBack) erased++;
      }
      return { listed: listed.size, erased };
    },
  };
}
