// Collects the calls of tools that a call makes itself, as `delegate` does for its parts, and shows them while they run.
import type { SubStepEvent } from "../../skills/index.ts";
import type { SubStep } from "./steps.ts";

/** Sub-steps of one call that are stored; the others are only in its result. */
const MAX_SUB_STEPS = 64;

export interface SubSteps {
  note(event: SubStepEvent): void;
  /** Those that have ended, in the order of their ends; undefined for none. */
  ended(): readonly SubStep[] | undefined;
}

/**
 * @param parent the provider's id of the call that makes them
 * @param show receives each as a step of the turn
 */
export function createSubSteps(
  parent: string,
  show: ((event: Omit<SubStepEvent, "part"> & { parent: string }) => void) | undefined,
): SubSteps {
  const steps: SubStep[] = [];
  return {
    note({ part, id, ...event }) {
      show?.({ ...event, id: `${parent}/${part}/${id}`, parent });
      const { tool, input, ended } = event;
      if (!ended || steps.length >= MAX_SUB_STEPS) return;
      const { ok, result, ms } = ended;
      steps.push({ part, tool, input, result, ok, at: Date.now() - ms, ms });
    },
    ended: () => (steps.length > 0 ? steps : undefined),
  };
}
