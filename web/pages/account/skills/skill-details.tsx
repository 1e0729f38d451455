// Everything about a skill: whether its owner trusts it, what its author says, warnings, files, versions, removal.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { visibleText } from "../../../../src/kernel/util/text/visible-text.ts";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { Switch } from "../../../parts/forms/field.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { Badge, Notice } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { formatBytes, t } from "../../../viewer/language.ts";
import { type Skill, type SkillFile, type SkillVersion, skillKey } from "./data.ts";
import { FileDialog } from "./file-dialog.tsx";
import { ProblemList } from "./problem-list.tsx";

interface Props {
  skill: Skill;
  onChanged: () => unknown;
}

export function SkillDetails({ skill, onChanged }: Props) {
  const { id, source, license, compatibility, allowedTools, warnings, versions } = skill;
  const name = visibleText(skill.name);
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (changes: { trusted: boolean } | { version: number }) =>
      api.patch<Skill>(path`/api/skills/${id}`, changes),
    onSuccess(changed) {
      queries.setQueryData(skillKey(id), changed);
      void onChanged();
    },
    onError: (refused) => showError(messageOf(refused)),
  });
  const isOwn = source === "installed";

  async function restore(): Promise<void> {
    try {
      await api.post(path`/api/skills/${id}/restore`);
    } catch (refused) {
      showError(messageOf(refused));
    }
    void onChanged();
  }
  const remove = useMutation({
    mutationFn: () => api.delete(path`/api/skills/${id}`),
    onSuccess() {
      showToast(t("{name} is removed", { name }), { label: t("Undo"), run: () => void restore() });
      void onChanged();
    },
    onError: (refused) => showError(messageOf(refused)),
  });

  return (
    <div className="flex flex-col gap-5">
      {isOwn && (
        <Trust isTrusted={skill.trusted} isBusy={change.isPending} onChange={(trusted) => change.mutate({ trusted })} />
      )}
      <Files skill={skill} />
      {(license ?? compatibility ?? allowedTools[0]) !== undefined && (
        <Part title={t("What its author says")}>
          <dl className="grid gap-x-4 gap-y-1.5 sm:grid-cols-[8rem_minmax(0,1fr)]">
            {license !== null && <Fact label={t("License")}>{visibleText(license)}</Fact>}
            {compatibility !== null && <Fact label={t("Needs")}>{visibleText(compatibility)}</Fact>}
            {allowedTools.length > 0 && (
              <Fact label={t("Wants tools")}>
                <span className="flex flex-wrap gap-1.5">
                  {allowedTools.map((tool) => (
                    <code key={tool} className="break-all rounded-round bg-well px-1.5 font-mono text-sm">
                      {visibleText(tool)}
                    </code>
                  ))}
                </span>
                <span className="mt-1 block text-soft text-sm">
                  {t("This allows it nothing. What an agent may do is decided on its own page.")}
                </span>
              </Fact>
            )}
          </dl>
        </Part>
      )}
      {warnings.length > 0 && (
        <Part title={t("Differs from the specification")}>
          <ProblemList problems={warnings} />
        </Part>
      )}
      {isOwn && (
        <>
          <Part title={t("Versions")}>
            <ul className="flex flex-col">
              {versions.map((one) => (
                <Version
                  key={one.version}
                  version={one}
                  isUsed={String(one.version) === skill.version}
                  isBusy={change.isPending}
                  onUse={() => change.mutate({ version: one.version })}
                />
              ))}
            </ul>
          </Part>
          <div>
            <Button look="danger" isBusy={remove.isPending} onClick={() => remove.mutate()}>
              {t("Remove {name}", { name })}
            </Button>
          </div>
        </>
      )}
    </div>
  );
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="flex flex-col gap-2">
    <h4 className="font-medium">{title}</h4>
    {children}
  </section>
);

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <>
    <dt className="text-soft">{label}</dt>
    <dd className="min-w-0 break-words">{children}</dd>
  </>
);

interface TrustProps {
  isTrusted: boolean;
  isBusy: boolean;
  onChange: (isTrusted: boolean) => void;
}

const Trust = ({ isTrusted, isBusy, onChange }: TrustProps) => (
  <Notice tone={isTrusted ? "idle" : "warn"}>
    <p className="max-w-prose text-ink">
      {isTrusted
        ? t("Its instructions count like your own. A new version asks you again.")
        : t(
            "Its instructions count as words of a stranger: while it is on, an agent asks you before everything but reading. Read its files first.",
          )}
    </p>
    <span className="text-ink">
      <Switch
        label={t("I have read this version and trust it")}
        isOn={isTrusted}
        disabled={isBusy}
        onChange={onChange}
      />
    </span>
  </Notice>
);

function Files({ skill: { id, files } }: { skill: Skill }) {
  const [shown, setShown] = useState<SkillFile>();
  return (
    <Part title={t("Files")}>
      {files.some(({ isScript }) => isScript) && (
        <p className="max-w-prose text-soft text-sm">
          {files.some(({ isRunnable }) => isRunnable)
            ? t(
                "Scripts in JavaScript run in a closed sandbox: they reach no network and nothing but the files here and those that people send. Others can only be read.",
              )
            : t(
                "These scripts can't be run here, only JavaScript in scripts/ can. The agent is told so, and can only read them.",
              )}
        </p>
      )}
      <ul className="flex flex-col">
        {files.map((file) => (
          <li key={file.path} className="flex flex-wrap items-center gap-x-3 border-edge border-b py-1 last:border-b-0">
            {file.isText ? (
              <button
                type="button"
                onClick={() => setShown(file)}
                className="min-w-0 flex-1 break-all rounded-round py-0.5 text-left font-mono text-sea text-sm hover:underline"
              >
                {visibleText(file.path)}
              </button>
            ) : (
              <span className="min-w-0 flex-1 break-all py-0.5 font-mono text-sm">{visibleText(file.path)}</span>
            )}
            {file.isScript && <Badge>{file.isRunnable ? t("runs in a sandbox") : t("script, not run")}</Badge>}
            {!file.isText && <Badge>{t("not kept")}</Badge>}
            <span className="text-soft text-sm">{formatBytes(file.size)}</span>
          </li>
        ))}
      </ul>
      {shown && <FileDialog skillId={id} file={shown} onClose={() => setShown(undefined)} />}
    </Part>
  );
}

interface VersionProps {
  version: SkillVersion;
  isUsed: boolean;
  isBusy: boolean;
  onUse: () => void;
}

const Version = ({
  version: { version, label, address, trusted, size, createdAt },
  isUsed,
  isBusy,
  onUse,
}: VersionProps) => (
  <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-edge border-b py-1.5 last:border-b-0">
    <div className="min-w-0 flex-1 basis-52">
      <p className="flex flex-wrap items-center gap-2">
        <span>{t("Version {version}", { version })}</span>
        {label !== null && <bdi className="break-all text-soft text-sm">{visibleText(label)}</bdi>}
        {isUsed && <Badge tone="good">{t("In use")}</Badge>}
        {trusted && <Badge>{t("Trusted")}</Badge>}
      </p>
      <p className="break-all text-soft text-sm">
        <When at={createdAt} />
        {" · "}
        {formatBytes(size)}
        {" · "}
        {address === null ? t("uploaded") : visibleText(address)}
      </p>
    </div>
    {!isUsed && (
      <Button isBusy={isBusy} onClick={onUse}>
        {t("Use version {version}", { version })}
      </Button>
    )}
  </li>
);
