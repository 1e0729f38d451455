// An agent put away and put back: backups, what is restored from one, what is forgotten, what is mended.
import { GuardFailed, type Statement } from "../../../src/database.ts";
import { AppError } from "../../../src/errors.ts";
import type { Host } from "../../../src/plugin.ts";
import { agents, noSuchAgent } from "../../agents/index.ts";
import type { Extent, MessageRow, SessionRow } from "../../runtime/index.ts";
import { createBackups } from "./backups.ts";
import { createReader, estatesOf, LATER_PARTS, type Moment, type Part, partsOf } from "./estates.ts";
import { DamagedFile, readElements } from "./file.ts";

/** What is done with all that belongs to an agent. Calls for one agent come one after the other. */
export interface Snapshots {
  /**
   * Writes a backup: configuration, credentials (sealed as they are), memories, sessions, reminders, bots and who may
   * talk to them. All of one moment. 500 `BACKUP_FAILED`: nothing was written.
   */
  write(agentId: string): Promise<{ path: string }>;
  /**
   * Does the work while this backup is kept, however many are written. 400 `UNKNOWN_BACKUP` for anything but the path of
   * a backup of this agent, 400 `DAMAGED_BACKUP` for one that is not what was written, 400 `NEWER_BACKUP` for one of a
   * later Berth; nothing is done then.
   */
  keeping<Result>(agentId: string, path: string, work: (backup: Backup) => Promise<Result>): Promise<Result>;
  /**
   * Puts everything back in one write, but for the status and for what waits in inbox and outbox. Refuses like
   * `keeping`, with nothing changed. `also` is part of that write. To be called while no turn runs.
   */
  restore(agentId: string, path: string, also?: readonly Statement[]): Promise<void>;
  /** Forgets sessions, memories and reminders; the rest stays. To be called while no turn runs. */
  eraseMemory(agentId: string): Promise<void>;
  /** Mends what is not as it should be; answers in words what it was. To be called while no turn runs. */
  mend(agentId: string): Promise<string[]>;
}

export interface Backup {
  /** Of the runtime that the agent had. */
  runtimeVersion: string;
}

const FORMAT = "berth.backup";
const VERSION = 1;
const DAY = 86_400_000;

/** What a backup holds of a moment. */
type Kept = Omit<Moment, (typeof LATER_PARTS)[number]> & Partial<Moment>;

/** What a backup holds, but for its messages. */
interface Survey {
  moment: Kept;
  extents: Map<string, Extent>;
}

