// Agents that can be carried elsewhere: written out as one JSON object without secrets, and made anew from one.
import { rawMember } from "../../src/json-text.ts";
import type { Host } from "../../src/plugin.ts";
import { type Agent, agents } from "../agents/index.ts";
import type { MessageRow, SessionRow } from "../runtime/index.ts";
import type { FactRow, ReminderRow } from "../skills/index.ts";
import { PORTABLE_FORMAT } from "./portable-model.ts";
import { requirePortable, rowsOf } from "./portable-rows.ts";
import { createReader, estatesOf, partsOf } from "./snapshots/estates.ts";

export interface Portables {
  /** The agent as text, piece by piece. What belongs to it is of one moment; large histories are read on the way. */
  write(agent: Agent, options: { history: boolean }): Promise<AsyncGenerator<string, void>>;
  /**
   * Makes an agent of what was written, for this user. 400 `UNKNOWN_FORMAT`, or for what is wrong in it; and whatever
   * provisioning refuses with. All or nothing.
   * @param text a JSON object
   */
  make(owner: { userId: string; isAdmin: boolean }, text: string): Promise<Agent>;
}

const iso = (at: number) => new Date(at).toISOString();

export function createPortables(host: Host): Portables {
  const hosted = host.use(agents);
  const estates = estatesOf(host);
  const read = createReader(host.kernel.database, partsOf(estates));

  /** Its members as JSON, but for the closing brace of the session. */
  async function* sessionText({ id, ...row }: SessionRow, upto: number): AsyncGenerator<string, void> {
    const { platform, peer, status, summary, summarized, at, active } = row;
    const times = { createdAt: iso(at), lastActivity: iso(active) };
    yield `${JSON.stringify({ id, platform, peer, status, summary, summarized, ...times }).slice(0, -1)},"messages":[`;
    let separator = "";
    for await (const page of estates.runtime.said(id, upto)) {
      yield separator + page.map((message) => JSON.stringify(messageOut(message))).join(",");
      separator = ",";
    }
    yield "]}";
  }

  return {
    async write({ id, name, model, tier }, { history }) {
      const moment = await read(id);
      // Our own rows, as the queries gave them.
      const rows = <Row>(text: string) => JSON.parse(text) as Row[];
      const config = rows<{ body: string }>(moment.configs).at(-1)?.body ?? "{}";
      const head = JSON.stringify({ format: PORTABLE_FORMAT, exportedAt: iso(Date.now()), name, model, tier });
      const [cache] = rows<{ maxAge: number }>(moment.cache);
      const small = JSON.stringify({
        responseCache: cache ? { maxAgeSeconds: cache.maxAge } : null,
        skills: rows<SwitchRow>(moment.switches).map(({ skill, enabled }) => ({ id: skill, enabled: enabled === 1 })),
        memories: rows<FactRow>(moment.memories).map(factOut),
        reminders: rows<ReminderRow>(moment.reminders).map(reminderOut),
      });
      const sessions = history ? rows<SessionRow>(moment.sessions) : [];
      const upto = rows<number>(moment.messages).at(-1) ?? 0;

      return (async function* () {
        yield `${head.slice(0, -1)},"config":${config},${small.slice(1, -1)},"sessions":[`;
        for (const [n, session] of sessions.entries()) {
          if (n > 0) yield ",";
          yield* sessionText(session, upto);
        }
        yield "]}\n";
      })();
    },

    async make(owner, text) {
      const config = rawMember(text, "config") ?? "";
      const { name, model, tier, responseCache, ...rest } = requirePortable(JSON.parse(text));
      const { talks, skills } = rowsOf(rest);
      return hosted.provision({
        ...owner,
        name,
        model,
        config,
        tier: tier ?? undefined,
        also: (agentId) => [
          ...estates.skills.restore(agentId, skills),
          ...(responseCache ? estates.ai.restore(agentId, { cache: cacheRows(responseCache) }) : []),
          ...estates.runtime.bring(agentId, talks.sessions, talks.messages),
        ],
      });
    },
  };
}

interface SwitchRow {
  skill: string;
  enabled: 0 | 1;
}

const cacheRows = ({ maxAgeSeconds }: { maxAgeSeconds: number }) => JSON.stringify([{ maxAge: maxAgeSeconds }]);
const messageOut = ({ role, content, steps, at }: MessageRow) => {
  const did: unknown = steps === null ? undefined : JSON.parse(steps);
  return { role, content, ...(did === undefined ? {} : { steps: did }), at: iso(at) };
};
const factOut = ({ content, circle, source, at, updated }: FactRow) => ({
  content,
  circle,
  source,
  createdAt: iso(at),
  updatedAt: iso(updated),
});
const reminderOut = ({ text, due, platform, peer, session, byOwner }: ReminderRow) => ({
  text,
  at: iso(due),
  platform,
  peer,
  session,
  byOwner: byOwner === 1,
});
