// Every change of the schema, in order, as text inside the binary. A new file gets a line at the end; old ones never change.

import kernel from "./0001_kernel.sql" with { type: "text" };
import auth from "./0002_auth.sql" with { type: "text" };
import agents from "./0003_agents.sql" with { type: "text" };
import ai from "./0004_ai.sql" with { type: "text" };
import skills from "./0005_skills.sql" with { type: "text" };
import runtime from "./0006_runtime.sql" with { type: "text" };
import channels from "./0007_channels.sql" with { type: "text" };

/** One step of the schema: applied once, recorded by its name. */
export interface Migration {
  name: string;
  sql: string;
}

export const migrations: readonly Migration[] = [
  { name: "0001_kernel", sql: kernel },
  { name: "0002_auth", sql: auth },
  { name: "0003_agents", sql: agents },
  { name: "0004_ai", sql: ai },
  { name: "0005_skills", sql: skills },
  { name: "0006_runtime", sql: runtime },
  { name: "0007_channels", sql: channels },
];
