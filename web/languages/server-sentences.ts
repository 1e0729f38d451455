// Finds in the server's source the sentences that pages show, for the test that each of them has a translation.

import { join } from "node:path";
import { Glob } from "bun";

const root = join(import.meta.dir, "../..");

/** A text in any of the three kinds of quotation marks; single ones only around double ones. */
const LITERAL = String.raw`("(?:[^"\\\n]|\\.)*"|\`(?:[^\`\\]|\\.)*\`|(?<=[\s(])'(?:[^'"\\\n]|\\.)*"(?:[^'\\\n]|\\.)*')`;
const ANY_LITERAL = new RegExp(LITERAL, "g");

/** The places in the source at which a sentence for people stands. */
const SENTENCE_AT: Readonly<Record<string, RegExp>> = {
  "what is wrong with a field": new RegExp(String.raw`\bpath(?:: [^,{}]+)?, message: ${LITERAL}`, "g"),
  "the rule of a field": new RegExp(String.raw`\berror: ${LITERAL}`, "g"),
  "the rule of a setting of an agent": new RegExp(String.raw`InvalidSetting\(\s*[^,]+,\s*${LITERAL}`, "g"),
  "what is wrong with a setting": new RegExp(String.raw`\b(?:warning|warn|error)\(\s*"[A-Z_]+",\s*${LITERAL}`, "g"),
  "what a setting may be": new RegExp(String.raw`\b(?:parser|textMatching)\(\s*${LITERAL}`, "g"),
  "the refusal of a platform": new RegExp(String.raw`ChannelError\(\s*"\w+",\s*${LITERAL}`, "g"),
  "the meaning of a platform's code": new RegExp(String.raw`\b(?:refused|busy|refusedError)\(\s*${LITERAL}`, "g"),
  "what is not allowed": new RegExp(
    String.raw`\b(?:verificationFailed|policyDenied|unusable|signInFailed|addressNotAllowed)\(\s*${LITERAL}`,
    "g",
  ),
  "what is wrong with an address": new RegExp(String.raw`AppError\(\d+, "UPSTREAM_\w+", ${LITERAL}`, "g"),
  "why something is so": new RegExp(String.raw`\breason(?::| =) ${LITERAL}`, "g"),
  "a line of an agent's log": new RegExp(
    String.raw`\b(?:(?:(?:agents|agentService|logs)\.(?:log|add)|logToAgent|logToOwner)\(\s*[^,]+,|writeLog\()\s*"\w+",\s*${LITERAL}`,
    "g",
  ),
};

/** A sentence with its places as `{}`, however they are called. */
export const shapeOf = (sentence: string): string => sentence.replace(/\{\w+\}/g, "{}");

/** The shape of a literal as it is written in the source. */
const shapeOfLiteral = (literal: string): string =>
  literal
    .slice(1, -1)
    .replace(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, "{}")
    .replace(/\\(.)/g, "$1");

interface Found {
  /** What kind of sentence, and the file. */
  where: string;
  shape: string;
}

/** The sentences that pages show, and the shapes of all texts of the source. */
export async function sentencesInSource(): Promise<{ sentences: Found[]; texts: Set<string> }> {
  const sentences: Found[] = [];
  const texts = new Set<string>();
  for await (const path of new Glob("{src,plugins,channels}/**/*.ts").scan(root)) {
    if (/\.test\.ts$|\/contract\//.test(path)) continue;
    const source = withoutSeams(await Bun.file(join(root, path)).text());
    for (const [, literal = ""] of source.matchAll(ANY_LITERAL)) texts.add(shapeOfLiteral(literal));
    for (const [kind, pattern] of Object.entries(SENTENCE_AT)) {
      for (const [, literal = ""] of source.matchAll(pattern)) {
        sentences.push({ where: `${kind}, ${path}`, shape: shapeOfLiteral(literal) });
      }
    }
  }
  return { sentences, texts };
}

/** Joins texts that are written in several lines. */
const withoutSeams = (source: string): string => source.replace(/"\s*\+\s*"/g, "");
