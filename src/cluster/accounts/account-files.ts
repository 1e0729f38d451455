// The files of an account that moves: in a cluster they are shared, so that the machine of the new cell has them.
import { KEPT_FOLDERS, type SharedFiles } from "../../kernel/files.ts";
import type { AccountSideDeps } from "./moving-accounts.ts";

/** @param files undefined on a machine alone, which has all files */
export const accountFiles = (files: SharedFiles | undefined): AccountSideDeps["files"] => ({
  async bringAgents(agents) {
    if (!files) return;
    for (const agent of agents)
      for (const folder of KEPT_FOLDERS)
        for (const { path } of await files.list(`${folder}/${agent}/`)) await files.bring(path);
  },
  bring: async (path) => (await files?.bring(path)) ?? false,
  forget: async (paths) => files?.forget(paths),
  list: async (folder) => ((await files?.list(folder)) ?? []).map(({ path }) => path),
  async keep(paths) {
    // What a local MCP server has written stays on its machine.
    for (const path of paths) if (!path.startsWith("mcp/")) await files?.keep(path);
  },
});
