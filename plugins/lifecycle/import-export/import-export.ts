// Exports an agent as one JSON object without secrets, and creates an agent from such an object.

import type { Static } from "elysia";
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { Host } from "../../../src/kernel/plugin.ts";
import { parseElements, setJsonMembers } from "../../../src/kernel/util/json-text.ts";
import { isTimeZone } from "../../../src/kernel/util/time-zone.ts";
import { type Agent, agents, secretShapes } from "../../agents/index.ts";
import { providerSettings } from "../../ai/settings.ts";
import type { exportedFile } from "../../knowledge/index.ts";
import type { PublicPageRow } from "../../public-page/index.ts";
import type { MessageRow, SessionRow } from "../../runtime/index.ts";
import type { ScheduleRow } from "../../schedules/index.ts";
import { skillFolders } from "../../skill-folders/index.ts";
import { type FactRow, type ReminderRow, skills } from "../../skills/index.ts";
import { uploads } from "../../uploads/index.ts";
import { backupSourcesOf, backupTablesOf, createSnapshotReader } from "../backups/backup-sources.ts";
import { recordImportStatement, requireNotImported } from "../takeover/import-record.ts";
import { type ReportRow, rowOf } from "../takeover/report.ts";
import { installSkills } from "../takeover/skill-arrival.ts";
import { configOnArrival, type SwitchedOff, switchedOffList, switchesOnArrival } from "./arrival.ts";
import { EXPORT_FORMAT } from "./export-format.ts";
import { addImportedFiles, chooseFiles } from "./exported-files.ts";
import { createImportReader, SMALL_FILE_BYTES } from "./import-reader.ts";

export interface ImportExport {
  /** The exported agent as chunks of text, with the state of one moment; messages are read while they are consumed. */
  exportAgent(agent: Agent, options: { history: boolean }): Promise<AsyncGenerator<string, void>>;
  /**
   * Creates an agent from an exported one, or from a file of another program, in one write. What acts, spends or reaches out is switched off. Throws 400 `UNKNOWN_FORMAT`, `UNREADABLE_FILE`, 400 with issues for
   * invalid content, 409 `ALREADY_IMPORTED`, and the errors of provisioning.
   * @param bytes the body, as it came, in a buffer of its own, which can't be used afterwards
   */
  importAgent(
    owner: { userId: string; isAdmin: boolean },
    bytes: Uint8Array<ArrayBuffer>,
    options?: ImportOptions,
  ): Promise<ImportedAgent>;
  /** What an import of the file would make; nothing is stored. Throws 400 as `importAgent`. */
  previewImport(bytes: Uint8Array<ArrayBuffer>): Promise<ImportPreview>;
}

export interface ImportOptions {
  /** SHA-256 of the place of the folder that was packed. */
  origin?: string | undefined;
  /** Import a folder of another program although the owner has an agent from it. */
  again?: boolean;
  /** Of an agent whose file names none. Throws 400 for one that does not exist. */
  timezone?: string | undefined;
}

export interface ImportPreview {
  name: string;
  /** `berth`, or the other program. */
  format: string;
  /** What becomes of each part of another program's file; empty for an exported agent, which is taken over whole. */
  report: ReportRow[];
}

export interface ImportedAgent {
  agent: Agent;
  /** What the owner may switch on. */
  switchedOff: SwitchedOff[];
  format: string;
  report: ReportRow[];
}

const noSuchZone = () =>
  invalidInput({ path: "timezone", message: "There is no such time zone. Use a name such as Europe/Berlin." });
const iso = (at: number) => new Date(at).toISOString();

