// Ends what is in memory of an account that moves to another cell, so that a session or key that ends there does not go on here.
import type { Cells, Name } from "../../../src/kernel/cells/cells.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { ApiKeys } from "../api-keys/api-keys.ts";
import type { Sessions } from "../sessions.ts";
import type { Deletion } from "../settings/account-deletion.ts";
import type { Users } from "../users.ts";

const FORGET_JOB = "auth.forget-account";
/** Hours, if a cell is away for so long. */
const ATTEMPTS = 40;

/** The cells that a deleted account has left forget its ids and tokens, and the directory its names. */
export function forgetDeletedAccounts(
  cells: Pick<Cells, "namesOf" | "forgetAccount">,
  jobs: Pick<Kernel["jobs"], "enqueueStatement" | "handle">,
  deletion: Pick<Deletion, "registerHook">,
): void {
  deletion.registerHook(async ({ user: { id: account } }) => {
    const names = await cells.namesOf(account);
    return [jobs.enqueueStatement(FORGET_JOB, { account, names }, { uniqueKey: account, maxAttempts: ATTEMPTS })];
  });
  jobs.handle(FORGET_JOB, async (payload) => {
    const { account, names } = payload as { account: string; names: Name[] };
    await cells.forgetAccount(account, names);
  });
}

interface Deps extends Pick<Kernel, "database"> {
  users: Pick<Users, "invalidate">;
  sessions: Pick<Sessions, "revokeAllStatement">;
  keys: Pick<ApiKeys, "revokeAllStatement">;
}

export function joinAccountMoves(
  cells: Pick<Cells, "onAccountMoves">,
  { database, users, sessions, keys }: Deps,
): void {
  cells.onAccountMoves({
    async beforeRemoved({ userId }) {
      await database.write([sessions.revokeAllStatement(userId), keys.revokeAllStatement(userId)]);
    },
    removed: ({ userId }) => users.invalidate(userId),
    arrived: ({ userId }) => users.invalidate(userId),
  });
}
