// The settings of a machine in a cluster.
import { httpUrl, parser } from "../kernel/config/parsers.ts";
import { defineSettings, type Finding, requireBoth } from "../kernel/config/section.ts";
import { isLoopbackHost, isLoopbackUrl } from "../kernel/config/validation.ts";
import { optional, withDefault } from "../kernel/config/variable.ts";
import { type NatsAddress, parseNatsAddress } from "./nats/nats-address.ts";

const natsAddress = parser<NatsAddress>(
  "nats:// or tls:// and hosts, such as nats://10.0.0.1,10.0.0.2,10.0.0.3",
  parseNatsAddress,
);

const cellCount = parser("a whole number from 1 to 64", (text) =>
  /^[1-9]\d?$/.test(text) && Number(text) <= 64 ? Number(text) : undefined,
);

export const clusterSettings = defineSettings({
  name: "cluster",
  variables: {
    CELLS: withDefault(
      cellCount,
      "1",
      "Parts into which this machine divides the service, each with its own process and database, so that it uses several processors. It can grow; `berth cells remove` makes it smaller.",
    ),
    CLUSTER_URL: optional(
      natsAddress,
      "NATS servers with JetStream (2.11 or newer) that make several machines one service. Unset: this machine is alone.",
      "address",
    ),
    NODE_ADDRESS: optional(
      httpUrl,
      "How the other machines of a cluster reach this one's backend listener, such as `http://10.0.0.5:3001`.",
    ),
  },
  build: ({ CELLS: cells, CLUSTER_URL: url, NODE_ADDRESS: address }) => ({
    cells,
    /** Undefined: this machine is alone. */
    url,
    /** Scheme, host and port; set whenever `url` is. */
    address: address && new URL(address).origin,
  }),
  validate({ CELLS: cells, CLUSTER_URL: url, NODE_ADDRESS: address }, { kernel }) {
    const findings: Finding[] = [];
    const error = (name: string, text: string) =>
      findings.push({ name, severity: "error", message: `${name}: ${text}` });
    if (cells > 1) {
      if (kernel.database.remote) error("CELLS", "needs databases in files; leave DATABASE_URL out.");
      if (kernel.role !== "all") error("CELLS", `needs ROLE=all, found "${kernel.role}".`);
      if (url !== undefined)
        error(
          "CELLS",
          "is for a machine alone; leave it out. A cluster keeps how many cells it has: berth cluster cells.",
        );
    }
    if (url === undefined)
      return [...findings, ...requireBoth({ NODE_ADDRESS: address, CLUSTER_URL: url }, "NODE_ADDRESS", "CLUSTER_URL")];
    if (address === undefined)
      error("NODE_ADDRESS", "is missing; with CLUSTER_URL, the other machines need this one's address.");
    if (kernel.secretKey === undefined)
      error("SECRET_KEY", "is missing; with CLUSTER_URL, all machines need the same one.");
    if (kernel.database.remote)
      error("CLUSTER_URL", "needs a database in a file; leave DATABASE_URL out, each machine has a copy of its own.");
    if (kernel.role !== "all") error("CLUSTER_URL", `needs ROLE=all, found "${kernel.role}".`);
    // The process of a cell takes a free port, to which only the first process of its machine comes.
    const { host, port } = kernel.backend;
    if (address !== undefined && port !== 0 && !isLoopbackUrl(address) && isLoopbackHost(host))
      error("BACKEND_HOST", `is this machine alone (${host}), but the others have to reach ${address}.`);
    return findings;
  },
});
