// Backend routes of the life cycle: they perform the operations that the web surface forwards.
import { Elysia } from "elysia";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import { withFailureBody } from "./failure-body.ts";
import {
  OPERATION_DOCS,
  operationDetail,
  operationIdDetail,
  repairResponse,
  resetMemoryResponse,
  restartResponse,
  rollbackBody,
  rollbackResponse,
  startResponse,
  stopResponse,
  updateBody,
  updateResponse,
} from "./model.ts";
import { formatModelRepair } from "./model-repair.ts";
import type { Operations } from "./operations.ts";
import type { Operation } from "./transitions.ts";

interface Deps extends Pick<Kernel, "audit" | "database"> {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  operations: Operations;
}

export function backendRoutes({ audit, database, guards, operations }: Deps) {
  /** Recorded before it begins, since an operation is several writes: an attempt that fails is in the log too. */
  const recorded = async ({ id, name }: { id: string; name: string }, operation: Operation) =>
    void (await database.write([audit.record({ action: `agent.${operation}`, target: { kind: "agent", id, name } })]));

  const routeOptions = (operation: Operation) => ({
    agentCall: { action: `agent.${operation}`, kind: "lifecycle" as const },
    detail: {
      ...operationDetail(operation),
      ...operationIdDetail(operation),
      ...documentErrors(OPERATION_DOCS[operation].errors),
    },
  });

  return new Elysia({ name: "lifecycle.backend" })
    .use(guards)
    .post(
      "/api/agents/:id/start",
      ({ agent }) =>
        withFailureBody(async () => {
          await recorded(agent, "start");
          await operations.start(agent.id);
          return { success: true as const, status: "active" as const };
        }),
      { ...routeOptions("start"), response: { 200: startResponse } },
    )
    .post(
      "/api/agents/:id/stop",
      ({ agent }) =>
        withFailureBody(async () => {
          await recorded(agent, "stop");
          await operations.stop(agent.id);
          return { success: true as const, status: "stopped" as const };
        }),
      { ...routeOptions("stop"), response: { 200: stopResponse } },
    )
    .post(
      "/api/agents/:id/restart",
      ({ agent }) =>
        withFailureBody(async () => {
          await recorded(agent, "restart");
          const { agent: changedAgent, modelRepair } = await operations.restart(agent.id);
          return {
            success: true as const,
            status: "active" as const,
            healedLegacyModel: modelRepair !== undefined,
            healMessage: modelRepair ? formatModelRepair(modelRepair) : null,
            runtimeVersion: changedAgent.runtimeVersion,
          };
        }),
      { ...routeOptions("restart"), response: { 200: restartResponse } },
    )
    .post(
      "/api/agents/:id/update",
      ({ agent, body }) =>
        withFailureBody(async () => {
          await recorded(agent, "update");
          const { agent: changedAgent, ...images } = await operations.update(agent.id, body);
          return {
            success: true as const,
            status: "active" as const,
            ...images,
            runtimeVersion: changedAgent.runtimeVersion,
          };
        }),
      { ...routeOptions("update"), body: updateBody, response: { 200: updateResponse } },
    )
    .post(
      "/api/agents/:id/rollback",
      ({ agent, body }) =>
        withFailureBody(async () => {
          await recorded(agent, "rollback");
          const { status, runtimeVersion } = await operations.rollback(agent.id, body.backupPath);
          return { success: true as const, status, message: "The backup was restored.", runtimeVersion };
        }),
      { ...routeOptions("rollback"), body: rollbackBody, response: { 200: rollbackResponse } },
    )
    .post(
      "/api/agents/:id/repair",
      ({ agent }) =>
        withFailureBody(async () => {
          await recorded(agent, "repair");
          const { repaired } = await operations.repair(agent.id);
          const count = repaired.length === 1 ? "1 repair was made." : `${repaired.length} repairs were made.`;
          const message = repaired.length === 0 ? "Nothing had to be repaired." : count;
          return { success: true as const, message, repaired };
        }),
      { ...routeOptions("repair"), response: { 200: repairResponse } },
    )
    .post(
      "/api/agents/:id/reset-memory",
      ({ agent }) =>
        withFailureBody(async () => {
          await recorded(agent, "reset-memory");
          const { backupPath } = await operations.resetMemory(agent.id);
          const message = "Sessions and memory were deleted; configuration and credentials are unchanged.";
          return { success: true as const, message, backupPath };
        }),
      { ...routeOptions("reset-memory"), response: { 200: resetMemoryResponse } },
    );
}
