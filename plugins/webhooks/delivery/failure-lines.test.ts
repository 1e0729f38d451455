// The lines about webhooks in agents' logs: one for each change, without the path of the address.
import { expect, test } from "bun:test";
import type { AttemptOutcome } from "./delivery-attempt.ts";
import type { ClaimedDelivery } from "./delivery-rows.ts";
import { createFailureLines } from "./failure-lines.ts";

test("a webhook that begins to fail, goes on failing, works again and is given up has one line for each change", () => {
  const lines: string[] = [];
  const write = createFailureLines({
    agents: { log: (agentId, level, message) => void lines.push(`${agentId} ${level} ${message}`) },
  });
  const about = (agentId: string | undefined) =>
    ({ agentId, endpointId: "e", target: { url: "https://example.com/secret" } }) as ClaimedDelivery;
  const failed: AttemptOutcome = { kind: "failed", error: "It answered 500." };
  const delivered: AttemptOutcome = { kind: "delivered", status: 200 };
  const outcomes = [delivered, failed, failed, delivered, delivered, failed, { kind: "gone", status: 410 } as const];
  for (const outcome of outcomes) write(about("a"), outcome);
  write(about(undefined), failed);
  write(about("b"), failed);
  const begins = "warning The webhook at example.com did not accept an event, and is tried again: It answered 500.";
  expect(lines).toEqual([
    `a ${begins}`,
    "a info The webhook at example.com accepts events again.",
    `a ${begins}`,
    "a error The webhook at example.com wants no more events and was switched off.",
    `b ${begins}`,
  ]);
});
