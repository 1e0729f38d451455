// Runs `berth prune`: shows what is older than its time, and deletes it, beside the service or without it.
import type { KeptReport, PruneReport, PruneSlice } from "../../../../plugins/privacy/index.ts";
import { environment } from "../../../kernel/config/config.ts";
import { parseDuration } from "../../../kernel/config/parsers.ts";
import { count } from "../../../kernel/util/text/count.ts";
import { DAY } from "../../../kernel/util/time.ts";
import { loadAllSettings } from "../../settings.ts";
import { UsageError } from "../options.ts";
import { type SendCommand, withCommands } from "../run-command.ts";
import { cellsOfService } from "./cells-of-service.ts";
import { table } from "./table.ts";

interface PruneFlags {
  dryRun: boolean;
  /** Also writes the file anew, smaller. */
  compact: boolean;
  olderThan: string | undefined;
  asJson: boolean;
}

/** @param kinds those of the operator's choice; none: all */
export async function pruneCommand(kinds: readonly string[], flags: PruneFlags): Promise<number> {
  if (flags.compact && flags.dryRun)
    throw new UsageError(
      "prune --dry-run only shows what there is, and --compact writes the database anew: leave one out.",
    );
  const olderThan = flags.olderThan === undefined ? undefined : ageOf(flags.olderThan);
  const config = loadAllSettings(environment());
  const args = { kinds: kinds.join(","), ...(olderThan !== undefined && { olderThan: String(olderThan) }) };
  return withCommands(config, async (send) => {
    const cells = await cellsOfService(config, send);
    const reports: PruneReport[] = [];
    const deleted = new Map<string, number>();
    let compactedBytes = 0;
    for (const cell of cells) {
      const ofCell: SendCommand = (name, more) => send(name, cells.length > 1 ? { ...more, cell: String(cell) } : more);
      const report = (await ofCell("prune.report", args)) as PruneReport;
      reports.push(report);
      if (!flags.dryRun) await deleteAll(ofCell, report, deleted, flags.asJson);
      if (!flags.compact) continue;
      const before = report.fileBytes ?? 0;
      Object.assign(report, await ofCell("prune.compact", {}));
      compactedBytes += before - (report.fileBytes ?? 0);
    }
    process.stdout.write(
      flags.asJson
        ? toJson(reports, flags.dryRun, deleted)
        : toText(reports, flags.dryRun, deleted, flags.compact ? compactedBytes : undefined),
    );
    return 0;
  });
}

function ageOf(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= DAY) return ms;
  throw new UsageError(`--older-than is a time of at least 1d, such as 90d, not "${text}".`);
}

async function deleteAll(send: SendCommand, report: PruneReport, deleted: Map<string, number>, isQuiet: boolean) {
  for (const { kind, before } of report.kinds) {
    if (before === null) continue;
    // Each cell records its own rows.
    let inCell = 0;
    for (let done = false; !done; ) {
      const args = { kind, before: String(before), sofar: String(inCell) };
      const slice = (await send("prune.slice", args)) as PruneSlice;
      done = slice.done;
      inCell += slice.deleted;
      deleted.set(kind, (deleted.get(kind) ?? 0) + slice.deleted);
      Object.assign(report, { fileBytes: slice.fileBytes, freeBytes: slice.freeBytes });
      if (!done && !isQuiet) process.stderr.write(`${kind}: ${count(deleted.get(kind) ?? 0, "row")} so far\n`);
    }
  }
}

/** The sums over all cells. */
function summed(reports: readonly PruneReport[]): KeptReport[] {
  const [first, ...others] = reports;
  return (first?.kinds ?? []).map((kind) =>
    others.reduce((sum, { kinds }) => {
      const more = kinds.find((one) => one.kind === kind.kind);
      if (!more) return sum;
      const oldest = [sum.oldest, more.oldest].filter((at) => at !== undefined);
      const total = { rows: sum.rows + more.rows, bytes: sum.bytes + more.bytes };
      return Object.assign(sum, total, { oldest: oldest.length === 0 ? undefined : Math.min(...oldest) });
    }, kind),
  );
}

const sumOf = (reports: readonly PruneReport[], name: "fileBytes" | "freeBytes") =>
  reports.reduce((sum, report) => sum + (report[name] ?? 0), 0);

function toJson(reports: readonly PruneReport[], dryRun: boolean, deleted: ReadonlyMap<string, number>): string {
  const kinds = summed(reports).map((kind) => ({
    ...kind,
    before: kind.before === null ? null : new Date(kind.before).toISOString(),
    oldest: kind.oldest === undefined ? null : new Date(kind.oldest).toISOString(),
    ...(!dryRun && { deleted: deleted.get(kind.kind) ?? 0 }),
  }));
  const sizes = { fileBytes: sumOf(reports, "fileBytes"), freeBytes: sumOf(reports, "freeBytes") };
  return `${JSON.stringify({ dryRun, kinds, ...sizes }, null, 2)}\n`;
}

/** @param compactedBytes by how much the file was made smaller; undefined: it was not written anew */
function toText(
  reports: readonly PruneReport[],
  dryRun: boolean,
  deleted: ReadonlyMap<string, number>,
  compactedBytes: number | undefined,
): string {
  const rows = summed(reports).map(({ kind, what, setting, keepMs, rows, bytes, oldest, before }) => [
    kind,
    keepMs === null ? "forever" : `${Math.round(keepMs / DAY)}d`,
    setting ?? "fixed",
    before === null ? "" : String(rows),
    oldest === undefined ? "" : new Date(oldest).toISOString().slice(0, 10),
    bytes === 0 ? "" : mebibytes(bytes),
    ...(dryRun ? [] : [String(deleted.get(kind) ?? "")]),
    what,
  ]);
  const head = ["KIND", "KEPT FOR", "SETTING", "OLDER", "OLDEST", "SIZE", ...(dryRun ? [] : ["DELETED"]), "WHAT"];
  const [file, free] = [sumOf(reports, "fileBytes"), sumOf(reports, "freeBytes")];
  const shrunk =
    compactedBytes === undefined ? "" : ` after it was written anew, ${mebibytes(compactedBytes)} less than before`;
  const space =
    file === 0
      ? ""
      : `\nThe database has ${mebibytes(file)}${shrunk}, of which ${mebibytes(free)} are free and are filled before it grows.\n`;
  return `${table([head, ...rows])}${space}${dryRun ? "Nothing was deleted.\n" : ""}`;
}

const mebibytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
