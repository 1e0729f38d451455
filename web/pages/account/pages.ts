// The table of the account's pages: one row each, shown in this order beside the page.

import {
  Bell,
  BookOpen,
  Cable,
  KeyRound,
  Laptop,
  LogIn,
  type LucideIcon,
  Palette,
  Shield,
  Sparkles,
  User,
} from "lucide-react";
import type { ComponentType } from "react";
import { lazyPagePart } from "../../parts/lazy.tsx";
import { type Text, text } from "../../viewer/language.ts";

export interface AccountPage {
  /** Below /account; "" is the profile. */
  path: string;
  label: Text;
  /** Other words under which the palette finds it. */
  keywords: Text;
  Icon: LucideIcon;
  Component: ComponentType;
}

export const ACCOUNT_PAGES: readonly AccountPage[] = [
  {
    path: "",
    label: text("Profile"),
    keywords: text("name picture address"),
    Icon: User,
    Component: lazyPagePart(() => import("./profile/index.tsx")),
  },
  {
    path: "/security",
    label: text("Security"),
    keywords: text("password two-factor totp qr recovery delete"),
    Icon: Shield,
    Component: lazyPagePart(() => import("./security/index.tsx")),
  },
  {
    path: "/sign-ins",
    label: text("Sign-ins"),
    keywords: text("google github wallet linked social"),
    Icon: LogIn,
    Component: lazyPagePart(() => import("./sign-ins/index.tsx")),
  },
  {
    path: "/sessions",
    label: text("Devices"),
    keywords: text("signed in sessions browsers"),
    Icon: Laptop,
    Component: lazyPagePart(() => import("./sessions/index.tsx")),
  },
  {
    path: "/keys",
    label: text("API keys"),
    keywords: text("token scopes developer"),
    Icon: KeyRound,
    Component: lazyPagePart(() => import("./keys/index.tsx")),
  },
  {
    path: "/assistants",
    label: text("Assistants"),
    keywords: text("mcp connect apps desktop editor oauth"),
    Icon: Cable,
    Component: lazyPagePart(() => import("./assistants/index.tsx")),
  },
  {
    path: "/skills",
    label: text("Skills"),
    keywords: text("folders upload library"),
    Icon: BookOpen,
    Component: lazyPagePart(() => import("./skills/index.tsx")),
  },
  {
    path: "/notifications",
    label: text("Notifications"),
    keywords: text("mail"),
    Icon: Bell,
    Component: lazyPagePart(() => import("./notifications/index.tsx")),
  },
  {
    path: "/plan",
    label: text("Plan and referral"),
    keywords: text("upgrade subscription invite friends"),
    Icon: Sparkles,
    Component: lazyPagePart(() => import("./plan/index.tsx")),
  },
  {
    path: "/appearance",
    label: text("Appearance"),
    keywords: text("theme language time zone dark"),
    Icon: Palette,
    Component: lazyPagePart(() => import("./appearance/index.tsx")),
  },
];
