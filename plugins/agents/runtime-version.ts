// The version of the agent runtime that is built into this binary.
export const RUNTIME_VERSION = "1.0.0";
