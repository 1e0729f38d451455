// Requests without a pause, over new and kept connections, that notice when one is refused.
import { OPEN, type World } from "./world.ts";

export interface Seen {
  requests: number;
  /** What was wrong with those that were not answered as they should be. */
  refused: string[];
  longestMs: number;
}

export function hammer({ berth, ada }: World): { stop(): Promise<Seen> } {
  const seen: Seen = { requests: 0, refused: [], longestMs: 0 };
  let isOver = false;
  const keepAsking = async (name: string, status: number, ask: () => Promise<{ status: number }>) => {
    while (!isOver) {
      const since = performance.now();
      const answer = await ask().catch((error: unknown) => ({ status: 0, error }));
      seen.requests++;
      seen.longestMs = Math.max(seen.longestMs, Math.round(performance.now() - since));
      if (answer.status !== status)
        seen.refused.push(`${name}: ${"error" in answer ? String(answer.error) : answer.status}`);
    }
  };
  const anew = { headers: { connection: "close" } };
  const running = [
    keepAsking("a new connection", 200, () => fetch(`${berth.web}/healthz`, anew)),
    keepAsking("a kept connection", 200, () => ada.client.get("/api/agents")),
    keepAsking("a change", 200, () =>
      ada.client.put(`/api/agents/${ada.agentId}/config`, { ...OPEN, instructions: "Be brief." }),
    ),
  ];
  return {
    async stop() {
      isOver = true;
      await Promise.all(running);
      return seen;
    },
  };
}
