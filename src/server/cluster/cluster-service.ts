// Serves this machine's part of a cluster. The first process has the router and, while this machine owns it, cell 0; each other
// cell that the machine owns or follows has a process of its own.

import { keysOfRequest } from "../../cluster/accounts/request-keys.ts";
import { createCellCalls } from "../../cluster/cells/cell-calls.ts";
import { remoteDirectory } from "../../cluster/cells/remote-directory.ts";
import { type Reach, watchReach } from "../../cluster/ownership/reach.ts";
import { createRelayGrants } from "../../cluster/relay/grants.ts";
import type { Place } from "../../cluster/relay/place.ts";
import { createRouter } from "../../cluster/relay/router.ts";
import { clusterSettings } from "../../cluster/settings.ts";
import { StartError } from "../../kernel/errors.ts";
import { createVault } from "../../kernel/security/vault.ts";
import { createLog } from "../../kernel/telemetry/log.ts";
import { accountQuestions, createCellCommands } from "../cells/cell-commands.ts";
import { type BegunFirstCell, createFirstCell } from "../cells/first-cell.ts";
import { memberProgram } from "../cells/member-program.ts";
import { createBell } from "../service/bell.ts";
import { type CellOptions, findFirstAdmin } from "../service/cell.ts";
import { runAll } from "../service/run-all.ts";
import type { Service } from "../service/service.ts";
import { LATE_REQUESTS_MS } from "./cluster-cell.ts";
import { type OpenClusterNode, openClusterNode } from "./cluster-node.ts";
import { type MemberProcesses, startMemberProcesses } from "./member-processes.ts";
import { createNodeRoutes, createOwnerWatch } from "./node-routes.ts";
import { createProbe, reachReports } from "./reach-reports.ts";

/** Milliseconds for which the start waits for an owner. */
const START_WAIT_MS = 20_000;
const LOOK_MS = 250;
/** Compares the copies of a cell. */
const CHECK_COMMAND = "cluster.check";