export function createImportExport(host: Host): ImportExport {
  const agentService = host.use(agents);
  const skillService = host.use(skills);
  const uploadService = host.use(uploads);
  const sources = backupSourcesOf(host);
  const shapes = host.kernel.config.of(providerSettings).registry.all.map(({ credential }) => credential.shape);
  const readFile = createImportReader(secretShapes(shapes));
  const skillFolderService = host.use(skillFolders);
  const readSnapshot = createSnapshotReader(host.kernel.database, backupTablesOf(sources));

  /** A session as chunks of JSON text. */
  async function* sessionText(
    { id, ...row }: SessionRow,
    lastSeq: number,
    files: Awaited<ReturnType<typeof chooseFiles>> | undefined,
  ): AsyncGenerator<string, void> {
    const { platform, peer, status, summary, summarized, at, active } = row;
    const times = { createdAt: iso(at), lastActivity: iso(active) };
    yield `${JSON.stringify({ id, platform, peer, status, summary, summarized, ...times }).slice(0, -1)},"messages":[`;
    let separator = "";
    for await (const page of sources.runtime.messagesUpTo(id, lastSeq)) {
      for (const message of page) {
        // Files are in memory one message at a time.
        yield separator + JSON.stringify({ ...toExportedMessage(message), ...(await files?.of(message)) });
        separator = ",";
      }
    }
    yield "]}";
  }

  return {
    async exportAgent({ id, name, model, tier }, { history }) {
      const snapshot = await readSnapshot(id);
      // The queries of the backup rows define these types.
      const rows = <Row>(text: string) => JSON.parse(text) as Row[];
      const config = rows<{ body: string }>(snapshot.configs).at(-1)?.body ?? "{}";
      const head = JSON.stringify({ format: EXPORT_FORMAT, exportedAt: iso(Date.now()), name, model, tier });
      const [cache] = rows<{ maxAge: number }>(snapshot.cache);
      const [page] = rows<PublicPageRow>(snapshot.publicPage);
      const metadata = JSON.stringify({
        responseCache: cache ? { maxAgeSeconds: cache.maxAge } : null,
        publicPage: page ? { enabled: page.enabled === 1, greeting: page.greeting } : null,
        skills: rows<SwitchRow>(snapshot.switches).map(({ skill, enabled }) => ({ id: skill, enabled: enabled === 1 })),
        memories: rows<FactRow>(snapshot.memories).map(toExportedFact),
        reminders: rows<ReminderRow>(snapshot.reminders).map(toExportedReminder),
        schedules: rows<ScheduleRow>(snapshot.schedules).flatMap(toExportedSchedule),
      });
      const sessions = history ? snapshot.sessions : "[]";
      const lastSeq = rows<number>(snapshot.messages).at(-1) ?? 0;
      const messageFiles = history ? await chooseFiles(uploadService, id) : undefined;

      return (async function* () {
        yield `${head.slice(0, -1)},"config":${config},${metadata.slice(1, -1)},"files":[`;
        let between = "";
        for await (const file of parseElements<FileRow>(snapshot.files)) {
          yield between + JSON.stringify(toExportedFile(file));
          between = ",";
        }
        yield `],"sessions":[`;
        let separator = "";
        for await (const session of parseElements<SessionRow>(sessions)) {
          yield separator;
          yield* sessionText(session, lastSeq, messageFiles);
          separator = ",";
        }
        yield messageFiles ? `],"filesLeftOut":${JSON.stringify(messageFiles.leftOut)}}\n` : "]}\n";
      })();
    },

    async previewImport(bytes) {
      const { head, config, takeover } = await readFile(bytes);
      await agentService.requireValidConfig(config);
      const skillRows = takeover?.skills.map(({ name }) => rowOf(true, `skills/${name}`, "SKILL")) ?? [];
      return {
        name: head.name,
        format: takeover?.format ?? "berth",
        report: [...(takeover?.rows ?? []), ...skillRows],
      };
    },

    async importAgent(owner, bytes, { origin = null, again = false, timezone } = {}) {
      if (timezone !== undefined && !isTimeZone(timezone)) throw noSuchZone();
      const isLong = bytes.length > SMALL_FILE_BYTES;
      const { head, config: fileConfig, switches: given, skills: skillRows, takeover, ...file } = await readFile(bytes);
      const source = takeover && { format: takeover.format, digest: takeover.digest, origin };
      if (source && !again) await requireNotImported(host.kernel.database, owner.userId, source);
      const { name, model, tier, responseCache, publicPage } = head;
      const settings = await agentService.requireValidConfig(fileConfig);
      const { config: arrived, changed } = configOnArrival(fileConfig);
      const zone = settings.timezone === undefined && timezone !== undefined;
      const config = setJsonMembers(arrived, {
        ...(takeover?.channels !== undefined && { channels: takeover.channels }),
        ...(zone && { timezone: JSON.stringify(timezone) }),
      });
      const { switches, off } = switchesOnArrival(
        new Map(given),
        settings.skills ?? new Map(),
        skillService.isHarmless,
      );
      const agent = await agentService.provision({
        ...owner,
        name,
        model,
        config,
        imported: true,
        tier: tier ?? undefined,
        isLong,
        statementsAfter: (agentId) => [
          ...(source ? [recordImportStatement(agentId, source)] : []),
          ...sources.skills.restoreStatements(agentId, { ...skillRows, switches: switchRows(switches) }),
          ...(responseCache ? sources.ai.restoreStatements(agentId, { cache: cacheRows(responseCache) }) : []),
          ...(publicPage ? sources.publicPage.restoreStatements(agentId, { publicPage: pageRows(publicPage) }) : []),
          ...(file.schedules === 0
            ? []
            : sources.schedules.restoreStatements(agentId, { schedules: file.scheduleRows })),
          ...(file.files === 0 ? [] : sources.knowledge.restoreStatements(agentId, { files: file.fileRows })),
          ...sources.runtime.importStatements(agentId, file.sessions, file.pages),
        ],
      });
      const { reminders, schedules, messageFiles } = file;
      const missing = await addImportedFiles(uploadService, agent, messageFiles);
      if (missing > 0) agentService.log(agent.id, "warning", filesMissing(missing), "lifecycle");
      const installed = await installSkills(skillFolderService, owner.userId, takeover?.skills ?? []);
      const known = off.length === 0 ? [] : await skillService.list(agent.id);
      const switchedOff = switchedOffList(agent.id, {
        skills: [...off, ...installed.ids],
        missingSkills: new Set(off.filter((id) => !known.some((skill) => skill.id === id))),
        settings: changed,
        reminders,
        schedules,
        publicPage: publicPage !== undefined && publicPage !== null && (publicPage.enabled || takeover !== undefined),
      });
      const names = switchedOff.map(({ kind, name }) => `${kind} ${name}`).join(", ");
      agentService.log(agent.id, "info", `Imported. Switched off, or waiting for approval: ${names}`, "lifecycle");
      const report = [...(takeover?.rows ?? []), ...installed.rows];
      return { agent, switchedOff, format: takeover?.format ?? "berth", report };
    },
  };
}

