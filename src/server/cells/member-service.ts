// Serves a cell other than the first in a process of its own: requests come from the router alone, under a signed grant.
import { createCellNames } from "../../cluster/cells/cell-names.ts";
import { failure } from "../../cluster/relay/failure.ts";
import { createRelayGrants, RELAY_HEADER, requestLine } from "../../cluster/relay/grants.ts";
import { withClient } from "../../cluster/relay/with-client.ts";
import {
  decodeForwarding,
  ELSEWHERE_HEADER,
  elsewhereOf,
  FORWARDING_HEADER,
  setForwarding,
} from "../../kernel/cells/forwarding.ts";
import { forbidden, StartError } from "../../kernel/errors.ts";
import type { Surface } from "../../kernel/http/surface.ts";
import { createVault } from "../../kernel/security/vault.ts";
import { createLog } from "../../kernel/telemetry/log.ts";
import { type CellOptions, openCell } from "../service/cell.ts";
import type { Service } from "../service/service.ts";
import { readLoad } from "./load.ts";
import type { ParentLink } from "./parent-link.ts";

export async function openMemberService(options: CellOptions, link: ParentLink): Promise<Service> {
  const { config } = options;
  const key = config.secretKey;
  if (key === undefined) throw new StartError("A cell needs SECRET_KEY.");
  const log = createLog(config.log).child({ cell: link.cell });
  const names = createCellNames({
    here: link.cell,
    count: link.count,
    directory: link.directory,
    leastLoaded: link.leastLoaded,
    ask: link.ask,
    log,
  });
  const { kernel, app, runCommand } = await openCell({
    ...options,
    seams: { ...options.seams, log, cells: () => names },
  });
  link.serve({
    knows: names.knows,
    answer: ({ question, text }) => names.answerTo(question, text),
    command: ({ name, args }) => runCommand(name, args),
    load: () => readLoad(kernel),
  });
  const grants = createRelayGrants(createVault({ key, previous: config.secretKeyPrevious }));

  const backend: Surface = {
    ...app.backend,
    async fetch(request, server) {
      const header = request.headers.get(RELAY_HEADER);
      const node = `http://127.0.0.1:${server.port}`;
      const grant = header === null ? undefined : grants.verify(header, node, requestLine(request.method, request.url));
      if (!grant || grant.surface === "command") return failure(notRelayed());
      request.headers.delete(RELAY_HEADER);
      const forwarding = request.headers.get(FORWARDING_HEADER);
      if (forwarding !== null) {
        setForwarding(request, decodeForwarding(forwarding));
        request.headers.delete(FORWARDING_HEADER);
      }
      const response = await app[grant.surface].fetch(request, withClient(server, grant.clientAddress));
      const cell = response && elsewhereOf(response);
      if (cell !== undefined) response?.headers.set(ELSEWHERE_HEADER, String(cell));
      return response;
    },
  };

  return {
    log,
    // There is no listener for it.
    web: app.web,
    backend,
    runCommand,
    defaultModel: app.defaultModel,
    firstAdmin: { kind: "exists" },
    peers: () => ["127.0.0.1"],
    stop: app.stop,
    stopJobs: kernel.jobs.stop,
    close: kernel.close,
  };
}

const notRelayed = () =>
  forbidden("RELAY_REFUSED", "This listener takes requests from the service's own router alone.");
