// `npm run release`: builds the binary for this machine into dist/release, with a bill of materials, and the checksums of both, which
// are signed with the key in BERTH_RELEASE_KEY (docs/security.md says how to verify them).
//
// Run it once per platform (see .github/workflows/release.yml): the binary contains this platform's runtime and addon.
// It refuses a tree with changes, a version without a dated entry in CHANGELOG.md, and a tag that names another version.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, bun, exitWithError, install, print, root, run } from "./bun.mjs";
import { signFile } from "./release-signature.mjs";

/** Lists the packages in the binary (CycloneDX); run by npx, because only a release needs it. */
const BILL_OF_MATERIALS = "@cyclonedx/cyclonedx-npm@6.0.1";

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

if (git("status", "--porcelain") !== "")
  exitWithError("The tree has changes. Commit them first: a release is a commit.");
const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
if (!new RegExp(`^## ${version.replaceAll(".", "\\.")} \\(\\d{4}-\\d{2}-\\d{2}\\)$`, "m").test(changelog)) {
  exitWithError(
    `CHANGELOG.md has no heading "## ${version} (YYYY-MM-DD)". Rename "Unreleased", or raise the version in package.json.`,
  );
}
const tags = git("tag", "--points-at", "HEAD").split("\n").filter(Boolean);
if (tags.length > 0 && !tags.includes(`v${version}`))
  exitWithError(`HEAD is tagged ${tags.join(", ")}, but the version is ${version}.`);

await install();
if ((await run(bun, ["src/server/build.ts"])) !== 0) exitWithError("The build failed; see above.");

const isMusl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
const name = `berth-${version}-${process.platform}-${process.arch}${isMusl ? "-musl" : ""}`;
const folder = join(root, "dist/release");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
copyFileSync(binary, join(folder, name));
const digestOf = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");
const digest = digestOf(binary);

const materials = join(folder, `${name}.cdx.json`);
// npm complains about peer ranges of packages that Bun resolved; the list is complete all the same.
const options = ["--ignore-npm-errors", "--omit", "dev", "--output-format", "JSON", "--output-file", materials];
if ((await run("npx", ["--yes", BILL_OF_MATERIALS, ...options])) !== 0 || !existsSync(materials)) {
  exitWithError("The bill of materials could not be written; see above.");
}
const checksums = join(folder, `${name}.sha256`);
writeFileSync(checksums, `${digest}  ${name}\n${digestOf(materials)}  ${name}.cdx.json\n`);
const key = process.env.BERTH_RELEASE_KEY;
if (key) signFile(checksums, key);
else if (process.env.CI)
  exitWithError("BERTH_RELEASE_KEY is missing: a release is signed. CONTRIBUTING.md says how to make the key.");
else print("not signed, since BERTH_RELEASE_KEY is not set");
const { components } = JSON.parse(readFileSync(materials, "utf8"));
print(`dist/release/${name}: sha256 ${digest}, ${components.length} packages in its bill of materials`);
if (tags.length === 0) print(`HEAD has no tag yet: git tag -a v${version} -m "Berth ${version}"`);
