// Tests the reading of skills' folders on their thread: real zips, and ones that lie about what is in them.
import { describe, expect, test } from "bun:test";
import { zipSync } from "fflate";
import { skillMd, type ZipEntry, zipEntries, zipOf } from "../../../tests/support/zips.ts";
import { createFolderReader } from "./folder-reader.ts";

const read = createFolderReader();
/** The codes and paths of what is wrong. */
const refusal = async (zip: Uint8Array<ArrayBuffer>) => {
  const error = await read(zip).then(
    () => ({}),
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ status: 400, code: "INVALID_SKILL" });
  const { issues } = (error as { extras: { issues: { code: string; path: string; message: string }[] } }).extras;
  expect(issues.every(({ message }) => message !== "")).toBe(true);
  return issues.map(({ code, path }) => (path === "" ? code : `${code} ${path}`));
};
const skill = (...more: ZipEntry[]) => zipEntries([{ path: "tea/SKILL.md", content: skillMd("tea") }, ...more]);

test("a folder with texts and other files", async () => {
  const folder = await read(
    zipOf({
      "tea/": "",
      "tea/SKILL.md": skillMd("tea", "Makes tea.", "Boil water.\n"),
      "tea/references/leaves.md": "# Leaves\n",
      "tea/assets/cup.png": new Uint8Array([0x89, 0x50, 0, 1]),
      "__MACOSX/tea/._SKILL.md": new Uint8Array([0]),
      "tea/.DS_Store": "x",
    }),
  );
  expect(folder).toMatchObject({
    fields: { name: "tea", description: "Makes tea." },
    body: "Boil water.",
    files: [
      { path: "SKILL.md", text: expect.stringContaining("Boil water.") },
      { path: "assets/cup.png", size: 4, text: null },
      { path: "references/leaves.md", size: 9, text: "# Leaves\n" },
    ],
  });
  expect(folder.warnings.map(({ code }) => code)).toEqual(["NOT_KEPT"]);
});

test("a SKILL.md at the top of the zip, or alone, has no folder that its name could differ from", async () => {
  const inZip = await read(zipOf({ "SKILL.md": skillMd("tea") }));
  const alone = await read(new TextEncoder().encode(skillMd("tea")));
  expect([inZip.warnings, alone.warnings]).toEqual([[], []]);
  expect(alone.digest).toBe(inZip.digest);
});

test("a skill deep in a zip, as hosts of code pack them, without the files beside it", async () => {
  const folder = await read(zipOf({ "repo-main/README.md": "x", "repo-main/skills/tea/SKILL.md": skillMd("tea") }));
  expect(folder.files.map(({ path }) => path)).toEqual(["SKILL.md"]);
  expect(folder.warnings.map(({ code }) => code)).toEqual(["FILES_OUTSIDE"]);
});

test("zips of other programs: stored files, and sizes that follow the content", async () => {
  const stored = zipSync({ "tea/SKILL.md": new TextEncoder().encode(skillMd("tea")) }, { level: 0 });
  expect((await read(Uint8Array.from(stored))).fields.name).toBe("tea");
});

test("a link is left out, with a warning", async () => {
  const folder = await read(skill({ path: "tea/passwd", content: "/etc/passwd", mode: 0o120777 }));
  expect(folder.files.map(({ path }) => path)).toEqual(["SKILL.md"]);
  expect(folder.warnings).toMatchObject([{ code: "LINK", path: "passwd" }]);
});

test("a SKILL.md that is a link is none", async () => {
  const link = zipEntries([{ path: "tea/SKILL.md", content: "../SKILL.md", mode: 0o120777 }]);
  expect(await refusal(link)).toEqual(["NO_SKILL_FILE"]);
});

