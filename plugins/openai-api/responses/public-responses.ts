// Keeps the responses of callers without an account in memory, for an hour: their ids are all that anybody knows of them.
import { HOUR } from "../../../src/kernel/util/time.ts";
import { MAX_CHAIN_BYTES, type StoredResponse } from "./response-keeper.ts";

const KEPT_MS = HOUR;
/** Bytes of all together; the oldest go first. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Bytes of one; larger ones are not kept. */
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;

interface Kept {
  readonly stored: StoredResponse;
  readonly bytes: number;
  readonly expiresAt: number;
}

export function createPublicResponses({ now }: { now: () => number }) {
  const kept = new Map<string, Kept>();
  let bytes = 0;

  function remove(id: string): boolean {
    const found = kept.get(id);
    if (!found) return false;
    bytes -= found.bytes;
    return kept.delete(id);
  }

  function find(id: string): StoredResponse | undefined {
    const found = kept.get(id);
    return found && found.expiresAt > now() ? found.stored : undefined;
  }

  return {
    remove,
    find,
    save(stored: StoredResponse): void {
      const size = JSON.stringify(stored).length;
      if (size > MAX_RESPONSE_BYTES) return;
      kept.set(stored.id, { stored, bytes: size, expiresAt: now() + KEPT_MS });
      bytes += size;
      for (const [id, { expiresAt }] of kept) {
        if (bytes <= MAX_BYTES && expiresAt > now()) break;
        remove(id);
      }
    },
    /** The first one first; as many as are kept. */
    chain(id: string): StoredResponse[] {
      const found: StoredResponse[] = [];
      let total = 0;
      for (let at = find(id); at; at = at.previousId === undefined ? undefined : find(at.previousId)) {
        total += kept.get(at.id)?.bytes ?? 0;
        if (total > MAX_CHAIN_BYTES) break;
        found.unshift(at);
      }
      return found;
    },
  };
}
