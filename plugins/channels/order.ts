// Works on one agent one after the other, works on different agents side by side.

export type Order = <T>(agentId: string, work: () => Promise<T>) => Promise<T>;

export function createOrder(): Order {
  const last = new Map<string, Promise<unknown>>();
  return (agentId, work) => {
    const before = last.get(agentId) ?? Promise.resolve();
    // Whether the one before went well is its own caller's business.
    const own = before.then(work, work);
    const settled = own
      .catch(() => undefined)
      .then(() => {
        if (last.get(agentId) === settled) last.delete(agentId);
      });
    last.set(agentId, settled);
    return own;
  };
}
