// What the palette does: one row for each thing that a person can do in the console. Those of an agent are in
// `pages/agent/actions.ts`.

import {
  BadgeCheck,
  Bell,
  BookOpen,
  BrainCircuit,
  Clock,
  CodeXml,
  Compass,
  DatabaseBackup,
  FileCode,
  FileUp,
  KeyRound,
  Link2,
  LogOut,
  type LucideIcon,
  MonitorX,
  Moon,
  Package,
  Pencil,
  Plug,
  Plus,
  RotateCw,
  ShieldCheck,
  Sun,
  Trash2,
  UserPlus,
  Users,
  Wallet,
  Webhook,
} from "lucide-react";
import { navigate } from "wouter/use-browser-location";
import { api } from "../../api/api.ts";
import { openNewAgent } from "../../app/new-agent.tsx";
import { messageOf } from "../../parts/error-note.tsx";
import { openAsCode } from "../../parts/page/as-code-button.tsx";
import { showError, showToast } from "../../parts/toast.tsx";
import { signOut } from "../../session/sign-out.ts";
import { type Text, t, text } from "../../viewer/language.ts";
import { changeTheme } from "../../viewer/theme.ts";

interface Shown {
  label: Text;
  Icon: LucideIcon;
  /** Other words under which it is found. */
  keywords?: Text;
}

/** Goes to where it is done, or does it. */
export type Action = Shown & ({ path: string } | { run: () => void });

async function makeBackup(): Promise<void> {
  try {
    await api.post("/api/admin/backups");
    showToast(t("The backup is being made."));
    navigate("/admin/storage");
  } catch (error) {
    showError(messageOf(error));
  }
}

/** For everybody. */
export const ACTIONS: readonly Action[] = [
  { label: text("New agent"), Icon: Plus, keywords: text("make create add bot template"), run: () => openNewAgent() },
  {
    label: text("New agent from a file"),
    Icon: FileUp,
    keywords: text("import upload openclaw eliza character card"),
    run: () => openNewAgent("file"),
  },
  { label: text("New API key"), Icon: KeyRound, keywords: text("make create add token"), path: "/account/keys?new=1" },
  { label: text("New webhook"), Icon: Webhook, keywords: text("make create add endpoint"), path: "/webhooks?new=1" },
  {
    label: text("Install a skill"),
    Icon: Package,
    keywords: text("add new upload folder library"),
    path: "/account/skills",
  },
  {
    label: text("Connect an assistant"),
    Icon: Plug,
    keywords: text("mcp claude cursor program"),
    path: "/account/assistants",
  },
  { label: text("Send money"), Icon: Wallet, keywords: text("pay transfer dollars create wallet"), path: "/wallet" },
  {
    label: text("Change the limits of the wallet"),
    Icon: Wallet,
    keywords: text("spending allow policy maximum"),
    path: "/wallet",
  },
  { label: text("Decide what waits"), Icon: ShieldCheck, keywords: text("approve deny requests"), path: "/approvals" },
  { label: text("Change my name"), Icon: Pencil, keywords: text("rename profile"), path: "/account" },
  {
    label: text("Change my email address"),
    Icon: Pencil,
    keywords: text("mail new verify"),
    path: "/account",
  },
  {
    label: text("Change my password"),
    Icon: KeyRound,
    keywords: text("new set security"),
    path: "/account/security",
  },
  {
    label: text("Set up two-factor"),
    Icon: ShieldCheck,
    keywords: text("authenticator totp 2fa second factor turn off recovery codes"),
    path: "/account/security",
  },
  {
    label: text("Link a sign-in"),
    Icon: Link2,
    keywords: text("connect google github wallet social identity"),
    path: "/account/sign-ins",
  },
  {
    label: text("Sign out other devices"),
    Icon: MonitorX,
    keywords: text("end sessions browsers log out"),
    path: "/account/sessions",
  },
  {
    label: text("Choose what is mailed"),
    Icon: Bell,
    keywords: text("notifications on off"),
    path: "/account/notifications",
  },
  { label: text("Change the time zone"), Icon: Clock, keywords: text("clock"), path: "/account/appearance" },
  { label: text("Delete my account"), Icon: Trash2, keywords: text("remove close"), path: "/account" },
  { label: text("First steps"), Icon: Compass, keywords: text("welcome tour setup begin"), path: "/welcome" },
  { label: text("This page as code"), Icon: CodeXml, keywords: text("curl typescript api request"), run: openAsCode },
  { label: text("Light theme"), Icon: Sun, keywords: text("bright"), run: () => changeTheme("light") },
  { label: text("Dark theme"), Icon: Moon, keywords: text("night"), run: () => changeTheme("dark") },
  { label: text("Theme as the system"), Icon: Moon, run: () => changeTheme("system") },
  {
    label: text("Documentation"),
    Icon: BookOpen,
    keywords: text("help docs manual guide handbook"),
    run: () => location.assign("/docs/"),
  },
  {
    label: text("API documentation"),
    Icon: FileCode,
    keywords: text("swagger openapi developer"),
    run: () => location.assign("/swagger"),
  },
  { label: text("Sign out"), Icon: LogOut, keywords: text("log out leave"), run: () => void signOut() },
];

export const ADMIN_ACTIONS: readonly Action[] = [
  {
    label: text("New account"),
    Icon: UserPlus,
    keywords: text("make create add user person"),
    path: "/admin/users?new=account",
  },
  {
    label: text("Invite"),
    Icon: UserPlus,
    keywords: text("user person mail registration"),
    path: "/admin/users?new=invitation",
  },
  {
    label: text("Give an account a plan"),
    Icon: Users,
    keywords: text("user credits subscription admin disable reset"),
    path: "/admin/users",
  },
  {
    label: text("Stop or start any agent"),
    Icon: RotateCw,
    keywords: text("fleet bots of others"),
    path: "/admin/agents",
  },
  {
    label: text("Add a key of a provider"),
    Icon: BrainCircuit,
    keywords: text("model openrouter openai anthropic gemini groq ollama new"),
    path: "/admin/models",
  },
  {
    label: text("Choose the default models"),
    Icon: BrainCircuit,
    keywords: text("switch change select llm"),
    path: "/admin/models",
  },
  {
    label: text("Try failed jobs again"),
    Icon: RotateCw,
    keywords: text("repeat queue"),
    path: "/admin/jobs",
  },
  {
    label: text("Make a backup now"),
    Icon: DatabaseBackup,
    keywords: text("new database copy"),
    run: () => void makeBackup(),
  },
  {
    label: text("Restore a backup of the server"),
    Icon: DatabaseBackup,
    keywords: text("database copy download"),
    path: "/admin/storage",
  },
  { label: text("Upgrade Berth"), Icon: BadgeCheck, keywords: text("new version update"), path: "/admin/versions" },
];
