// What plugins do when an account moves to another cell, or arrives from one. See docs/decisions/0062-accounts-move-between-cells.md.

/** An account with its agents. */
export interface MovingAccount {
  userId: string;
  agentIds: readonly string[];
}

export interface AccountHooks {
  /** The agents have been stopped without a word, or go on: what is in memory has to follow their rows. */
  paused?(account: MovingAccount): Promise<void> | void;
  /** What is in memory of the account has to be in rows when this resolves. */
  beforePacked?(account: MovingAccount): Promise<void> | void;
  /** The account is another cell's from now on; its rows are still here. */
  beforeRemoved?(account: MovingAccount): Promise<void> | void;
  /** Its rows are gone. */
  removed?(account: MovingAccount): Promise<void> | void;
  /** Its rows are all here. */
  arrived?(account: MovingAccount): Promise<void> | void;
}

/** Calls one hook of all plugins, one after the other. */
export async function runAccountHooks(
  hooks: readonly AccountHooks[],
  name: keyof AccountHooks,
  account: MovingAccount,
): Promise<void> {
  for (const one of hooks) await one[name]?.(account);
}
