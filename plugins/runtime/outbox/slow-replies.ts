// Tells a person on a channel once that the reply takes longer, and shows the agent as typing between the tries of a turn.
import { isChannelId } from "../../../channels/registry.ts";
import { type Database, GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import { pageText, translateText } from "../../../src/kernel/pages/page-template.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { InboxEntry } from "../inbox/entries.ts";
import type { Platforms, ReplyPreview } from "../platforms.ts";
import type { ReaderLanguage } from "../reader-language.ts";
import type { Outbox } from "./outbox.ts";

/** Milliseconds from the first try of a turn. */
const SLOW_AFTER_MS = 10_000;
/** A turn ends within ten minutes; one that was dropped meanwhile, with its agent, is forgotten after this time. */
const FORGET_AFTER_MS = 15 * MINUTE;
/** One timer serves all turns, so that a quick reply costs only a map entry. */
const TICKS_PER_DELAY = 20;

export const SLOW_REPLY = pageText("This takes longer than usual. I am still on it.");

interface Deps {
  database: Pick<Database, "write">;
  outbox: Pick<Outbox, "replyStatements">;
  platforms: Pick<Platforms, "of">;
  log: Pick<Log, "error">;
  readerLanguage: ReaderLanguage;
  /** Milliseconds; for tests. */
  slowAfter?: number;
}

export interface SlowReplies {
  /** A try of this entry begins. */
  begin(entry: InboxEntry): void;
  /** The person sees the reply grow, so that nothing needs to be said. */
  markShown(entryId: string): void;
  /** The try has ended; `willRetry`: another one follows. */
  end(entry: InboxEntry, willRetry: boolean): void;
  stop(): void;
}

interface WaitingPerson {
  readonly entry: InboxEntry;
  noticeAt: number;
  /** When the latest try began or ended. */
  activeAt: number;
  /** Shows the agent as typing until the next try. */
  typing: Pick<ReplyPreview, "end"> | undefined;
}

export function createSlowReplies(deps: Deps): SlowReplies {
  const { database, outbox, platforms, log, readerLanguage, slowAfter = SLOW_AFTER_MS } = deps;
  const waiting = new Map<string, WaitingPerson>();
  let timer: Timer | undefined;

  function tick(): void {
    if (waiting.size === 0) stopTimer();
    const now = Date.now();
    for (const [id, person] of waiting) {
      if (now - person.activeAt > FORGET_AFTER_MS) remove(id, person);
      if (now < person.noticeAt) continue;
      person.noticeAt = Number.POSITIVE_INFINITY;
      void sendNotice(person.entry);
    }
  }

  /** Never rejects. The rows make sure that an answered person is told nothing, and another one once, also after a restart. */
  async function sendNotice(entry: InboxEntry): Promise<void> {
    const { id, agentId } = entry;
    const stillWaits: Statement = { sql: STILL_WAITS_SQL, args: [agentId, id] };
    try {
      const text = translateText(SLOW_REPLY, await readerLanguage(agentId, entry.language));
      const notice = outbox.replyStatements({ ...entry, previewId: null }, text);
      await database.write([stillWaits, guard("still waiting"), ...notice]);
    } catch (error) {
      if (!(error instanceof GuardFailed)) log.error("a person was not told to wait", { agentId, inboxId: id, error });
    }
  }

  function stopTimer(): void {
    clearInterval(timer);
    timer = undefined;
  }

  function remove(id: string, person: WaitingPerson): void {
    endTyping(person);
    waiting.delete(id);
  }

  function endTyping(person: WaitingPerson): void {
    void person.typing?.end();
    person.typing = undefined;
  }

  return {
    begin(entry) {
      const { id, kind, platform, peer } = entry;
      const now = Date.now();
      const known = waiting.get(id);
      if (known) {
        endTyping(known);
        known.activeAt = now;
        return;
      }
      if (kind !== "message" || peer === null || !isChannelId(platform)) return;
      waiting.set(id, { entry, noticeAt: now + slowAfter, activeAt: now, typing: undefined });
      timer ??= setInterval(tick, slowAfter / TICKS_PER_DELAY).unref();
    },

    markShown(entryId) {
      const person = waiting.get(entryId);
      if (person) remove(entryId, person);
    },

    end(entry, willRetry) {
      const person = waiting.get(entry.id);
      if (!person) return;
      if (!willRetry) return remove(entry.id, person);
      endTyping(person);
      person.activeAt = Date.now();
      person.typing = platforms.of(entry.platform)?.typing?.(entry);
    },

    stop() {
      for (const person of waiting.values()) endTyping(person);
      waiting.clear();
      stopTimer();
    },
  };
}

/** Changes nothing; the guard after it fails if the entry was settled, or if something was sent for it. */
const STILL_WAITS_SQL = `UPDATE inbox SET status = status WHERE agent_id = ?1 AND id = ?2 AND status = 'pending'
  AND NOT EXISTS (SELECT 1 FROM outbox WHERE agent_id = ?1 AND id > ?2 AND inbox_id = ?2)`;
