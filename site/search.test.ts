import { expect, test } from "bun:test";
import { searchSections } from "./search.ts";

const heading = (level: number, text: string, anchor: string) =>
  `<h${level} id="${anchor}" tabindex="-1">${text} <a class="header-anchor" href="#${anchor}">&ZeroWidthSpace;</a></h${level}>`;

test("a section of a page has the titles above it, and the text up to the next heading", () => {
  const html = [
    heading(1, "Memory", "memory"),
    "<p>What stays.</p>",
    heading(3, "<code>facts</code>", "facts"),
    "<p>Short ones.</p>",
    heading(2, "Forget", "forget"),
  ].join("\n");
  expect([...searchSections("memory.md", html)].map((one) => ({ ...one, text: one.text.trim() }))).toEqual([
    { anchor: "memory", titles: ["Memory"], text: "What stays." },
    { anchor: "facts", titles: ["Memory", "facts"], text: "Short ones." },
    { anchor: "forget", titles: ["Memory", "Forget"], text: "" },
  ]);
});

test("a row with an anchor is a section of its own, and not found with those around it", () => {
  const html = `${heading(1, "Settings", "settings")}<table><tr><th>Variable</th></tr>
<tr id="PORT"><td><code>PORT</code></td>
<td>Port of the web.</td></tr></table>`;
  const [page, row, ...others] = [...searchSections("configuration.md", html)];
  expect(page?.text).not.toContain("Port of the web.");
  expect(row).toEqual({ anchor: "PORT", titles: ["Settings", "PORT"], text: "ˍPORT PORT\nPort of the web." });
  expect(others).toEqual([]);
});
