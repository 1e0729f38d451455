// The backend's routes of the life cycle: where operations are really done.
import { Elysia } from "elysia";
import { mayAnswer } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import { orFailure } from "./failure.ts";
import {
  memoryReset,
  OPERATION_DOCS,
  repaired,
  restarted,
  rollbackBody,
  rolledBack,
  started,
  stopped,
  updateBody,
  updated,
} from "./model.ts";
import type { Operations } from "./operations.ts";
import type { Operation } from "./states.ts";

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  operations: Operations;
}

export function backendRoutes({ guards, operations }: Deps) {
  const about = (operation: Operation) => ({
    agentCall: { action: `agent.${operation}`, kind: "lifecycle" as const },
    detail: {
      tags: ["Life cycle"],
      summary: OPERATION_DOCS[operation].summary,
      ...mayAnswer(OPERATION_DOCS[operation].errors),
    },
  });

  return new Elysia({ name: "lifecycle.backend" })
    .use(guards)
    .post(
      "/api/agents/:id/start",
      ({ agent }) =>
        orFailure(async () => {
          await operations.start(agent.id);
          return { success: true as const, status: "active" as const };
        }),
      { ...about("start"), response: { 200: started } },
    )
    .post(
      "/api/agents/:id/stop",
      ({ agent }) =>
        orFailure(async () => {
          await operations.stop(agent.id);
          return { success: true as const, status: "stopped" as const };
        }),
      { ...about("stop"), response: { 200: stopped } },
    )
    .post(
      "/api/agents/:id/restart",
      ({ agent }) =>
        orFailure(async () => {
          const { agent: now, healed } = await operations.restart(agent.id);
          return {
            success: true as const,
            status: "active" as const,
            healedLegacyModel: healed !== undefined,
            healMessage: healed ?? null,
            runtimeVersion: now.runtimeVersion,
          };
        }),
      { ...about("restart"), response: { 200: restarted } },
    )
    .post(
      "/api/agents/:id/update",
      ({ agent, body }) =>
        orFailure(async () => {
          const { agent: now, ...images } = await operations.update(agent.id, body);
          return { success: true as const, status: "active" as const, ...images, runtimeVersion: now.runtimeVersion };
        }),
      { ...about("update"), body: updateBody, response: { 200: updated } },
    )
    .post(
      "/api/agents/:id/rollback",
      ({ agent, body }) =>
        orFailure(async () => {
          const { status, runtimeVersion } = await operations.rollback(agent.id, body.backupPath);
          return { success: true as const, status, message: "The backup is in place.", runtimeVersion };
        }),
      { ...about("rollback"), body: rollbackBody, response: { 200: rolledBack } },
    )
    .post(
      "/api/agents/:id/repair",
      ({ agent }) =>
        orFailure(async () => {
          const { repaired } = await operations.repair(agent.id);
          const what = repaired.length === 1 ? "One thing was mended." : `${repaired.length} things were mended.`;
          const message = repaired.length === 0 ? "All was well; the connections were made anew." : what;
          return { success: true as const, message, repaired };
        }),
      { ...about("repair"), response: { 200: repaired } },
    )
    .post(
      "/api/agents/:id/reset-memory",
      ({ agent }) =>
        orFailure(async () => {
          const { backupPath } = await operations.resetMemory(agent.id);
          const message = "Sessions and memory are gone; configuration and credentials are kept.";
          return { success: true as const, message, backupPath };
        }),
      { ...about("reset-memory"), response: { 200: memoryReset } },
    );
}
