// Tests the names of operations in the API document.
import { expect, test } from "bun:test";
import { operationIdOf } from "./operation-id.ts";

test.each([
  ["get", "/api/agents", "listAgents"],
  ["post", "/api/agents", "createAgent"],
  ["get", "/api/agents/{id}", "getAgent"],
  ["put", "/api/agents/{id}/config", "setAgentConfig"],
  ["patch", "/api/agents/{id}/memories/{memoryId}", "updateAgentMemory"],
  ["delete", "/api/agents/{id}/memories/{memoryId}", "deleteAgentMemory"],
  ["get", "/api/agents/{id}/memories", "listAgentMemories"],
  ["get", "/api/agents/{id}/stats", "getAgentStats"],
  ["post", "/api/agents/{id}/restart", "restartAgent"],
  ["post", "/api/agents/{id}/reset-memory", "resetAgentMemory"],
  ["get", "/live/{liveStreamId}/{file}", "getLiveFile"],
  ["get", "/usage.csv", "getUsageCsv"],
])("%s %s is %s", (method, path, id) => {
  expect(operationIdOf(method, path)).toBe(id);
});