export async function openClusterService(options: CellOptions): Promise<Service> {
  const { config } = options;
  const { address } = config.of(clusterSettings);
  const key = config.secretKey;
  if (address === undefined || key === undefined)
    throw new StartError("CLUSTER_URL needs NODE_ADDRESS and SECRET_KEY.");
  const log = createLog(config.log);
  const clocks = { self: address, clockOf: (node: string) => opened?.node.clockOf(node) };
  const otherKey = config.secretKeyPrevious;
  const other = otherKey === undefined ? undefined : createVault({ key: otherKey });
  const grants = createRelayGrants(createVault({ key }), clocks, other);
  const changes = createBell();
  let opened: OpenClusterNode | undefined;
  let members: MemberProcesses | undefined;
  let reach: Reach | undefined;
  let inFlight: () => number = () => 0;
  /** Calls cell 0, while it is here. */
  let first: BegunFirstCell | undefined;
  const count = () => opened?.node.count() ?? 1;
  const here = () => opened?.here();

  const calls = createCellCalls({
    local: (cell) => (cell === 0 ? here() && first?.call : members?.find(cell)?.call),
    node: (cell) => opened?.otherOwner(cell),
    grants,
    changed: changes.wait,
  });
  const firstCell = createFirstCell({
    count,
    call: calls.call,
    async closed(cell) {
      await calls.call(cell, "dropHistory");
      await opened?.node.closeCell(cell);
    },
    log,
  });

  function placeOf(cell: number): Place | undefined {
    const open = cell === 0 ? here() : undefined;
    if (open && first) return { kind: "here", surfaces: first.surfaces };
    const member = members?.find(cell);
    if (member) return { kind: "process", address: member.address };
    const owner = opened?.otherOwner(cell);
    return owner === undefined ? undefined : { kind: "node", address: owner };
  }

  opened = await openClusterNode({
    options,
    cell: 0,
    log,
    stuck: () => members?.stuck() ?? [],
    reachWords: () => reach?.words() ?? {},
    isUnreachable: () => reach?.isUnreachable ?? false,
    cells: firstCell.cells,
    inFlight: () => inFlight(),
    onOpen(cell) {
      const begun = firstCell.begin(cell, { check: () => opened?.node.check() });
      first = begun;
      return () => {
        begun.end();
        first = undefined;
      };
    },
  });
  const { node, figures, openVideo, handOver, close } = opened;
  const questions = accountQuestions(calls.call);
  const ownerWatch = createOwnerWatch(() => node.ownerOf(0) !== undefined);
  const router = createRouter({
    address,
    count,
    agentsDomain: config.agentsDomain,
    grants,
    placeOf,
    own: createNodeRoutes({
      config,
      figures,
      count,
      state: () => ({ isTrusted: node.isTrusted(), isHere: here() !== undefined, hasOwner: ownerWatch.hasOwner() }),
    }),
    call: calls.answer,
    movedTo: (cell, request) => questions.whereabouts(cell, keysOfRequest(request, config.agentsDomain)),
    onRelayed: () => figures.count("relayed"),
    changed: changes.wait,
  });
  inFlight = () => router.inFlight;
  node.onChange(changes.ring);
  node.onChange(ownerWatch.look);
  members = startMemberProcesses({
    node,
    address,
    program: (cell) => memberProgram(options, key, cell, cell + 1),
    handlers: {
      cell: ({ to, name, args, waitMs }: { to: number; name: string; args: unknown; waitMs?: number }) =>
        calls.call(to, name, args, waitMs),
    },
    isUnreachable: () => reach?.isUnreachable ?? false,
    graceMs: config.shutdownGraceMs,
    log,
    onChange: changes.ring,
  });
  const { pidOf, observe, stop: stopMembers } = members;
  figures.watch(() => {
    const [own, others] = [node.observe(), observe()];
    return {
      ...own,
      owned: own.owned + others.owned,
      stuck: own.stuck + others.stuck,
      behind: Math.max(own.behind, others.behind),
      isUnreachable: reach?.isUnreachable ?? false,
    };
  });
  const deadline = performance.now() + START_WAIT_MS;
  while (!here() && opened.otherOwner(0) === undefined && performance.now() < deadline) await changes.wait(LOOK_MS);
  await openVideo();

  const commands = createCellCommands({
    count,
    firstCell,
    pidOf: (cell) => (cell === 0 ? here() && process.pid : pidOf(cell)),
    directory: remoteDirectory(calls.call),
    ...questions,
    runIn: (cell, name, args) => calls.call(cell, "command", { name, args }),
  });
  const open = here();
  let givenAway: Promise<void> | undefined;
  function giveAway(): Promise<void> {
    reach?.stop();
    givenAway ??= runAll([() => Promise.all([stopMembers(), handOver()]), () => Bun.sleep(LATE_REQUESTS_MS)]);
    return givenAway;
  }
  const isHeirless = () => !node.alive().some((one) => one.address !== address && !one.isDraining);
  return {
    log,
    web: router.web,
    backend: router.backend,
    runCommand(name, args) {
      if (name === CHECK_COMMAND) return calls.call(Number(args.cell ?? 0), "check");
      // With one cell, an answer is as that of a machine alone.
      return count() === 1 && name !== "cells.list" ? calls.call(0, "command", { name, args }) : commands(name, args);
    },
    defaultModel: async () => here()?.app.defaultModel(),
    place() {
      const owned = node.observe().owned + observe().owned;
      if (count() > 1) return `${count()} cells, of which this machine owns ${owned === 0 ? "none yet" : owned}`;
      if (here()) return "this machine owns the cell";
      const other = opened.otherOwner(0);
      if (other === undefined) return "no machine owns the cell yet";
      const isStandby = node.entries().get(0)?.standby === address;
      return `${new URL(other).host} owns the cell; this machine ${isStandby ? "follows it" : "sends requests on to it"}`;
    },
    firstAdmin: open ? await findFirstAdmin(open.app) : { kind: "exists" },
    peers: () => node.alive().map((one) => new URL(one.address).hostname.replace(/^\[|\]$/g, "")),
    handOver: giveAway,
    // Before requests are held: what another machine sends on must not wait here for a cell that is there by now.
    prepareHandOver: async () => (isHeirless() ? undefined : giveAway()),
    opened() {
      reach = watchReach({ address, alive: node.alive, probe: createProbe(grants), ...reachReports(log, address) });
    },
    stop: async () => router.endStreams(),
    stopJobs: async () => undefined,
    async close() {
      reach?.stop();
      await close();
    },
  };
}
