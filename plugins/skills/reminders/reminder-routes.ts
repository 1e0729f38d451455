// Routes on both surfaces that list an agent's reminders and switch them on and off.
import { Elysia, t } from "elysia";
import { notFound } from "../../../src/kernel/errors.ts";
import type { BackendTransport } from "../../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../../src/kernel/http/backend/forward-to-backend.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { auth } from "../../auth/index.ts";
import type { Reminder, ReminderStore } from "./reminder-store.ts";

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  reminders: Pick<ReminderStore, "list" | "setEnabled">;
}

interface WebDeps extends Deps {
  backend: BackendTransport;
  identities: Pick<ServiceOf<typeof auth>["identities"], "createGrant">;
}

const reminderItem = t.Object(
  {
    id: t.String(),
    text: t.String(),
    dueAt: t.String({ description: "ISO 8601" }),
    platform: t.String(),
    byOwner: t.Boolean({ description: "Set in a conversation of the owner" }),
    enabled: t.Boolean({ description: "False for an imported reminder that was not switched on: it does not fire" }),
  },
  { title: "Reminder" },
);
const reminderList = t.Object({ reminders: t.Array(reminderItem), count: t.Integer() });
const switchBody = t.Object({ enabled: t.Boolean({ error: "Give true or false." }) });

const ACTION = "agent.reminder";
const LIST = "/api/agents/:id/reminders";
const ONE = `${LIST}/:reminderId`;
const tags = ["Agents"];
const listDetail = {
  tags,
  summary: "An agent's open reminders, soonest first",
  description: "Reminders that the agent has set and that have not come due.",
};
const errors = { 400: "REMINDER_PAST", 404: ["AGENT_NOT_FOUND", "REMINDER_NOT_FOUND"] };
const switchTexts = {
  summary: "Switch a reminder on or off",
  description:
    "Reminders of an imported agent are off until their owner switches them on. One whose time has passed can't be switched on.",
};

const toItem = ({ id, text, dueAt, platform, byOwner, enabled }: Reminder) => ({
  ...{ id, text, dueAt: new Date(dueAt).toISOString() },
  ...{ platform, byOwner, enabled },
});

const listHandler =
  (reminders: Deps["reminders"]) =>
  async ({ agent }: { agent: { id: string } }) => {
    const items = (await reminders.list(agent.id)).map(toItem);
    return { reminders: items, count: items.length };
  };

export const reminderWebRoutes = ({ backend, identities, guards, reminders }: WebDeps) =>
  new Elysia({ name: "reminders.web" })
    .use(guards)
    .get(LIST, listHandler(reminders), {
      ownAgent: { scope: "read", kind: "data" },
      response: { 200: reminderList },
      detail: listDetail,
    })
    .patch(
      ONE,
      ({ agent, identity, request, params: { reminderId } }) => {
        const grant = identities.createGrant(identity, request, ACTION, agent.id);
        const path = `/api/agents/${agent.id}/reminders/${encodeURIComponent(reminderId)}`;
        return forwardToBackend(backend, grant, request, path);
      },
      {
        ownAgent: { scope: "write", kind: "data" },
        body: switchBody,
        response: { 200: reminderItem },
        detail: {
          tags,
          ...switchTexts,
          ...documentErrors({ ...errors, 409: "OPERATION_IN_PROGRESS", 502: "BACKEND_UNAVAILABLE" }),
        },
      },
    );

export const reminderBackendRoutes = ({ guards, reminders }: Deps) =>
  new Elysia({ name: "reminders.backend" })
    .use(guards)
    .get(LIST, listHandler(reminders), {
      agentCall: "agent.read",
      response: { 200: reminderList },
      detail: listDetail,
    })
    .patch(
      ONE,
      async ({ agent, body: { enabled }, params: { reminderId } }) => {
        const changed = await reminders.setEnabled(agent.id, reminderId, enabled);
        if (!changed) throw notFound("This agent has no open reminder with this id.", "REMINDER_NOT_FOUND");
        return toItem(changed);
      },
      {
        agentCall: { action: ACTION, scope: "write", changes: true },
        body: switchBody,
        response: { 200: reminderItem },
        detail: { tags, ...switchTexts, ...documentErrors(errors) },
      },
    );