const filesMissing = (count: number) =>
  `Files of messages that were not imported: ${count}. The export does not have them, or your plan has no room for them.`;

type FileRow = Static<typeof exportedFile>;
const toExportedFile = (file: FileRow): FileRow => {
  const { name, type, size, url, refresh, title, published, cut, origin, at, passages } = file;
  return { name, type, size, url, refresh, title, published, cut, origin, at, passages };
};

interface SwitchRow {
  skill: string;
  enabled: 0 | 1;
}

const switchRows = (switches: ReadonlyMap<string, boolean>) =>
  JSON.stringify([...switches].map(([skill, enabled]) => ({ skill, enabled: enabled ? 1 : 0 })));
const cacheRows = ({ maxAgeSeconds }: { maxAgeSeconds: number }) => JSON.stringify([{ maxAge: maxAgeSeconds }]);
/** Switched off whatever the file says: only the new owner's own request opens an agent to visitors. */
function pageRows({ greeting }: { greeting: string }): string {
  const row: PublicPageRow = { enabled: 0, greeting: greeting.trim(), at: Date.now() };
  return JSON.stringify([row]);
}
const toExportedMessage = ({ role, content, steps, at }: MessageRow) => {
  const parsedSteps: unknown = steps === null ? undefined : JSON.parse(steps);
  return { role, content, ...(parsedSteps === undefined ? {} : { steps: parsedSteps }), at: iso(at) };
};
const toExportedFact = ({ content, circle, source, kind, pinned, at, updated }: FactRow) => ({
  content,
  circle,
  source,
  kind,
  ...(pinned === 1 && { pinned: true }),
  createdAt: iso(at),
  updatedAt: iso(updated),
});
/** Conversations on channels are no part of an exported agent. */
const toExportedSchedule = ({ name, prompt, cron, when, timezone, missed, origin }: ScheduleRow) =>
  origin === "config" ? [] : [{ name, prompt, cron, at: when === null ? null : iso(when), timezone, missed }];
const toExportedReminder = ({ text, due, platform, peer, session, byOwner }: ReminderRow) => ({
  text,
  at: iso(due),
  platform,
  peer,
  session,
  byOwner: byOwner === 1,
});
