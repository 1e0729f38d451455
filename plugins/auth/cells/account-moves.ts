// Ends what is in memory of an account that moves to another cell, so that a session or key that ends there does not go on here.
import type { Cells } from "../../../src/kernel/cells/cells.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { ApiKeys } from "../api-keys/api-keys.ts";
import type { Sessions } from "../sessions.ts";
import type { Users } from "../users.ts";

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
