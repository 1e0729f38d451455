// Wire types of the instance's own reports: figures, settings, storage, backups, versions. The console takes its types from
// here, so this file imports nothing of the server.
import { t } from "elysia";
import { FIGURES, type FigureName } from "./figures/figure-names.ts";
import { askedCells, cellQuery } from "./model.ts";

const time = t.String({ description: "ISO 8601" });
const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);
const literals = <const Text extends string>(values: readonly Text[]) =>
  t.Unsafe<Text>(t.Union(values.map((value) => t.Literal(value))));

/** Minutes of a step that `figures` takes. */
export const STEPS = ["1", "5", "15"] as const;

export const figuresQuery = t.Object({
  step: t.Optional(
    t.Unsafe<(typeof STEPS)[number]>(
      t.Union(
        STEPS.map((step) => t.Literal(step)),
        { description: "Minutes of a step. Default 5" },
      ),
    ),
  ),
  ...cellQuery.properties,
});

const series = t.Array(nullable(t.Number()));
const figureSchemas = Object.fromEntries(Object.keys(FIGURES).map((name) => [name, series])) as Record<
  FigureName,
  typeof series
>;

export const figuresResponse = t.Object({
  from: t.String({ description: "ISO 8601: the start of the first step" }),
  stepSeconds: t.Integer(),
  figures: t.Object(figureSchemas, {
    description:
      "One value for each step of the last 24 hours, oldest first; null while the service did not run. Counts are sums of " +
      "a step; latencyMs, oldestMs and lagMs are the worst of it; the others are its last value.",
  }),
  cells: askedCells,
});

export const settingsResponse = t.Object({
  settings: t.Array(
    t.Object({
      name: t.String(),
      value: nullable(t.String({ description: "Masked if it is secret" })),
      source: literals(["environment", ".env file", "default", "not set"]),
      secret: t.Boolean(),
      description: t.String(),
    }),
  ),
  findings: t.Array(t.Object({ name: t.String(), severity: literals(["error", "warning"]), message: t.String() }), {
    description: "What is wrong, as `berth doctor` says it",
  }),
});

const backup = t.Object(
  {
    name: t.String(),
    state: literals(["waiting", "running", "done", "failed"]),
    progress: t.Number({ description: "0 to 1" }),
    bytes: t.Number(),
    createdAt: time,
    error: nullable(t.String()),
  },
  { title: "DatabaseBackup" },
);

export const backupResponse = t.Object({ backup });
export const backupsResponse = t.Object({ backups: t.Array(backup, { description: "Newest first" }) });
export const removedBackupResponse = t.Object({ success: t.Literal(true), name: t.String() });

export const storageResponse = t.Object({
  dataDir: t.String(),
  entries: t.Array(t.Object({ name: t.String(), bytes: t.Number(), files: t.Integer() }), {
    description: "What the data folder holds, the largest first",
  }),
  complete: t.Boolean({ description: "False if there were too many files to measure all" }),
  database: t.Object(
    {
      kind: literals(["file", "server"]),
      bytes: nullable(t.Number()),
      logBytes: nullable(t.Number()),
    },
    { title: "DatabaseSize" },
  ),
  disk: t.Object({ totalBytes: t.Number(), freeBytes: t.Number() }, { title: "DiskSpace" }),
  backups: backupsResponse.properties.backups,
  cells: askedCells,
});

export const versionsResponse = t.Object({
  version: t.String({ description: "Of this program" }),
  bun: t.String(),
  platform: t.String({ description: "Such as linux-x64" }),
  startedAt: time,
  role: t.String(),
  program: t.String({ description: "The command that runs this program" }),
  migration: t.String({ description: "The last change of the database's schema" }),
  runtimes: t.Array(t.Object({ version: t.String(), agents: t.Integer(), available: t.Boolean() }), {
    description: "The versions that agents run",
  }),
  cells: askedCells,
});
