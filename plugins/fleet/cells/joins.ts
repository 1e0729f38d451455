// Joins what each cell reports into one report of the whole service.
import type { Static } from "elysia";
import type { Outage } from "../../../src/kernel/telemetry/outages.ts";
import { FIGURES, type FigureName, type Fold } from "../figures/figure-names.ts";
import type { SuddenEnd } from "../instance/runs.ts";
import type { figuresResponse, storageResponse, versionsResponse } from "../instance-model.ts";
import {
  type channelsResponse,
  type jobsResponse,
  MAX_ROWS,
  type providersResponse,
  type usageResponse,
} from "../model.ts";
import type { FleetCounts } from "../reports/counts.ts";
import type { OverviewFacts } from "../reports/overview.ts";
import { addUp, addUpBy, earlier } from "./add-up.ts";
import { joinProviders } from "./join-providers.ts";

type Usage = Static<typeof usageResponse>;
type Providers = Static<typeof providersResponse>;
type Jobs = Static<typeof jobsResponse>;
type Figures = Static<typeof figuresResponse>;
type Storage = Static<typeof storageResponse>;
type Versions = Static<typeof versionsResponse>;
type Channels = Static<typeof channelsResponse>;

/** At least one report, in the order of the cells. */
export type Reports<Report> = readonly [Report, ...Report[]];

const most = (numbers: readonly number[]) => numbers.reduce((one, other) => Math.max(one, other));

function joinCounts(counts: Reports<FleetCounts>): FleetCounts {
  return {
    ...counts.reduce(addUp),
    runtimes: addUpBy(
      counts.flatMap(({ runtimes }) => runtimes),
      ({ version }) => version,
    ),
    undelivered: addUpBy(
      counts.flatMap(({ undelivered }) => undelivered),
      ({ channel }) => channel,
    ),
  };
}

/** An end of all cells at once is one: their times overlap. */
function joinSuddenEnds(ends: readonly SuddenEnd[]): SuddenEnd[] {
  const joined: SuddenEnd[] = [];
  for (const end of ends.toSorted((a, b) => b.backAt - a.backAt)) {
    const later = joined.at(-1);
    if (!later || later.stoppedAt > end.backAt) joined.push({ ...end });
    else {
      later.stoppedAt = Math.min(later.stoppedAt, end.stoppedAt);
      later.resumedTurns += end.resumedTurns;
    }
  }
  return joined;
}

/** A place outside that does not work for several cells is one problem, since the first of them has found it. */
function joinOutages(outages: readonly Outage[]): Outage[] {
  const sorted = outages.toSorted((one, other) => one.since - other.since);
  return [...new Map(sorted.toReversed().map((outage) => [outage.of, outage])).values()].toReversed();
}

/** Cells of one machine share a disk; of several, the fullest is the one to know about. */
function fullestDisk(reports: Reports<{ disk: Storage["disk"] }>): Storage["disk"] {
  const share = ({ freeBytes, totalBytes }: Storage["disk"]) => freeBytes / Math.max(1, totalBytes);
  return reports.map(({ disk }) => disk).reduce((one, other) => (share(other) < share(one) ? other : one));
}

/** Backups are made by cell 0, the first in order. */
export function joinFacts(facts: Reports<OverviewFacts>): OverviewFacts {
  const [first] = facts;
  const flat = facts.map(({ providers }) => providers.map((one) => ({ ...one, recent: one })));
  return {
    ...first,
    counts: joinCounts([first.counts, ...facts.slice(1).map(({ counts }) => counts)]),
    channels: facts.map(({ channels }) => channels).reduce(addUp),
    providers: joinProviders(flat).map(({ recent: { calls, failed }, ...one }) => ({ ...one, calls, failed })),
    isDemo: facts.every(({ isDemo }) => isDemo),
    databaseWorks: facts.every(({ databaseWorks }) => databaseWorks),
    disk: fullestDisk(facts),
    database: facts.map(({ database }) => database).reduce(addUp),
    lagMs: most(facts.map(({ lagMs }) => lagMs)),
    outages: joinOutages(facts.flatMap(({ outages }) => outages)),
    suddenEnds: joinSuddenEnds(facts.flatMap(({ suddenEnds }) => suddenEnds)),
    turns: facts.map(({ turns }) => turns).reduce(addUp),
    streams: facts.map(({ streams }) => streams).reduce(addUp),
    startedAt: facts.map(({ startedAt }) => startedAt).reduce(earlier),
  };
}

