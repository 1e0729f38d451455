import { migrations } from "../../../migrations/index.ts";

/** Of the migrations that this binary knows. */
export const migrationNames: ReadonlySet<string> = new Set(migrations.map(({ name }) => name));
