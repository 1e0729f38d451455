// Registers the space of the disk that holds the data folder.
import { statfs } from "node:fs/promises";
import type { Metrics } from "./metrics.ts";

export function registerDiskMetrics({ measured }: Pick<Metrics, "measured">, dataDir: string): void {
  measured(
    {
      berth_disk_size_bytes: ["Size of the disk that holds DATA_DIR."],
      berth_disk_free_bytes: ["Space that is left there for the service."],
    },
    async () => {
      const { blocks, bavail, bsize } = await statfs(dataDir);
      return { berth_disk_size_bytes: blocks * bsize, berth_disk_free_bytes: bavail * bsize };
    },
  );
}
