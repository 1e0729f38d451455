// Joins the cluster for one cell: connects to the engine, and follows or owns the cell in this process.
import { dirname } from "node:path";
import { version } from "../../../package.json";
import { sweepUnowned } from "../../cluster/accounts/parcels.ts";
import { EngineUnavailable } from "../../cluster/engine.ts";
import { type ClusterFigures, createClusterFigures } from "../../cluster/figures.ts";
import { filesOfCell } from "../../cluster/files/blobs-under.ts";
import { keepAll } from "../../cluster/files/keep-all.ts";
import { createSharedFiles } from "../../cluster/files/shared-files.ts";
import { openNatsEngine } from "../../cluster/nats/nats-engine.ts";
import { type ClusterNode, type NodeOptions, startNode } from "../../cluster/node.ts";
import { clusterSettings } from "../../cluster/settings.ts";
import { ensureWritable } from "../../kernel/database/local-engine.ts";
import { StartError } from "../../kernel/errors.ts";
import { createVault } from "../../kernel/security/vault.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import { HOUR } from "../../kernel/util/time.ts";
import { programCommand } from "../backups/backup-process.ts";
import { foldersOfCells } from "../cells/folders.ts";
import type { CellOptions, OpenCell } from "../service/cell.ts";
import { requireClusterKey, requireOwnAddress } from "./admission.ts";
import { type ClusterCellDeps, createClusterCell, HAND_OVER_MS } from "./cluster-cell.ts";
import { migrationNames } from "./migration-names.ts";
import { createVideoPipe } from "./video-pipe.ts";

export interface ClusterNodeDeps
  extends Pick<NodeOptions, "cell" | "target" | "stuck" | "reachWords" | "isUnreachable" | "isAble">,
    Pick<ClusterCellDeps, "cells" | "inFlight" | "onOpen"> {
  options: CellOptions;
  log: Log;
}

export interface OpenClusterNode {
  readonly node: ClusterNode;
  readonly figures: ClusterFigures;
  /** The cell, while no other node may have it. */
  here(): OpenCell | undefined;
  /** The address of another node that owns a cell. */
  otherOwner(cell: number): string | undefined;
  /** Of the cell, while it is here. */
  load(): { agents: number; turnsPerSecond: number };
  /** Takes live video for the owner, if that is another node. */
  openVideo(): Promise<void>;
  /** Gives the cell to another node. */
  handOver(): Promise<void>;
  close(): Promise<void>;
}

const ANSWER_MS = 15_000;
const AGAIN_MS = 250;

/** Repeats what NATS does not answer yet. Throws `StartError` after 15 seconds. */
async function untilAnswered(work: () => Promise<void>): Promise<void> {
  for (const end = performance.now() + ANSWER_MS; ; await Bun.sleep(AGAIN_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EngineUnavailable)) throw error;
      if (performance.now() > end) throw new StartError(`NATS does not answer: ${error.message}`, { cause: error });
    }
  }
}

/** Throws `StartError` if the engine can't be used, or the database is not the cluster's. */
export async function openClusterNode(deps: ClusterNodeDeps): Promise<OpenClusterNode> {
  const { options, log, cell } = deps;
  const { config, env } = options;
  const { url, address } = config.of(clusterSettings);
  const { file } = config.database;
  const key = config.secretKey;
  if (url === undefined || address === undefined || file === undefined || key === undefined)
    throw new StartError("CLUSTER_URL needs NODE_ADDRESS, SECRET_KEY and a database in a file.");
  for (const folder of [config.dataDir, dirname(file)]) ensureWritable(folder);
  for (const secret of config.secrets) log.redactSecret(secret, "always");
  const figures = createClusterFigures();
  const engine = await openNatsEngine({
    address: url,
    name: `berth ${address} ${cell}`,
    onEnded(error) {
      log.error("the connection to NATS has ended for good: this process ends, and has to be started again", { error });
      process.exit(1);
    },
  });
  if (engine.servers < 3 && cell === 0)
    log.warn("NATS has fewer than three servers: if one fails, nothing can be written", { servers: engine.servers });

  try {
    if (cell === 0) {
      const vault = createVault({ key, previous: config.secretKeyPrevious });
      // Servers that have just started may have no leader for a table yet.
      await untilAnswered(() => requireClusterKey(engine, vault));
      await untilAnswered(() => requireOwnAddress(engine, address));
    }
  } catch (error) {
    await engine.close();
    throw error;
  }

  let node: ClusterNode | undefined;
  const otherOwner = (of: number) => {
    const found = node?.ownerOf(of);
    return found === address ? undefined : found;
  };
  const blobs = filesOfCell(await engine.blobs("files"), cell);
  const video = createVideoPipe({ config, owner: () => otherOwner(cell), log });
  const opened = createClusterCell({
    ...deps,
    files: createSharedFiles({ blobs, dataDir: config.dataDir, log }),
    figures,
    video,
    isTrusted: () => node?.isTrusted() ?? true,
  });
  /**
   * Deletes what processes have left that ended: in the store parts of files, for which one machine looks for all, and on this machine's
   * disk parcels of moves. They are personal data, and of no use once the account has arrived elsewhere.
   */
  function sweep(): void {
    if (cell === 0 && node?.phase === "owning")
      void blobs.sweep().catch((error: unknown) => log.debug("interrupted files could not be swept", { error }));
    try {
      if (!opened.current) sweepUnowned(config.dataDir, file as string);
    } catch (error) {
      log.debug("parcels of moves that are over could not be deleted", { error });
    }
  }
  sweep();
  const sweeping = setInterval(sweep, HOUR);
  sweeping.unref();
  try {
    const started = await startNode({
      engine,
      cell,
      leastCount: Math.max(cell, ...foldersOfCells(config)) + 1,
      address,
      version,
      file,
      knownMigrations: migrationNames,
      log,
      figures,
      open: opened.open,
      load: opened.load.read,
      graceMs: HAND_OVER_MS,
      program: { command: programCommand(), env },
      keepFiles: () => keepAll(config.dataDir, blobs),
      ...(deps.target && { target: deps.target }),
      ...(deps.stuck && { stuck: deps.stuck }),
      ...(deps.reachWords && { reachWords: deps.reachWords }),
      ...(deps.isUnreachable && { isUnreachable: deps.isUnreachable }),
      ...(deps.isAble && { isAble: deps.isAble }),
    });
    node = started;
    return {
      node: started,
      figures,
      here: () => (started.isTrusted() ? opened.current : undefined),
      otherOwner,
      load: opened.load.read,
      openVideo: async () => void (otherOwner(cell) !== undefined && (await video.open())),
      async handOver() {
        await started.handOver();
        await video.close();
      },
      async close() {
        clearInterval(sweeping);
        await started.stop();
        await engine.close();
      },
    };
  } catch (error) {
    clearInterval(sweeping);
    await engine.close();
    throw error;
  }
}
