// Schemas of the first-run state.
import { t } from "elysia";

/** In the order in which a newcomer takes them. */
export const STEPS = ["account", "model", "agent", "talk", "channel"] as const;
export type Step = (typeof STEPS)[number];

/** Steps that a person may leave out. */
export const SKIPPABLE = ["model", "agent", "talk", "channel"] as const;
export type SkippableStep = (typeof SKIPPABLE)[number];

const literals = <Text extends string>(values: readonly Text[]) =>
  t.Unsafe<Text>(t.Union(values.map((value) => t.Literal(value))));
const orNull = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);

export const setupState = t.Object({
  steps: t.Array(
    t.Object({
      id: literals(STEPS),
      status: literals(["done", "skipped", "open"]),
    }),
    { description: "Those that apply to the caller, in their order; `model` is one of admins" },
  ),
  next: orNull(literals(STEPS)),
  complete: t.Boolean({ description: "No step is open" }),
  serving: literals(["own", "demo"]),
  canMakeAgents: t.Boolean({ description: "The caller's plan has room for one more agent" }),
  agent: orNull(t.Object({ id: t.String(), name: t.String() }, { description: "The caller's current agent" })),
});

export const skippedBody = t.Object({
  steps: t.Array(literals(SKIPPABLE), {
    maxItems: SKIPPABLE.length,
    description: "All steps that the caller leaves out; the others are open again",
    error: `Name steps of ${SKIPPABLE.join(", ")}.`,
  }),
});
