// A skill: what it is for, what it may do, what it needs, and its switch.

import { Link } from "wouter";
import { visibleText } from "../../../../src/kernel/util/text/visible-text.ts";
import { toolAbout } from "../../../data/tools.ts";
import { ToolName } from "../../../parts/agents/tool-name.tsx";
import { Switch } from "../../../parts/forms/field.tsx";
import { Badge } from "../../../parts/values/status.tsx";
import { rich, t } from "../../../viewer/language.ts";
import { classWords, type Skill, skillWords } from "./words.ts";

interface Props {
  skill: Skill;
  onSwitch: (isOn: boolean) => void;
}

export function SkillCard({ skill, onSwitch }: Props) {
  const { name, description, needs, Icon } = skillWords(skill);
  return (
    <article
      aria-label={name}
      className={`flex flex-col gap-2 rounded-large border border-edge p-3.5 ${skill.enabled ? "bg-card" : "bg-page"}`}
    >
      <header className="flex items-center gap-2.5">
        <span
          aria-hidden="true"
          className={`grid size-8 shrink-0 place-items-center rounded-round ${skill.enabled ? "bg-wash text-sea" : "bg-well text-soft"}`}
        >
          <Icon className="size-4" />
        </span>
        <h3 className="min-w-0 flex-1 break-words font-semibold">{name}</h3>
        <Switch
          label={skill.enabled ? t("{name} is on", { name }) : t("{name} is off", { name })}
          isLabelHidden
          isOn={skill.enabled}
          onChange={onSwitch}
        />
      </header>
      <p className="line-clamp-6 break-words text-soft">{description}</p>
      <ul className="flex flex-wrap gap-1.5">
        {skill.permissions.map((permission) => {
          const words = classWords(permission);
          return (
            words && (
              <li key={permission} title={t(words.hint)}>
                <Badge tone={words.tone}>{t(words.label)}</Badge>
              </li>
            )
          );
        })}
        {skill.untrusted && (
          <li>
            <Badge tone="warn">{t("From outside")}</Badge>
          </li>
        )}
        {skill.source === "shared" && (
          <li>
            <Badge>{t("From the operator")}</Badge>
          </li>
        )}
      </ul>
      {isFolder(skill) && <FolderNote skill={skill} />}
      {needs && (
        <p className={`text-sm ${skill.isReady || !skill.enabled ? "text-soft" : "text-warn"}`}>
          {skill.isReady || !skill.enabled
            ? t("Needs: {needs}", { needs })
            : t("Not usable yet. Needs: {needs}", { needs })}
        </p>
      )}
      {skill.decidedBy === "config" && (
        <p className="text-soft text-sm">{t("The configuration decides this. The switch here comes first.")}</p>
      )}
      <details className="mt-auto text-sm">
        <summary className="text-soft hover:text-ink">{t("Its tools")}</summary>
        <dl className="mt-2 flex flex-col gap-2">
          {skill.tools.map((tool) => (
            <div key={tool.name}>
              <dt className="flex flex-wrap items-center gap-2">
                <ToolName name={tool.name} isRawShown />
                {tool.ownerOnly && <Badge>{t("Only with you")}</Badge>}
              </dt>
              <dd className="text-soft">{toolAbout(tool.name) ?? visibleText(tool.description)}</dd>
            </div>
          ))}
        </dl>
      </details>
    </article>
  );
}

const isFolder = ({ source }: Skill) => source === "installed" || source === "shared";

/** What is special about a folder with a SKILL.md, and where to read it. */
const FolderNote = ({ skill: { id, untrusted, tools } }: { skill: Skill }) => (
  <p className="text-soft text-sm">
    {untrusted && `${t("Until you trust it, everything but reading asks you first while it is on.")} `}
    {tools.some(({ name }) => name === "run_skill_script") && `${t("It runs scripts in a closed sandbox.")} `}
    {rich("<a>Read it</a>", {
      a: (words, key) => (
        <Link key={key} href={`/account/skills?skill=${encodeURIComponent(id)}`} className="text-sea underline">
          {words}
        </Link>
      ),
    })}
  </p>
);
