// The secrets an endpoint had before, which sign too for a day: several sealed texts in one column, for a rotation of the root key.
import type { Row } from "@libsql/client";
import type { Kernel } from "../../src/plugin.ts";
import type { Resealed } from "../../src/resealing.ts";

export interface Earlier {
  /** Sealed. */
  secret: string;
  /** Epoch ms. */
  until: number;
}

/** Those of an endpoint's row that still sign. */
export const stillGood = ({ previous_secrets }: Row, now: number): Earlier[] =>
  (JSON.parse(String(previous_secrets)) as Earlier[]).filter(({ until }) => until > now);

interface Deps extends Pick<Kernel, "database" | "vault" | "log"> {
  now: () => number;
}

/** Seals anew those that are not under the present key; what does not sign any more goes. */
export async function resealEarlier({ database, vault, log, now }: Deps): Promise<Resealed> {
  const done = { resealed: 0, unreadable: 0 };

  function anew(id: string, { secret, until }: Earlier, counted: Resealed): Earlier {
    try {
      if (!vault.isStale(secret)) return { secret, until };
      const place = `webhook:${id}`;
      const sealed = vault.seal(vault.open(secret, place), place);
      counted.resealed++;
      return { secret: sealed, until };
    } catch (error) {
      counted.unreadable++;
      log.warn("An earlier secret of a webhook does not open, and stays as it is.", { webhook: id, error });
      return { secret, until };
    }
  }

  /** False where it was rotated meanwhile. */
  async function reseal(row: Row): Promise<boolean> {
    const [id, was] = [String(row.id), String(row.previous_secrets)];
    const counted = { resealed: 0, unreadable: 0 };
    const is = JSON.stringify(stillGood(row, now()).map((earlier) => anew(id, earlier, counted)));
    if (is !== was) {
      const sql = "UPDATE webhook_endpoints SET previous_secrets = ? WHERE id = ? AND previous_secrets = ?";
      const [written] = await database.write([{ sql, args: [is, id, was] }]);
      if (written?.rowsAffected !== 1) return false;
    }
    done.resealed += counted.resealed;
    done.unreadable += counted.unreadable;
    return true;
  }

  const { rows } = await database.read("SELECT id FROM webhook_endpoints WHERE previous_secrets <> '[]'");
  for (const { id } of rows) {
    for (let settled = false; !settled; ) {
      const found = await database.read("SELECT id, previous_secrets FROM webhook_endpoints WHERE id = ?", [
        id ?? null,
      ]);
      const [row] = found.rows;
      settled = !row || (await reseal(row));
    }
  }
  return done;
}
