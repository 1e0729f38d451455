// Installs skills for accounts: from a zip or a SKILL.md, which is uploaded or fetched; and changes and removes them.
import { AppError, invalidInput } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import type { auth } from "../auth/index.ts";
import { planSettings } from "../auth/settings.ts";
import { folderSkillId, nameInId } from "./agent/folder-skill.ts";
import type { FolderReader } from "./reading/folder-reader.ts";
import { LIMITS } from "./reading/problems.ts";
import { type InstalledSkills, skillNotFound } from "./store/installed-skills.ts";
import { quotaOf } from "./store/quota.ts";

interface Deps extends Pick<Kernel, "outbound" | "config"> {
  installed: InstalledSkills;
  readFolder: FolderReader;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  /** Lets the account's agents see the change. */
  onChanged(userId: string): Promise<void>;
}

export interface SkillChanges {
  version?: number | undefined;
  trusted?: boolean | undefined;
}

export type Installation = ReturnType<typeof createInstallation>;

export function createInstallation({ outbound, config, installed, readFolder, users, onChanged }: Deps) {
  const { table } = config.of(planSettings);
  const accountOf = async (userId: string) => ({ userId, quota: quotaOf(table.ofAccount(await users.byId(userId))) });

  /** Throws 404 `SKILL_NOT_FOUND`. */
  async function requireOwn(userId: string, id: string) {
    const name = nameInId(id);
    const skill = name === undefined ? undefined : await installed.find(userId, name);
    if (!skill) throw skillNotFound();
    return skill;
  }

  /** Returns the skill's id. `address`: where the bytes come from; null for an upload. */
  async function install(userId: string, bytes: Uint8Array<ArrayBuffer>, address: string | null): Promise<string> {
    if (bytes.length > LIMITS.zip) throw skillTooLarge();
    const folder = await readFolder(bytes);
    await installed.install(await accountOf(userId), folder, address);
    await onChanged(userId);
    return folderSkillId(folder.fields.name);
  }

  return {
    /**
     * @throws AppError 400 `INVALID_SKILL`, 413 `SKILL_TOO_LARGE`, `SKILL_QUOTA_EXCEEDED`, 429 `SKILL_LIMIT_REACHED`
     */
    installUpload: (userId: string, bytes: Uint8Array<ArrayBuffer>) => install(userId, bytes, null),

    /**
     * Installs an upload unless the account has a skill of this name, whose agents would get another version. Returns the
     * skill's id, or undefined if there is one.
     * @throws AppError as `installUpload`
     */
    async installNew(userId: string, bytes: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
      if (bytes.length > LIMITS.zip) throw skillTooLarge();
      const folder = await readFolder(bytes);
      if (await installed.find(userId, folder.fields.name)) return undefined;
      await installed.install(await accountOf(userId), folder, null);
      await onChanged(userId);
      return folderSkillId(folder.fields.name);
    },

    /** @throws AppError as `installUpload` and `Outbound.fetch` */
    async installFrom(userId: string, url: string): Promise<string> {
      const response = await outbound.fetch(url, {
        httpsOnly: true,
        maxBytes: LIMITS.zip,
        timeoutMs: 30 * SECOND,
        headers: { accept: "application/zip,text/markdown;q=0.9,*/*;q=0.5" },
      });
      if (!response.ok) {
        throw new AppError(502, "UPSTREAM_FAILED", `The address answered with status ${response.status}.`);
      }
      return install(userId, Uint8Array.from(response.bytes()), withoutSecrets(url));
    },

    /** @throws AppError 404 `SKILL_NOT_FOUND`, `SKILL_VERSION_NOT_FOUND` */
    async change(userId: string, id: string, { version, trusted }: SkillChanges): Promise<void> {
      if (version === undefined && trusted === undefined) {
        throw invalidInput({ path: "", message: "Say which version to use, or whether you trust it." });
      }
      const skill = await requireOwn(userId, id);
      if (version !== undefined) await installed.useVersion(userId, skill.name, version);
      if (trusted !== undefined) await installed.setTrusted(userId, skill.name, version ?? skill.version, trusted);
      await onChanged(userId);
    },

    /** @throws AppError 404 `SKILL_NOT_FOUND` */
    async remove(userId: string, id: string): Promise<void> {
      const { name } = await requireOwn(userId, id);
      await installed.remove(userId, name);
      await onChanged(userId);
    },

    /** @throws AppError as `InstalledSkills.restore` */
    async restore(userId: string, id: string): Promise<void> {
      const name = nameInId(id);
      if (name === undefined) throw skillNotFound();
      await installed.restore(await accountOf(userId), name);
      await onChanged(userId);
    },
  };
}

export const skillTooLarge = () => {
  const text = `A skill's zip has at most ${LIMITS.zip / 1024 / 1024} MiB. Leave out what an agent can't read.`;
  return new AppError(413, "SKILL_TOO_LARGE", text, { limit: LIMITS.zip });
};

/** The address without user, query and fragment, which may hold a key. */
function withoutSecrets(address: string): string {
  const url = new URL(address);
  return `${url.origin}${url.pathname}`.slice(0, 1000);
}
