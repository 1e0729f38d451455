// Decides what is wrong with the instance, and says in words what to do about it.

import { agentProblems } from "./agent-problems.ts";
import { operationProblems } from "./operation-problems.ts";
import { outageProblems } from "./outage-problems.ts";
import type { Problem, ProblemFacts } from "./problem.ts";
import { providerProblems } from "./provider-problems.ts";
import { queueProblems } from "./queue-problems.ts";
import { storageProblems } from "./storage-problems.ts";

/** The worst first. */
export function findProblems(facts: ProblemFacts): Problem[] {
  const problems = [
    ...storageProblems(facts),
    ...queueProblems(facts),
    ...providerProblems(facts),
    ...outageProblems(facts.outages),
    ...agentProblems(facts),
    ...operationProblems(facts),
  ];
  const order = ["error", "warning", "info"];
  return problems.sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
}
