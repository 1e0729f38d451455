// The schemas and summaries of the fleet's routes, which both surfaces have.
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { freezeBody } from "../admin/index.ts";
import {
  backupResponse,
  backupsResponse,
  figuresQuery,
  figuresResponse,
  removedBackupResponse,
  settingsResponse,
  storageResponse,
  versionsResponse,
} from "./instance-model.ts";
import {
  agentOperationResponse,
  agentsQuery,
  agentsResponse,
  cellQuery,
  channelsQuery,
  channelsResponse,
  fleetUsageQuery,
  jobResponse,
  jobsQuery,
  jobsResponse,
  overviewResponse,
  providersResponse,
  usageResponse,
} from "./model.ts";

const tags = ["Fleet"];
const kept = "Counts are a few seconds old. With `CELLS` they are of all cells together, or of `cell`.";
const backupNotFound = { 404: "BACKUP_NOT_FOUND" };
const unhealthy = {
  404: "AGENT_NOT_FOUND",
  409: ["ACCOUNT_DISABLED", "AGENT_FROZEN", "OPERATION_IN_PROGRESS"],
  500: "UNHEALTHY",
};

export const ROUTES = {
  overview: {
    query: cellQuery,
    response: { 200: overviewResponse },
    detail: { tags, summary: "What is wrong with this instance, what runs, waits and costs", description: kept },
  },
  agents: {
    query: agentsQuery,
    response: { 200: agentsResponse },
    detail: {
      tags,
      summary: "The agents of all accounts, without their conversations",
      description:
        "`created` lists the newest first, `name` in alphabetical order. `cost` and `errors` (of today, UTC) and `activity` " +
        `list the first 2,000 agents that have any. ${kept}`,
    },
  },
  usage: {
    query: fleetUsageQuery,
    response: { 200: usageResponse },
    detail: {
      tags,
      summary: "What all accounts have used, by day, model, provider, account or agent",
      description:
        "Calls, tokens and cost between `from` and `to`. `ownKeyUsd` is what owners paid with keys of their own.",
    },
  },
  channels: {
    query: channelsQuery,
    response: { 200: channelsResponse },
    detail: {
      tags,
      summary: "The channels of all agents, with the state of each and why",
      description: "`counts` has the number of bots in each state, whatever is filtered.",
    },
  },
  providers: {
    query: cellQuery,
    response: { 200: providersResponse },
    detail: {
      tags,
      summary: "The AI providers: health, last calls, spending",
      description: "`breaker` says whether calls are held back after failures, and `retryAt` until when.",
    },
  },
  jobs: {
    query: jobsQuery,
    response: { 200: jobsResponse },
    detail: { tags, summary: "Background jobs and queues: what waits, is late or has failed", description: kept },
  },
  retryJob: {
    response: { 200: jobResponse },
    detail: {
      tags,
      summary: "Run a failed job again",
      description: "Only for jobs that have used up their attempts.",
      ...documentErrors({ 404: "JOB_NOT_FAILED" }),
    },
  },
  discardJob: {
    response: { 200: jobResponse },
    detail: {
      tags,
      summary: "Delete a failed job",
      description: "Its work is not done. Only for jobs that have used up their attempts.",
      ...documentErrors({ 404: "JOB_NOT_FAILED" }),
    },
  },
  startAgent: {
    response: { 200: agentOperationResponse },
    detail: {
      tags,
      summary: "Start the agent of any account",
      description: "The audit log names the admin.",
      ...documentErrors(unhealthy),
    },
  },
  stopAgent: {
    response: { 200: agentOperationResponse },
    detail: {
      tags,
      summary: "Stop the agent of any account; its owner may start it again",
      description: "To keep it stopped, freeze it.",
      ...documentErrors({ 404: "AGENT_NOT_FOUND", 409: "OPERATION_IN_PROGRESS" }),
    },
  },
  freezeAgent: {
    body: freezeBody,
    response: { 200: agentOperationResponse },
    detail: {
      tags,
      summary: "Freeze the agent of any account, with its bots, stream, schedules and turns, at once",
      description:
        "It answers nowhere until `unfreeze`; its owner can't start it. Messages wait, and people on channels are told once that it is paused.",
      ...documentErrors({ 404: "AGENT_NOT_FOUND" }),
    },
  },
  unfreezeAgent: {
    response: { 200: agentOperationResponse },
    detail: {
      tags,
      summary: "End the freeze of an agent",
      description:
        "It goes on as it was before, and answers what waits. It stays paused while its owner's account is frozen.",
      ...documentErrors({ 404: "AGENT_NOT_FOUND" }),
    },
  },
  figures: {
    query: figuresQuery,
    response: { 200: figuresResponse },
    detail: {
      tags,
      summary: "The figures of the last 24 hours, sampled once a minute",
      description:
        "Series of equal length that begin at `from`, one value for each `stepSeconds`: requests, turns, calls of models, queues and memory.",
    },
  },
  settings: {
    response: { 200: settingsResponse },
    detail: {
      tags,
      summary: "The settings in force, where each comes from, and what is wrong with them",
      description: "Values of secret settings are left out.",
    },
  },
  storage: {
    query: cellQuery,
    response: { 200: storageResponse },
    detail: {
      tags,
      summary: "The data folder, the database, the free disk space, and the backups here",
      description: "`complete` is false if the folder has too many files to count them all.",
    },
  },
  versions: {
    query: cellQuery,
    response: { 200: versionsResponse },
    detail: {
      tags,
      summary: "The version of this program, and those that agents run",
      description: "Also the version of Bun, the role of this process and the last migration of the database.",
      operationId: "getAdminVersions",
    },
  },
  backups: {
    response: { 200: backupsResponse },
    detail: {
      tags,
      summary: "The backups of this service in the place that BACKUP_TO names",
      description: "With the state and progress of one that is being made.",
    },
  },
  makeBackup: {
    response: { 202: backupResponse },
    detail: {
      tags,
      summary: "Begin a backup of the service, as `berth backup` makes it",
      description:
        "It has the database and all files, and is read back and checked. The secrets in it open only with the instance's key, which is not in it.",
      ...documentErrors({ 409: ["DATABASE_ON_SERVER", "BACKUP_BY_COMMAND", "BACKUP_RUNNING"] }),
    },
  },
  removeBackup: {
    response: { 200: removedBackupResponse },
    detail: {
      tags,
      summary: "Delete a backup of the database",
      description: "The file is deleted. Only sessions may do this, no keys.",
      ...documentErrors(backupNotFound),
    },
  },
  downloadBackup: {
    detail: {
      tags,
      summary: "Download a backup of the database",
      description: "The file holds everything, secrets in sealed form. Only sessions may read it, no keys.",
      operationId: "downloadAdminBackup",
      ...documentErrors(backupNotFound),
      responses: {
        200: {
          description: "The file",
          content: { "application/octet-stream": { schema: { type: "string" as const, format: "binary" } } },
        },
      },
    },
  },
};

/** The actions that service tokens name. */
export const READ_ACTION = "fleet.read";
export const CHANGE_ACTION = "fleet.change";
export const DOWNLOAD_ACTION = "fleet.download";
