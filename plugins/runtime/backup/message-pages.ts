// Reads messages in pages that are bounded in rows and in bytes, so that neither many nor long ones block the event loop.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Database } from "../../../src/kernel/database/database.ts";
import { SELECT_PAGE, SELECT_SIZES, SELECT_SIZES_UP_TO } from "./backup-sql.ts";

/** Messages whose sizes are read at once. */
const GROUP = 100;
const MAX_PAGE_BYTES = 256 * 1024;

interface Sized {
  seq: number;
  size: number;
}

export interface MessagePages {
  /** The rows of these messages, in pages, each a JSON array. */
  of(seqs: readonly number[]): AsyncGenerator<string, void>;
  /** The rows of a session's messages up to the number `upto`, in pages, each a JSON array. */
  upTo(sessionId: string, upto: number): AsyncGenerator<string, void>;
}

export function createMessagePages({ read }: Pick<Database, "read">): MessagePages {
  async function sizes(sql: string, args: (string | number)[]): Promise<Sized[]> {
    const { rows } = await read(sql, args);
    return rows.map(({ seq, size }) => ({ seq: Number(seq), size: Number(size) }));
  }

  async function* pagesOf(messages: readonly Sized[]): AsyncGenerator<string, void> {
    for (const seqs of splitBySize(messages)) {
      const { rows } = await read(SELECT_PAGE, [JSON.stringify(seqs)]);
      yield String(rows[0]?.[0]);
      await yieldToEventLoop();
    }
  }

  return {
    async *of(seqs) {
      for (let at = 0; at < seqs.length; at += GROUP) {
        yield* pagesOf(await sizes(SELECT_SIZES, [JSON.stringify(seqs.slice(at, at + GROUP))]));
      }
    },

    async *upTo(sessionId, upto) {
      for (let after = 0; ; ) {
        const messages = await sizes(SELECT_SIZES_UP_TO, [sessionId, after, upto, GROUP]);
        yield* pagesOf(messages);
        if (messages.length < GROUP) return;
        after = messages.at(-1)?.seq ?? upto;
      }
    },
  };
}

/** Numbers of consecutive messages that have at most `MAX_PAGE_BYTES` together; a larger one is alone. */
function* splitBySize(messages: readonly Sized[]): Generator<number[], void> {
  let page: number[] = [];
  let bytes = 0;
  for (const { seq, size } of messages) {
    if (page.length > 0 && bytes + size > MAX_PAGE_BYTES) {
      yield page;
      [page, bytes] = [[], 0];
    }
    page.push(seq);
    bytes += size;
  }
  if (page.length > 0) yield page;
}
