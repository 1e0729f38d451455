// Writes docs/configuration.md: `bun src/server/configuration-page.ts`. A test fails when the page is out of date.

import { join } from "node:path";
import { configurationPage } from "../kernel/config/configuration-page.ts";
import { allSettings } from "./settings.ts";

export const pagePath = join(import.meta.dir, "../../docs/configuration.md");

if (import.meta.main) await Bun.write(pagePath, configurationPage(allSettings));