/** A cell lists the dearest of its accounts and agents, which are in no other cell. */
export function joinUsage(reports: Reports<Usage>): Usage {
  const [first] = reports;
  const rows = addUpBy(
    reports.flatMap((one) => one.rows),
    ({ key }) => key,
  );
  const sorted =
    first.by === "day"
      ? rows.sort((a, b) => (a.key < b.key ? -1 : 1))
      : rows.sort((a, b) => b.costUsd - a.costUsd || b.calls - a.calls || (a.key < b.key ? -1 : 1)).slice(0, MAX_ROWS);
  return { ...first, total: reports.map(({ total }) => total).reduce(addUp), rows: sorted };
}

/** What a page of the list has beside it. */
export const joinChannelCounts = (pages: Reports<Channels>): Pick<Channels, "counts" | "undelivered"> => ({
  counts: pages.map(({ counts }) => counts).reduce(addUp),
  undelivered: addUpBy(
    pages.flatMap(({ undelivered }) => undelivered),
    ({ channel }) => channel,
  ),
});

const latest = (one: string | null, other: string | null) =>
  other !== null && (one === null || other > one) ? other : one;

export function joinProviderPages(pages: Reports<Providers>): Providers {
  const all = pages.flatMap(({ providers }) => providers);
  const providers = joinProviders(pages.map((page) => page.providers)).map((one) => {
    const same = all.filter(({ id }) => id === one.id);
    const spent = same.map(({ todayUsd, monthUsd }) => ({ todayUsd, monthUsd })).reduce(addUp);
    return {
      ...one,
      ...spent,
      retryAt: same.map(({ retryAt }) => retryAt).reduce(latest),
      models: most(same.map(({ models }) => models)),
    };
  });
  return { providers };
}

/** Each cell gives the newest failed jobs before the cursor, at most `limit`: ids are in the order of time in all cells together. */
export function joinJobs(pages: Reports<Jobs>, limit: number): Jobs {
  const kinds = pages.flatMap((page) => page.kinds);
  const joined = addUpBy(kinds, ({ kind }) => kind).map((one) => {
    const same = kinds.filter(({ kind }) => kind === one.kind);
    return {
      ...one,
      nextAt: same.map(({ nextAt }) => nextAt).reduce(earlier),
      lastError: same.find(({ lastError }) => lastError !== null)?.lastError ?? null,
    };
  });
  const failed = pages.flatMap((page) => page.failed).sort((a, b) => (a.id < b.id ? 1 : -1));
  const page = failed.slice(0, limit);
  const hasMore = failed.length > limit || pages.some(({ next }) => next !== null);
  return {
    kinds: joined.sort((a, b) => (a.kind < b.kind ? -1 : 1)),
    queues: pages.map(({ queues }) => queues).reduce(addUp),
    failed: page,
    next: hasMore ? (page.at(-1)?.id ?? null) : null,
  };
}

const FOLDS: Readonly<Record<FigureName, Fold>> = FIGURES;

function joinValues(fold: Fold, values: readonly (number | null | undefined)[]): number | null {
  const known = values.filter((value) => typeof value === "number");
  if (known.length === 0) return null;
  return fold === "max" ? most(known) : known.reduce(addUp);
}

/** Cells that were asked at the turn of a step may have another first step. Values of one step are added up, or the worst counts. */
export function joinFigures(reports: Reports<Figures>): Figures {
  const [first] = reports;
  const from = Date.parse(first.from);
  const at = (report: Figures, name: FigureName, step: number) =>
    report.figures[name][step + Math.round((from - Date.parse(report.from)) / 1000 / first.stepSeconds)];
  const names = Object.keys(FIGURES) as FigureName[];
  const series = names.map((name) => [
    name,
    first.figures[name].map((_, step) =>
      joinValues(
        FOLDS[name],
        reports.map((report) => at(report, name, step)),
      ),
    ),
  ]);
  return { ...first, figures: Object.fromEntries(series) as Figures["figures"] };
}

/** On one machine, the folder of the other cells lies in that of cell 0: what it holds is counted where it is used. */
const CELLS_FOLDER = "cells/";

export function joinStorage(reports: Reports<Storage>): Storage {
  const [first] = reports;
  const entries = reports.flatMap((one) => one.entries).filter(({ name }) => name !== CELLS_FOLDER);
  return {
    ...first,
    entries: addUpBy(entries, ({ name }) => name).sort((a, b) => b.bytes - a.bytes),
    complete: reports.every(({ complete }) => complete),
    database: reports.map(({ database }) => database).reduce(addUp),
    disk: fullestDisk(reports),
  };
}

export function joinVersions(reports: Reports<Versions>): Versions {
  const runtimes = reports.flatMap((one) => one.runtimes);
  return { ...reports[0], runtimes: addUpBy(runtimes, ({ version }) => version).sort((a, b) => b.agents - a.agents) };
}
