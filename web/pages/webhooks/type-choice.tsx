// Which events a webhook gets: all, or groups. Single types that were set by the API stay as they are.

import { CheckField } from "../../parts/forms/field.tsx";
import { t } from "../../viewer/language.ts";
import { GROUPS } from "./webhook.ts";

interface Props {
  types: readonly string[];
  onChange: (types: string[]) => void;
}

export function TypeChoice({ types, onChange }: Props) {
  const hasAll = types.includes("*");
  const others = types.filter((type) => type !== "*" && !GROUPS.some((group) => group.type === type));
  const toggle = (type: string) =>
    onChange(
      types.includes(type) ? types.filter((one) => one !== type) : [...types.filter((one) => one !== "*"), type],
    );
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1 font-medium">{t("Which events")}</legend>
      <CheckField
        label={t("All, also those of later versions")}
        checked={hasAll}
        onChange={() => onChange(hasAll ? [] : ["*"])}
      />
      {!hasAll &&
        GROUPS.map(({ type, label }) => (
          <CheckField key={type} label={t(label)} checked={types.includes(type)} onChange={() => toggle(type)} />
        ))}
      {others.map((type) => (
        <CheckField key={type} label={type} checked onChange={() => toggle(type)} />
      ))}
    </fieldset>
  );
}
