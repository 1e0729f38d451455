// Says which late routes each part of a plugin has. Compiling the binary puts a module with the list in the place of this one.
import type { LatePlaces } from "../../kernel/late-apps.ts";

/** Returns nothing where nothing was compiled: then the first request for a late route builds all of them. */
export const readLatePlaces = (): Readonly<Record<"web" | "backend", LatePlaces>> | undefined => undefined;
