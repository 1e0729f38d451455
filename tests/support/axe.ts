// Checks pages in Chromium for accessibility with axe-core.

import { resolve } from "node:path";
import type { Page } from "./chromium.ts";
import { eventually } from "./eventually.ts";

export interface Violation {
  rule: string;
  impact: "minor" | "moderate" | "serious" | "critical";
  /** The HTML of each element, shortened, with the reason. */
  elements: string[];
}

const axe = Bun.file(resolve(import.meta.dir, "../../node_modules/axe-core/axe.min.js"));

/** Returns what axe finds on the page as it is now. */
export async function violationsOf(page: Page): Promise<Violation[]> {
  // Evaluated by the debugger: the policy of pages forbids other scripts.
  await page.evaluate(`${await axe.text()};undefined`);
  return page.evaluate<Violation[]>(`axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
    violations.map(({ id, impact, nodes }) => ({
      rule: id,
      impact,
      elements: nodes.map(({ html, failureSummary }) => html.slice(0, 200) + " " + failureSummary.slice(0, 300)),
    })))`);
}

/** Opens the address and waits until a heading is shown. */
export async function openPage(page: Page, url: string): Promise<void> {
  await page.load(url);
  await eventually(
    () => page.evaluate(`[...document.querySelectorAll("h1")].some((heading) => heading.checkVisibility())`),
    {
      timeoutMs: 20_000,
      what: `${url} shows a heading`,
    },
  );
}
