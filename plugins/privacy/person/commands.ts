// The commands behind `berth person`: a copy of somebody's data, their erasure with a receipt, and what follows a restored backup.
import { isAbsolute } from "node:path";
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Commands } from "../../admin/index.ts";
import type { Erasures } from "./erasure.ts";
import type { ErasureList } from "./erasure-list.ts";
import { type ExportDeps, writeExport } from "./export.ts";
import { isGenuine } from "./receipt.ts";
import { ACCOUNT, parseSubject, type Subject } from "./subject.ts";

interface Deps extends Pick<Kernel, "database"> {
  list: ErasureList;
  erasures: Erasures;
  exporting: ExportDeps;
  /** Throws 404 `USER_NOT_FOUND`. */
  accountOf(email: string): Promise<{ id: string }>;
}

/** Everybody whom the database knows by a platform's id. */
const SENDERS = `SELECT json_group_array(json_array(channel, id)) AS people FROM (
  SELECT platform AS channel, sender_id AS id FROM inbox WHERE sender_id <> ''
  UNION SELECT channel, sender_id FROM pairings
  UNION SELECT platform, iif(platform = 'public', replace(peer, 'visitor:', ''), peer) FROM sessions WHERE peer IS NOT NULL)`;

export function createPersonCommands({ database, list, erasures, exporting, accountOf }: Deps): Commands {
  const subjectOf = async ({ email, channel = "", id = "" }: Readonly<Record<string, string>>): Promise<Subject> =>
    email === undefined ? parseSubject(channel, id) : { channel: ACCOUNT, id: (await accountOf(email)).id };

  return {
    async "person.erase"(args) {
      return erasures.erase(await subjectOf(args), { kind: "command", name: args.operator ?? "" });
    },

    async "person.export"(args) {
      const { file = "" } = args;
      if (!isAbsolute(file)) throw invalidInput({ path: "file", message: "Give the absolute path of a new file." });
      return writeExport(exporting, await subjectOf(args), file);
    },

    async "person.verify"({ receipt = "" }) {
      return { genuine: isGenuine(list, receipt) };
    },

    /** A restored backup has brought people back whom the service was asked to forget: finds them by their hashes. */
    async "person.reapply"({ operator = "" }) {
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
        const owners = new Set((listed.get(list.hashOf(person)) ?? []).map(({ ownerId }) => ownerId));
        if (owners.size > 0) erased++;
        for (const ownerId of owners) {
          await erasures.erase(
            { ...person, ...(ownerId !== undefined && { ownerId }) },
            { kind: "command", name: operator },
          );
        }
      }
      return { listed: listed.size, erased };
    },
  };
}
