// Writes into agents' logs that their owner's webhook has begun to fail, was given up, or works again.
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { AttemptOutcome } from "./delivery-attempt.ts";
import type { ClaimedDelivery } from "./delivery-rows.ts";

/** Failing endpoints that are remembered; all are forgotten when there are more. */
const MAX_FAILING = 10_000;

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "log">;
}

export function createFailureLines({ agents }: Deps) {
  /** By agent and endpoint: one line for each time that it begins to fail, not one for each event. */
  const failing = new Set<string>();

  return ({ agentId, endpointId, target }: ClaimedDelivery, outcome: AttemptOutcome): void => {
    if (agentId === undefined) return;
    const key = `${agentId} ${endpointId}`;
    // The path may contain a secret.
    const { host } = new URL(target.url);
    if (outcome.kind === "delivered" && failing.delete(key)) {
      agents.log(agentId, "info", `The webhook at ${host} accepts events again.`, "webhooks");
    }
    if (outcome.kind === "gone") {
      failing.delete(key);
      agents.log(agentId, "error", `The webhook at ${host} wants no more events and was switched off.`, "webhooks");
    }
    if (outcome.kind !== "failed" || failing.has(key)) return;
    if (failing.size >= MAX_FAILING) failing.clear();
    failing.add(key);
    const text = `The webhook at ${host} did not accept an event, and is tried again: ${outcome.error}`;
    agents.log(agentId, "warning", text, "webhooks");
  };
}
