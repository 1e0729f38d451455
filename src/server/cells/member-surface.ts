// Takes the requests of a cell that has a process of its own: they come from the router of its machine alone, under a signed grant.
import { failure } from "../../cluster/relay/failure.ts";
import { RELAY_HEADER, type RelayGrants, requestLine } from "../../cluster/relay/grants.ts";
import { MOVED_HEADER, movedResponse } from "../../cluster/relay/relay.ts";
import { takeForwarding } from "../../cluster/relay/router.ts";
import { withClient } from "../../cluster/relay/with-client.ts";
import { ELSEWHERE_HEADER, elsewhereOf, FORWARDING_HEADER, setForwarding } from "../../kernel/cells/forwarding.ts";
import { forbidden } from "../../kernel/errors.ts";
import type { Surface } from "../../kernel/http/surface.ts";
import type { App } from "../app.ts";

export interface MemberSurfaceDeps {
  grants: RelayGrants;
  /** Undefined while this process does not have the cell. */
  app(): Pick<App, "web" | "backend"> | undefined;
  /** Called with 1 when a request begins, and with -1 when it ends. */
  count?(by: 1 | -1): void;
}

export function createMemberSurface({ grants, app, count }: MemberSurfaceDeps): Surface {
  return {
    name: "backend",
    async fetch(request, server) {
      const header = request.headers.get(RELAY_HEADER);
      const node = `http://127.0.0.1:${server.port}`;
      const line = requestLine(request.method, request.url);
      const sentAlong = request.headers.get(FORWARDING_HEADER);
      const grant = header === null ? undefined : grants.verify(header, node, line, sentAlong);
      if (grant === "again") return movedResponse();
      if (!grant || grant.surface === "call") return failure(notRelayed());
      const open = app();
      if (!open) return movedResponse();
      const forwarding = takeForwarding(request);
      if (forwarding) setForwarding(request, forwarding);
      count?.(1);
      try {
        const response = await open[grant.surface].fetch(request, withClient(server, grant.clientAddress));
        const cell = response && elsewhereOf(response);
        if (cell !== undefined) response?.headers.set(ELSEWHERE_HEADER, String(cell));
        // Only this process can say that it has done nothing: a provider whose answer is passed on would be asked again and again.
        if (response?.headers.has(MOVED_HEADER)) response.headers.delete(MOVED_HEADER);
        return response;
      } finally {
        count?.(-1);
      }
    },
    handle: (request) => app()?.backend.handle(request) ?? Promise.resolve(movedResponse()),
  };
}

const notRelayed = () =>
  forbidden("RELAY_REFUSED", "This listener takes requests from the service's own router alone.");
