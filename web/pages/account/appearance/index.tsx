// How the console looks in this browser: language, theme, and the zone of times.

import { type ReactNode, useState } from "react";
import { Choice } from "../../../parts/forms/choice.tsx";
import { SelectField } from "../../../parts/forms/field.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { changeLanguage, formatTime, LANGUAGES, type Language, language, t, text } from "../../../viewer/language.ts";
import { changeTheme, readTheme, THEMES, type Theme } from "../../../viewer/theme.ts";
import { changeTimeZone, timeZone } from "../../../viewer/time-zone.ts";

const THEME_LABELS = { system: text("As the system"), light: text("Light"), dark: text("Dark") } as const;

export default function AppearancePage() {
  const [theme, setTheme] = useState(readTheme);
  const chooseTheme = (next: Theme) => {
    changeTheme(next);
    setTheme(next);
  };
  const zones = Intl.supportedValuesOf("timeZone");
  return (
    <Section title={t("Appearance")} hint={t("Kept in this browser, and with effect at once.")}>
      <div className="flex flex-col gap-5">
        <Setting label={t("Theme")}>
          <Choice
            label={t("Theme")}
            value={theme}
            onChange={chooseTheme}
            options={THEMES.map((value) => ({ value, label: t(THEME_LABELS[value]) }))}
          />
        </Setting>
        <Setting label={t("Language")}>
          <Choice
            label={t("Language")}
            value={language}
            onChange={(next: Language) => changeLanguage(next)}
            options={Object.entries(LANGUAGES).map(([value, label]) => ({ value: value as Language, label }))}
          />
        </Setting>
        <div className="max-w-sm">
          <SelectField
            label={t("Time zone")}
            hint={t("It is {time} there.", { time: formatTime(Date.now(), { timeStyle: "short" }) })}
            value={timeZone ?? ""}
            onChange={(event) => changeTimeZone(event.target.value)}
          >
            <option value="">{t("As the system")}</option>
            {zones.map((zone) => (
              <option key={zone} value={zone}>
                {zone.replaceAll("_", " ")}
              </option>
            ))}
          </SelectField>
        </div>
      </div>
    </Section>
  );
}

const Setting = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className="flex flex-col items-start gap-1">
    <p className="font-medium" aria-hidden="true">
      {label}
    </p>
    {children}
  </div>
);
