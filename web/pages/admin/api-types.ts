// The answers of the admin API, as far as the pages use them.

export interface Problem {
  code: string;
  severity: "error" | "warning" | "info";
  message: string;
  action: string;
  link: string;
  values: Record<string, string | number>;
}

export interface Queue {
  waiting: number;
  oldestAt: string | null;
}

export type ChannelState = "connected" | "connecting" | "backing_off" | "failed" | "stopped";

export interface Overview {
  problems: Problem[];
  users: { total: number; disabled: number; newToday: number };
  agents: { total: number; up: number; stopped: number; error: number };
  channels: Record<ChannelState, number>;
  today: { turns: number; calls: number; costUsd: number; ownKeyUsd: number; errors: number };
  month: { costUsd: number };
  inbox: Queue;
  outbox: Queue;
  webhooks: Queue & { disabledEndpoints: number };
  jobs: { waiting: number; late: number; running: number; failed: number };
  disk: { totalBytes: number; freeBytes: number };
  database: { kind: "file" | "server"; bytes: number | null; logBytes: number | null };
  version: string;
  startedAt: string;
}

export interface Figures {
  from: string;
  stepSeconds: number;
  figures: Record<string, (number | null)[]>;
}

export interface FleetAgent {
  id: string;
  name: string;
  subdomain: string;
  status: string;
  reason: string | null;
  model: string;
  runtimeVersion: string;
  owner: { id: string; email: string; name: string; disabled: boolean };
  channels: { channel: string; state: ChannelState }[];
  costTodayUsd: number;
  errorsToday: number;
  lastActivityAt: string | null;
  createdAt: string;
}

export interface AgentPage {
  agents: FleetAgent[];
  total: number | null;
  next: string | null;
}

export interface UsageRow {
  key: string;
  name: string | null;
  calls: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  ownKeyUsd: number;
}

export interface Usage {
  from: string;
  to: string;
  total: Omit<UsageRow, "key" | "name">;
  rows: UsageRow[];
}

export interface FleetChannel {
  agent: { id: string; name: string };
  owner: { id: string; email: string };
  channel: string;
  bot: { id: string; username: string };
  state: ChannelState;
  since: string;
  lastError: string | null;
  nextTryAt: string | null;
  mode: string;
}

export interface ChannelPage {
  channels: FleetChannel[];
  counts: Record<ChannelState, number>;
  next: string | null;
}

export interface Provider {
  id: string;
  label: string;
  configured: boolean;
  demo: boolean;
  reachable: boolean | null;
  breaker: "closed" | "half-open" | "open";
  retryAt: string | null;
  recent: { calls: number; failed: number; medianMs: number | null; p95Ms: number | null; lastAt: string | null };
  models: number;
  keySetting: string;
  todayUsd: number;
  monthUsd: number;
}

export interface JobKind {
  kind: string;
  waiting: number;
  late: number;
  running: number;
  failed: number;
  nextAt: string | null;
}

export interface FailedJob {
  id: string;
  kind: string;
  attempts: number;
  error: string | null;
  createdAt: string;
}

export interface JobPage {
  kinds: JobKind[];
  queues: { inbox: Queue; outbox: Queue; webhooks: Queue };
  failed: FailedJob[];
  next: string | null;
}

export interface Backup {
  name: string;
  state: "waiting" | "running" | "done" | "failed";
  progress: number;
  bytes: number;
  createdAt: string;
  error: string | null;
}

export interface Storage {
  dataDir: string;
  entries: { name: string; bytes: number; files: number }[];
  complete: boolean;
  database: Overview["database"];
  disk: Overview["disk"];
  backups: Backup[];
}

export interface Setting {
  name: string;
  value: string | null;
  source: "environment" | ".env file" | "default" | "not set";
  secret: boolean;
  description: string;
}

export interface Settings {
  settings: Setting[];
  findings: { name: string; severity: "error" | "warning"; message: string }[];
}

export interface Versions {
  version: string;
  bun: string;
  platform: string;
  startedAt: string;
  role: string;
  program: string;
  migration: string;
  runtimes: { version: string; agents: number; available: boolean }[];
}

export interface Account {
  id: string;
  email: string;
  name: string;
  plan: string;
  credits: number;
  emailVerified: boolean;
  isAdmin: boolean;
  disabled: boolean;
  disabledAt: string | null;
  hasPassword: boolean;
  twoFactorEnabled: boolean;
  subscription: { plan: string; status: string; active: boolean; currentPeriodEnd: string } | null;
  createdAt: string;
}

export interface AccountDetail extends Account {
  agents: number;
  sessions: number;
  keys: number;
}

export interface AuditEntry {
  id: string;
  at: string;
  actor: { kind: string; id: string | null; name: string };
  action: string;
  target: { kind: string; id: string; name: string };
  details: Record<string, unknown>;
  address: string | null;
}

export interface AuditPage {
  entries: AuditEntry[];
  total: number;
  next: string | null;
}
