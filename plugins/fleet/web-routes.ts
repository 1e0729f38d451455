// Web routes of the fleet, for admins only. Reports are made here when the backend is in this process; everything else is
// done by the backend.
import { Elysia, type Static, type TSchema } from "elysia";
import { encodePathSegment, unwrapJson } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { Identities, Identity } from "../auth/index.ts";
import type { FleetReports } from "./fleet-reports.ts";
import { CHANGE_ACTION, DOWNLOAD_ACTION, READ_ACTION, ROUTES } from "./route-documentation.ts";

interface Deps extends Pick<Kernel, "config"> {
  backend: BackendTransport;
  identities: Identities;
  reports: FleetReports;
}

interface AdminRequest {
  identity: Identity;
  request: Request;
}

type ResponseOf<Route extends { response: { 200: TSchema } }> = Static<Route["response"][200]>;

export function webRoutes({ config, backend, identities, reports }: Deps) {
  const isSplit = config.role === "web";

  async function readRemote<Report>({ identity, request }: AdminRequest): Promise<Report> {
    const { pathname, search } = new URL(request.url);
    const grant = identities.createGrant(identity, request, READ_ACTION);
    // The backend's own routes have the same schemas.
    return (await unwrapJson(await backend.fetch(grant, pathname + search, {}))) as Report;
  }

  const report = <Report>(admin: AdminRequest, make: () => Promise<Report>): Promise<Report> =>
    isSplit ? readRemote(admin) : make();

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
    .get("/api/admin/overview", (context) => report(context, reports.overview), { ...admin, ...ROUTES.overview })
    .get("/api/admin/agents", (context) => report(context, () => reports.agents(context.query)), {
      ...admin,
      ...ROUTES.agents,
    })
    .get("/api/admin/usage", (context) => report(context, () => reports.usage(context.query)), {
      ...admin,
      ...ROUTES.usage,
    })
    .get("/api/admin/channels", (context) => report(context, () => reports.channels(context.query)), {
      ...admin,
      ...ROUTES.channels,
    })
    .get("/api/admin/providers", (context) => report(context, reports.providers), { ...admin, ...ROUTES.providers })
    .get("/api/admin/jobs", (context) => report(context, () => reports.jobs(context.query)), {
      ...admin,
      ...ROUTES.jobs,
    })
    .get("/api/admin/figures", (context) => report(context, () => reports.figures(context.query)), {
      ...admin,
      ...ROUTES.figures,
    })
    .get("/api/admin/settings", (context) => report(context, reports.settings), { ...admin, ...ROUTES.settings })
    .get("/api/admin/storage", (context) => report(context, reports.storage), { ...admin, ...ROUTES.storage })
    .get("/api/admin/versions", (context) => report(context, reports.versions), { ...admin, ...ROUTES.versions })
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
