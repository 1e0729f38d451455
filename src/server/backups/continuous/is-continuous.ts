// Whether changes are copied between backups.

import { backupSettings } from "../../../../plugins/fleet/settings.ts";
import { clusterSettings } from "../../../cluster/settings.ts";
import type { Config } from "../../../kernel/config/config.ts";

/** Not in a cluster: there, a database is on several machines, and its log is the cluster's. */
export const isContinuous = (config: Pick<Config, "of">) =>
  config.of(backupSettings).continuousMs !== undefined && config.of(clusterSettings).url === undefined;
