// Opens and closes the cell of a cluster on this machine: as on a machine alone, but with its log, its files and its grace.
import type { ClusterFigures } from "../../cluster/figures.ts";
import type { ServedCell } from "../../cluster/ownership/cell.ts";
import type { Replicate } from "../../cluster/ownership/writing.ts";
import type { RtmpPipe } from "../../cluster/relay/rtmp-pipe.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { SharedFiles } from "../../kernel/files.ts";
import type { KernelSeams } from "../../kernel/kernel.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import { type CellOptions, type OpenCell, openCell } from "../service/cell.ts";
import { runAll } from "../service/run-all.ts";
import { createLoad } from "./load.ts";
import { quietWhenMoved } from "./quiet-log.ts";

/** Milliseconds that turns in flight get when a cell moves: the next owner begins those anew that did not end. */
export const HAND_OVER_MS = 2_000;

/** Milliseconds for requests that were sent before their sender knew of the move: they are told to go elsewhere, and not cut off. */
export const LATE_REQUESTS_MS = 300;

export interface ClusterCellDeps {
  options: CellOptions;
  log: Log;
  files: SharedFiles;
  figures: ClusterFigures;
  /** Open as long as the cell is not here, whose streams listen on the same port. */
  video: RtmpPipe;
  /** Requests that the cell handles. */
  inFlight(): number;
  /** Whether no other node may have the cell. */
  isTrusted(): boolean;
  /** What the cell knows of the others. */
  cells: NonNullable<KernelSeams["cells"]>;
  /** Called whenever the cell is open, and its result before it is closed. */
  onOpen(cell: OpenCell): () => void;
}

export interface ClusterCell {
  /** Undefined while it is not open, and from the moment when its close begins. */
  readonly current: OpenCell | undefined;
  readonly load: ReturnType<typeof createLoad>;
  open(replicate: Replicate): Promise<ServedCell>;
}

export function createClusterCell(deps: ClusterCellDeps): ClusterCell {
  const { options, log, files, figures, video, inFlight, isTrusted, cells, onOpen } = deps;
  const load = createLoad();
  let current: OpenCell | undefined;
  /** Of each step of the end: turns, requests, jobs, sends. None is left once another node has the cell. */
  let graceMs = () => HAND_OVER_MS;

  async function untilIdle(grace: number): Promise<void> {
    const deadline = performance.now() + grace;
    while (inFlight() > 0 && performance.now() < deadline) await Bun.sleep(10);
  }

  return {
    get current() {
      return current;
    },
    load,
    async open(replicate) {
      const whole = Math.min(options.config.shutdownGraceMs, HAND_OVER_MS);
      // One that is lost while it is opened ends at once what it has begun.
      graceMs = () => (isTrusted() ? whole : 0);
      await video.close();
      let cell: OpenCell;
      try {
        cell = await openCell({
          ...options,
          config: withGrace(options.config, () => graceMs()),
          seams: { log: quietWhenMoved(log), replicate, files, cells, onMetrics: figures.register },
        });
      } catch (error) {
        await video.open();
        throw error;
      }
      current = cell;
      load.begin(cell.kernel);
      const ends = onOpen(cell);
      return {
        async close(grace) {
          load.end();
          ends();
          graceMs = () => (isTrusted() ? grace : 0);
          current = undefined;
          await runAll([
            () => cell.app.stop(),
            () => untilIdle(grace),
            () => cell.kernel.jobs.stop(graceMs()),
            () => cell.kernel.close(),
            () => video.open(),
          ]);
        },
      };
    },
  };
}

/** The same settings, with a grace that depends on why the cell ends. */
const withGrace = (config: Config, graceMs: () => number): Config => ({
  ...config,
  get shutdownGraceMs() {
    return graceMs();
  },
  get sendGraceMs() {
    return graceMs();
  },
});
