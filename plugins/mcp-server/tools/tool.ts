// What a tool of the MCP server is made of, and the results it can give.
import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import type { McpCaller } from "../access.ts";

/** The call of a tool. */
export interface ToolCall {
  caller: McpCaller;
  /** Aborts when the client gives up. */
  signal: AbortSignal;
  /** Tells the client how far the call is, if it wants to know. */
  progress(message: string): void;
}

/** Makes the library's function of a tool. */
export type Run = <Input>(
  name: string,
  work: (input: Input, call: ToolCall) => CallToolResult | Promise<CallToolResult>,
) => (input: Input, context: ServerContext) => Promise<CallToolResult>;

/** A result with one or more texts; the first one is for the model's answer, the others say how to go on. */
export const texts = (...parts: string[]): CallToolResult => ({
  content: parts.filter((part) => part !== "").map((text) => ({ type: "text", text })),
});

export const json = (value: object): CallToolResult => texts(JSON.stringify(value, null, 1));

const failed = (text: string): CallToolResult => ({ ...texts(text), isError: true });

/** Runs a tool. Its refusals become results, which the model reads; of other errors it learns only that it failed. */
export async function runTool(
  name: string,
  { log, signal }: { log: Log; signal: AbortSignal },
  work: () => Promise<CallToolResult>,
): Promise<CallToolResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) return failed(error.message);
    // Nobody reads the result of a call that was given up.
    if (!signal.aborted) log.warn("a tool of the MCP server failed", { tool: name, error });
    return failed(`${name} failed. It may work later.`);
  }
}
