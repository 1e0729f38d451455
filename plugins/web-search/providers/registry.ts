// Lists the search providers, in the order in which they are tried if several are set up.
import { brave } from "./brave.ts";
import type { SearchProvider } from "./provider.ts";
import { searxng } from "./searxng.ts";
import { tavily } from "./tavily.ts";

export const searchProviders: readonly SearchProvider[] = [brave, tavily, searxng];
