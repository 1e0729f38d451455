// Handles an endpoint's previous secrets, which sign for a day more: a JSON list of sealed texts in one column.
import type { Row } from "@libsql/client";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { KeyRotationResult } from "../../../src/kernel/security/key-rotation.ts";

export interface PreviousSecret {
  /** The sealed secret. */
  secret: string;
  /** Epoch ms. */
  until: number;
}

/** The previous secrets of an endpoint's row that still sign. */
export const validPreviousSecrets = ({ previous_secrets }: Row, now: number): PreviousSecret[] =>
  (JSON.parse(String(previous_secrets)) as PreviousSecret[]).filter(({ until }) => until > now);

interface Deps extends Pick<Kernel, "database" | "vault" | "log"> {
  now: () => number;
}

/** Reseals, with the present root key, all previous secrets that still sign, and drops the expired ones. */
export async function reencryptPreviousSecrets({ database, vault, log, now }: Deps): Promise<KeyRotationResult> {
  const totals = { resealed: 0, unreadable: 0 };

  function reencrypt(id: string, { secret, until }: PreviousSecret, counts: KeyRotationResult): PreviousSecret {
    try {
      if (!vault.isStale(secret)) return { secret, until };
      const sealingContext = `webhook:${id}`;
      const sealed = vault.seal(vault.open(secret, sealingContext), sealingContext);
      counts.resealed++;
      return { secret: sealed, until };
    } catch (error) {
      counts.unreadable++;
      log.warn("A previous secret of a webhook can't be opened, and stays as it is.", { webhook: id, error });
      return { secret, until };
    }
  }

  /** False if the secret was rotated meanwhile, so that the row has to be read again. */
  async function reencryptRow(row: Row): Promise<boolean> {
    const [id, before] = [String(row.id), String(row.previous_secrets)];
    const counts = { resealed: 0, unreadable: 0 };
    const after = JSON.stringify(validPreviousSecrets(row, now()).map((previous) => reencrypt(id, previous, counts)));
    if (after !== before) {
      const sql = "UPDATE webhook_endpoints SET previous_secrets = ? WHERE id = ? AND previous_secrets = ?";
      const [written] = await database.write([{ sql, args: [after, id, before] }]);
      if (written?.rowsAffected !== 1) return false;
    }
    totals.resealed += counts.resealed;
    totals.unreadable += counts.unreadable;
    return true;
  }

  const { rows } = await database.read("SELECT id FROM webhook_endpoints WHERE previous_secrets <> '[]'");
  for (const { id } of rows) {
    for (let isDone = false; !isDone; ) {
      const found = await database.read("SELECT id, previous_secrets FROM webhook_endpoints WHERE id = ?", [
        id ?? null,
      ]);
      const [row] = found.rows;
      isDone = !row || (await reencryptRow(row));
    }
  }
  return totals;
}
