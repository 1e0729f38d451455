// What life-cycle operations take and answer on the wire.
import { type TSchema, t } from "elysia";
import { documentResponse } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { Operation } from "./transitions.ts";

const literalTrue = t.Literal(true);
const backupPath = t.String({ description: "Relative to the data folder" });
const runtimeVersion = t.String({ description: "Dotted version of the agent's runtime" });

export const updateBody = t.Object({
  image: t.Optional(
    t.String({ maxLength: 200, description: "`berth/agent:<version>`; this binary's own unless given" }),
  ),
  version: t.Optional(t.String({ maxLength: 100, description: "The same by its version alone" })),
});
export const rollbackBody = t.Object({
  backupPath: t.String({ minLength: 1, maxLength: 300, error: "Give the path of a backup, as it was answered." }),
});

export const startResponse = t.Object({ success: literalTrue, status: t.Literal("active") });
export const stopResponse = t.Object({ success: literalTrue, status: t.Literal("stopped") });
export const restartResponse = t.Object({
  success: literalTrue,
  status: t.Literal("active"),
  healedLegacyModel: t.Boolean({ description: "The configuration named a model that is gone, and names another now" }),
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
export const repaired = t.Object({
  success: literalTrue,
  message: t.String(),
  repaired: t.Array(t.String({ description: "What was mended, in words" })),
});
export const resetMemoryResponse = t.Object({ success: literalTrue, message: t.String(), backupPath });

interface OperationDocs {
  summary: string;
  response: TSchema;
  errors: Record<number, string | string[]>;
}

/** Every operation: what it answers, and what it can be refused with beside whose agent it is. */
export const OPERATION_DOCS: Readonly<Record<Operation, OperationDocs>> = {
  start: { summary: "Start an agent", response: startResponse, errors: { 409: "ACCOUNT_DISABLED", 500: "UNHEALTHY" } },
  stop: { summary: "Stop an agent: its bots are disconnected, chat answers 409", response: stopResponse, errors: {} },
  restart: {
    summary: "Restart an agent: its bots connect anew, a model that is gone is replaced",
    response: restartResponse,
    errors: { 409: "ACCOUNT_DISABLED", 500: "UNHEALTHY" },
  },
  update: {
    summary: "Give an agent another runtime, after a backup; rolled back when it is not well within 15 seconds",
    response: updateResponse,
    errors: {
      400: "UNKNOWN_IMAGE",
      409: ["OPERATION_IN_PROGRESS", "ACCOUNT_DISABLED"],
      500: ["UPDATE_ROLLED_BACK", "ROLLBACK_FAILED", "BACKUP_FAILED"],
    },
  },
  rollback: {
    summary: "Put an agent back to one of its backups; the present state is backed up first",
    response: rollbackResponse,
    errors: {
      400: ["UNKNOWN_BACKUP", "DAMAGED_BACKUP", "NEWER_BACKUP"],
      409: "ACCOUNT_DISABLED",
      500: "BACKUP_FAILED",
    },
  },
  repair: {
    summary: "Check and mend an agent's state, and connect its bots anew",
    response: repaired,
    errors: { 409: "ACCOUNT_DISABLED", 500: "UNHEALTHY" },
  },
  "reset-memory": {
    summary: "Forget an agent's sessions and memory, after a backup; configuration and credentials stay",
    response: resetMemoryResponse,
    errors: { 500: "BACKUP_FAILED" },
  },
};

/** For the web surface, which passes the backend's answer on as it is. */
export const forwardedResponseDocs = (operation: Operation) =>
  documentResponse(OPERATION_DOCS[operation].response, "Done");
