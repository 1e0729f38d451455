// Names the tools of MCP servers for models: `server__tool`, in the letters that every provider takes.
import { sha256Hex } from "../../../src/kernel/util/tokens.ts";

const MAX_NAME = 64;
const HASH = 6;

const clean = (text: string) => text.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/_{2,}/g, "_");

/**
 * The name of a tool for the model. Where it can't be made of both names as they are, it ends in a hash of them, so that two
 * tools never get the same name, whatever their servers call them.
 */
export function toolNameOf(server: string, tool: string): string {
  const name = `${clean(server)}__${clean(tool)}`;
  const isExact = clean(server) === server && !server.endsWith("_") && clean(tool) === tool && !tool.startsWith("_");
  if (isExact && name.length <= MAX_NAME) return name;
  return `${name.slice(0, MAX_NAME - HASH - 1)}_${sha256Hex(`${server}\n${tool}`).slice(0, HASH)}`;
}

/** Whether a name can be that of a tool of this server, of which the tools may not be known yet. */
export const isToolNameOf = (server: string, name: string): boolean =>
  name === approvalGroupOf(server) || name.startsWith(`${clean(server)}__`);

/** The name by which the configuration's approvals mean all tools of a server. */
export const approvalGroupOf = (server: string) => `${server}:*`;
