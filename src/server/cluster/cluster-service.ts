// Serves this machine's part of a cluster: the cell while it is owned here, and the way to its owner otherwise.
import { dirname } from "node:path";
import { version } from "../../../package.json";
import { createClusterFigures } from "../../cluster/figures.ts";
import { keepAll } from "../../cluster/files/keep-all.ts";
import { createSharedFiles } from "../../cluster/files/shared-files.ts";
import { openNatsEngine } from "../../cluster/nats/nats-engine.ts";
import { type ClusterNode, startNode } from "../../cluster/node.ts";
import { createRelayGrants } from "../../cluster/relay/grants.ts";
import { createRouter } from "../../cluster/relay/router.ts";
import { clusterSettings } from "../../cluster/settings.ts";
import { ensureWritable } from "../../kernel/database/local-engine.ts";
import { errorBody } from "../../kernel/error-body.ts";
import { StartError } from "../../kernel/errors.ts";
import { createVault } from "../../kernel/security/vault.ts";
import { createLog } from "../../kernel/telemetry/log.ts";
import { programCommand } from "../backups/backup-process.ts";
import { createBell } from "../service/bell.ts";
import { type CellOptions, findFirstAdmin, type OpenCell } from "../service/cell.ts";
import type { Service } from "../service/service.ts";
import { createClusterCell, HAND_OVER_MS } from "./cluster-cell.ts";
import { migrationNames } from "./migration-names.ts";
import { createNodeRoutes } from "./node-routes.ts";
import { createVideoPipe } from "./video-pipe.ts";

/** Milliseconds for which the start waits for an owner. */
const START_WAIT_MS = 20_000;
const LOOK_MS = 250;
/** Compares the copies of the cell. */
const CHECK_COMMAND = "cluster.check";

export async function openClusterService(options: CellOptions): Promise<Service> {
  const { config, env } = options;
  const { url, address } = config.of(clusterSettings);
  const { file } = config.database;
  const key = config.secretKey;
  if (url === undefined || address === undefined || file === undefined || key === undefined)
    throw new StartError("CLUSTER_URL needs NODE_ADDRESS, SECRET_KEY and a database in a file.");
  for (const folder of [config.dataDir, dirname(file)]) ensureWritable(folder);
  const log = createLog(config.log);
  for (const secret of config.secrets) log.redactSecret(secret, "always");
  const figures = createClusterFigures();
  const engine = await openNatsEngine({ address: url, name: `berth ${address}` });
  if (engine.servers < 3)
    log.warn("NATS has fewer than three servers: if one fails, nothing can be written", { servers: engine.servers });

  let node: ClusterNode | undefined;
  /** Of another node. */
  const owner = () => {
    const found = node?.owner();
    return found === address ? undefined : found;
  };
  const blobs = await engine.blobs("files");
  const video = createVideoPipe({ config, owner, log });
  const cell = createClusterCell({
    options,
    log,
    files: createSharedFiles({ blobs, dataDir: config.dataDir, log }),
    figures,
    video,
    inFlight: () => router.inFlight,
  });
  /** The cell, while nobody else may have it. */
  const here = () => (node?.isTrusted() ? cell.current : undefined);
  const changes = createBell();
  const router = createRouter({
    address,
    grants: createRelayGrants(createVault({ key, previous: config.secretKeyPrevious })),
    local: () => here()?.app,
    owner,
    own: createNodeRoutes({
      config,
      figures,
      state: () => ({ isTrusted: node?.isTrusted() ?? false, isHere: here() !== undefined, owner: node?.owner() }),
    }),
    command: (request) => answerCommand(here(), request),
    onRelayed: () => figures.count("relayed"),
    changed: changes.wait,
  });

  const runHere = async (open: OpenCell, name: string, args: Readonly<Record<string, string>>): Promise<unknown> =>
    name === CHECK_COMMAND ? node?.check() : open.runCommand(name, args);

  /** Answers a command that came to another node; undefined without the cell. */
  async function answerCommand(open: OpenCell | undefined, request: Request): Promise<Response | undefined> {
    if (!open) return undefined;
    try {
      const { name, args } = (await request.json()) as { name: string; args: Record<string, string> };
      return Response.json(await runHere(open, name, args));
    } catch (error) {
      const { status, body } = errorBody(error);
      return Response.json(body, { status });
    }
  }

  try {
    node = await startNode({
      engine,
      address,
      version,
      file,
      knownMigrations: migrationNames,
      log,
      figures,
      open: cell.open,
      load: cell.load.read,
      graceMs: HAND_OVER_MS,
      program: { command: programCommand(), env },
      keepFiles: () => keepAll(config.dataDir, blobs),
    });
    node.onChange(changes.ring);
    const deadline = performance.now() + START_WAIT_MS;
    while (!here() && owner() === undefined && performance.now() < deadline) await changes.wait(LOOK_MS);
    if (owner() !== undefined) await video.open();
  } catch (error) {
    await engine.close();
    throw error;
  }

  const open = here();
  return {
    log,
    web: router.web,
    backend: router.backend,
    runCommand(name, args) {
      const found = here();
      return found ? runHere(found, name, args) : router.runCommand(name, args);
    },
    defaultModel: async () => here()?.app.defaultModel(),
    place() {
      if (here()) return "this machine owns the cell";
      const other = owner();
      if (other === undefined) return "no machine owns the cell yet";
      return `${new URL(other).host} owns the cell; this machine is ready to take it over`;
    },
    firstAdmin: open ? await findFirstAdmin(open.app) : { kind: "exists" },
    peers: () => node?.hosts() ?? [],
    async handOver() {
      await node?.stop();
      await video.close();
    },
    stop: async () => undefined,
    stopJobs: async () => undefined,
    close: () => engine.close(),
  };
}
