// A skill in the list: what it is for, and everything about it once it is opened.

import { useQuery } from "@tanstack/react-query";
import { ChevronDown } from "lucide-react";
import { useId } from "react";
import { visibleText } from "../../../../src/kernel/util/text/visible-text.ts";
import { lazyPart } from "../../../parts/lazy.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { Badge } from "../../../parts/values/status.tsx";
import { t } from "../../../viewer/language.ts";
import { loadSkill, type SkillItem, skillKey } from "./data.ts";

const SkillDetails = lazyPart(
  async () => ({ default: (await import("./skill-details.tsx")).SkillDetails }),
  () => <Skeleton className="h-40" />,
);

interface Props {
  skill: SkillItem;
  isOpen: boolean;
  onToggle: () => void;
  onChanged: () => unknown;
}

export function SkillRow({ skill, isOpen, onToggle, onChanged }: Props) {
  const { name, description, version, source, untrusted } = skill;
  const id = useId();
  return (
    <li className="border-edge border-b py-2.5 last:border-b-0">
      <h3>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={onToggle}
          className="flex w-full items-start gap-2 rounded-round text-left"
        >
          <ChevronDown
            className={`mt-0.5 size-4 shrink-0 text-soft transition-transform ${isOpen ? "" : "-rotate-90"}`}
            aria-hidden="true"
          />
          <span className="min-w-0 flex-1">
            <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <bdi className="break-all font-medium">{visibleText(name)}</bdi>
              {source === "shared" ? (
                <Badge>{t("From the operator")}</Badge>
              ) : (
                <Badge>{t("Version {version}", { version })}</Badge>
              )}
              {untrusted && <Badge tone="warn">{t("Not trusted yet")}</Badge>}
            </span>
            <bdi className={`mt-0.5 block break-words font-normal text-soft ${isOpen ? "" : "line-clamp-2"}`}>
              {visibleText(description)}
            </bdi>
          </span>
        </button>
      </h3>
      <div id={id} className="pl-6">
        {isOpen && <Details id={skill.id} onChanged={onChanged} />}
      </div>
    </li>
  );
}

function Details({ id, onChanged }: { id: string; onChanged: () => unknown }) {
  const query = useQuery({ queryKey: skillKey(id), queryFn: () => loadSkill(id) });
  return (
    <div className="pt-3 pb-2">
      <Loaded query={query}>{(skill) => <SkillDetails skill={skill} onChanged={onChanged} />}</Loaded>
    </div>
  );
}
