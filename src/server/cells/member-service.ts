// Serves a cell other than the first on one machine, in a process of its own.
import { createCellNames } from "../../cluster/cells/cell-names.ts";
import { remoteDirectory } from "../../cluster/cells/remote-directory.ts";
import { createRelayGrants } from "../../cluster/relay/grants.ts";
import { StartError } from "../../kernel/errors.ts";
import { createVault } from "../../kernel/security/vault.ts";
import { createLog } from "../../kernel/telemetry/log.ts";
import { type CellOptions, openCell } from "../service/cell.ts";
import type { Service } from "../service/service.ts";
import { createCellSide } from "./cell-side.ts";
import { createMemberSurface } from "./member-surface.ts";
import { openAccounts } from "./open-accounts.ts";
import type { ParentLink } from "./parent-link.ts";

export async function openMemberService(options: CellOptions, link: ParentLink): Promise<Service> {
  const { config } = options;
  const key = config.secretKey;
  if (key === undefined) throw new StartError("A cell needs SECRET_KEY.");
  const log = createLog(config.log).child({ cell: link.cell });
  const directory = remoteDirectory(link.callCell);
  const names = createCellNames({
    here: link.cell,
    count: link.count,
    directory,
    leastLoaded: directory.leastLoaded,
    ask: (to, question, text) => link.callCell<string>(to, "answer", { question, text }),
    bring: (account, by) => link.callCell(0, "moveAccount", { account, to: link.cell, by }),
    log,
  });
  const cell = await openCell({ ...options, seams: { ...options.seams, log, cells: () => names } });
  const { kernel, app, runCommand } = cell;
  const accounts = openAccounts(cell, names, link.callCell);
  link.serve(createCellSide(cell, names, accounts));
  return {
    log,
    // There is no listener for it.
    web: app.web,
    backend: createMemberSurface({
      grants: createRelayGrants(createVault({ key, previous: config.secretKeyPrevious })),
      app: () => accounts.surfaces,
    }),
    runCommand,
    defaultModel: app.defaultModel,
    firstAdmin: { kind: "exists" },
    peers: () => ["127.0.0.1"],
    stop: app.stop,
    stopJobs: kernel.jobs.stop,
    close: kernel.close,
  };
}
