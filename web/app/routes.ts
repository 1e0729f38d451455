// The table of all pages: one row a page, loaded when it is opened first.

import type { ComponentType } from "react";
import { type LazyComponent, lazyBarePage, lazyPage } from "../parts/lazy.tsx";
import { loadTexts } from "../viewer/language.ts";

export interface Page {
  path: string;
  /** Shown only to admins; the API enforces it. */
  admin?: true;
  /** Without the rail, for guided paths. */
  bare?: true;
  Component: LazyComponent;
}

type PageModule = { default: ComponentType };

/** `area` is the page's first folder below web/pages, whose texts are loaded with it. */
function page(
  path: string,
  area: string,
  load: () => Promise<PageModule>,
  more: Pick<Page, "admin" | "bare"> = {},
): Page {
  const Component = (more.bare ? lazyBarePage : lazyPage)(
    async () => (await Promise.all([load(), loadTexts(area)]))[0],
  );
  return { path, Component, ...more };
}

const ADMIN = { admin: true } as const;

/** The first row that matches is shown. Paths as in wouter: `:name`, `*` for the rest. */
export const PAGES: readonly Page[] = [
  page("/", "agents", () => import("../pages/agents/index.tsx")),
  page("/agents", "agents", () => import("../pages/agents/index.tsx")),
  page("/account/*?", "account", () => import("../pages/account/index.tsx")),
  page("/welcome", "start", () => import("../pages/start/welcome/index.tsx"), { bare: true }),
  page("/usage", "usage", () => import("../pages/usage/index.tsx")),
  page("/admin/models", "start", () => import("../pages/start/models/index.tsx"), { admin: true }),
  page("/approvals", "approvals", () => import("../pages/approvals/index.tsx")),
  page("/wallet", "wallet", () => import("../pages/wallet/index.tsx")),
  page("/webhooks", "webhooks", () => import("../pages/webhooks/index.tsx")),
  page("/webhooks/:id", "webhooks", () => import("../pages/webhooks/webhook-page.tsx")),
  page("/agents/:id/*?", "agent", () => import("../pages/agent/index.tsx")),
  page("/admin", "admin", () => import("../pages/admin/overview/index.tsx"), ADMIN),
  page("/admin/users", "admin", () => import("../pages/admin/users/index.tsx"), ADMIN),
  page("/admin/users/:id", "admin", () => import("../pages/admin/user/index.tsx"), ADMIN),
  page("/admin/agents", "admin", () => import("../pages/admin/agents/index.tsx"), ADMIN),
  page("/admin/usage", "admin", () => import("../pages/admin/usage/index.tsx"), ADMIN),
  page("/admin/providers", "admin", () => import("../pages/admin/providers/index.tsx"), ADMIN),
  page("/admin/channels", "admin", () => import("../pages/admin/channels/index.tsx"), ADMIN),
  page("/admin/jobs", "admin", () => import("../pages/admin/jobs/index.tsx"), ADMIN),
  page("/admin/storage", "admin", () => import("../pages/admin/storage/index.tsx"), ADMIN),
  page("/admin/settings", "admin", () => import("../pages/admin/settings/index.tsx"), ADMIN),
  page("/admin/audit", "admin", () => import("../pages/admin/audit/index.tsx"), ADMIN),
  page("/admin/versions", "admin", () => import("../pages/admin/versions/index.tsx"), ADMIN),
];
