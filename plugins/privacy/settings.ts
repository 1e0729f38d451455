// Names the file of erasures, which a restore looks for. It has no settings: those of retention are the kernel's.

/** Below the data folder: whom the service was asked to forget, by hashes. */
export const ERASURES_FILE = "erasures.jsonl";
