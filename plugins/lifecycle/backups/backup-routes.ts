// Routes on both surfaces that list an agent's backups and write one: the files are where the backend is.
import { Elysia, type Static, t } from "elysia";
import type { BackendTransport } from "../../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../../src/kernel/http/backend/forward-to-backend.ts";
import { documentErrors, documentResponse } from "../../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { auth } from "../../auth/index.ts";
import type { Operations } from "../operations.ts";
import type { ListedBackup } from "./agent-backups.ts";
import { MAX_BACKUPS } from "./backup-store.ts";

const item = t.Object(
  {
    path: t.String({ description: "Relative to the data folder; for a rollback" }),
    size: t.Integer({ description: "Bytes, compressed" }),
    createdAt: t.String({ description: "ISO 8601" }),
    reason: t.Union(
      [t.Literal("update"), t.Literal("rollback"), t.Literal("reset-memory"), t.Literal("manual"), t.Null()],
      {
        description: "What it was written for; null for one of an earlier version of Berth",
      },
    ),
  },
  { title: "AgentBackup" },
);
const list = t.Object({ backups: t.Array(item), count: t.Integer(), max: t.Integer({ description: "Older ones go" }) });
const written = t.Object({ backup: item });

const PATH = "/api/agents/:id/backups";
const ACTION = "agent.backup";
const tags = ["Life cycle"];
const listDetail = {
  tags,
  summary: "The backups of an agent that are kept, newest first",
  description: "`max` are kept; the oldest goes when another is made.",
};
const writeDetail = {
  tags,
  summary: "Back up an agent now: configuration, credentials (still sealed), memory, sessions, reminders, channels",
  description: "Its `path` is what `rollback` takes.",
};
const failed = { 500: "BACKUP_FAILED" };

const toItem = ({ createdAt, reason = undefined, ...backup }: ListedBackup): Static<typeof item> => ({
  ...backup,
  createdAt: new Date(createdAt).toISOString(),
  reason: reason ?? null,
});

type Guards = ServiceOf<typeof agentsPlugin>["guards"];

export const backupBackendRoutes = ({ guards, operations }: { guards: Guards; operations: Operations }) =>
  new Elysia({ name: "lifecycle.backups.backend" })
    .use(guards)
    .get(
      PATH,
      async ({ agent }) => {
        const backups = (await operations.listBackups(agent.id)).map(toItem);
        return { backups, count: backups.length, max: MAX_BACKUPS };
      },
      { agentCall: "agent.read", response: { 200: list }, detail: listDetail },
    )
    .post(PATH, async ({ agent, status }) => status(201, { backup: toItem(await operations.backUp(agent.id)) }), {
      agentCall: { action: ACTION, scope: "write" },
      response: { 201: written },
      detail: { ...writeDetail, ...documentErrors(failed) },
    });

interface WebDeps {
  backend: BackendTransport;
  identities: Pick<ServiceOf<typeof auth>["identities"], "createGrant">;
  guards: Guards;
}

export const backupWebRoutes = ({ backend, identities, guards }: WebDeps) =>
  new Elysia({ name: "lifecycle.backups.web" })
    .use(guards)
    .get(
      PATH,
      ({ agent, identity, request }) => {
        const grant = identities.createGrant(identity, request, "agent.read", agent.id);
        return forwardToBackend(backend, grant, request, `/api/agents/${agent.id}/backups`);
      },
      {
        ownAgent: { scope: "read", kind: "data" },
        detail: {
          ...listDetail,
          ...documentResponse(list, "The backups"),
          ...documentErrors({ 502: "BACKEND_UNAVAILABLE" }),
        },
      },
    )
    .post(
      PATH,
      ({ agent, identity, request }) => {
        const grant = identities.createGrant(identity, request, ACTION, agent.id);
        return forwardToBackend(backend, grant, request, `/api/agents/${agent.id}/backups`);
      },
      {
        ownAgent: { scope: "write", kind: "data" },
        response: { 201: written },
        detail: { ...writeDetail, ...documentErrors({ ...failed, 502: "BACKEND_UNAVAILABLE" }) },
      },
    );
