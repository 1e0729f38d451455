// The actions of live streams that the web's service tokens name; the backend's routes accept one each.

export const READ_STREAM_ACTION = "agent.stream";
export const CHANGE_STREAM_ACTION = "agent.stream.change";
export const WATCH_STREAM_ACTION = "stream.watch";