describe("refuses", () => {
  test("what is no zip, a broken and a cut one", async () => {
    expect(await refusal(new TextEncoder().encode("hello"))).toEqual(["NOT_A_SKILL"]);
    expect(await refusal(new TextEncoder().encode("PK\x03\x04 and nothing more"))).toEqual(["BROKEN_ZIP"]);
    const whole = skill({ path: "tea/a.md", content: crypto.getRandomValues(new Uint8Array(5000)) });
    expect(await refusal(whole.slice(0, 3000))).toEqual(["BROKEN_ZIP"]);
    expect(await refusal(zipOf({}))).toEqual(["BROKEN_ZIP"]);
  });

  test("a zip without SKILL.md, and one with two", async () => {
    expect(await refusal(zipOf({ "tea/skill.txt": "x" }))).toEqual(["NO_SKILL_FILE"]);
    const two = zipOf({ "a/SKILL.md": skillMd("a"), "b/SKILL.md": skillMd("b") });
    expect(await refusal(two)).toEqual(["SEVERAL_SKILL_FILES a/SKILL.md", "SEVERAL_SKILL_FILES b/SKILL.md"]);
    const nested = zipOf({ "a/SKILL.md": skillMd("a"), "a/b/SKILL.md": skillMd("b") });
    expect(await refusal(nested)).toEqual(["SEVERAL_SKILL_FILES a/SKILL.md", "SEVERAL_SKILL_FILES a/b/SKILL.md"]);
  });

  test.each(["../../etc/x", "tea/../../x", "/etc/x", "tea//x", "tea\\x", "C:/x", "tea/a\u0000b", "tea/a\u202Ecod.md"])(
    "the path %j",
    async (path) => {
      expect(await refusal(skill({ path, content: "x" }))).toEqual([`UNSAFE_PATH ${path}`]);
    },
  );

  test("paths that are too long or too deep", async () => {
    expect(await refusal(skill({ path: `tea/${"x".repeat(300)}`, content: "" }))).toEqual([
      `UNSAFE_PATH ${`tea/${"x".repeat(300)}`.slice(0, 200)}`,
    ]);
    const deep = `${"d/".repeat(11)}x`;
    expect(await refusal(skill({ path: deep, content: "" }))).toEqual([`PATH_TOO_DEEP ${deep}`]);
  });

  test("two files of one path, also if only large letters differ", async () => {
    const file = (path: string) => ({ path, content: "x" });
    expect(await refusal(skill(file("tea/a.md"), file("tea/a.md")))).toEqual(["DUPLICATE_PATH tea/a.md"]);
    expect(await refusal(skill(file("tea/a.md"), file("tea/A.md")))).toEqual(["DUPLICATE_PATH tea/A.md"]);
    expect(await refusal(skill(file("tea/skill.md")))).toEqual(["DUPLICATE_PATH tea/skill.md"]);
  });

  test("201 files, and 65,000 entries", async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => ({ path: `tea/${n}.md`, content: "" }));
    expect(await refusal(skill(...many(200)))).toEqual(["TOO_MANY_FILES"]);
    expect((await read(skill(...many(199)))).files).toHaveLength(200);
    expect(await refusal(skill(...many(65_000)))).toEqual(["TOO_MANY_FILES"]);
    const folders = Array.from({ length: 700 }, (_, n) => ({ path: `tea/${n}/`, content: "" }));
    expect(await refusal(skill(...folders))).toEqual(["TOO_MANY_FILES"]);
  });

  test("300 MB that declare 10 bytes, without waiting for all of them and while the loop goes on", async () => {
    const bomb = skill({ path: "tea/bomb", content: new Uint8Array(300 * 1024 * 1024), declaredSize: 10 });
    expect(bomb.length).toBeLessThan(5 * 1024 * 1024);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    expect(await refusal(bomb)).toEqual(["TOO_LARGE"]);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });

  test("a text of more than 1 MiB, and a SKILL.md that is no text", async () => {
    expect(await refusal(skill({ path: "tea/a.md", content: "x".repeat(1024 * 1024 + 1) }))).toEqual([
      "TEXT_TOO_LARGE a.md",
    ]);
    expect(await refusal(zipOf({ "SKILL.md": new Uint8Array([0xff, 0xfe, 0x2d]) }))).toEqual(["NOT_TEXT SKILL.md"]);
  });
});
