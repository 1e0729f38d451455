// Where a cell is served, as far as a node knows.
import type { Surface } from "../../kernel/http/surface.ts";

export type SurfaceName = "web" | "backend";

export type Place =
  | { kind: "here"; surfaces: Record<SurfaceName, Surface> }
  /** The address is that of another process of this machine, or of another node. */
  | { kind: "process" | "node"; address: string };
