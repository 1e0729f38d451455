// `npm run audit`: fails if a package of the lock file has a known hole that is not in audit-exceptions.json, or if an exception
// there is past its date or of no use. Asks the registry, so it is a job of CI's own and no part of `npm test`.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bun, exitWithError, install, print, root } from "./bun.mjs";

await install();
const { status, stdout, stderr } = spawnSync(bun, ["audit", "--json"], { cwd: root, encoding: "utf8" });
let report;
try {
  report = JSON.parse(stdout);
} catch {
  exitWithError(`The registry could not be asked for known holes (exit code ${status}). ${stderr.trim()}`);
}

const file = process.env.AUDIT_EXCEPTIONS ?? join(root, "scripts/audit-exceptions.json");
const today = new Date().toISOString().slice(0, 10);
const exceptions = JSON.parse(readFileSync(file, "utf8"));
const holes = Object.entries(report).flatMap(([name, advisories]) =>
  advisories.map(({ url, title, severity }) => ({ name, title, severity, id: url.split("/").at(-1), url })),
);
const isExcepted = ({ id, name }) =>
  exceptions.some((one) => one.id === id && one.package === name && one.until >= today);

const problems = [
  ...holes
    .filter((hole) => !isExcepted(hole))
    .map(({ name, severity, title, url }) => `${name}: ${title} (${severity}, ${url})`),
  ...exceptions
    .filter(({ until }) => until < today)
    .map(({ id, package: name, until }) => `the exception of ${name} for ${id} ended on ${until}: decide again`),
  ...exceptions
    .filter((one) => !holes.some(({ id, name }) => one.id === id && one.package === name))
    .map(({ id, package: name }) => `the exception of ${name} for ${id} is of no use any more: remove it`),
];
if (problems.length > 0) {
  exitWithError(
    [
      "The dependencies have known holes:",
      ...problems.map((problem) => `  ${problem}`),
      "Upgrade the package; or, if the hole can't be reached in Berth, add it to scripts/audit-exceptions.json with why, and until when.",
    ].join("\n"),
  );
}
print(`no known hole in the dependencies; ${holes.length} excepted until a date`);
