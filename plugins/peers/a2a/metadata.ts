// The metadata by which agents of Berth pass on the way of a message.

/** The addresses of the agents that a message has come through. */
export const PATH_KEY = "berth.path";
