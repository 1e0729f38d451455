// Every error of the API that a page of the console can show has a text in every language.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { TRANSLATED } from "./languages.ts";
import { readTranslation } from "./read-translation.ts";

const root = join(import.meta.dir, "../..");
/** The code in `new AppError(409, "CODE", …)` and in the functions that make one. */
const CODE = /\b(?:AppError\(\s*\w+,|forbidden\(|notFound\(\s*[^,;]*,)\s*"([A-Z][A-Z_0-9]+)"/g;

/** Errors that only programs and agents, the command line, visitors of public pages or the plain forms of sign-in meet. */
const ELSEWHERE = new Set([
  "ACCOUNT_BUSY",
  "ADDRESS_NOT_PROVEN",
  "AGENT_BUSY",
  "AMBIGUOUS",
  "BAD_REQUEST",
  "BOT_DETECTED",
  "CHAT_OFF",
  "CELLS_DIFFER",
  "AUDIT_LOG_BROKEN",
  "CELL_NOT_EMPTY",
  "CELL_NOT_LAST",
  "CHECK_FAILED",
  "CLIENT_GONE",
  "CONSOLE_NOT_BUILT",
  "DOCUMENTATION_NOT_BUILT",
  "DOCUMENT_NOT_WRITTEN",
  "DRAWING_FAILED",
  "ERASURE_NOT_FOUND",
  "EXISTS",
  "FID_NOT_PROVEN",
  "FILE_EMPTY",
  "FILE_EXISTS",
  "FILE_TOO_LARGE",
  "FOLDER_NOT_FOUND",
  "FOLDER_NOT_WRITABLE",
  "INSUFFICIENT_BALANCE",
  "INVALID_ACTION",
  "INVALID_COMMAND",
  "INVALID_DAYS",
  "METRICS_CLOSED",
  "MODEL_NOT_FOUND",
  "MOVE_GOES_ON",
  "NO_STANDBY",
  "OWNER_NEEDED",
  "PREVIOUS_RESPONSE_NOT_FOUND",
  "RELAY_REFUSED",
  "RESTARTING",
  "TOKEN_REQUIRED",
  "TOO_MANY_FILES",
  "UNKNOWN_COMMAND",
  "UNKNOWN_PLAN",
  "UNREACHABLE",
  "UNSUPPORTED_FIELD",
  "UNSUPPORTED_MEDIA_TYPE",
  "UPGRADE_FAILED",
]);

/** Errors whose English text says why, differently each time: that is worth more than a general German sentence. */
const SAY_WHY = new Set([
  "MCP_SIGN_IN_FAILED",
  "MCP_UNUSABLE",
  "POLICY_DENIED",
  "SPEND_REFUSED",
  "UNHEALTHY",
  "VERIFICATION_FAILED",
]);

async function codes(): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const path of new Glob("{src,plugins,channels}/**/*.ts").scan(root)) {
    if (path.includes(".test.")) continue;
    for (const [, code = ""] of (await Bun.file(join(root, path)).text()).matchAll(CODE)) found.add(code);
  }
  return found;
}

test.each(TRANSLATED)("each has one in %s, unless it is met elsewhere only, or says why", async (language) => {
  const known = await codes();
  expect(known.size).toBeGreaterThan(150);
  const exceptions = [...ELSEWHERE, ...SAY_WHY];
  const texts = Object.keys((await readTranslation(language)).errors);
  expect([...known].filter((code) => !texts.includes(code) && !exceptions.includes(code)).sort()).toEqual([]);
  expect(exceptions.filter((code) => !known.has(code) || texts.includes(code))).toEqual([]);
});
