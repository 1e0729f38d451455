// The answers of the admin API.

import type {
  backupResponse,
  figuresResponse,
  settingsResponse,
  storageResponse,
  versionsResponse,
} from "../../../plugins/fleet/instance-model.ts";
import type {
  agentsResponse,
  channelsResponse,
  jobsResponse,
  overviewResponse,
  providersResponse,
  usageResponse,
} from "../../../plugins/fleet/model.ts";

export type Overview = typeof overviewResponse.static;
export type Problem = Overview["problems"][number];
export type Queue = Overview["inbox"];
export type ChannelState = keyof Overview["channels"];

export type Figures = typeof figuresResponse.static;

export type AgentPage = typeof agentsResponse.static;
export type FleetAgent = AgentPage["agents"][number];

export type Usage = typeof usageResponse.static;
export type UsageRow = Usage["rows"][number];

export type ChannelPage = typeof channelsResponse.static;
export type FleetChannel = ChannelPage["channels"][number];

export type Providers = typeof providersResponse.static;
export type Provider = Providers["providers"][number];

export type JobPage = typeof jobsResponse.static;
export type JobKind = JobPage["kinds"][number];
export type FailedJob = JobPage["failed"][number];

export type Storage = typeof storageResponse.static;
export type Backup = (typeof backupResponse.static)["backup"];

export type Settings = typeof settingsResponse.static;
export type Setting = Settings["settings"][number];

export type Versions = typeof versionsResponse.static;

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
  frozen: { since: string; reason: string } | null;
  limitsLifted: boolean;
  newAccount: { share: number; risesAt: string; endsAt: string } | null;
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
