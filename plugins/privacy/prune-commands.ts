// The commands behind `berth prune`: what is older than its time, and the deletion of it in slices, so that the caller can show progress.
import { invalidInput } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { KeptKind, Measured } from "../../src/kernel/retention/kept-kind.ts";
import { DAY, SECOND } from "../../src/kernel/util/time.ts";
import { createPruneRecord } from "./prune-record.ts";

/** A kind of data as the operator sees it. */
export interface KeptReport extends Measured {
  kind: string;
  what: string;
  setting: string | null;
  /** How long it is kept, in ms; null: forever. */
  keepMs: number | null;
  /** What is older than this (epoch ms) goes; null: nothing does. */
  before: number | null;
}

/** Bytes of the database; they change with what is deleted. */
export interface FileSizes {
  /** Of the database's file; null for a server. */
  fileBytes: number | null;
  /** Bytes in the file that earlier deletions have left; new rows take them first. */
  freeBytes: number | null;
}

export interface PruneReport extends FileSizes {
  kinds: KeptReport[];
}

export interface PruneSlice extends FileSizes {
  deleted: number;
  done: boolean;
}

type Args = Readonly<Record<string, string>>;

const SLICE_MS = 2 * SECOND;

export function createPruneCommands(kernel: Pick<Kernel, "retention" | "database" | "audit" | "jobs">) {
  const { retention, database, audit } = kernel;
  const record = createPruneRecord(kernel);

  function requireKinds(text: string): readonly KeptKind[] {
    const all = retention.kinds();
    if (text === "") return all;
    return [...new Set(text.split(",").map((name) => name.trim()))].map((name) => {
      const kind = all.find((one) => one.name === name);
      if (kind) return kind;
      throw invalidInput({ path: "kind", message: `Give one of ${all.map((one) => one.name).join(", ")}.` });
    });
  }

  /** A time of the operator's is only for kinds that have a setting: what has a fixed time has a reason for it. */
  function beforeOf(kind: KeptKind, olderThanMs: number | undefined): number | undefined {
    const keepMs = kind.setting === undefined ? kind.keepMs : (olderThanMs ?? kind.keepMs);
    return keepMs === undefined ? undefined : Date.now() - keepMs;
  }

  /** A kind that is named for a time of the operator's must have a time that can be set. */
  function requireSettable(kinds: readonly KeptKind[]): void {
    const fixed = kinds.filter(({ setting }) => setting === undefined).map(({ name }) => name);
    if (fixed.length === 0) return;
    const settable = retention.kinds().flatMap(({ name, setting }) => (setting === undefined ? [] : name));
    const says = `The time of ${fixed.join(", ")} is fixed, so --older-than can't change it. It can be given for ${settable.join(", ")}.`;
    throw invalidInput({ path: "olderThan", message: says });
  }

  async function fileSizes(): Promise<FileSizes> {
    if (database.file === undefined) return { fileBytes: null, freeBytes: null };
    const value = async (name: string) => Number((await database.read(`PRAGMA ${name}`)).rows[0]?.[0]);
    const size = await value("page_size");
    return { fileBytes: size * (await value("page_count")), freeBytes: size * (await value("freelist_count")) };
  }

  return {
    async "prune.report"({ kinds = "", olderThan }: Args): Promise<PruneReport> {
      const olderThanMs = olderThan === undefined ? undefined : requireAge(olderThan);
      if (olderThanMs !== undefined && kinds !== "") requireSettable(requireKinds(kinds));
      const reports: KeptReport[] = [];
      for (const kind of requireKinds(kinds)) {
        const before = beforeOf(kind, olderThanMs);
        const measured = before === undefined ? { rows: 0, bytes: 0, oldest: undefined } : await kind.measure(before);
        reports.push({
          kind: kind.name,
          what: kind.what,
          setting: kind.setting ?? null,
          keepMs: kind.keepMs ?? null,
          before: before ?? null,
          ...measured,
        });
      }
      return { kinds: reports, ...(await fileSizes()) };
    },

    /** Writes the file anew; other writes wait. */
    async "prune.compact"() {
      const compacted = (await database.compact()) && (await database.truncateLog());
      const target = { kind: "data", id: "database", name: "database" };
      await database.write([audit.record({ action: "data.compact", target, details: { compacted } })]);
      return { compacted, ...(await fileSizes()) };
    },

    /**
     * Deletes for two seconds. Ended in between, nothing is lost: the next slice goes on. The audit log gets the sum of all with the
     * last one, or what was deleted until it was ended; `sofar` is what earlier slices have deleted.
     */
    async "prune.slice"({ kind: name = "", before = "", sofar = "0" }: Args): Promise<PruneSlice> {
      const [kind] = requireKinds(name);
      const time = Number(before);
      if (!kind || name === "" || !Number.isFinite(time) || before === "")
        throw invalidInput({ path: "before", message: "Give a kind and a time." });
      // A fixed time, and that of the audit log, can't be shortened by a caller.
      const latest = beforeOf(kind, kind.setting === undefined ? undefined : 0) ?? 0;
      const signal = AbortSignal.timeout(SLICE_MS);
      const end = Math.min(time, latest);
      const earlier = Number(sofar);
      if (earlier === 0) await record.takeOver(kind.name);
      const ofKind = { kind: kind.name, before: new Date(end).toISOString() };
      const notes: Promise<void>[] = [];
      // One that fails is made good by the next one, or by the entry itself.
      const onProgress = (rows: number) =>
        void notes.push(record.note({ ...ofKind, rows: earlier + rows }).catch(() => undefined));
      const deleted = await retention.deleteBefore(kind, end, { signal, onProgress });
      await Promise.all(notes);
      const [rows, done] = [earlier + deleted, !signal.aborted];
      if (rows > 0 && done) await record.finish({ ...ofKind, rows });
      return { deleted, done, ...(await fileSizes()) };
    },
  };
}

function requireAge(text: string): number {
  const ms = Number(text);
  if (Number.isFinite(ms) && ms >= DAY) return ms;
  throw invalidInput({ path: "olderThan", message: "Give a time of at least 1d." });
}
