// Converts topics, which are conversations of the API that callers name, to the peers of their sessions and back.

export const topicPeer = (topic: string) => `topic:${topic.trim()}`;
/** The topic of a session's peer; null where it has none. */
export const topicFromPeer = (peer: string | null) => (peer?.startsWith("topic:") ? peer.slice("topic:".length) : null);
