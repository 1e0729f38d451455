// Puts the steps of an answer (tools that the answering side runs) into words, for protocols without a form for them.
import type { AnswerPart } from "../sources/model-source.ts";

const MAX_CHARACTERS = 300;

const short = (text: string) =>
  text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS).toWellFormed()}…` : text;

/** One line for a step that begins or ends. */
export const stepText = (part: Extract<AnswerPart, { type: "step" | "step-result" }>) =>
  part.type === "step"
    ? `${part.name}(${short(part.input === "{}" ? "" : part.input)})\n`
    : `${part.isError ? "failed" : "→"} ${short(part.output)}\n`;
