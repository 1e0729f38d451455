// Divides pages into what the search finds: a section for each heading, and one for each row of a reference that has an anchor, so that
// the name of a setting, an error code or an event leads to its row.

import { nameTerm } from "./search-terms.ts";

interface Section {
  anchor: string;
  /** The headings above it, and its own. The last one weighs most. */
  titles: string[];
  text: string;
}

const HEADING = /<h(\d)[^>]*>(.*?)<a[^>]* href="#([^"]*)"[^>]*>.*?<\/a><\/h\1>/gs;
const ROW = /<tr id="([^"]*)">(.*?)<\/tr>/gs;

export function* searchSections(path: string, html: string): Generator<Section> {
  // It names everything, in sections of many thousand words.
  if (path.endsWith("changelog.md")) return yield { anchor: "", titles: ["Changelog"], text: "" };
  const headings = [...html.matchAll(HEADING)];
  const above: string[] = [];
  for (const [at, heading] of headings.entries()) {
    const [all, level = "", title = "", anchor = ""] = heading;
    const content = html.slice(heading.index + all.length, headings[at + 1]?.index);
    above.length = Number(level) - 1;
    above.push(textOf(title).trim());
    const titles = above.filter(Boolean);
    yield { anchor, titles, text: textOf(content.replace(ROW, "")) };
    for (const [, name = "", row = ""] of content.matchAll(ROW)) {
      // A row can define several: `OIDC_NAME`; `OIDC_2_NAME` to `OIDC_9_NAME`.
      const [names = ""] = row.split("</td>");
      const terms = [...names.matchAll(/<code>(.*?)<\/code>/g)].flatMap(([, one = ""]) => nameTerm(one) ?? []);
      yield { anchor: name, titles: [...titles, name], text: [...terms, textOf(row)].join(" ") };
    }
  }
}

const textOf = (html: string) => html.replace(/<[^>]*>/g, "");
