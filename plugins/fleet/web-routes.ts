// Web routes of the fleet, for admins only. Reports are made here when the backend is in this process; everything else is
// done by the backend.
import { Elysia, type Static, type TSchema } from "elysia";
import { encodePathSegment, unwrapJson } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { Identities, Identity } from "../auth/index.ts";
import type { WholeReports } from "./cells/whole-reports.ts";
import type { FleetReports } from "./fleet-reports.ts";
import { CHANGE_ACTION, DOWNLOAD_ACTION, READ_ACTION, ROUTES } from "./route-documentation.ts";

interface Deps extends Pick<Kernel, "config"> {
  backend: BackendTransport;
  identities: Identities;
  /** Of this cell, or of the only one. */
  reports: FleetReports;
  /** Of all cells, if there are several. */
  wholeReports: WholeReports | undefined;
}

interface AdminRequest {
  identity: Identity;
  request: Request;
}

interface ReportRequest<Query extends { cell?: string }> extends AdminRequest {
  query: Query;
}

type ResponseOf<Route extends { response: { 200: TSchema } }> = Static<Route["response"][200]>;

export function webRoutes({ config, backend, identities, reports, wholeReports }: Deps) {
  const isSplit = config.role === "web";

  async function readRemote<Report>({ identity, request }: AdminRequest): Promise<Report> {
    const { pathname, search } = new URL(request.url);
    const grant = identities.createGrant(identity, request, READ_ACTION);
    // The backend's own routes have the same schemas.
    return (await unwrapJson(await backend.fetch(grant, pathname + search, {}))) as Report;
  }

  const report = <Report>(admin: AdminRequest, make: () => Promise<Report>): Promise<Report> =>
    isSplit ? readRemote(admin) : make();

  /** Of all cells, or of the one that the query names: the request has come to it then. */
  const summed = <Query extends { cell?: string }, Report>(
    admin: ReportRequest<Query>,
    make: (from: WholeReports, query: Query) => Promise<Report>,
  ): Promise<Report> =>
    report(admin, () => make(admin.query.cell === undefined ? (wholeReports ?? reports) : reports, admin.query));

  /** The backend performs a change under the name of this admin. */
  async function change<Result>({ identity, request }: AdminRequest, path: string): Promise<Result> {
    const grant = identities.createGrant(identity, request, CHANGE_ACTION);
    const response = await forwardToBackend(backend, grant, request, path);
    return (await unwrapJson(response)) as Result;
  }

  const agentPath = (id: string, operation: string) => `/api/admin/agents/${encodePathSegment(id)}/${operation}`;
  const backupPath = (name: string) => `/api/admin/backups/${encodePathSegment(name)}`;
  const jobPath = (id: string) => `/api/admin/jobs/${encodePathSegment(id)}`;
  const admin = { admin: true } as const;
  /** A copy of the database would outlast a leaked key. */
  const adminSession = { adminSession: true } as const;

  return new Elysia({ name: "fleet.web" })
    .use(identities.guards)
    .get("/api/admin/overview", (context) => summed(context, (from) => from.overview()), {
      ...admin,
      ...ROUTES.overview,
    })
    .get("/api/admin/agents", (context) => summed(context, (from, query) => from.agents(query)), {
      ...admin,
      ...ROUTES.agents,
    })
    .get("/api/admin/usage", (context) => summed(context, (from, query) => from.usage(query)), {
      ...admin,
      ...ROUTES.usage,
    })
    .get("/api/admin/channels", (context) => summed(context, (from, query) => from.channels(query)), {
      ...admin,
      ...ROUTES.channels,
    })
    .get("/api/admin/providers", (context) => summed(context, (from) => from.providers()), {
      ...admin,
      ...ROUTES.providers,
    })
    .get("/api/admin/jobs", (context) => summed(context, (from, query) => from.jobs(query)), {
      ...admin,
      ...ROUTES.jobs,
    })
    .get("/api/admin/figures", (context) => summed(context, (from, query) => from.figures(query)), {
      ...admin,
      ...ROUTES.figures,
    })
    .get("/api/admin/settings", (context) => report(context, reports.settings), { ...admin, ...ROUTES.settings })
    .get("/api/admin/storage", (context) => summed(context, (from) => from.storage()), { ...admin, ...ROUTES.storage })
    .get("/api/admin/versions", (context) => summed(context, (from) => from.versions()), {
      ...admin,
      ...ROUTES.versions,
    })
    .get("/api/admin/backups", (context) => report(context, reports.backups), { ...admin, ...ROUTES.backups })
    .post(
      "/api/admin/agents/:id/start",
      (context) => change<ResponseOf<typeof ROUTES.startAgent>>(context, agentPath(context.params.id, "start")),
      { ...admin, ...ROUTES.startAgent },
    )
    .post(
      "/api/admin/agents/:id/stop",
      (context) => change<ResponseOf<typeof ROUTES.stopAgent>>(context, agentPath(context.params.id, "stop")),
      { ...admin, ...ROUTES.stopAgent },
    )
    .post(
      "/api/admin/agents/:id/freeze",
      (context) => change<ResponseOf<typeof ROUTES.freezeAgent>>(context, agentPath(context.params.id, "freeze")),
      { ...admin, ...ROUTES.freezeAgent },
    )
    .post(
      "/api/admin/agents/:id/unfreeze",
      (context) => change<ResponseOf<typeof ROUTES.unfreezeAgent>>(context, agentPath(context.params.id, "unfreeze")),
      { ...admin, ...ROUTES.unfreezeAgent },
    )
    .post(
      "/api/admin/jobs/:id/retry",
      (context) => change<ResponseOf<typeof ROUTES.retryJob>>(context, `${jobPath(context.params.id)}/retry`),
      { ...admin, ...ROUTES.retryJob },
    )
    .delete(
      "/api/admin/jobs/:id",
      (context) => change<ResponseOf<typeof ROUTES.discardJob>>(context, jobPath(context.params.id)),
      { ...admin, ...ROUTES.discardJob },
    )
    .post(
      "/api/admin/backups",
      async (context) => {
        type Made = Static<(typeof ROUTES.makeBackup)["response"][202]>;
        return context.status(202, await change<Made>(context, "/api/admin/backups"));
      },
      { ...adminSession, ...ROUTES.makeBackup },
    )
    .delete(
      "/api/admin/backups/:name",
      (context) => change<ResponseOf<typeof ROUTES.removeBackup>>(context, backupPath(context.params.name)),
      { ...adminSession, ...ROUTES.removeBackup },
    )
    .get(
      "/api/admin/backups/:name/file",
      ({ identity, params, request }) => {
        const grant = identities.createGrant(identity, request, DOWNLOAD_ACTION);
        return forwardToBackend(backend, grant, request, `${backupPath(params.name)}/file`, {
          signal: request.signal,
          responseHeaders: () => ["content-disposition", "content-length"],
        });
      },
      { ...adminSession, ...ROUTES.downloadBackup },
    );
}
