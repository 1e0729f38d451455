// The menu of the signed-in person: account, theme, language, documentation, sign out. Loaded when it is opened first.

import { Menu } from "@base-ui/react/menu";
import { useState } from "react";
import { useLocation } from "wouter";
import { MenuItem, MenuLabel, MenuPopup, MenuRadioItem, MenuSeparator } from "../parts/menu.tsx";
import { signOut } from "../session/sign-out.ts";
import { changeLanguage, LANGUAGES, type Language, language, t, text } from "../viewer/language.ts";
import { changeTheme, readTheme, THEMES, type Theme } from "../viewer/theme.ts";
import { ACCOUNT_BUTTON, AccountLabel } from "./account-label.tsx";

const THEME_LABELS = { system: text("As the system"), light: text("Light"), dark: text("Dark") } as const;

export default function AccountMenu() {
  const [, navigate] = useLocation();
  const [theme, setTheme] = useState(readTheme);
  const chooseTheme = (next: Theme) => {
    changeTheme(next);
    setTheme(next);
  };
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger className={ACCOUNT_BUTTON}>
        <AccountLabel />
      </Menu.Trigger>
      <MenuPopup align="start" side="top">
        <MenuItem onClick={() => navigate("/account")}>{t("Account")}</MenuItem>
        <MenuSeparator />
        <Menu.Group>
          <MenuLabel>{t("Theme")}</MenuLabel>
          <Menu.RadioGroup value={theme} onValueChange={chooseTheme}>
            {THEMES.map((one) => (
              <MenuRadioItem key={one} value={one}>
                {t(THEME_LABELS[one])}
              </MenuRadioItem>
            ))}
          </Menu.RadioGroup>
        </Menu.Group>
        <MenuSeparator />
        <Menu.Group>
          <MenuLabel>{t("Language")}</MenuLabel>
          <Menu.RadioGroup value={language} onValueChange={(next: Language) => changeLanguage(next)}>
            {Object.entries(LANGUAGES).map(([code, name]) => (
              <MenuRadioItem key={code} value={code}>
                <span lang={code}>{name}</span>
              </MenuRadioItem>
            ))}
          </Menu.RadioGroup>
        </Menu.Group>
        <MenuSeparator />
        <MenuItem onClick={() => location.assign("/docs/")}>{t("Documentation")}</MenuItem>
        <MenuItem onClick={() => location.assign("/swagger")}>{t("API documentation")}</MenuItem>
        <MenuItem onClick={() => void signOut()}>{t("Sign out")}</MenuItem>
      </MenuPopup>
    </Menu.Root>
  );
}
