// The table of the account's pages: one row each, shown in this order beside the page.

import {
  Bell,
  BookOpen,
  KeyRound,
  Laptop,
  LogIn,
  type LucideIcon,
  Palette,
  Shield,
  Sparkles,
  User,
} from "lucide-react";
import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import { type Text, text } from "../../app/language.ts";

export interface AccountPage {
  /** Below /account; "" is the profile. */
  path: string;
  label: Text;
  Icon: LucideIcon;
  Component: LazyExoticComponent<ComponentType>;
}

export const ACCOUNT_PAGES: readonly AccountPage[] = [
  { path: "", label: text("Profile"), Icon: User, Component: lazy(() => import("./profile/index.tsx")) },
  {
    path: "/security",
    label: text("Security"),
    Icon: Shield,
    Component: lazy(() => import("./security/index.tsx")),
  },
  { path: "/sign-ins", label: text("Sign-ins"), Icon: LogIn, Component: lazy(() => import("./sign-ins/index.tsx")) },
  { path: "/sessions", label: text("Devices"), Icon: Laptop, Component: lazy(() => import("./sessions/index.tsx")) },
  { path: "/keys", label: text("API keys"), Icon: KeyRound, Component: lazy(() => import("./keys/index.tsx")) },
  { path: "/skills", label: text("Skills"), Icon: BookOpen, Component: lazy(() => import("./skills/index.tsx")) },
  {
    path: "/notifications",
    label: text("Notifications"),
    Icon: Bell,
    Component: lazy(() => import("./notifications/index.tsx")),
  },
  {
    path: "/plan",
    label: text("Plan and referral"),
    Icon: Sparkles,
    Component: lazy(() => import("./plan/index.tsx")),
  },
  {
    path: "/appearance",
    label: text("Appearance"),
    Icon: Palette,
    Component: lazy(() => import("./appearance/index.tsx")),
  },
];
