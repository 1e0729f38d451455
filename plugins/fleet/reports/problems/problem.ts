// Defines what a problem of the instance is, and the facts from which problems are found.

import type { Outage } from "../../../../src/kernel/telemetry/outages.ts";
import type { ProviderReport } from "../../../ai/index.ts";
import type { FleetState } from "../../../channels/index.ts";
import type { SuddenEnd } from "../../instance/runs.ts";
import type { SettingFinding } from "../../instance/settings-report.ts";
import type { FleetCounts } from "../counts.ts";

export interface Problem {
  /** For translations; `values` has the numbers and names of the texts. */
  code: string;
  severity: "error" | "warning" | "info";
  message: string;
  action: string;
  /** The console's page about it. */
  link: string;
  values: Record<string, string | number>;
}

export interface ProblemFacts {
  now: number;
  counts: FleetCounts;
  channels: Readonly<Record<FleetState, number>>;
  providers: readonly ProviderReport[];
  isDemo: boolean;
  databaseWorks: boolean;
  /** Undefined if the database is on a server, which makes its own backups. */
  backups:
    | {
        newestAt: number | undefined;
        databaseCreatedAt: number;
        /** Of the latest backup, if it failed. */
        failure: { at: number; error: string } | undefined;
        /** Since when the schedule's backup is missing. */
        lateSince: number | undefined;
        /** The continuous copy, if there is one. */
        copy?: { lateSince: number | undefined; problem: string | undefined; needsBackup: boolean } | undefined;
      }
    | undefined;
  disk: { freeBytes: number; totalBytes: number };
  settings: readonly SettingFinding[];
  /** The worst delay of a timer in the last minutes, in ms. */
  lagMs: number;
  /** Of the last day, newest first. */
  suddenEnds: readonly SuddenEnd[];
  outages: readonly Outage[];
}

export const percent = (share: number) => Math.round(share * 100);
