// Starts the export of the audit log; loaded only with AUDIT_TO.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { AuditTarget } from "../settings.ts";
import { createExporter } from "./exporter.ts";
import { createDelivery } from "./targets.ts";

export interface AuditExport {
  stop(): Promise<void>;
}

export function startAuditExport(kernel: Kernel, target: AuditTarget, token: string | undefined): AuditExport {
  const exporter = createExporter({
    ...kernel,
    target: target.name,
    deliver: createDelivery(target, token),
    outage: kernel.outages.watch("audit_export"),
  });
  kernel.audit.onSealed(exporter.push);
  exporter.push();
  return exporter;
}