export function createSnapshots(host: Host): Snapshots {
  const { database, config, jobs, log } = host.kernel;
  const hosted = host.use(agents);
  const estates = estatesOf(host);
  const parts = partsOf(estates);
  const read = createReader(database, parts);
  const backups = createBackups({ dataDir: config.dataDir, log });

  hosted.onDelete((agentId) => backups.remove(agentId));
  jobs.every("lifecycle.sweep-backups", DAY, () =>
    backups.sweep(async (agentId) => (await hosted.find(agentId)) !== undefined),
  );

  async function* elementsOf(agentId: string, moment: Moment): AsyncGenerator<string, void> {
    yield JSON.stringify({ format: FORMAT, version: VERSION, agentId, takenAt: new Date().toISOString() });
    const { messages, ...small } = moment;
    for (const [part, rows] of Object.entries(small)) yield `{"part":"${part}","rows":${rows}}`;
    // Numbers, as the query gave them.
    for await (const rows of estates.runtime.pages(JSON.parse(messages) as number[])) {
      yield `{"part":"messages","rows":${rows}}`;
    }
  }

  /** Reads a whole backup once: nothing is changed for one that is not good to its end. */
  async function survey(agentId: string, file: string): Promise<Survey> {
    const found = new Map<string, string>();
    const extents = new Map<string, Extent>();
    let header: unknown;
    for await (const element of readElements(file)) {
      if (header === undefined) {
        header = element;
        requireHeader(element, agentId);
        continue;
      }
      const { part, rows } = partOf(element);
      if (part === "sessions") {
        for (const { id } of rows as SessionRow[]) extents.set(id, { count: 0, last: 0, lastId: "" });
      }
      if (part !== "messages") found.set(part, JSON.stringify(rows));
      else for (const row of rows as MessageRow[]) extend(extents, row);
    }
    const names = (Object.keys(parts) as Part[]).filter((name) => !["messages", ...LATER_PARTS].includes(name));
    if (!names.every((name) => found.has(name))) throw new DamagedFile("Not everything is in it.");
    return { moment: { ...(Object.fromEntries(found) as Kept), messages: "[]" }, extents };
  }

  async function* messagesIn(file: string): AsyncGenerator<readonly MessageRow[], void> {
    let first = true;
    for await (const element of readElements(file)) {
      const { part, rows } = first ? { part: "", rows: [] } : partOf(element);
      first = false;
      if (part === "messages") yield rows as MessageRow[];
    }
  }

  /** Throws 400 for what is wrong with the file. */
  async function checked(agentId: string, path: string): Promise<{ file: string; found: Survey }> {
    const file = await backups.hold(agentId, path);
    try {
      return { file, found: await survey(agentId, file) };
    } catch (cause) {
      backups.letGo(path);
      if (!(cause instanceof DamagedFile)) throw cause;
      const text = "This backup is damaged, so nothing was changed. Choose another one.";
      throw new AppError(400, "DAMAGED_BACKUP", text, {}, { cause });
    }
  }

  /** What is left over is cleared away by a job too: the work itself is done. */
  const tidy = (agentId: string, clear: () => Promise<void>) =>
    clear().catch((error: unknown) => log.warn("an agent's old sessions could not be cleared yet", { agentId, error }));

  async function putBack(
    agentId: string,
    file: string,
    { moment, extents }: Survey,
    also: readonly Statement[],
  ): Promise<void> {
    const bots = await estates.channels.restore(agentId, moment);
    const talks = await estates.runtime.restore(agentId, moment.sessions, extents, messagesIn(file));
    try {
      await database.write([
        ...estates.agents.restore(agentId, moment, bots.tokens),
        ...estates.skills.restore(agentId, moment),
        ...(moment.cache === undefined ? [] : estates.ai.restore(agentId, { cache: moment.cache })),
        ...talks.statements,
        ...bots.statements,
        ...also,
      ]);
    } catch (error) {
      throw error instanceof GuardFailed ? noSuchAgent() : error;
    } finally {
      await tidy(agentId, talks.clear);
    }
  }

  return {
    async write(agentId) {
      const moment = await read(agentId);
      if (moment.agent === "[]") throw noSuchAgent();
      const path = await backups.write(agentId, elementsOf(agentId, moment));
      if (await hosted.find(agentId)) return { path };
      await backups.remove(agentId);
      throw noSuchAgent();
    },

    async keeping(agentId, path, work) {
      const { found } = await checked(agentId, path);
      try {
        return await work({ runtimeVersion: versionIn(found.moment) });
      } finally {
        backups.letGo(path);
      }
    },

    async restore(agentId, path, also = []) {
      const { file, found } = await checked(agentId, path);
      try {
        await putBack(agentId, file, found, also);
      } finally {
        backups.letGo(path);
      }
    },

    async eraseMemory(agentId) {
      const talks = estates.runtime.erase(agentId);
      await database.write([...estates.reset(agentId), ...talks.statements]);
      await tidy(agentId, talks.clear);
    },

    async mend(agentId) {
      const { agents, skills, runtime, channels } = estates;
      const found: string[] = [];
      for (const estate of [runtime, skills, channels, agents]) found.push(...(await estate.mend(agentId)));
      return found;
    },
  };
}

function extend(extents: Map<string, Extent>, { session, seq, id }: MessageRow): void {
  const extent = extents.get(session);
  if (!extent) throw new DamagedFile("A message without its session.");
  extents.set(session, { count: extent.count + 1, last: seq, lastId: id });
}

function requireHeader(element: unknown, agentId: string): void {
  const of = (name: string): unknown =>
    typeof element === "object" && element !== null ? Reflect.get(element, name) : undefined;
  if (of("format") !== FORMAT || of("agentId") !== agentId) throw new DamagedFile("It is not a backup of this agent.");
  if (of("version") === VERSION) return;
  throw new AppError(
    400,
    "NEWER_BACKUP",
    "This backup was written by a later version of Berth, which alone can read it.",
  );
}

function versionIn({ agent }: Kept): string {
  const [row]: unknown[] = JSON.parse(agent);
  const version: unknown = typeof row === "object" && row !== null ? Reflect.get(row, "runtimeVersion") : undefined;
  return String(version);
}

function partOf(element: unknown): { part: string; rows: unknown[] } {
  if (typeof element === "object" && element !== null && "part" in element && "rows" in element) {
    const { part, rows } = element;
    if (typeof part === "string" && Array.isArray(rows)) return { part, rows };
  }
  throw new DamagedFile("A line that is no part.");
}
