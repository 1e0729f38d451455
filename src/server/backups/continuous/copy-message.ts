// What the service and the process that copies tell each other.

import type { CopyRound } from "../../../../plugins/fleet/backups/backup-work.ts";

/** The process tells it after each round. */
export type CopyMessage = CopyRound;

/** The service's word that it has stopped: the rest is copied, and the process ends. */
export const FINISH = "finish";
