// Names the tool of each agent after the agent's public address, which is unique and never changes.

const PREFIX = "ask_";
/** Clients put the server's name in front, and providers take 64 characters. */
const MAX_NAME = 44;

/** `Harbour master` at `harbour-master-k7m2pq` is `ask_harbour_master_k7m2pq`. What is cut off is before the random end. */
export function toolNameOf(subdomain: string): string {
  const label = subdomain.replaceAll("-", "_");
  const end = label.slice(label.lastIndexOf("_"));
  const room = MAX_NAME - PREFIX.length;
  return PREFIX + (label.length <= room ? label : label.slice(0, room - end.length).replace(/_+$/, "") + end);
}
