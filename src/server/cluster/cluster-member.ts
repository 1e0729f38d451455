// Serves a cell of a cluster other than the first, in a process of its own: it owns the cell, follows it, or waits.
import { cellMoved, isOfLostCell } from "../../cluster/away.ts";
import type { CallHandlers } from "../../cluster/cells/calls.ts";
import { createCellNames } from "../../cluster/cells/cell-names.ts";
import { remoteDirectory } from "../../cluster/cells/remote-directory.ts";
import { createRelayGrants } from "../../cluster/relay/grants.ts";
import { StartError } from "../../kernel/errors.ts";
import { createVault } from "../../kernel/security/vault.ts";
import { createLog } from "../../kernel/telemetry/log.ts";
import { createCellSide } from "../cells/cell-side.ts";
import { createMemberSurface } from "../cells/member-surface.ts";
import { type OpenAccounts, openAccounts } from "../cells/open-accounts.ts";
import type { ParentLink } from "../cells/parent-link.ts";
import type { CellOptions } from "../service/cell.ts";
import type { Service } from "../service/service.ts";
import { LATE_REQUESTS_MS } from "./cluster-cell.ts";
import { type OpenClusterNode, openClusterNode } from "./cluster-node.ts";

/** What the process of a cell tells the first process of its machine. */
export interface MemberReport {
  owns: boolean;
  /** Entries of the log that its copy has still to apply. */
  behind: number;
  /** It should follow its cell and can't. */
  isStuck: boolean;
}

/** What the first process tells that of a cell, twice a second. */
export interface MemberOrder {
  /** The node that is to own the cell. */
  target: string | null;
  /** No other machine reaches this one. */
  isUnreachable: boolean;
}

/**
 * Milliseconds without word from the first process, through which all requests come, until the lease is not renewed any more. With
 * what is left of it, another machine takes over as soon as if this process had ended.
 */
const SILENCE_MS = 1_500;

export async function openClusterMember(options: CellOptions, link: ParentLink): Promise<Service> {
  const { config } = options;
  const { cell } = link;
  const key = config.secretKey;
  if (key === undefined) throw new StartError("A cell needs SECRET_KEY.");
  const log = createLog(config.log).child({ cell });
  const directory = remoteDirectory(link.callCell);
  let side: CallHandlers | undefined;
  let opened: OpenClusterNode | undefined;
  let target: string | undefined;
  let isUnreachable = false;
  let heardAt = performance.now();
  let inFlight = 0;
  const names = createCellNames({
    here: cell,
    count: () => opened?.node.count() ?? cell + 1,
    directory,
    leastLoaded: directory.leastLoaded,
    ask: (to, question, text) => link.callCell<string>(to, "answer", { question, text }),
    bring: (account, by) => link.callCell(0, "moveAccount", { account, to: cell, by }),
    log,
  });
  const report = (): MemberReport => {
    const { behind = 0, stuck = 0 } = opened?.node.observe() ?? {};
    return { owns: opened?.here() !== undefined, behind, isStuck: stuck > 0 };
  };

  let accounts: OpenAccounts | undefined;
  const whileHere =
    (name: string) =>
    async (args: unknown): Promise<unknown> => {
      const handle = side?.[name];
      if (!handle || !opened?.here()) throw cellMoved();
      try {
        return await handle(args as never);
      } catch (error) {
        // The next owner is asked again; but not for a command, of which a part may be done.
        throw isOfLostCell(error) && name !== "command" ? cellMoved(error) : error;
      }
    };
  link.serve({
    ...Object.fromEntries(
      ["knows", "answer", "command", "load", "check", "account", "dropHistory"].map((name) => [name, whileHere(name)]),
    ),
    order(order: MemberOrder) {
      heardAt = performance.now();
      target = order.target ?? undefined;
      isUnreachable = order.isUnreachable;
      return report();
    },
  });
  opened = await openClusterNode({
    options,
    cell,
    log,
    cells() {
      names.forgetHooks();
      return names;
    },
    target: () => target,
    isUnreachable: () => isUnreachable,
    isAble: () => performance.now() - heardAt < SILENCE_MS,
    inFlight: () => inFlight,
    onOpen(open) {
      accounts = openAccounts(open, names, link.callCell);
      side = {
        ...createCellSide(open, names, accounts),
        check: () => opened?.node.check(),
        dropHistory: () => opened?.node.dropHistory(),
      };
      return () => {
        accounts = undefined;
        side = undefined;
      };
    },
  });
  const { node, here, figures, openVideo, handOver, close } = opened;
  figures.watch(node.observe);
  node.onChange(() => void link.report(report()).catch(() => undefined));
  await openVideo();

  const surface = createMemberSurface({
    grants: createRelayGrants(createVault({ key, previous: config.secretKeyPrevious })),
    app: () => (here() ? accounts?.surfaces : undefined),
    count(by) {
      inFlight += by;
    },
  });
  return {
    log,
    // There is no listener for it.
    web: surface,
    backend: surface,
    runCommand: () => Promise.reject(cellMoved()),
    defaultModel: async () => undefined,
    firstAdmin: { kind: "exists" },
    peers: () => ["127.0.0.1"],
    async handOver() {
      await handOver();
      await Bun.sleep(LATE_REQUESTS_MS);
    },
    stop: async () => undefined,
    stopJobs: async () => undefined,
    close,
  };
}
