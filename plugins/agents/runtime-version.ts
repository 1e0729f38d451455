// The version of the agent runtime that this binary carries.
export const RUNTIME_VERSION = "1.0.0";
