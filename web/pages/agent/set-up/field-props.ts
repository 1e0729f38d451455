// What the sections of the form are given.

import type { Stored } from "./draft.ts";

export interface FieldProps {
  config: Stored["config"];
  setKey: (key: string, value: unknown) => void;
  /** The error or warning of the server for a path of the configuration. */
  noteAt: (path: string) => string | undefined;
}
