// Backend routes of the fleet: reports from the process that holds connections, turns and figures, and what admins do.
import { Elysia } from "elysia";
import type { Identities } from "../auth/index.ts";
import type { FleetActions } from "./fleet-actions.ts";
import type { FleetReports } from "./fleet-reports.ts";
import { CHANGE_ACTION, DOWNLOAD_ACTION, READ_ACTION, ROUTES } from "./route-documentation.ts";

interface Deps {
  guards: Identities["guards"];
  reports: FleetReports;
  actions: FleetActions;
}

export function backendRoutes({ guards, reports, actions }: Deps) {
  const read = { grantedAdmin: READ_ACTION };
  const change = { grantedAdmin: CHANGE_ACTION };
  return new Elysia({ name: "fleet.backend" })
    .use(guards)
    .get("/api/admin/overview", reports.overview, { ...read, ...ROUTES.overview })
    .get("/api/admin/agents", ({ query }) => reports.agents(query), { ...read, ...ROUTES.agents })
    .get("/api/admin/usage", ({ query }) => reports.usage(query), { ...read, ...ROUTES.usage })
    .get("/api/admin/channels", ({ query }) => reports.channels(query), { ...read, ...ROUTES.channels })
    .get("/api/admin/providers", reports.providers, { ...read, ...ROUTES.providers })
    .get("/api/admin/jobs", ({ query }) => reports.jobs(query), { ...read, ...ROUTES.jobs })
    .get("/api/admin/figures", ({ query }) => reports.figures(query), { ...read, ...ROUTES.figures })
    .get("/api/admin/settings", reports.settings, { ...read, ...ROUTES.settings })
    .get("/api/admin/storage", reports.storage, { ...read, ...ROUTES.storage })
    .get("/api/admin/versions", reports.versions, { ...read, ...ROUTES.versions })
    .get("/api/admin/backups", reports.backups, { ...read, ...ROUTES.backups })
    .post(
      "/api/admin/agents/:id/start",
      ({ params, caller, request }) => actions.startAgent(params.id, caller, request),
      { ...change, ...ROUTES.startAgent },
    )
    .post(
      "/api/admin/agents/:id/stop",
      ({ params, caller, request }) => actions.stopAgent(params.id, caller, request),
      {
        ...change,
        ...ROUTES.stopAgent,
      },
    )
    .post(
      "/api/admin/agents/:id/freeze",
      ({ body, params, caller, request }) => actions.freezeAgent(params.id, body.reason.trim(), caller, request),
      { ...change, ...ROUTES.freezeAgent },
    )
    .post(
      "/api/admin/agents/:id/unfreeze",
      ({ params, caller, request }) => actions.freezeAgent(params.id, null, caller, request),
      { ...change, ...ROUTES.unfreezeAgent },
    )
    .post("/api/admin/jobs/:id/retry", ({ params, caller, request }) => actions.retryJob(params.id, caller, request), {
      ...change,
      ...ROUTES.retryJob,
    })
    .delete("/api/admin/jobs/:id", ({ params, caller, request }) => actions.discardJob(params.id, caller, request), {
      ...change,
      ...ROUTES.discardJob,
    })
    .post(
      "/api/admin/backups",
      async ({ caller, request, status }) => status(202, await actions.makeBackup(caller, request)),
      { ...change, ...ROUTES.makeBackup },
    )
    .delete(
      "/api/admin/backups/:name",
      ({ params, caller, request }) => actions.removeBackup(params.name, caller, request),
      { ...change, ...ROUTES.removeBackup },
    )
    .get(
      "/api/admin/backups/:name/file",
      ({ params, caller, request }) => actions.downloadBackup(params.name, caller, request),
      { grantedAdmin: DOWNLOAD_ACTION, ...ROUTES.downloadBackup },
    );
}
