// The gating plugin provides the gate that grants access to addresses that hold enough of the operator's token.
import { plugin } from "../../src/kernel/plugin.ts";
import { chains } from "../chains/index.ts";
import { createGate } from "./gate.ts";

export type { Gate, GateRequirement } from "./gate.ts";

export const gating = plugin("gating", ({ kernel, use }) => ({
  service: createGate(kernel.config, use(chains).mainnet),
}));
