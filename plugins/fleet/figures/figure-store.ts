// Keeps the figures of the last day's minutes in the database, so that they survive a restart.
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { FigureName } from "./figure-names.ts";
import { MINUTES_PER_DAY } from "./minute-ring.ts";

const KEEP = `INSERT OR REPLACE INTO instance_figures (minute, figures)
  SELECT value ->> 0, value -> 1 FROM json_each(?)`;
const FORGET = "DELETE FROM instance_figures WHERE minute <= ?";
const LIST = "SELECT minute, figures FROM instance_figures WHERE minute > ? AND minute <= ? ORDER BY minute";

type Minute = readonly [minute: number, figures: Readonly<Record<FigureName, number>>];

export function createFigureStore({ database }: Pick<Kernel, "database">) {
  return {
    /** Stores these minutes, counted since 1970, and deletes those that are older than a day. */
    keepStatements: (minutes: readonly Minute[], newest: number): Statement[] => [
      { sql: KEEP, args: [JSON.stringify(minutes)] },
      { sql: FORGET, args: [newest - MINUTES_PER_DAY] },
    ],
    /** The stored minutes of the day that ends with `newest`, oldest first. */
    async list(newest: number): Promise<[minute: number, figures: Partial<Record<FigureName, number>>][]> {
      const { rows } = await database.read(LIST, [newest - MINUTES_PER_DAY, newest]);
      return rows.map(({ minute, figures }) => [Number(minute), JSON.parse(String(figures))]);
    },
  };
}
