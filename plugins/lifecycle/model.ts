// Wire types of the life-cycle operations, and their documentation.
import { type TSchema, t } from "elysia";
import { documentRequestBody, documentResponse } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { Operation } from "./transitions.ts";

const literalTrue = t.Literal(true);
const backupPath = t.String({ description: "Relative to the data folder" });
const runtimeVersion = t.String({ description: "Dotted version of the agent's runtime" });

export const updateBody = t.Object({
  image: t.Optional(t.String({ maxLength: 200, description: "`berth/agent:<version>`; by default this binary's own" })),
  version: t.Optional(t.String({ maxLength: 100, description: "The version alone, in place of the image" })),
});
export const rollbackBody = t.Object({
  backupPath: t.String({
    minLength: 1,
    maxLength: 300,
    error: "Give the path of a backup, as an operation returned it.",
  }),
});

export const startResponse = t.Object({ success: literalTrue, status: t.Literal("active") });
export const stopResponse = t.Object({ success: literalTrue, status: t.Literal("stopped") });
export const restartResponse = t.Object({
  success: literalTrue,
  status: t.Literal("active"),
  healedLegacyModel: t.Boolean({ description: "The configured model is offered no more and was replaced" }),
  healMessage: t.Union([t.String({ description: "`healed:<old>-><new>`" }), t.Null()]),
  runtimeVersion,
});
export const updateResponse = t.Object({
  success: literalTrue,
  status: t.Literal("active"),
  image: t.String(),
  previousImage: t.String(),
  backupPath,
  runtimeVersion,
});
export const rollbackResponse = t.Object({
  success: literalTrue,
  status: t.String(),
  message: t.String(),
  runtimeVersion,
});
export const repairResponse = t.Object({
  success: literalTrue,
  message: t.String(),
  repaired: t.Array(t.String({ description: "A repair that was made, as a sentence" })),
});
export const resetMemoryResponse = t.Object({ success: literalTrue, message: t.String(), backupPath });

interface OperationDocs {
  summary: string;
  description: string;
  /** Of the route below /api/agents, where the one of the rule would be that of another route. */
  operationId?: string;
  /** Undefined for an operation without a body. */
  body?: TSchema;
  response: TSchema;
  errors: Record<number, string | string[]>;
}

/** Each operation's documentation: its response, and its errors besides those of the owner check. */
export const OPERATION_DOCS: Readonly<Record<Operation, OperationDocs>> = {
  start: {
    summary: "Start an agent",
    description: "Takes up waiting messages and connects the bots. A running agent stays as it is.",
    response: startResponse,
    errors: { 409: ["ACCOUNT_DISABLED", "AGENT_FROZEN"], 500: "UNHEALTHY" },
  },
  stop: {
    summary: "Stop an agent: its bots are disconnected, chat returns 409",
    description: "Turns in progress end or are cancelled. Messages of channels wait until the agent is started.",
    response: stopResponse,
    errors: {},
  },
  restart: {
    summary: "Restart an agent: its bots reconnect, a model that is offered no more is replaced",
    description: "`healedLegacyModel` says whether the model was replaced, and `healMessage` by which.",
    response: restartResponse,
    errors: { 409: ["ACCOUNT_DISABLED", "AGENT_FROZEN"], 500: "UNHEALTHY" },
  },
  update: {
    summary: "Update an agent's runtime, after a backup; rolled back if the agent is not healthy within 15 seconds",
    description:
      "Without `image` and `version`, the newest runtime is taken. `backupPath` names the backup that was made before.",
    operationId: "updateAgentRuntime",
    body: updateBody,
    response: updateResponse,
    errors: {
      400: "UNKNOWN_IMAGE",
      409: ["OPERATION_IN_PROGRESS", "ACCOUNT_DISABLED", "AGENT_FROZEN"],
      500: ["UPDATE_ROLLED_BACK", "ROLLBACK_FAILED", "BACKUP_FAILED"],
    },
  },
  rollback: {
    summary: "Restore an agent from one of its backups; its present state is backed up first",
    description: "`backupPath` is one of `GET /api/agents/{id}/backups`.",
    body: rollbackBody,
    response: rollbackResponse,
    errors: {
      400: ["UNKNOWN_BACKUP", "DAMAGED_BACKUP", "NEWER_BACKUP"],
      409: ["ACCOUNT_DISABLED", "AGENT_FROZEN"],
      500: "BACKUP_FAILED",
    },
  },
  repair: {
    summary: "Check and repair an agent's state, and reconnect its bots",
    description: "`repaired` lists what was wrong; it is empty if nothing was.",
    response: repairResponse,
    errors: { 409: ["ACCOUNT_DISABLED", "AGENT_FROZEN"], 500: "UNHEALTHY" },
  },
  "reset-memory": {
    summary: "Delete an agent's sessions and memory, after a backup; configuration and credentials stay",
    description: "`backupPath` names the backup, which `rollback` restores.",
    response: resetMemoryResponse,
    errors: { 500: "BACKUP_FAILED" },
  },
};

/** The texts of an operation's route. */
export const operationDetail = (operation: Operation) => {
  const { summary, description } = OPERATION_DOCS[operation];
  return { tags: ["Life cycle"], summary, description };
};

/** The operation id of the route below /api/agents; none if the rule of all routes makes a good one. */
export const operationIdDetail = (operation: Operation) => {
  const { operationId } = OPERATION_DOCS[operation];
  return operationId === undefined ? {} : { operationId };
};

/** Body and response in the web surface's document; the web forwards both without a schema. */
export function forwardedDocs(operation: Operation) {
  const { body, response } = OPERATION_DOCS[operation];
  return { ...documentResponse(response, "Done"), ...(body && documentRequestBody(body)) };
}
