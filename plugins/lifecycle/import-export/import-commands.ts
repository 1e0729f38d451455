// The commands with which the operator of the machine imports agents: `berth import`. They run in the service when called over
// the control socket, else in the process of the command.
import { AppError } from "../../../src/kernel/errors.ts";
import type { Administration } from "../../auth/index.ts";
import type { ImportExport } from "./import-export.ts";

type Args = Readonly<Record<string, string>>;

interface Deps {
  role: "all" | "web" | "backend";
  administration: Pick<Administration, "byEmail" | "isAdmin" | "list">;
  importExport: Pick<ImportExport, "importAgent" | "previewImport">;
}

/** The commands by their names on the control socket. `data` is the file in base64. */
export function createImportCommands({ role, administration, importExport }: Deps) {
  /** The account of this address; without one, the only account. */
  async function findOwner(email: string | undefined) {
    if (email !== undefined) return administration.byEmail(email);
    const { users, total } = await administration.list({ status: "active", limit: 1, offset: 0 });
    const [only] = users;
    if (only && total === 1) return only;
    throw new AppError(
      400,
      "OWNER_NEEDED",
      total === 0
        ? "There is no account yet that could own the agent. Open the console to make one, or use berth user create."
        : `There are ${total} accounts. Say which one is to own the agent: --owner EMAIL.`,
    );
  }

  const bytesOf = ({ data = "" }: Args) => Uint8Array.from(Buffer.from(data, "base64"));
  return {
    /** Throws the errors of `ImportExport.previewImport`. */
    "agent.import-preview": (args: Args) => importExport.previewImport(bytesOf(args)),

    /** Throws the errors of `ImportExport.importAgent`, 404 `USER_NOT_FOUND`, and 400 `OWNER_NEEDED`. */
    async "agent.import"(args: Args) {
      if (role === "web") {
        throw new AppError(409, "BACKEND_ONLY", "Agents are imported where the backend runs: give the command there.");
      }
      const user = await findOwner(args.email);
      const owner = { userId: user.id, isAdmin: administration.isAdmin(user) };
      const options = { origin: args.origin, again: args.again === "true" };
      const { agent, ...rest } = await importExport.importAgent(owner, bytesOf(args), options);
      return { agent: { id: agent.id, name: agent.name, status: agent.status }, owner: user.email, ...rest };
    },
  };
}
