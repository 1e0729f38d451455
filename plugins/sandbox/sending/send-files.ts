// Sends files that a program has written to the person who is answered.
import { AppError } from "../../../src/kernel/errors.ts";
import type { ToolContext } from "../../skills/index.ts";
import { mediaTypeOf } from "../result.ts";
import { LIMITS } from "../runner/limits.ts";
import type { OutputFile } from "../runner/protocol.ts";
import { drawSvg } from "./svg-picture.ts";

/** The input of tools that run programs. */
export const SEND = {
  maxItems: LIMITS.outputFiles,
  description:
    "Names of files that the program writes, to send them to the person with your reply: charts (write an SVG as chart.svg; it arrives as a " +
    "picture), tables (.csv), documents (.md, .txt, .json).",
};

/** Sends the files with these names; returns what became of each, for the model. */
export async function sendFiles(
  { attach, signal }: Pick<ToolContext, "attach" | "signal">,
  names: readonly string[],
  files: readonly OutputFile[],
): Promise<string> {
  const lines: string[] = [];
  for (const name of names) {
    const file = files.find((one) => one.name === name);
    if (!attach) return NOT_HERE;
    if (!file) lines.push(`${name} was not sent, because the program has not written it.`);
    else lines.push(await send(file, attach, signal));
  }
  return lines.join("\n");
}

async function send(
  { name, bytes }: OutputFile,
  attach: NonNullable<ToolContext["attach"]>,
  signal: AbortSignal,
): Promise<string> {
  try {
    const isDrawing = /\.svg$/i.test(name);
    const sent = isDrawing
      ? {
          name: name.replace(/\.svg$/i, ".png"),
          type: "image/png",
          bytes: await drawSvg(new TextDecoder().decode(bytes), signal),
        }
      : { name, type: mediaTypeOf(name), bytes };
    await attach(sent);
    return `${sent.name} is sent with your reply. Don't repeat its content.`;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return `${name} was not sent. ${error.message}`;
  }
}

const NOT_HERE = "Files can't be sent in this conversation: put what matters into your answer.";
